"""Triton model repositories. A model is Triton's own ModelConfig, written in YAML, with Triton's schema."""

from typing import Annotated, Any

from msgspec import Meta

from inferstack.spec.blocks.base import Block, form

TritonModel = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": "#/$defs/TritonModelConfig"})]
ArchiveName = Annotated[str, form(r"^[^/].*\.tar\.gz$")]


class TritonArchive(Block):
    """One `tar.gz` of a multi-model endpoint: a model, or an ensemble with its members."""

    models: dict[str, TritonModel]
    """Models by folder name, each as a Triton model configuration."""


class Triton(Block):
    """A Triton model repository that is part of the spec."""

    default_model: str | None = None
    """Name of the model that answers requests. If left out, it is the only model, or the only ensemble
    under `models`. Otherwise (also for a `repository` with several models) it is required, unless the
    environment variable `SAGEMAKER_TRITON_DEFAULT_MODEL_NAME` names the model."""
    models: dict[str, TritonModel] | None = None
    """Models by folder name, each as a Triton model configuration."""
    archives: dict[ArchiveName, TritonArchive] | None = None
    """For `kind: multi-model`: the contents of each archive under the S3 prefix, by file name."""
    repository: str | None = None
    """Path of an existing model repository with its own `config.pbtxt` files, instead of `models`."""
