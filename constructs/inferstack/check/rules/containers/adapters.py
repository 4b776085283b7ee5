"""Adapters, which run inside another inference component."""

from collections.abc import Iterator

from inferstack.check.rules.base import API, error, warning
from inferstack.check.rules.names import unknown_name
from inferstack.facts.engines import contents_of
from inferstack.facts.triton import is_triton
from inferstack.facts.walk import PlacedContainer, component_variants, components, containers, runs
from inferstack.format.inference_component import ComponentSpecification
from inferstack.format.kinds import InferenceComponentsSpec
from inferstack.problems import Problem, SpecPath
from inferstack.texts.placeholders import is_opaque
from inferstack.texts.s3_urls import is_no_archive

_SPECIFICATION = f"{API}/API_InferenceComponentSpecification.html"

_CONTAINER = f"{API}/API_InferenceComponentContainerSpecification.html"
_LORA = "https://docs.djl.ai/master/docs/serving/serving/docs/adapters.html"
_ENABLE = "OPTION_ENABLE_LORA"
_FILES = ("artifact_url", "model_data_url", "model_data_source", "triton")


def _adapters(spec: InferenceComponentsSpec) -> Iterator[tuple[SpecPath, str, ComponentSpecification, str]]:
    """Path, name and specification of each adapter, and the name of its base."""
    for path, name, component in components(spec):
        it = component.specification
        if it is not None and component.base_name is not None:
            yield (*path, "specification"), name, it, component.base_name


@error("IS430", _SPECIFICATION)
def base_exists(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The base of an adapter must be a component of the spec.

    The adapter is created after its base.
    """
    known = list(spec.inference_components)
    for path, name, _, base in _adapters(spec):
        if base not in spec.inference_components:
            others = [other for other in known if other != name]
            yield unknown_name((*path, "base_inference_component_name"), "inference component", base, others)


@error("IS431", _SPECIFICATION)
def base_is_no_adapter(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The base of an adapter cannot be an adapter itself.

    It has no container of its own that could load another one.
    """
    adapters = {name for _, name, _, _ in _adapters(spec)}
    for path, name, _, base in _adapters(spec):
        if base in adapters:
            what = "itself" if base == name else f"`{base}`, which is an adapter, too"
            fix = "name the component that runs the model"
            yield Problem((*path, "base_inference_component_name"), f"`{name}` is an adapter of {what}", fix)


@error("IS432", _SPECIFICATION)
def adapter_reserves_nothing(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """An adapter uses its base's resources and cannot reserve its own.

    SageMaker requires that the block is left out.
    """
    for path, name, it, base in _adapters(spec):
        if it.compute_resource_requirements is not None:
            message = f"`{name}` is an adapter and runs on the resources of `{base}`"
            where = (*path, "compute_resource_requirements")
            yield Problem(where, message, "remove `compute_resource_requirements`")


@error("IS433", _SPECIFICATION)
def adapter_is_an_artifact(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """An adapter has only an `artifact_url`: no image, model or Triton repository.

    The container of its base loads it.
    """
    for path, name, adapter, _ in _adapters(spec):
        if adapter.container is None or adapter.container.artifact_url is None:
            message = f"the adapter `{name}` has no files"
            yield Problem(path, message, "add `container: {artifact_url: s3://bucket/key}`")
        if adapter.container is not None and adapter.container.image is not None:
            where = (*path, "container", "image")
            yield Problem(where, f"the adapter `{name}` has an image of its own", "remove `image`")
        if adapter.container is not None and adapter.container.triton is not None:
            yield Problem(
                (*path, "container", "triton"),
                f"the adapter `{name}` has Triton models of its own",
                "remove `triton`: the container of its base loads the adapter",
            )
        if adapter.model_name is not None:
            fix = "remove `model_name`"
            yield Problem((*path, "model_name"), f"the adapter `{name}` has a model of its own", fix)


@error("IS434", _SPECIFICATION)
def adapter_is_with_its_base(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """An adapter must run on the variant of its base.

    It has no instances of its own.
    """
    for path, name, _, base in _adapters(spec):
        here, there = spec.inference_components[name], spec.inference_components.get(base)
        if there is not None and component_variants(spec, here) != component_variants(spec, there):
            message = f"`{name}` and its base `{base}` are on different variants"
            yield Problem((*path[:-1], "variant_name"), message, "write the same `variant_name` in both")


@warning("IS435", _SPECIFICATION)
def base_can_load_adapters(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The base of an adapter should run in a container that can load adapters.

    An adapter is loaded by its base's container. Triton has no request for that; TGI takes adapters
    only when it starts.
    """
    for path, name, placed, base in _with_containers(spec):
        inside = contents_of(placed)
        title = _CANNOT.get("" if inside is None or inside.engine is None else inside.engine)
        if title is not None or is_triton(placed.image):
            message = f"`{name}` is an adapter of `{base}`, whose {title or 'Triton'} cannot load adapters"
            fix = "use an image that can, such as djl-lmi, or make it a component with its own models"
            yield Problem((*path, "base_inference_component_name"), message, fix)


@warning("IS436", _LORA)
def base_has_adapters_switched_on(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The base of an adapter should have adapters enabled where its server requires that.

    In LMI they are off unless a variable or a `serving.properties` among the files turns them on. vLLM needs
    adapters enabled, and the requests with which SageMaker loads them.
    """
    for path, name, placed, base in _with_containers(spec):
        inside = contents_of(placed)
        needed = _NEEDED.get("" if inside is None or inside.engine is None else inside.engine, ())
        # A `serving.properties` among the files may say it.
        off = [it for it in needed if _is_off(placed, it)]
        if off:
            written = " and ".join(f'`{it}: "true"`' for it in off)
            message = f"`{name}` is an adapter of `{base}`, whose server has none enabled"
            fix = f"write {written} into the `environment` of `{base}`"
            yield Problem((*path, "base_inference_component_name"), message, fix)


# https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/serve/lora/api_router.py
_NEEDED = {
    "lmi": (_ENABLE,),
    **dict.fromkeys(
        ("vllm", "huggingface-vllm"), ("SM_VLLM_ENABLE_LORA", "VLLM_ALLOW_RUNTIME_LORA_UPDATING")
    ),
}
_CANNOT = {"tgi": "TGI", "tei": "TEI", "llama-cpp": "llama.cpp"}
_OFF = frozenset({"false", "0", ""})


def _with_containers(
    spec: InferenceComponentsSpec,
) -> Iterator[tuple[SpecPath, str, PlacedContainer, str]]:
    """Path and name of each adapter, each container of its base, and the base's name."""
    placed = {it.path: it for it in containers(spec)}
    for path, name, _, base in _adapters(spec):
        of_base = dict.fromkeys(run.container for run in runs(spec) if run.name == base)
        yield from ((path, name, placed[it], base) for it in of_base if it in placed)


def _is_off(placed: PlacedContainer, variable: str) -> bool:
    said = placed.environment.get(variable)
    if said is None:
        return variable != _ENABLE or all(getattr(placed.container, key, None) is None for key in _FILES)
    return said.strip().lower() in _OFF and (variable == _ENABLE or said != "")


@warning("IS437", _SPECIFICATION)
def adapter_has_no_copies(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """An adapter runs on the copies of its base: it should have neither settings for copies nor an objective.

    What SageMaker does with copies of an adapter is not documented.
    """
    for path, name, _, base in _adapters(spec):
        for key in ("runtime_config", "autoscaling", "objective"):
            if getattr(spec.inference_components[name], key) is not None:
                message = f"`{name}` is an adapter and runs on the copies of `{base}`"
                yield Problem((*path[:-1], key), message, f"remove `{key}`, or write it for `{base}`")


@warning("IS438", _CONTAINER)
def adapter_is_an_archive(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The files of an adapter should be a single `.tar.gz`.

    SageMaker's API requires it of every component, and makes no exception for adapters.
    """
    for path, _, adapter, _ in _adapters(spec):
        url = None if adapter.container is None else adapter.container.artifact_url
        if url is not None and not is_opaque(url) and is_no_archive(url):
            fix = "pack the adapter's files into a tar.gz"
            message = f'"{url[:60]}" is not a `.tar.gz` archive'
            yield Problem((*path, "container", "artifact_url"), message, fix)


# https://github.com/AnthusAI/Plexus/blob/main/infrastructure/stacks/sagemaker_inference_stack.py
@warning("IS442", "user reports")
def adapter_may_seem_to_fail(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """An adapter made by CloudFormation may be reported as failed, although SageMaker has made it.

    A production stack says so of its own adapter, and makes it by a Lambda function instead. CloudFormation
    would then undo the whole deployment.
    """
    adapters = [(path, name) for path, name, _, _ in _adapters(spec)]
    for path, name in adapters[:1]:
        others = f" (and {len(adapters) - 1} more)" if len(adapters) > 1 else ""
        message = f"CloudFormation may report `{name}`{others} as failed although SageMaker has made it"
        fix = "deploy it to a test account first, then turn this off with `ignore`"
        yield Problem((*path, "base_inference_component_name"), message, fix)
