"""How many instances, of which type, at what cost: plain data in, plain data out.

    objective (facts) + measurements + prices -> sizes, ranked
    policies (facts) + traffic -> copies, minute by minute -> instances (the package sharing)

Nothing here talks to AWS: :mod:`inferstack.account` fetches prices and measurements, and files keep them.
"""
