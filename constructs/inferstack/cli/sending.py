"""How a body is sent: the AWS CLI's command, or for a stream a program, which the CLI has no command for."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from inferstack.cli.choice import Choice
from inferstack.cli.terminal import tell
from inferstack.facts.walk import is_async, variants
from inferstack.format.kinds import ModelSpec

_LARGEST = 6_291_456
"""The most bytes that a request to a real-time endpoint may have."""
_STREAM = """\
python3 - <<'END'
import boto3, pathlib, sys
runtime = boto3.client("sagemaker-runtime"{region})
answer = runtime.invoke_endpoint_with_response_stream(
{arguments}
)
for event in answer["Body"]:
    sys.stdout.buffer.write(event["PayloadPart"]["Bytes"])
    sys.stdout.flush()
END"""


def warn_of_size(spec: ModelSpec, content: bytes) -> None:
    """Says that a body is too large for the endpoint."""
    if len(content) > _LARGEST and not is_async(spec):
        tell(f"note: SageMaker documents a limit of {_LARGEST} bytes for a synchronous request")


def command(
    spec: ModelSpec, choice: Choice, content_type: str, out: Path, target_model: str | None = None
) -> str:
    """The AWS CLI's command that sends the body."""
    return " \\\n  ".join(_words(spec, choice, content_type, out, target_model))


def _words(
    spec: ModelSpec, choice: Choice, content_type: str, out: Path, target_model: str | None
) -> Iterator[str]:
    asynchronous = is_async(spec)
    yield f"aws sagemaker-runtime invoke-endpoint{'-async' if asynchronous else ''}"
    yield f"--endpoint-name {spec.endpoint_name}"
    if spec.region is not None:
        yield f"--region {spec.region}"
    if choice.component is not None:
        yield f"--inference-component-name {choice.component}"
    variant = _only_variant(spec, choice.model)
    if variant is not None:
        yield f"--target-variant {variant}"
    if target_model is not None:
        yield f"--target-model {shlex.quote(target_model)}"
    yield f"--content-type {shlex.quote(content_type)}"
    if asynchronous:
        yield "--input-location s3://… # where the file was uploaded to"
    else:
        yield f"--body {shlex.quote(f'fileb://{out}')} answer.bin"


def streaming_program(spec: ModelSpec, choice: Choice, content_type: str, out: Path) -> str:
    """A command for a shell that sends the body and prints the answer as it comes."""
    given = {
        "EndpointName": spec.endpoint_name,
        "InferenceComponentName": choice.component,
        "TargetVariant": _only_variant(spec, choice.model),
        "ContentType": content_type,
    }
    arguments = [f"    {name}={value!r}," for name, value in given.items() if value is not None]
    arguments.append(f"    Body=pathlib.Path({str(out)!r}).read_bytes(),")
    region = "" if spec.region is None else f", region_name={spec.region!r}"
    return _STREAM.format(region=region, arguments="\n".join(arguments))


def _only_variant(spec: ModelSpec, model: str | None) -> str | None:
    """The variant, of several, that hosts a model; None where a request need not or cannot choose."""
    found = [it.variant_name for _, it in variants(spec) if it.model_name == model]
    several = model is not None and len(variants(spec)) > 1
    return found[0] if several and len(found) == 1 else None
