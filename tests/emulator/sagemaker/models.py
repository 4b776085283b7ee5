"""Models and endpoint configurations.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateModel.html
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpointConfig.html
"""

from typing import Any

from emulator.account import Account
from emulator.answering import Operation, Request, invalid
from emulator.beliefs import believed
from emulator.sagemaker.names import arn, described, existing, refuse_taken, tag
from emulator.sagemaker.permissions import refuse_unreadable


def create_model(account: Account, request: Request) -> dict[str, Any]:
    name = request["ModelName"]
    refuse_taken(account.models, account, "model", name)
    containers = [request[key] for key in ("PrimaryContainer",) if key in request]
    refuse_unreadable(account, request.get("ExecutionRoleArn"), containers + request.get("Containers", []))
    model_arn = arn(account, "model", name)
    account.models[name] = described(request, ModelArn=model_arn)
    tag(account, model_arn, request)
    return {"ModelArn": model_arn}


def delete_model(account: Account, request: Request) -> None:
    found = existing(account.models, account, "model", request["ModelName"])
    account.tags.pop(found["ModelArn"])
    del account.models[request["ModelName"]]


def create_endpoint_config(account: Account, request: Request) -> dict[str, Any]:
    name = request["EndpointConfigName"]
    refuse_taken(account.endpoint_configs, account, "endpoint-config", name)
    _check_variants(account, request)
    config_arn = arn(account, "endpoint-config", name)
    account.endpoint_configs[name] = described(request, EndpointConfigArn=config_arn)
    tag(account, config_arn, request)
    return {"EndpointConfigArn": config_arn}


def _check_variants(account: Account, request: Request) -> None:
    variants = [*request["ProductionVariants"], *request.get("ShadowProductionVariants", ())]
    names = [it["VariantName"] for it in variants]
    if len({*names}) < len(names):
        raise invalid(
            believed("variant-names-twice", f"Variant names must be unique, not {', '.join(names)}.")
        )
    for variant in variants:
        if variant.get("ModelName") is not None:
            existing(account.models, account, "model", variant["ModelName"])
        elif request.get("ExecutionRoleArn") is None:
            told = (
                f"ModelName is missing in variant {variant['VariantName']} of a configuration without a role."
            )
            raise invalid(believed("components-need-a-role", told))
        _check_managed_scaling(variant)


def _check_managed_scaling(variant: dict[str, Any]) -> None:
    scaling = variant.get("ManagedInstanceScaling", {})
    if "MaxInstanceCount" in scaling and scaling.get("MinInstanceCount", 0) > scaling["MaxInstanceCount"]:
        told = f"MinInstanceCount of variant {variant['VariantName']} is above its MaxInstanceCount."
        raise invalid(believed("managed-scaling-bounds", told))


def delete_endpoint_config(account: Account, request: Request) -> None:
    name = request["EndpointConfigName"]
    found = existing(account.endpoint_configs, account, "endpoint-config", name)
    using = [it["EndpointName"] for it in account.endpoints.values() if it["EndpointConfigName"] == name]
    if using:
        raise invalid(believed("config-in-use", f"Endpoint {using[0]} uses the configuration {name}."))
    account.tags.pop(found["EndpointConfigArn"])
    del account.endpoint_configs[name]


OPERATIONS: dict[str, Operation] = {
    "CreateModel": create_model,
    "DescribeModel": lambda account, request: existing(
        account.models, account, "model", request["ModelName"]
    ),
    "DeleteModel": delete_model,
    "ListModels": lambda account, _: {"Models": [*account.models.values()]},
    "CreateEndpointConfig": create_endpoint_config,
    "DescribeEndpointConfig": lambda account, request: existing(
        account.endpoint_configs, account, "endpoint-config", request["EndpointConfigName"]
    ),
    "DeleteEndpointConfig": delete_endpoint_config,
    "ListEndpointConfigs": lambda account, _: {"EndpointConfigs": [*account.endpoint_configs.values()]},
}
