"""Several models or containers on each instance: multi-model endpoints and pipelines."""

from collections import Counter
from collections.abc import Iterator

from inferstack.catalog.instances import MULTI_MODEL_GPU_TYPES
from inferstack.check.rules.base import CONTAINER_PAGE, GUIDE, error, warning
from inferstack.facts.kinds import kind_of
from inferstack.facts.triton import is_triton, loaded_by, may_be_triton
from inferstack.facts.walk import (
    PlacedContainer,
    containers,
    hosts,
    how_to_have_many,
    models,
    variant_scalings,
    variants,
)
from inferstack.format.kinds import ModelBackedSpec, ModelSpec, MultiModelSpec, PipelineSpec
from inferstack.format.model import Container, FrameworkImage, Model
from inferstack.problems import Fix, Problem, SpecPath
from inferstack.problems.codes import OWN_FORMAT
from inferstack.problems.words import counted, listed
from inferstack.texts.placeholders import is_opaque
from inferstack.texts.s3_urls import ARCHIVE_SUFFIX, has_key, is_open

_SUPPORT = f"{GUIDE}/multi-model-support.html"
_CREATE = f"{GUIDE}/create-multi-model-endpoint.html"
_SERIAL = f"{GUIDE}/inference-pipelines.html"
_DIRECT = f"{GUIDE}/multi-container-endpoints.html"
# These contain TorchServe or DJL Serving. The guide names only Triton; but AWS's blog announces TorchServe,
# and notebooks deploy both on ml.g5: sm-mme_with_torchserve of aws/amazon-sagemaker-examples, tested by AWS,
# and aws/sagemaker/Multi-Model-Inference-Demo.ipynb of deepjavalibrary/djl-demo, by the makers of the images.
# https://aws.amazon.com/blogs/machine-learning/run-multiple-generative-ai-models-on-gpu-using-amazon-sagemaker-multi-model-endpoints-with-torchserve-and-save-up-to-75-in-inference-costs/
_SHOWN_ON_GPUS = frozenset(
    {"pytorch", "djl-deepspeed", "djl-fastertransformer", "djl-lmi", "djl-tensorrtllm"}
)
_ARCHIVES = (ARCHIVE_SUFFIX, ".tgz", ".tar", ".gz", ".zip")


@error("IS300", _CREATE)
def archives_lie_under_a_prefix(spec: ModelBackedSpec) -> Iterator[Problem]:
    """A multi-model container needs the prefix of its archives; with a `triton` block, it ends in `/`.

    Requests add the name of an archive (`TargetModel`) to it. Archives of a `triton` block are in a folder.
    """
    for placed, container in _with_many_models(spec):
        url, where = container.model_data_url, (*placed.path, "model_data_url")
        if url is None and container.model_data_source is None:
            fix = "add the prefix of the archives: s3://bucket/prefix/"
            yield Problem(placed.path, "the model has no `model_data_url`", fix, lacks="model_data_url")
        elif url is not None and _is_archive(url):
            message = f'"{url}" is one archive: {_what_has_many(spec)} needs a prefix'
            yield Problem(where, message, f'write "{url.rpartition("/")[0]}/"')
        elif _lacks_slash(url) and loaded_by(spec, placed) is not None:
            message = f'"{url}" does not end in `/`, but the archives of the `triton` block go below it'
            yield Problem(where, message, Fix(f'write "{url}/"', url, f"{url}/"))


@warning("IS311", _CREATE)
def prefix_ends_in_a_slash(spec: ModelBackedSpec) -> Iterator[Problem]:
    """The prefix of a multi-model container should end in `/`, or each request must begin with it.

    AWS's guide has a prefix without it, and so does deploy_and_monitor/sm-mme_with_torchserve of
    aws/amazon-sagemaker-examples: its requests name `/sam.tar.gz`.
    """
    for placed, container in _with_many_models(spec):
        url = container.model_data_url
        if _lacks_slash(url) and loaded_by(spec, placed) is None:
            message = f'"{url}" does not end in `/`, so requests must name archives as `/name.tar.gz`'
            yield Problem((*placed.path, "model_data_url"), message, Fix(f'write "{url}/"', url, f"{url}/"))


def _is_archive(url: str) -> bool:
    return url.lower().endswith(_ARCHIVES)


def _lacks_slash(url: str | None) -> bool:
    # IS230 asks for a key where there is none.
    return url is not None and not (url.endswith("/") or is_open(url) or _is_archive(url)) and has_key(url)


def _with_many_models(spec: ModelBackedSpec) -> Iterator[tuple[PlacedContainer, Container]]:
    for placed in containers(spec):
        if placed.takes_prefix and isinstance(placed.container, Container):
            yield placed, placed.container


def _what_has_many(spec: ModelBackedSpec) -> str:
    return f"a multi-model {'endpoint' if kind_of(spec).archives == 'many' else 'container'}"


@error("IS301", CONTAINER_PAGE)
def no_data_source(spec: ModelBackedSpec) -> Iterator[Problem]:
    """A multi-model container cannot have `model_data_source`.

    Only archives can be loaded on request.
    """
    for placed, container in _with_many_models(spec):
        if container.model_data_source is not None:
            fix = "write `model_data_url` with the prefix of the archives: s3://bucket/prefix/"
            message = f"`model_data_source` cannot be used with {_what_has_many(spec)}"
            yield Problem((*placed.path, "model_data_source"), message, fix)


@error("IS303", _SUPPORT)
def triton_on_gpus(spec: ModelBackedSpec) -> Iterator[Problem]:
    """On GPUs, a multi-model endpoint must run Triton.

    AWS's other frameworks support this on CPUs only, except for some that its guide does not mention.
    """
    for path, image in _images_on_gpus(spec):
        if not isinstance(image, FrameworkImage) or image.framework in _SHOWN_ON_GPUS:
            continue
        if not may_be_triton(image):
            message = f"{image.framework} cannot host several models on a GPU"
            fix = "use `framework: triton`, or an instance type without GPU"
            yield Problem((*path, "image"), message, fix)


@warning("IS304", _SUPPORT)
def own_image_on_gpus(spec: ModelBackedSpec) -> Iterator[Problem]:
    """On GPUs, a multi-model endpoint should run Triton, or an image made for it.

    A custom image may implement the contract without a name that says so.
    """
    for path, image in _images_on_gpus(spec):
        if isinstance(image, FrameworkImage) and image.framework in _SHOWN_ON_GPUS:
            message = f"AWS documents only Triton, not {image.framework}, for several models on a GPU"
            fix = "use `framework: triton`, or test it and ignore IS304"
            yield Problem((*path, "image"), message, fix)
        elif isinstance(image, str) and not is_opaque(image) and not is_triton(image):
            message = f'nothing shows that "{image[:60]}" can host several models on a GPU'
            fix = "make sure that it has the `multi-models` label and its API, then ignore IS304"
            yield Problem((*path, "image"), message, fix)


def _images_on_gpus(spec: ModelBackedSpec) -> Iterator[tuple[SpecPath, str | FrameworkImage]]:
    on_gpu = {host.name for _, variant in variants(spec) for host in hosts(variant) if host.gpus}
    for placed in containers(spec):
        if placed.takes_prefix and placed.image is not None and on_gpu.intersection(placed.instance_types):
            yield placed.path, placed.image


@warning("IS305", _SUPPORT)
def documented_gpu_types(spec: MultiModelSpec) -> Iterator[Problem]:
    """AWS documents multi-model endpoints on GPUs only for instance types with one GPU.

    Others may work, but nothing promises that.
    """
    for path, variant in variants(spec):
        for host in hosts(variant):
            if host.gpus and host.name not in MULTI_MODEL_GPU_TYPES:
                message = (
                    f"{host.name} is not among the GPU types that AWS documents for multi-model endpoints"
                )
                fix = "use a single-GPU g4dn or g5, or test it and ignore IS305"
                yield Problem((*path, "instance_type"), message, fix)


@warning("IS306", _CREATE)
def two_instances(spec: MultiModelSpec) -> Iterator[Problem]:
    """A multi-model endpoint should have two or more instances, to stay up when one fails.

    What counts is the lowest number that scaling may leave. Zero, or impossible limits, are errors.
    """
    scaled = {id(variant): (path, scaling.min_capacity) for path, variant, scaling in variant_scalings(spec)}
    unclear = {
        id(variant)
        for path, variant, scaling in variant_scalings(spec)
        if path != scaled[id(variant)][0] or scaling.min_capacity > scaling.max_capacity
    }
    for path, variant in variants(spec):
        start = ((*path, "initial_instance_count"), variant.initial_instance_count)
        where, fewest = start
        if id(variant) in scaled:
            where, fewest = (*scaled[id(variant)][0], "min_capacity"), scaled[id(variant)][1]
        if fewest == 1 and id(variant) not in unclear:
            yield Problem(where, "the endpoint may run on 1 instance", "write 2 or more, as AWS recommends")


@error("IS307", CONTAINER_PAGE)
def caching_only_for_multi_model(spec: ModelSpec) -> Iterator[Problem]:
    """`multi_model_config` is only for multi-model containers.

    Elsewhere there is nothing to cache.
    """
    for placed in containers(spec):
        config = getattr(placed.container, "multi_model_config", None)
        if config is not None and not placed.takes_prefix:
            several = kind_of(spec).containers == "several"
            where = "a container with one model" if several else f"`kind: {spec.kind}`"
            message = f"`multi_model_config` cannot be used with {where}"
            fix = f"remove it, or {how_to_have_many(spec)}"
            yield Problem((*placed.path, "multi_model_config"), message, fix)


def _mode(model: Model) -> str:
    config = model.inference_execution_config
    return "Serial" if config is None else config.mode


@error("IS320", OWN_FORMAT)
def containers_only_in_pipelines(spec: ModelSpec) -> Iterator[Problem]:
    """Only a pipeline can have `containers`.

    All other kinds have one container per model or component, and write its properties there directly.
    """
    if kind_of(spec).containers == "several":
        return
    for path, _, model in models(spec):
        for key in ("containers", "inference_execution_config"):
            if getattr(model, key) is not None:
                where = ".".join(map(str, path))
                instead = f"write the container's properties directly under `{where}`"
                way = instead if key == "containers" else "remove it"
                message = f"`{key}` cannot be used with `kind: {spec.kind}`"
                yield Problem((*path, key), message, f"{way}, or choose `kind: pipeline`")


@error("IS321", _SERIAL)
def pipeline_has_containers(spec: PipelineSpec) -> Iterator[Problem]:
    """A pipeline needs containers."""
    for path, _, model in models(spec):
        if not model.containers:
            fix = "add `containers`, or choose another kind"
            yield Problem((*path, "containers"), "the pipeline has no containers", fix)


@warning("IS338", _SERIAL)
def pipeline_has_several_containers(spec: PipelineSpec) -> Iterator[Problem]:
    """A pipeline should have two or more containers, as AWS defines it.

    SageMaker accepts a list of one, which is then no more than a model with one container.
    """
    for path, _, model in models(spec):
        if model.containers is not None and len(model.containers) == 1:
            message = "the pipeline has only one container"
            yield Problem((*path, "containers"), message, "add another, or choose `kind: single-model`")


@error("IS323", _DIRECT)
def one_multi_model_container(spec: PipelineSpec) -> Iterator[Problem]:
    """A serial pipeline can have at most one multi-model container, a direct one none.

    `TargetModel` can only mean a model of one container.
    """
    for path, _, model in models(spec):
        most = 1 if _mode(model) == "Serial" else 0
        found = [i for i, it in enumerate(model.containers or ()) if it.mode == "MultiModel"]
        for index in found[most:]:
            where = (*path, "containers", index, "mode")
            containers = counted(len(found), "multi-model container")
            message = f"the {_mode(model).lower()} pipeline has {containers}"
            fix = f"{'only 1' if most else 'none'} is allowed: write `mode: SingleModel`"
            yield Problem(where, message, fix)


@error("IS324", _DIRECT)
def direct_containers_have_names(spec: PipelineSpec) -> Iterator[Problem]:
    """Containers that requests call by name need names of their own.

    `TargetContainerHostname` of a request is one of these names.
    """
    for path, _, model in models(spec):
        if _mode(model) == "Direct":
            yield from _nameless(path, model)


def _nameless(path: SpecPath, model: Model) -> Iterator[Problem]:
    names = Counter(it.container_hostname for it in model.containers or ())
    for index, container in enumerate(model.containers or ()):
        where, name = (*path, "containers", index), container.container_hostname
        if name is None:
            fix = "add `container_hostname`"
            yield Problem(where, "the container has no name by which requests can call it", fix)
        elif names[name] > 1:
            message = f"{names[name]} containers are called `{name}`"
            yield Problem((*where, "container_hostname"), message, "give each a name of its own")


@error("IS329", CONTAINER_PAGE)
def all_have_names_or_none(spec: PipelineSpec) -> Iterator[Problem]:
    """In a serial pipeline, all containers must have a `container_hostname`, or none.

    SageMaker makes up names only if it is given none at all; a direct pipeline needs them in any case.
    """
    for path, _, model in models(spec):
        found = model.containers or ()
        names = [it.container_hostname for it in found if it.container_hostname is not None]
        for index in range(len(found)) if names and _mode(model) == "Serial" else ():
            if found[index].container_hostname is None:
                have = "has" if len(names) == 1 else "have"
                message = (
                    f"the container has no `container_hostname`, but {listed(names, last='and')} {have} one"
                )
                fix = "add `container_hostname` here too, or remove it from all containers"
                yield Problem((*path, "containers", index), message, fix)
