"""Inference components.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateInferenceComponent.html
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from emulator.account import Account, Description
from emulator.answering import Operation, Request, invalid
from emulator.beliefs import believed
from emulator.sagemaker.logs import OF_COMPONENTS, write_first_line
from emulator.sagemaker.names import arn, described, existing, refuse_taken, tag
from emulator.sagemaker.permissions import refuse_unreadable


def create_component(account: Account, request: Request) -> dict[str, Any]:
    name = request["InferenceComponentName"]
    refuse_taken(account.components, account, "inference-component", name)
    endpoint = existing(account.endpoints, account, "endpoint", request["EndpointName"])
    _refuse_unreadable(account, request, endpoint)
    base = _base(account, request)
    variant = _variant(account, request, endpoint) if base is None else base["VariantName"]
    _refuse_unknown_models(account, request)
    component_arn = arn(account, "inference-component", name)
    account.components[name] = described(
        request,
        InferenceComponentArn=component_arn,
        EndpointArn=endpoint["EndpointArn"],
        VariantName=variant,
        InferenceComponentStatus="InService",
        RuntimeConfig=_copies(request.get("RuntimeConfig", {"CopyCount": 1})),
    )
    tag(account, component_arn, request)
    # An adapter runs in the container of its base.
    if base is None:
        write_first_line(account, OF_COMPONENTS + name)
    return {"InferenceComponentArn": component_arn}


def _specifications(request: Request) -> Iterator[dict[str, Any]]:
    if "Specification" in request:
        yield request["Specification"]
    yield from request.get("Specifications", ())


def _refuse_unreadable(account: Account, request: Request, endpoint: Description) -> None:
    config = account.endpoint_configs[endpoint["EndpointConfigName"]]
    containers = [it["Container"] for it in _specifications(request) if "Container" in it]
    refuse_unreadable(account, config.get("ExecutionRoleArn"), containers)


def _base(account: Account, request: Request) -> Description | None:
    """The base component of an adapter."""
    for it in _specifications(request):
        if "BaseInferenceComponentName" in it:
            name = it["BaseInferenceComponentName"]
            return existing(account.components, account, "inference-component", name)
    return None


def _variant(account: Account, request: Request, endpoint: Description) -> str:
    named = {it["VariantName"]: it for it in endpoint["ProductionVariants"]}
    if "VariantName" not in request:
        raise invalid("VariantName is required for a component that is no adapter.")
    existing(named, account, "variant", request["VariantName"])
    config = account.endpoint_configs[endpoint["EndpointConfigName"]]
    if "ExecutionRoleArn" not in config:
        told = "Inference Components are not supported in this Endpoint."
        raise invalid(believed("components-need-a-role", told))
    return str(request["VariantName"])


def _refuse_unknown_models(account: Account, request: Request) -> None:
    for it in _specifications(request):
        if "ModelName" in it and it["ModelName"] not in account.models:
            raise invalid(believed("component-model-exists", f'Could not find model "{it["ModelName"]}".'))


def _copies(config: dict[str, Any]) -> dict[str, Any]:
    return {"DesiredCopyCount": config["CopyCount"], "CurrentCopyCount": config["CopyCount"]}


def update_component(account: Account, request: Request) -> dict[str, Any]:
    component = _component(account, request)
    _refuse_unreadable(account, request, account.endpoints[component["EndpointName"]])
    _base(account, request)
    _refuse_unknown_models(account, request)
    component |= {key: request[key] for key in ("Specification", "Specifications") if key in request}
    if "RuntimeConfig" in request:
        component["RuntimeConfig"] = _copies(request["RuntimeConfig"])
    component["LastModifiedTime"] = datetime.now(UTC)
    return {"InferenceComponentArn": component["InferenceComponentArn"]}


def describe_component(account: Account, request: Request) -> dict[str, Any]:
    found = dict(_component(account, request))
    if "Specification" in found:
        found["Specification"] = _summary(found["Specification"])
    if "Specifications" in found:
        found["Specifications"] = [_summary(it) for it in found["Specifications"]]
    return found


def _summary(specification: dict[str, Any]) -> dict[str, Any]:
    """A specification as SageMaker describes it: the image is shown as the one that is deployed."""
    container = dict(specification.get("Container", {}))
    if "Image" not in container:
        return specification
    image = container.pop("Image")
    container["DeployedImage"] = {"SpecifiedImage": image}
    return {**specification, "Container": container}


def update_runtime_config(account: Account, request: Request) -> dict[str, Any]:
    component = _component(account, request)
    component["RuntimeConfig"] = _copies(request["DesiredRuntimeConfig"])
    return {"InferenceComponentArn": component["InferenceComponentArn"]}


def delete_component(account: Account, request: Request) -> None:
    found = _component(account, request)
    name = found["InferenceComponentName"]
    adapters = [
        it["InferenceComponentName"]
        for it in account.components.values()
        if any(of.get("BaseInferenceComponentName") == name for of in _specifications(it))
    ]
    if adapters:
        raise invalid(
            believed("adapters-before-base", f"{', '.join(adapters)} has the base component {name}.")
        )
    account.tags.pop(found["InferenceComponentArn"])
    del account.components[name]


def _component(account: Account, request: Request) -> Description:
    return existing(account.components, account, "inference-component", request["InferenceComponentName"])


def list_components(account: Account, request: Request) -> dict[str, Any]:
    endpoint = request.get("EndpointNameEquals")
    found = [it for it in account.components.values() if endpoint in (None, it["EndpointName"])]
    return {"InferenceComponents": found}


OPERATIONS: dict[str, Operation] = {
    "CreateInferenceComponent": create_component,
    "DescribeInferenceComponent": describe_component,
    "UpdateInferenceComponent": update_component,
    "UpdateInferenceComponentRuntimeConfig": update_runtime_config,
    "DeleteInferenceComponent": delete_component,
    "ListInferenceComponents": list_components,
}
