"""The images and files that models and components consist of, and the S3 URLs anywhere in a spec."""

import re
from collections.abc import Iterator

from inferstack.catalog import images
from inferstack.catalog.images import ecr_image, is_ecr_without_account
from inferstack.check.rules.base import API, AWS, CONTAINER_PAGE, error, warning
from inferstack.engines.engine import ENGINES
from inferstack.facts.engines import engine_of
from inferstack.facts.once import found_once
from inferstack.facts.role import (
    Named,
    baselines,
    core_dumps,
    file_keys,
    hub_contents,
    login_functions,
    requests,
    results,
)
from inferstack.facts.triton import is_triton
from inferstack.facts.walk import (
    PlacedContainer,
    components,
    containers,
    model_containers,
    models,
    specifications,
)
from inferstack.format.inference_component import ComponentContainer
from inferstack.format.kinds import ModelSpec
from inferstack.format.model import Container, FrameworkImage, S3DataSource
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import describe, did_you_mean_then, listed
from inferstack.texts.arns import wildcard_in, wildcards_in
from inferstack.texts.placeholders import PSEUDO_PARAMETERS, is_opaque, is_settled, sample
from inferstack.texts.s3_urls import has_key, is_no_archive, s3_url

_SOURCE = f"{API}/API_S3ModelDataSource.html"
_IMAGE = f"{API}/API_ImageConfig.html"
_REFERENCES = f"{AWS}/AWSCloudFormation/latest/UserGuide/dynamic-references.html"
_RESOURCES = f"{AWS}/IAM/latest/UserGuide/reference_policies_elements_resource.html"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9]")
_BUCKETS_NAME = (
    "write s3://bucket/key: a bucket name has 3 to 63 lowercase letters, digits, dots and hyphens, and "
    "begins and ends with a letter or digit"
)


def _sources(spec: ModelSpec) -> Iterator[tuple[SpecPath, S3DataSource]]:
    for path, _, model in model_containers(spec):
        if model.model_data_source is not None:
            yield (*path, "model_data_source", "s3_data_source"), model.model_data_source.s3_data_source


def model_urls(spec: ModelSpec) -> Iterator[Named]:
    """Every S3 URL that a container's files come from, as written in the spec."""
    for placed in containers(spec):
        url = placed.url
        if url is not None:
            yield (*placed.path, placed.url_key), url
    for path, source in _sources(spec):
        yield (*path, "s3_uri"), source.s3_uri


@found_once
def urls(spec: ModelSpec) -> Iterator[Named]:
    """Every S3 URL of a container's files that is known before the deployment."""
    return ((path, url) for path, url in model_urls(spec) if not is_opaque(url))


@found_once
def _urls(spec: ModelSpec) -> Iterator[Named]:
    """Every URL known before the deployment, with something plausible for each placeholder in it."""
    return ((path, str(sample(url))) for path, url in urls(spec))


@error("IS230", CONTAINER_PAGE)
def urls_name_bucket_and_key(spec: ModelSpec) -> Iterator[Problem]:
    """The URL of model files must have a bucket and a key.

    Artifacts of components count, too; https URLs of S3 are left alone, and so are wildcards: see IS248.
    """
    for path, url in _urls(spec):
        bucket = url.removeprefix("s3://").partition("/")[0]
        names_bucket = _BUCKET.fullmatch(bucket) is not None or wildcard_in(bucket) is not None
        if url.startswith("s3://") and not (names_bucket and has_key(url)):
            what = "no key" if names_bucket else f'no valid bucket name: "{bucket}"'
            fix = "write s3://bucket/key" if names_bucket else _BUCKETS_NAME
            yield Problem(path, f'"{url}" has {what}', fix)


_OR_PLAIN_FILES = {
    "model_data_url": ", or use `model_data_source` for plain files",
    "artifact_url": (
        "; for plain files, write a model under `models` with `model_data_source`, and name it as "
        "`specification.model_name`"
    ),
}


@error("IS231", CONTAINER_PAGE)
def archives_are_tar_gz(spec: ModelSpec) -> Iterator[Problem]:
    """A model archive must be a single `.tar.gz`.

    The prefix of a multi-model endpoint and the files of an adapter are exempt. The key of a CDK asset ends
    in `.gz`: SageMaker looks at the object's content, and CDK's own models are deployed like that.
    """
    adapters = {
        below
        for path, _, component in components(spec)
        if component.base_name is not None
        for below, _ in specifications(path, component)
    }
    prefixes = {it.path for it in containers(spec) if it.takes_prefix}
    for path, url in _urls(spec):
        plain = path[-1] == "s3_uri" or path[:-1] in prefixes or path[:-2] in adapters
        if not plain and is_no_archive(url):
            fix = f"pack the files into a tar.gz{_OR_PLAIN_FILES.get(str(path[-1]), '')}"
            yield Problem(path, f'"{url}" is not a `.tar.gz` archive', fix)


@error("IS232", CONTAINER_PAGE)
def model_has_an_image(spec: ModelSpec) -> Iterator[Problem]:
    """A model must have an image or come from a model package.

    A package from the registry brings its own image.
    """
    for path, _, model in model_containers(spec):
        if model.image is None and model.model_package_name is None:
            fix = 'add `image: {framework: triton, version: "26.05"}` or an ECR URI'
            yield Problem(path, "the model has no image", fix, lacks="image")


@warning("IS240", _SOURCE)
def prefixes_end_in_a_slash(spec: ModelSpec) -> Iterator[Problem]:
    """The URL of an `S3Prefix` should end in `/`.

    A prefix without it also matches its neighbors. AWS's page demands the slash, but notebooks of AWS's own
    do without it for a single archive. With `Gzip`, IS242 speaks of that.
    """
    for path, source in _sources(spec):
        if (
            source.s3_data_type == "S3Prefix"
            and not is_opaque(source.s3_uri)
            and not source.s3_uri.endswith("/")
            and source.compression_type != "Gzip"
        ):
            message = f'the prefix "{source.s3_uri}" does not end in `/`'
            fix = "write `s3_data_type: S3Object`"
            if is_no_archive(source.s3_uri):
                fix = f'write "{source.s3_uri}/", or `s3_data_type: S3Object` for one object'
            yield Problem((*path, "s3_uri"), message, fix)


@error("IS241", _SOURCE)
def objects_do_not_end_in_a_slash(spec: ModelSpec) -> Iterator[Problem]:
    """The URL of an `S3Object` cannot end in `/`, since it is a single object."""
    for path, source in _sources(spec):
        if source.s3_data_type == "S3Object" and source.s3_uri.endswith("/"):
            message = f'"{source.s3_uri}" is a prefix, not an object'
            yield Problem((*path, "s3_uri"), message, "name the object, or write `s3_data_type: S3Prefix`")


@error("IS244", _IMAGE)
def private_registry_needs_a_vpc(spec: ModelSpec) -> Iterator[Problem]:
    """An image from a private registry needs access through a VPC.

    With `repository_access_mode: Vpc`, SageMaker reaches the registry only through the model's subnets.
    """
    networks = {name: model.vpc_config for _, name, model in models(spec)}
    for path, name, container in model_containers(spec):
        if _pulls_through_vpc(container) and networks[name] is None:
            where = (*path, "image_config", "repository_access_mode")
            message = "the image is pulled through a VPC, but the model has none"
            yield Problem(where, message, "add `vpc_config`")


def _pulls_through_vpc(model: Container) -> bool:
    return model.image_config is not None and model.image_config.repository_access_mode == "Vpc"


@error("IS245", _IMAGE)
def login_only_for_private_registries(spec: ModelSpec) -> Iterator[Problem]:
    """A login for the registry needs `repository_access_mode: Vpc`.

    For Amazon ECR, the role is used instead.
    """
    for path, _, model in model_containers(spec):
        config = model.image_config
        if config is not None and config.repository_auth_config is not None and not _pulls_through_vpc(model):
            where = (*path, "image_config", "repository_auth_config")
            message = "a login for the registry is set, but the image is pulled from Amazon ECR"
            yield Problem(where, message, "remove it, or write `repository_access_mode: Vpc`")


MODEL_IN_ENVIRONMENT = frozenset(
    {"HF_MODEL_ID", "OPTION_MODEL_ID", "MODEL_ID", "SM_VLLM_MODEL", "MODEL_NAME"}
)
"""Variables with which the published images find their model."""


@warning("IS246", CONTAINER_PAGE)
def container_has_a_model(spec: ModelSpec) -> Iterator[Problem]:
    """A container with an image from AWS should have model files, or a variable that names them.

    Your own image may include its model. Where there are many, IS300 asks for their prefix.
    """
    for placed in containers(spec):
        image, names = placed.image, _variables_of_model(placed)
        title = image.framework if isinstance(image, FrameworkImage) else _title_of_engine(placed)
        if placed.takes_prefix or title is None or has_files(placed.container):
            continue
        said = [placed.environment[it] for it in names if it in placed.environment]
        if names and _names_another_engines_model(placed, names):
            # IS375 says by which variable this engine finds it.
            continue
        if all(it.startswith(_FOLDER) for it in said):
            message = f"the {title} container has no model" + (" files, but is to load them" if said else "")
            is_engine = _title_of_engine(placed) is not None
            key = placed.files_key if is_engine else placed.url_key
            reads_hub = is_engine or title.startswith("huggingface")
            variable = f", or {sorted(names)[0]} to `environment`" if reads_hub and not said else ""
            yield Problem(placed.path, message, f"add `{key}`{variable}", lacks=key)


_FOLDER = "/opt/ml/model"
_HUB_ID = "HF_MODEL_ID"


def _names_another_engines_model(placed: PlacedContainer, names: frozenset[str]) -> bool:
    value = placed.environment.get(_HUB_ID, _FOLDER)
    return _HUB_ID not in names and is_settled(value) and not value.startswith(_FOLDER)


def _title_of_engine(placed: PlacedContainer) -> str | None:
    running = engine_of(placed)
    engine = None if running is None else ENGINES.get(running.name)
    return None if engine is None else engine.title


def _variables_of_model(placed: PlacedContainer) -> frozenset[str]:
    """Variables with which the image finds its model."""
    # Triton's container loads what is in its folder, whatever the environment names.
    if is_triton(placed.image):
        return frozenset()
    running = engine_of(placed)
    engine = None if running is None else ENGINES.get(running.name)
    return frozenset(engine.model) if engine is not None and engine.model else MODEL_IN_ENVIRONMENT


def has_files(container: Container | ComponentContainer) -> bool:
    """Whether a container gets model files."""
    if isinstance(container, ComponentContainer):
        return container.artifact_url is not None
    sources = (container.model_data_url, container.model_data_source, container.model_package_name)
    return any(it is not None for it in sources)


@error("IS247", _IMAGE)
def image_can_be_pulled(spec: ModelSpec) -> Iterator[Problem]:
    """An image must be in Amazon ECR, or in a registry that the model's VPC reaches.

    SageMaker does not know Docker Hub or short names.
    """
    for placed in containers(spec):
        image = placed.image
        if not isinstance(image, str) or is_opaque(image) or ecr_image(str(sample(image))) is not None:
            continue
        if isinstance(placed.container, ComponentContainer) or not _pulls_through_vpc(placed.container):
            fix = f"write the ECR URI, or {_published(image)}"
            if is_ecr_without_account(str(sample(image))):
                fix = "write the 12 digits of the registry's account before `.dkr`"
            yield Problem((*placed.path, "image"), f'"{image[:60]}" is not an image in Amazon ECR', fix)


def _published(image: str) -> str:
    """How to write the image that AWS publishes under the same name, or any that it publishes."""
    name, _, tag = image.rpartition("/")[2].partition(":")
    framework = max(filter(name.startswith, images.frameworks()), key=len, default=None)
    if framework is None:
        return "{framework, version} of an image that AWS publishes"
    version = tag if tag in images.versions(framework) else "…"
    return f'{{framework: {framework}, version: "{version}"}} for the image that AWS publishes'


# ---------------------------------------------------------------- URLs that show no bucket


@error("IS239", _REFERENCES)
def urls_tell_their_bucket(spec: ModelSpec) -> Iterator[Problem]:
    """An S3 URL must show its bucket, even where that is known only at deployment.

    The role's permissions name the bucket. CloudFormation's functions can take a token apart, but not a
    dynamic reference, which is filled in only after they have run.
    """
    for path, url in every_url(spec):
        if s3_url(url) is None:
            fix = "write s3://bucket/key; the bucket, or parts of the key, may be known only at deployment"
            yield Problem(path, f"{describe(url)} does not show the bucket", fix)


def every_url(spec: ModelSpec) -> Iterator[Named]:
    """Each S3 URL of a spec, with its path."""
    yield from model_urls(spec)
    yield from core_dumps(spec)
    yield from results(spec)
    yield from requests(spec)
    yield from baselines(spec)


# ---------------------------------------------------------------- wildcards in what the role may use


_FILES = ("model_data_url", "s3_uri", "artifact_url")


@error("IS248", _RESOURCES)
def rights_name_what_is_meant(spec: ModelSpec) -> Iterator[Problem]:
    """Files, keys, images, functions and hub contents cannot have wildcards or IAM variables in their names.

    SageMaker looks for exactly this name, but in the role's policy it would allow more than intended.
    """
    for path, text in _named(spec):
        for wild in wildcards_in(text):
            what = "wildcard" if wild in ("*", "?") else f"variable `{wild}`, which is never filled in"
            yield Problem(path, f"{describe(text)} has a {what}", _fix(path, wild))


def _fix(path: SpecPath, wild: str) -> str:
    if wild not in ("*", "?"):
        known = [f"${{{name}}}" for name in ("stage", *PSEUDO_PARAMETERS)]
        return did_you_mean_then(wild, known, f"write what it stands for; allowed: {listed(known)}")
    if path[-1] in _FILES:
        return "name one archive, or a prefix that ends in `/` in `model_data_source`"
    return "write the exact name"


def _named(spec: ModelSpec) -> Iterator[Named]:
    """What SageMaker reads, writes, pulls or calls under the role, and the spec names in free text."""
    yield from every_url(spec)
    for placed in containers(spec):
        if isinstance(placed.image, str):
            yield (*placed.path, "image"), placed.image
    yield from login_functions(spec)
    yield from hub_contents(spec)
    yield from file_keys(spec)
