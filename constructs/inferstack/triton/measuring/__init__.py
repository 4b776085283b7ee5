"""Load on a Triton that runs on this machine: how much a repository answers, how fast, in which way.

    rehearsal -> serving (a server that keeps running) -> sending (many users at once) -> sizing.closed_loop
              -> configurations (what is tried)        -> statistics (what Triton says of itself)

It is the confined server of :mod:`inferstack.triton.rehearsal`, asked through the port that SageMaker uses.
"""
