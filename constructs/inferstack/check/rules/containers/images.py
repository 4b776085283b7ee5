"""Images: whether AWS publishes them, where, and for which processors."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec.structs import replace

from inferstack.catalog import images, instances
from inferstack.catalog.images import SERVERLESS, NoBuild, PublishedImage, UnknownImage
from inferstack.check.rules.base import AWS, GUIDE, error, warning
from inferstack.facts.kinds import hosts_components, kind_of
from inferstack.facts.triton import TRITON_FRAMEWORKS, may_be_triton, own_block, shows_triton
from inferstack.facts.walk import PlacedContainer, containers, region_of, variants
from inferstack.format.inference_component import ComponentContainer
from inferstack.format.kinds import ModelSpec
from inferstack.format.model import FrameworkImage
from inferstack.problems import Fix, Problem
from inferstack.problems.words import ask, counted, did_you_mean_then, likest, listed
from inferstack.texts.placeholders import is_opaque

PATHS = f"{AWS}/sagemaker/latest/dg-ecr-paths/sagemaker-algo-docker-registry-paths.html"
_TRITON = f"{GUIDE}/deploy-models-frameworks-triton.html"


def _published(placed: PlacedContainer) -> Iterator[tuple[FrameworkImage, str | None]]:
    """The framework image of a container with each host that must run it; None if no host is named."""
    if isinstance(placed.image, FrameworkImage):
        for name in placed.hosts or (None,):
            yield placed.image, name


def _find(image: FrameworkImage, instance_type: str | None) -> PublishedImage:
    flavor = {"py_version": image.py_version, "base_framework_version": image.base_framework_version}
    return images.find(image.framework, image.version, instance_type, **flavor)


@error("IS700", PATHS)
def image_is_published(spec: ModelSpec) -> Iterator[Problem]:
    """AWS must publish the framework's image in this version for this kind of instance.

    Otherwise there is nothing to pull. Each image is reported once, even if it is wrong for several instance
    types.
    """
    for placed in containers(spec):
        for image, instance_type in _published(placed):
            try:
                _find(image, instance_type)
            except UnknownImage as unknown:
                word = _at_fault(image, unknown.message)
                fix = _mend(image, word, instance_type, unknown)
                yield Problem((*placed.path, "image", word), unknown.message, fix)
                break


@warning("IS708", PATHS)
def python_is_chosen(spec: ModelSpec) -> Iterator[Problem]:
    """`py_version` should be left out for an image that AWS does not build for several versions of Python.

    It is ignored, as AWS's SDK does.
    """
    for placed in containers(spec):
        image = placed.image
        if not isinstance(image, FrameworkImage) or image.py_version is None:
            continue
        with suppress(UnknownImage):
            if images.ignores_python(image.framework, image.version):
                message = f"{image.framework} {image.version} has no choice of Python"
                yield Problem((*placed.path, "image", "py_version"), message, "remove `py_version`")


def _at_fault(image: FrameworkImage, message: str) -> str:
    """The key of the image's wrong part."""
    if image.framework not in {*images.frameworks(), *TRITON_FRAMEWORKS}:
        return "framework"
    flavors = (key for key in ("py_version", "base_framework_version") if getattr(image, key) is not None)
    return next((key for key in flavors if key in message), "version")


def _mend(image: FrameworkImage, word: str, instance_type: str | None, unknown: UnknownImage) -> str:
    if word == "framework" and (names := images.in_repository(image.framework, image.version)):
        return f"that is the name of a repository; write {listed(names)}"
    if not isinstance(unknown, NoBuild):
        namesake = _namesake(image, instance_type) if word == "version" else None
        if namesake is not None:
            return f"write `framework: {namesake}`, which has it; allowed: {listed(unknown.allowed)}"
        return _choose(word, str(getattr(image, word)), unknown.allowed)
    if not _places(image):  # Nor for any other processor: the version or the flavor is wrong, too.
        built_for = listed([images.in_words(it) for it in unknown.allowed], quote="")
        return f"choose an instance type with {built_for} CPUs"
    move, sibling = _move(image, instance_type), _sibling(image, instance_type)
    return move if sibling is None else f"write `framework: {sibling}`, or {move}"


def _move(image: FrameworkImage, instance_type: str | None) -> str:
    """The instances that run the image, instead of those that do not."""
    places = ", or with ".join(f"{what}, such as {name}" for what, name in _places(image))
    how = "replace `serverless_config` with" if instance_type == SERVERLESS else "choose"
    return f"{how} an instance type with {places}"


_GPU = "a GPU"
PROPOSED_TYPES = (
    ("x86 CPUs alone", "ml.m5.xlarge"),
    (_GPU, "ml.g5.xlarge"),
    ("Inferentia2", "ml.inf2.xlarge"),
    ("Inferentia", "ml.inf1.xlarge"),
    ("Arm CPUs", "ml.c7g.xlarge"),
)
"""One instance type for each sort of processor that AWS builds images for."""
_MOST_PLACES = 2


def _places(image: FrameworkImage) -> list[tuple[str, str]]:
    """Where the image runs: kinds of processor, each with an instance type."""
    found = [(what, name, tag) for what, name in PROPOSED_TYPES if (tag := _tag(image, name)) is not None]
    # A single build for all processors may still be one for GPUs.
    fitting = [(what, name) for what, name, tag in found if _build(tag) != "GPUs" or what == _GPU]
    return fitting[:_MOST_PLACES]


# What AWS appends to a framework's name where its builds for one sort of processor are another framework.
_SUFFIXES = ("-cpu", "-arm64", "-neuron", "-neuronx")


def _sibling(image: FrameworkImage, instance_type: str | None) -> str | None:
    """The name of another framework that has this image, built for this instance type in this version."""
    stem = next((image.framework.removesuffix(it) for it in _SUFFIXES if image.framework.endswith(it)), None)
    names = [f"{image.framework}{it}" for it in _SUFFIXES] if stem is None else [stem]
    return next((it for it in names if _tag(replace(image, framework=it), instance_type) is not None), None)


# What the SDK's `get_huggingface_llm_image_uri` is called with, and the framework that it finds.
_OF_THE_SDK = {"huggingface": "huggingface-llm", "huggingface-neuronx": "huggingface-llm-neuronx"}


def _namesake(image: FrameworkImage, instance_type: str | None) -> str | None:
    """The framework that has this version and that the SDK knows by this one's name."""
    name = _OF_THE_SDK.get(image.framework)
    is_built = name is not None and _tag(replace(image, framework=name), instance_type) is not None
    return name if is_built else None


def _choose(word: str, found: str, allowed: Sequence[str]) -> str:
    if not allowed:
        return f"remove `{word}`: there is one build of this version"
    if word == "version" and (numbers := _numbers(found)):
        chosen = f"{ask(_nearest_versions(numbers, allowed))} allowed: {listed(allowed)}".lstrip()
    else:
        shown = likest(found, allowed) if word == "framework" else listed(allowed)
        chosen = did_you_mean_then(found, allowed, f"allowed: {shown}")
    if word not in ("framework", "version"):
        return chosen
    said = f"{chosen}; any other image is written as its URI"
    return Fix(said, chosen.found, chosen.instead) if isinstance(chosen, Fix) else said


def _nearest_versions(numbers: tuple[int, ...], versions: Sequence[str]) -> list[str]:
    """The newest version that begins with these numbers; else, of those that begin most like them, the one
    before and the one after. A version with similar digits may be years away.
    """
    ordered = sorted(versions, key=_numbers)
    for length in range(len(numbers), 0, -1):
        alike = [it for it in ordered if _numbers(it)[:length] == numbers[:length]]
        if alike and length == len(numbers):
            return alike[-1:]
        if alike:
            before = [it for it in alike if _numbers(it) < numbers]
            return [*before[-1:], *alike[len(before) :][:1]]
    return []


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall("[0-9]+", version)))


@error("IS701", PATHS)
def image_is_in_the_region(spec: ModelSpec) -> Iterator[Problem]:
    """AWS must publish the framework's image in the stack's region.

    SageMaker pulls images from its own region only. A spec without a region is not checked.
    """
    region = region_of(spec)
    for placed in containers(spec) if region is not None else ():
        for image, instance_type in _published(placed):
            try:
                registries = _find(image, instance_type).registries
            except UnknownImage:
                break
            if region not in registries:
                message = f"{image.framework} {image.version} is not published in {region}"
                fix = f"published in {likest(region, sorted(registries))}"
                yield Problem((*placed.path, "image"), message, fix)
                break


# One for each kind of processor that some framework has its own image for.
_KINDS_OF_HOSTS = ("ml.m5.large", "ml.c7g.large", "ml.g5.xlarge", "ml.inf2.xlarge")


@error("IS707", PATHS)
def host_of_the_image_is_known(spec: ModelSpec) -> Iterator[Problem]:
    """The instance type must be known before the deployment where it chooses a framework's image.

    The image is chosen when the template is made, and AWS has one for CPUs and another for GPUs.
    """
    for placed in containers(spec):
        image = placed.image
        if isinstance(image, FrameworkImage) and any(map(is_opaque, placed.hosts)):
            found = {_tag(image, name) for name in _KINDS_OF_HOSTS} - {None}
            if len(found) > 1:
                message = (
                    f"{image.framework} has an image per processor, but the instance type is known only at "
                    "deployment"
                )
                fix = "write the instance type itself, or the URI of the image"
                yield Problem((*placed.path, "image"), message, fix)


@error("IS703", _TRITON)
def triton_runs_triton(spec: ModelSpec) -> Iterator[Problem]:
    """A Triton model repository needs a Triton image.

    So does an ensemble, since only Triton has those.
    """
    for placed in _must_be_triton(spec):
        image = placed.image
        if isinstance(image, FrameworkImage) and not may_be_triton(image):
            message = f"{image.framework} cannot load a Triton model repository"
            yield Problem((*placed.path, "image", "framework"), message, "write `framework: triton`")


@warning("IS704", _TRITON)
def triton_runs_an_image_with_triton(spec: ModelSpec) -> Iterator[Problem]:
    """A Triton model repository needs a Triton image, and the image's name should show that it is one.

    A custom image may be built on Triton without a name that says so.
    """
    for placed in _must_be_triton(spec):
        image = placed.image
        if isinstance(image, str) and not is_opaque(image) and not shows_triton(image):
            message = f'nothing shows that "{image[:60]}" can load a Triton model repository'
            fix = "make sure that it contains Triton, then ignore IS704"
            yield Problem((*placed.path, "image"), message, fix)


def _must_be_triton(spec: ModelSpec) -> Iterator[PlacedContainer]:
    """Whether the container must run Triton: a top-level repository may belong to any one of several."""
    found = containers(spec)
    shared = spec.triton is not None and len(found) == 1
    for placed in found:
        if kind_of(spec).triton == "always" or shared or own_block(placed.container) is not None:
            yield placed


@warning("IS705", PATHS)
def build_fits_the_processors(spec: ModelSpec) -> Iterator[Problem]:
    """The build of an image should fit the processors of the instance.

    A build for other processors may not start. What it is for is read from the tag (`-cpu`, `-gpu`,
    `-cu128`, `-neuronx`), and from a repository of AWS's own. Where AWS's tables have no image of a framework
    for an instance type, there is nothing to pull, which is an error of its own; of others, they have one for
    all types.
    """
    for placed in containers(spec):
        for name in placed.hosts:
            misfit = next(_misfits(placed, name), None)
            if misfit is not None:
                where = "a serverless endpoint" if name == SERVERLESS else name
                message = f"{misfit[0]}, but {where} has {misfit[1]}"
                yield Problem((*placed.path, "image"), message, _other_build(placed.image, name))


def _other_build(image: str | FrameworkImage | None, instance_type: str) -> str:
    if isinstance(image, FrameworkImage):
        # If AWS had another build, that would have been used already.
        return _move(image, instance_type)
    other = "instances" if instance_type == SERVERLESS else "another instance type"
    return f"use the other build of the image, or {other}"


def _misfits(placed: PlacedContainer, name: str) -> Iterator[tuple[str, str]]:
    """What the image is built for and what the host has, as far as these are known."""
    has = "x86_64" if name == SERVERLESS else images.architecture(name)
    built_for = images.architectures(placed.image) if isinstance(placed.image, str) else ()
    if built_for and has not in built_for:
        built = listed([images.in_words(it) for it in sorted(built_for)], quote="")
        yield f"the image is built for {built} CPUs", f"{images.in_words(has)} CPUs"
    host = instances.find(name)
    if host is None and name != SERVERLESS:
        return
    gpus, accelerators = (0, 0) if host is None else (host.gpus, host.accelerators)
    tag = tag_of(placed, name)
    build = None if tag is None else _build(tag)
    if build == "Neuron devices" and not accelerators:
        yield f'"{tag}" is a build for {build}', "none"
    elif build in ("CPUs", "GPUs") and (build == "GPUs") != bool(gpus):
        yield f'"{tag}" is a build for {build}', counted(gpus, "GPU") if gpus else "no GPU"


@error("IS706", PATHS)
def one_image_for_all_processors(spec: ModelSpec) -> Iterator[Problem]:
    """A framework's image must be the same on all instance types that a container runs on.

    A model names one image, and AWS builds some images separately for each kind of processor.
    """
    for placed in containers(spec):
        first_on: dict[str, str] = {}
        for image, name in _published(placed):
            with suppress(UnknownImage):
                found = _find(image, name)
                first_on.setdefault(f"{found.repository}:{found.tag}", name or "")
        if len(first_on) > 1:
            (one, here), (other, there) = list(first_on.items())[:2]
            message = f"{here} needs {one}, but {there} needs {other}"
            yield Problem((*placed.path, "image"), message, _an_image_each(spec, placed))


def _an_image_each(spec: ModelSpec, placed: PlacedContainer) -> str:
    if isinstance(placed.container, ComponentContainer):
        return "write `specifications`, one for each instance type"
    if hosts_components(spec):
        pooled = any(len(variant.instance_pools or ()) > 1 for _, variant in variants(spec))
        types = "in the `specifications` for the instance types"
        where = types if pooled else "in the `model_name` of the components on each"
        return f"write `models`, one for each, and name them {where}"
    return "write `models`, one for each, and name them in `model_name`, or `model_name_override` of a pool"


def tag_of(placed: PlacedContainer, instance_type: str) -> str | None:
    """The tag of a container's image on an instance type; None if it is not known."""
    match placed.image:
        case FrameworkImage() as image:
            return _tag(image, instance_type)
        case str() as uri if not is_opaque(uri) and ":" in uri:
            return uri.rpartition(":")[2]
        case _:
            return None


def _tag(image: FrameworkImage, instance_type: str | None) -> str | None:
    try:
        return _find(image, instance_type).tag
    except UnknownImage:
        return None


def _build(tag: str) -> str | None:
    """What a tag says it is built for."""
    if "neuron" in tag:
        return "Neuron devices"
    if re.search(r"-cpu\b", tag):
        return "CPUs"
    return "GPUs" if re.search(r"-(?:gpu|cu\d+)\b", tag) else None
