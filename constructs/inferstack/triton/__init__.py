"""Triton's model repositories: what is in them, what Triton makes of it, and how it gets to SageMaker.

    rules       what Triton demands of the models of an archive, by topic
    archive     an archive as a list of files, packed the same everywhere, and looked into
    rehearsal   a real Triton on this machine, as SageMaker's container starts it
    invocation  requests made of arrays, and arrays read from answers

Beside them stand the model configuration and the repository as data: ``config.py`` reads the former,
``folder.py`` an existing folder, ``repository.py`` the ``triton`` block of a spec, ``model.py`` is what comes
of both. ``model_config.desc`` is Triton's own protocol buffer in compiled form, with its license beside it;
the JSON Schema of the block is generated from it. Nothing here imports the CDK or an AWS client.
"""
