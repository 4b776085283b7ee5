"""Where an endpoint writes what it was asked and what it answered: captured data, asynchronous responses."""

from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import Properties, entries, mapping, shown
from inferstack.endpoint.stack import Stack
from inferstack.problems.words import listed

_MODES = {"Input": "requests", "Output": "responses", "InputAndOutput": "requests and responses"}
_OUTPUTS = {"S3OutputPath": "responses", "S3FailurePath": "errors"}
_TOPICS = {"SuccessTopic": "each success", "ErrorTopic": "each error"}


def capture(stack: Stack) -> str | None:
    """What is captured, how much of it, and where to; None if nothing is.

    https://docs.aws.amazon.com/sagemaker/latest/dg/model-monitor-data-capture.html
    """
    block = mapping(deployed.config(stack.resources).get("DataCaptureConfig"))
    if not block or block.get("EnableCapture", True) is not True:
        return None
    share = stack.number(block.get("InitialSamplingPercentage"))
    modes = [mapping(it).get("CaptureMode") for it in entries(block.get("CaptureOptions"))]
    what = listed([_MODES.get(shown(it), shown(it)) for it in modes], last="and", quote="") or "nothing"
    much = "an unknown share" if share is None else f"{share:g} %"
    return f"{much} of {what} to {stack.readable(block.get('DestinationS3Uri'))}"


def asynchronous(stack: Stack) -> str | None:
    """Where asynchronous responses and errors go, and who is notified; None for other endpoints.

    https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-create-endpoint.html
    """
    output = _output(stack)
    notified = mapping(output.get("NotificationConfig"))
    parts = [
        *(f"{what} to {stack.readable(output[key])}" for key, what in _OUTPUTS.items() if key in output),
        *(
            f"{what} is reported to {stack.readable(notified[key])}"
            for key, what in _TOPICS.items()
            if key in notified
        ),
    ]
    return "; ".join(parts) or None


def topics(stack: Stack) -> list[str]:
    """What somebody is notified of: asynchronous successes, errors."""
    notified = mapping(_output(stack).get("NotificationConfig"))
    return [f"{key.removesuffix('Topic').lower()}s" for key in _TOPICS if key in notified]


def _output(stack: Stack) -> Properties:
    block = mapping(deployed.config(stack.resources).get("AsyncInferenceConfig"))
    return mapping(block.get("OutputConfig"))
