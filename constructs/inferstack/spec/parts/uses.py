"""What SageMaker uses under the role besides files and images: its path in the spec, and its name."""

from collections.abc import Iterator

from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.walk import endpoint_config, every_variant, model_containers
from inferstack.spec.problem import SpecPath

Named = tuple[SpecPath, str]

_CONFIG = ("endpoint_config",)
_OUTPUT = (*_CONFIG, "async_inference_config", "output_config")
_BASELINE = ("explainer_config", "clarify_explainer_config", "shap_config", "shap_baseline_config")
_LOGIN = ("image_config", "repository_auth_config", "repository_credentials_provider_arn")
_HUB = ("model_data_source", "s3_data_source", "hub_access_config", "hub_content_arn")


def results(spec: ModelSpec) -> Iterator[Named]:
    """S3 URLs that SageMaker writes captured data and asynchronous answers to."""
    config = endpoint_config(spec)
    if config.data_capture_config is not None:
        capture = config.data_capture_config
        yield (*_CONFIG, "data_capture_config", "destination_s3_uri"), capture.destination_s3_uri
    output = None if config.async_inference_config is None else config.async_inference_config.output_config
    for key in () if output is None else ("s3_output_path", "s3_failure_path"):
        url = getattr(output, key)
        if url is not None:
            yield (*_OUTPUT, key), url


def core_dumps(spec: ModelSpec) -> Iterator[Named]:
    """S3 URLs that SageMaker writes core dumps to."""
    for path, variant in every_variant(spec):
        if variant.core_dump_config is not None:
            yield (
                (*path, "core_dump_config", "destination_s3_uri"),
                variant.core_dump_config.destination_s3_uri,
            )


def baselines(spec: ModelSpec) -> Iterator[Named]:
    """S3 URLs of the data that an explainer compares requests with."""
    explainer = endpoint_config(spec).explainer_config
    clarify = None if explainer is None else explainer.clarify_explainer_config
    url = None if clarify is None else clarify.shap_config.shap_baseline_config.shap_baseline_uri
    if url is not None:
        yield (*_CONFIG, *_BASELINE, "shap_baseline_uri"), url


def volume_keys(spec: ModelSpec) -> Iterator[Named]:
    """The KMS key of the instances' volumes."""
    key = endpoint_config(spec).kms_key_id
    if key is not None:
        yield (*_CONFIG, "kms_key_id"), key


def storage_keys(spec: ModelSpec) -> Iterator[Named]:
    """KMS keys for what is written to S3."""
    config = endpoint_config(spec)
    capture, asynchronous = config.data_capture_config, config.async_inference_config
    found: list[tuple[SpecPath, str | None]] = []
    if capture is not None:
        found.append(((*_CONFIG, "data_capture_config"), capture.kms_key_id))
    if asynchronous is not None:
        found.append((_OUTPUT, asynchronous.output_config.kms_key_id))
    for path, variant in every_variant(spec):
        if variant.core_dump_config is not None:
            found.append(((*path, "core_dump_config"), variant.core_dump_config.kms_key_id))
    return (((*path, "kms_key_id"), key) for path, key in found if key is not None)


def topics(spec: ModelSpec) -> Iterator[Named]:
    """SNS topics that are notified of asynchronous responses."""
    asynchronous = endpoint_config(spec).async_inference_config
    notify = None if asynchronous is None else asynchronous.output_config.notification_config
    for key in () if notify is None else ("success_topic", "error_topic"):
        topic = getattr(notify, key)
        if topic is not None:
            yield (*_OUTPUT, "notification_config", key), topic


def login_functions(spec: ModelSpec) -> Iterator[Named]:
    """Lambda functions that return the credentials for private registries."""
    for path, _, container in model_containers(spec):
        config = container.image_config
        if config is not None and config.repository_auth_config is not None:
            yield (*path, *_LOGIN), config.repository_auth_config.repository_credentials_provider_arn


def model_packages(spec: ModelSpec) -> Iterator[Named]:
    """Model packages, by ARN or name."""
    for path, _, container in model_containers(spec):
        if container.model_package_name is not None:
            yield (*path, "model_package_name"), container.model_package_name


def hub_contents(spec: ModelSpec) -> Iterator[Named]:
    """Contents of model hubs."""
    for path, _, container in model_containers(spec):
        source = container.model_data_source
        access = None if source is None else source.s3_data_source.hub_access_config
        if access is not None:
            yield (*path, *_HUB), access.hub_content_arn
