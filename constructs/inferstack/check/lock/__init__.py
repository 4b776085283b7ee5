"""The lock: a file beside a spec that says what was uploaded for it, and is committed with it.

    model_specs/ranker.yaml + model_specs/ranker.lock.json -> the spec with the URLs of what was uploaded

``inferstack package SPEC --upload`` writes it; loading a spec reads it. So new weights show up as a line in a
diff and lead to a new model, and with it to an update of the endpoint; reverting the commit brings the old
weights back. Nothing here talks to AWS: every upload stays where it is, under a name of its own.
"""
