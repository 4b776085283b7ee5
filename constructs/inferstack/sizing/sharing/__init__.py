"""Models that share a fleet, minute by minute: what their policies do with traffic, and what that costs.

    specs -> hosts: fleets, what copies need, and policies in requests per minute
    traffic + policies -> copies (scaling) -> instances (placement) -> instance hours (ways)

The functions take and give plain data; :mod:`comparison` puts them together.
"""
