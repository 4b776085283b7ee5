"""What the containers of a spec must be allowed to do, gathered from every block that implies it."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from inferstack.catalog.images import ecr_image
from inferstack.facts.alarms import rollbacks
from inferstack.facts.role import (
    Named,
    baselines,
    core_dumps,
    hub_contents,
    login_functions,
    model_packages,
    requests,
    results,
    storage_keys,
    topics,
    volume_keys,
)
from inferstack.facts.walk import (
    PlacedContainer,
    components,
    containers,
    endpoint_config,
    every_variant,
    models,
)
from inferstack.format.kinds import ModelSpec
from inferstack.format.model import Container, ModelDataSource, VpcConfig
from inferstack.problems import SpecPath
from inferstack.resolve.alarms import rollback_alarm_arns
from inferstack.resolve.async_inference import requests_arns, results_arns, topic_arns
from inferstack.resolve.images import model_package_arn, placed_image, s3_location
from inferstack.resolve.resource import Value
from inferstack.texts.arns import wildcard_in
from inferstack.texts.placeholders import is_opaque
from inferstack.texts.s3_urls import ARCHIVE_SUFFIX, has_key, is_open, pattern_of

_S3_PREFIX = "S3Prefix"


class RoleNeeds(msgspec.Struct, frozen=True):
    """Everything that the execution role must name."""

    endpoint_name: str
    inference_components: tuple[str, ...]
    files: tuple[tuple[str, bool], ...]
    """S3 URLs to read, and whether all objects under them are meant."""
    requests: tuple[Value, ...]
    """ARNs of asynchronous requests to read."""
    writes: tuple[Value, ...]
    """ARNs of the objects to write."""
    repository_arns: tuple[Value, ...]
    keys: tuple[str, ...]
    vpcs: tuple[VpcConfig, ...]
    topics: tuple[Value, ...]
    functions: tuple[str, ...]
    model_packages: tuple[Value, ...]
    hub_contents: tuple[str, ...]
    alarms: tuple[Value, ...]
    """ARNs of the alarms that undo an update, which SageMaker looks at under this role."""
    sessions: bool
    """Whether Systems Manager opens a shell in the containers."""


def gather_needs(spec: ModelSpec, region: str | None) -> RoleNeeds:
    """Walks the spec once. ``region`` decides the image accounts where it is known."""
    return RoleNeeds(
        endpoint_name=spec.endpoint_name,
        inference_components=tuple(name for _, name, _ in components(spec)),
        files=(*_files(spec), *((url, False) for _, url in baselines(spec))),
        requests=(*_folders(requests(spec)), *requests_arns(spec)),
        writes=(*_folders(results(spec), core_dumps(spec)), *results_arns(spec)),
        repository_arns=tuple(_repositories(spec, region)),
        keys=_names(volume_keys(spec), storage_keys(spec)),
        vpcs=tuple(vpc for _, vpc in named_vpcs(spec)),
        topics=(*_names(topics(spec)), *topic_arns(spec)),
        functions=_names(login_functions(spec)),
        model_packages=tuple(map(model_package_arn, _names(model_packages(spec)))),
        hub_contents=_names(hub_contents(spec)),
        alarms=tuple(_alarms(spec)),
        sessions=any(variant.enable_ssm_access for _, variant in every_variant(spec)),
    )


def _names(*named: Iterable[Named]) -> tuple[str, ...]:
    return tuple(name for each in named for _, name in each)


def _folders(*named: Iterable[Named]) -> Iterator[Value]:
    return (s3_location(url).folder_arn() for url in _names(*named))


def _files(spec: ModelSpec) -> Iterator[tuple[str, bool]]:
    """The files that the spec names; of an uploaded archive every version, so that new weights change no
    rights. Each change would need approval (`cdk deploy` asks), and would have to reach all of IAM before the
    new model can be read.
    """
    for _, url, is_prefix in named_files(spec):
        pattern = pattern_of(url)
        yield url if pattern is None else pattern, is_prefix


def named_files(spec: ModelSpec) -> Iterator[tuple[SpecPath, str, bool]]:
    """The files of all containers: where the spec names them, their S3 URL, and whether all objects under it
    are meant.
    """
    for placed in containers(spec):
        for name, url, is_prefix in _files_of_environment(placed.environment):
            yield (*placed.path, "environment", name), url, is_prefix
        match placed.container:
            case Container(model_data_source=ModelDataSource() as source):
                files = source.s3_data_source
                is_prefix = files.s3_data_type == _S3_PREFIX or is_opaque(files.s3_data_type)
                yield (*placed.path, "model_data_source", "s3_data_source", "s3_uri"), files.s3_uri, is_prefix
            case Container(model_data_url=str() as url):
                yield (*placed.path, placed.url_key), url, url.endswith("/") or placed.takes_prefix
            case Container():
                pass
            case component if component.artifact_url is not None:
                # An adapter has no image of its own, and its files may lie in a folder.
                url = component.artifact_url
                is_prefix = url.endswith("/") or (is_open(url) and placed.image is None)
                yield (*placed.path, placed.url_key), url, is_prefix
            case _:
                pass


def _files_of_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, str, bool]]:
    """Files that the container itself reads: `HF_MODEL_ID: s3://…`, `SAGEMAKER_SUBMIT_DIRECTORY: s3://…`.

    A value with a wildcard is left out: how much it covers is not known.
    """
    for variable, value in environment.items():
        if not value.startswith("s3://") or value.startswith("s3:///"):
            continue
        # Slashes alone are no key: without them, the whole bucket would be left.
        if has_key(value) and wildcard_in(value) is None:
            name = value.rpartition("/")[2]
            # A name with a dot may be a file's or, like `Qwen2.5-7B`, a folder's; one without is a folder's.
            if "." in name:
                yield variable, value, False
            if not name.endswith(ARCHIVE_SUFFIX):
                yield variable, f"{value.rstrip('/')}/", True


def _repositories(spec: ModelSpec, region: str | None) -> Iterator[Value]:
    for placed in containers(spec):
        image = None if _comes_through_vpc(placed) else placed_image(placed, region)
        if image is not None and image.repository_arn is not None:
            yield image.repository_arn


def _comes_through_vpc(placed: PlacedContainer) -> bool:
    """Whether an image whose registry only the deployment knows comes from a private one."""
    image, container = placed.image, placed.container
    config = container.image_config if isinstance(container, Container) else None
    if config is None or config.repository_access_mode != "Vpc":
        return False
    return isinstance(image, str) and is_opaque(image) and ecr_image(image) is None


def named_vpcs(spec: ModelSpec) -> Iterator[tuple[SpecPath, VpcConfig]]:
    """The networks that containers are in, and where the spec names them."""
    found = [((*path, "vpc_config"), model.vpc_config) for path, _, model in models(spec)]
    for path, vpc in ((("endpoint_config", "vpc_config"), endpoint_config(spec).vpc_config), *found):
        if vpc is not None:
            yield path, vpc


def _alarms(spec: ModelSpec) -> Iterator[Value]:
    return (arn for _, rollback, name in rollbacks(spec) for arn in rollback_alarm_arns(spec, rollback, name))
