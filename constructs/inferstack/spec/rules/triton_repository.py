"""IS250 to IS259: the `triton` block as a whole. What is inside a model is Triton's business."""

from collections.abc import Iterator

from inferstack.spec.blocks.kinds import (
    EnsembleSpec,
    InferenceComponentsSpec,
    ModelBackedSpec,
    ModelSpec,
    MultiModelSpec,
)
from inferstack.spec.blocks.triton import Triton
from inferstack.spec.rules.base import Finding, error
from inferstack.spec.rules.names import unknown_name
from inferstack.spec.walk import containers
from inferstack.spec.words import listed

_TRITON = "https://docs.aws.amazon.com/sagemaker/latest/dg/deploy-models-frameworks-triton.html"
_MULTI_MODEL = "https://docs.aws.amazon.com/sagemaker/latest/dg/multi-model-endpoints.html"
DEFAULT_MODEL_VARIABLE = "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"
"""What tells the container which folder to serve."""


def _triton(spec: ModelSpec) -> Triton | None:
    return spec.triton if isinstance(spec, ModelBackedSpec | InferenceComponentsSpec) else None


@error(
    "IS250",
    "A model repository is declared in one way: `models`, `archives` or `repository`.",
    _TRITON,
    ModelSpec,
)
def one_way_to_declare(spec: ModelSpec) -> Iterator[Finding]:
    """An empty block declares nothing."""
    triton = _triton(spec)
    if triton is None:
        return
    ways = [key for key in ("models", "archives", "repository") if getattr(triton, key) is not None]
    if len(ways) > 1:
        yield Finding(
            ("triton", ways[1]), f"{listed(ways, last='and')} exclude one another", "keep one of them"
        )
    elif not ways:
        yield Finding(
            ("triton",),
            "`triton` declares no models",
            "add `models`, `archives` or `repository`, or remove the block",
        )


@error("IS251", "Only a multi-model endpoint has `archives`.", _MULTI_MODEL, ModelSpec)
def archives_are_for_multi_model(spec: ModelSpec) -> Iterator[Finding]:
    """Every other endpoint loads one archive."""
    triton = _triton(spec)
    if triton is not None and triton.archives is not None and not isinstance(spec, MultiModelSpec):
        fix = "write the models directly under `triton.models`, or choose `kind: multi-model`"
        yield Finding(
            ("triton", "archives"), f"`archives` does not fit `kind: {spec.__struct_config__.tag}`", fix
        )


@error("IS252", "A multi-model endpoint declares its Triton models by archive.", _MULTI_MODEL, MultiModelSpec)
def multi_model_has_archives(spec: MultiModelSpec) -> Iterator[Finding]:
    """A request chooses an archive (`TargetModel`), not a folder."""
    if spec.triton is not None and spec.triton.models is not None:
        fix = "write them under `triton.archives.<name>.tar.gz.models`"
        yield Finding(("triton", "models"), "`models` says of no archive what it holds", fix)


@error("IS253", "`default_model` names a model that the repository has.", _TRITON, ModelSpec)
def default_model_is_declared(spec: ModelSpec) -> Iterator[Finding]:
    """The container stops when the folder is missing."""
    triton = _triton(spec)
    if triton is None or triton.default_model is None or triton.models is None:
        return
    if triton.default_model not in triton.models:
        yield unknown_name(("triton", "default_model"), "model", triton.default_model, list(triton.models))


@error("IS254", "Among several Triton models of one archive, one is the default.", _TRITON, ModelSpec)
def several_models_have_a_default(spec: ModelSpec) -> Iterator[Finding]:
    """Without it the container stops. The variable may stand in the environment as well."""
    triton = _triton(spec)
    if triton is None or triton.models is None or triton.default_model is not None or len(triton.models) < 2:
        return
    if not all(DEFAULT_MODEL_VARIABLE in (placed.container.environment or {}) for placed in containers(spec)):
        message = f"the repository has {len(triton.models)} models and no default"
        likely = _ensembles(triton) or list(triton.models)
        yield Finding(("triton", "models"), message, f"add `default_model`: {listed(likely)}")


@error("IS255", "The repository of an ensemble has an ensemble.", _TRITON, EnsembleSpec)
def ensemble_has_an_ensemble(spec: EnsembleSpec) -> Iterator[Finding]:
    """A model with `platform: ensemble`, or with `ensemble_scheduling`."""
    triton = spec.triton
    if triton is not None and triton.models is not None and not _ensembles(triton):
        message = "none of the models is an ensemble"
        yield Finding(
            ("triton", "models"),
            message,
            "add a model with `platform: ensemble`, or choose `kind: single-model`",
        )


def _ensembles(triton: Triton) -> list[str]:
    """Names of the models that are ensembles."""
    models = (triton.models or {}).items()
    return [name for name, it in models if it.get("platform") == "ensemble" or "ensemble_scheduling" in it]


@error(
    "IS256", "Only a repository with folders of its own has a `default_model`.", _MULTI_MODEL, MultiModelSpec
)
def multi_model_has_no_default(spec: MultiModelSpec) -> Iterator[Finding]:
    """With several archives the request says which one it means."""
    if spec.triton is not None and spec.triton.default_model is not None:
        message = "`default_model` has no meaning where each request names an archive"
        yield Finding(("triton", "default_model"), message, "remove it")
