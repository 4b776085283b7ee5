"""Triton's model repositories: what is in them, what Triton makes of it, and how it gets to SageMaker.

    config      a model's configuration, as data and as the text of a ``config.pbtxt``
    repository  repositories as they are found: in a spec's ``triton`` block, in a folder, or in an archive
    rules       what Triton demands of the models of an archive, by topic
    archive     an archive as a list of files, packed the same everywhere, and looked into
    rehearsal   a real Triton on this machine, as SageMaker's container starts it
    invocation  requests made of arrays, and arrays read from answers

``model.py`` is what comes of a repository wherever it was found, and what all of these are about. Triton's
own protocol buffer stands in compiled form in ``config``, with its license beside it; the JSON Schema of the
block is generated from it. Nothing here imports the CDK or an AWS client.
"""
