"""Triton model repositories. Models are Triton's own ModelConfig in YAML; its schema is Triton's."""

from typing import Annotated, Any

from msgspec import Meta

from inferstack.spec.blocks.base import Block, form

TritonModel = Annotated[dict[str, Any], Meta(extra_json_schema={"$ref": "#/$defs/TritonModelConfig"})]
ArchiveName = Annotated[str, form(r"^[^/].*\.tar\.gz$")]


class TritonArchive(Block):
    """One `tar.gz` of a multi-model endpoint: a model, or an ensemble with its members."""

    models: dict[str, TritonModel]
    """Models by the name of their folder."""


class Triton(Block):
    """The model repository that goes with the spec."""

    default_model: str | None = None
    """Model that answers. Without it the only one does, or the only ensemble of several under `models`; else
    it is needed, as for a `repository` of several, unless the environment names the model
    (`SAGEMAKER_TRITON_DEFAULT_MODEL_NAME`)."""
    models: dict[str, TritonModel] | None = None
    """Models by the name of their folder."""
    archives: dict[ArchiveName, TritonArchive] | None = None
    """For `multi-model`: what each archive under the prefix holds."""
    repository: str | None = None
    """Path of an existing repository with its own `config.pbtxt` files, instead of `models`."""
