"""The lock: what was uploaded for a spec, in a file beside it that is committed with it.

    model_specs/ranker.yaml + model_specs/ranker.lock.json -> the spec with the URLs of what was uploaded

``inferstack package SPEC --upload`` writes it; loading a spec reads it. So new weights are a line of a diff,
they mean a new model and with it an update of the endpoint, and a commit that is taken back takes the weights
back with it. Nothing here talks to AWS: what was uploaded stays where it is, under a name of its own.
"""
