"""Triton's model repositories: what is in them, what Triton makes of it, and how it gets to SageMaker.

    config      a model's configuration, as data and as the text of a ``config.pbtxt``
    repository  repositories as they are found: in a spec's ``triton`` block, in a folder, or in an archive
    rules       what Triton demands of the models of an archive, by topic
    archive     archives: planned as lists of files, packed the same everywhere, and inspected
    rehearsal   a real Triton on this machine, as SageMaker's container starts it
    invocation  requests made from arrays, and arrays read from answers

``model.py`` has a repository as data, wherever it was found: all of these work on that. Triton's own protocol
buffer is in ``config`` in compiled form, with its license beside it; the JSON Schema of the block is
generated from it. Nothing here imports the CDK or an AWS client.
"""
