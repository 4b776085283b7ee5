"""S3 URLs, wherever in a spec they stand."""

from collections.abc import Iterator

from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.blocks.model import Container
from inferstack.spec.parts.walk import containers, every_variant
from inferstack.spec.problem import SpecPath
from inferstack.spec.problem.words import describe
from inferstack.spec.rules.base import Finding, error
from inferstack.spec.texts.s3_urls import s3_url

_REFERENCES = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html"


@error(
    "IS239", "An S3 URL tells its bucket, also where only the deployment knows it.", _REFERENCES, ModelSpec
)
def urls_tell_their_bucket(spec: ModelSpec) -> Iterator[Finding]:
    """The role's rights name it. Functions take a token apart, but no dynamic reference: that is filled in
    when they are done.
    """
    for path, url in every_url(spec):
        if url is not None and s3_url(url) is None:
            fix = "write s3://bucket/key; what the deployment knows can stand for the bucket or in the key"
            yield Finding(path, f"{describe(url)} does not tell the bucket", fix)


def every_url(spec: ModelSpec) -> Iterator[tuple[SpecPath, str | None]]:
    """Each S3 URL that a spec may have, and None where it has none."""
    for placed in containers(spec):
        match placed.container:
            case Container(model_data_url=url, model_data_source=source):
                yield (*placed.path, "model_data_url"), url
                if source is not None:
                    where = (*placed.path, "model_data_source", "s3_data_source", "s3_uri")
                    yield where, source.s3_data_source.s3_uri
            case component:
                yield (*placed.path, "artifact_url"), component.artifact_url
    for path, variant in every_variant(spec):
        if variant.core_dump_config is not None:
            dumps = variant.core_dump_config
            yield (*path, "core_dump_config", "destination_s3_uri"), dumps.destination_s3_uri
    for path, url in _of_the_endpoint(spec):
        yield ("endpoint_config", *path), url


def _of_the_endpoint(spec: ModelSpec) -> Iterator[tuple[SpecPath, str | None]]:
    config = spec.endpoint_config
    if config is None:
        return
    if config.data_capture_config is not None:
        yield ("data_capture_config", "destination_s3_uri"), config.data_capture_config.destination_s3_uri
    if config.async_inference_config is not None:
        output = config.async_inference_config.output_config
        for key in ("s3_output_path", "s3_failure_path"):
            yield ("async_inference_config", "output_config", key), getattr(output, key)
    explainer = None if config.explainer_config is None else config.explainer_config.clarify_explainer_config
    if explainer is not None:
        baseline = explainer.shap_config.shap_baseline_config
        shap = ("clarify_explainer_config", "shap_config", "shap_baseline_config", "shap_baseline_uri")
        yield ("explainer_config", *shap), baseline.shap_baseline_uri
