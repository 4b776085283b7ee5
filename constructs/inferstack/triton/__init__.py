"""Triton's model repositories: what is in them, how Triton reads them, and how they get to SageMaker.

    model             a repository as data, wherever it was found; everything else works on that
    config            a model's configuration: as protocol buffer, and as the text of a ``config.pbtxt``
    backends          what Triton knows about its own backends
    repositories      the repositories that a spec declares, or points to
    folders           the models in a folder of this machine, or in an archive
    repository_files  which files may go into an archive
    model_files       what a model's file says of itself: ONNX graphs, TensorRT engines
    archive           archives: planned as lists of files, packed the same everywhere, inspected, unpacked
    rules             what Triton requires of the models of an archive, by topic
    protocol          how requests and answers carry tensors
    invocation        requests made from numpy arrays, and arrays read from answers (arrays, array_files)
    samples           bodies in an archive, for load tests of SageMaker's
    measuring         load on a real Triton on this machine
    rehearsal         a real Triton on this machine, as SageMaker's container starts it

Triton's own protocol buffer is here in compiled form, with its license beside it; the JSON Schema of the
``triton`` block is generated from it. Nothing here imports the CDK or an AWS client.
"""
