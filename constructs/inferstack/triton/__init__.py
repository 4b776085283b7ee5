"""Triton Inference Server's model configuration: the ``triton`` block of a spec.

``model_config.desc`` is Triton's own protocol buffer in compiled form, with its license beside it; the
JSON Schema of the block is generated from it. Nothing here imports the CDK or an AWS client.
"""
