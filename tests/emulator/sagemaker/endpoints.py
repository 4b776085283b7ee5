"""Endpoints: what runs, and what an update may change.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpoint.html
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateEndpoint.html
"""

from datetime import UTC, datetime
from typing import Any

from emulator.account import Account, Description
from emulator.answering import Operation, Request, invalid
from emulator.beliefs import believed
from emulator.sagemaker.logs import OF_ENDPOINTS, write_first_line
from emulator.sagemaker.names import arn, described, existing, refuse_taken, tag
from emulator.sagemaker.updates import refuse_update

_COUNTS = ("DesiredInstanceCount", "CurrentInstanceCount")
_WEIGHTS = ("DesiredWeight", "CurrentWeight")


def create_endpoint(account: Account, request: Request) -> dict[str, Any]:
    name = request["EndpointName"]
    # "The name is case-insensitive in CreateEndpoint", according to its page.
    refuse_taken({it.lower() for it in account.endpoints}, account, "endpoint", name.lower())
    config = _config(account, request)
    endpoint_arn = arn(account, "endpoint", name)
    account.endpoints[name] = described(
        request, EndpointArn=endpoint_arn, EndpointStatus="InService", **_running(config)
    )
    tag(account, endpoint_arn, request)
    # The containers of inference components write into groups of their own.
    if any("ModelName" in variant for variant in config["ProductionVariants"]):
        write_first_line(account, OF_ENDPOINTS + name)
    return {"EndpointArn": endpoint_arn}


def _config(account: Account, request: Request) -> Description:
    return existing(account.endpoint_configs, account, "endpoint-config", request["EndpointConfigName"])


def _running(config: Description) -> Description:
    """What an endpoint shows of the configuration that it runs."""
    shown = {key: config[key] for key in ("AsyncInferenceConfig", "ExplainerConfig") if key in config}
    for key in ("ProductionVariants", "ShadowProductionVariants"):
        if key in config:
            shown[key] = [_fleet(variant) for variant in config[key]]
    return shown


def _fleet(variant: dict[str, Any]) -> dict[str, Any]:
    fleet = {"VariantName": variant["VariantName"]}
    if "InitialInstanceCount" in variant:
        fleet |= dict.fromkeys(_COUNTS, variant["InitialInstanceCount"])
    if "ServerlessConfig" in variant:
        fleet |= {"CurrentServerlessConfig": variant["ServerlessConfig"]}
    if "ManagedInstanceScaling" in variant:
        fleet |= {"ManagedInstanceScaling": variant["ManagedInstanceScaling"]}
    weight = variant.get("InitialVariantWeight", 1.0)
    return fleet | dict.fromkeys(_WEIGHTS, weight)


def update_endpoint(account: Account, request: Request) -> dict[str, Any]:
    endpoint = existing(account.endpoints, account, "endpoint", request["EndpointName"])
    config = _config(account, request)
    before = account.endpoint_configs[endpoint["EndpointConfigName"]]
    refuse_update(account, request, before, config)
    after = _running(config)
    if request.get("RetainAllVariantProperties"):
        excluded = {it["VariantPropertyType"] for it in request.get("ExcludeRetainedVariantProperties", ())}
        _retain(endpoint["ProductionVariants"], after["ProductionVariants"], excluded)
    endpoint.pop("AsyncInferenceConfig", None)
    endpoint.pop("ShadowProductionVariants", None)
    endpoint |= after
    endpoint["EndpointConfigName"] = request["EndpointConfigName"]
    endpoint["LastDeploymentConfig"] = request.get("DeploymentConfig")
    endpoint["LastModifiedTime"] = datetime.now(UTC)
    return {"EndpointArn": endpoint["EndpointArn"]}


def _retain(before: list[Description], after: list[Description], excluded: set[str]) -> None:
    """Keeps counts and weights of remaining variants; see `RetainAllVariantProperties` on the operation's page."""
    kept = [*(() if "DesiredInstanceCount" in excluded else _COUNTS)]
    kept += () if "DesiredWeight" in excluded else _WEIGHTS
    old = {it["VariantName"]: it for it in before}
    for fleet in after:
        was = old.get(fleet["VariantName"], {})
        fleet |= {key: was[key] for key in kept if key in was and key in fleet}


def update_weights_and_capacities(account: Account, request: Request) -> dict[str, Any]:
    """Sets what an update may retain, as scaling and A/B tests do."""
    endpoint = existing(account.endpoints, account, "endpoint", request["EndpointName"])
    fleets = {it["VariantName"]: it for it in endpoint["ProductionVariants"]}
    for wanted in request["DesiredWeightsAndCapacities"]:
        fleet = existing(fleets, account, "variant", wanted["VariantName"])
        if "DesiredInstanceCount" in wanted:
            fleet |= dict.fromkeys(_COUNTS, wanted["DesiredInstanceCount"])
        if "DesiredWeight" in wanted:
            fleet |= dict.fromkeys(_WEIGHTS, wanted["DesiredWeight"])
    return {"EndpointArn": endpoint["EndpointArn"]}


def delete_endpoint(account: Account, request: Request) -> None:
    name = request["EndpointName"]
    found = existing(account.endpoints, account, "endpoint", name)
    if any(it["EndpointName"] == name for it in account.components.values()):
        told = "Cannot delete endpoint with inference component associated."
        raise invalid(believed("components-before-endpoint", told))
    account.tags.pop(found["EndpointArn"])
    del account.endpoints[name]


OPERATIONS: dict[str, Operation] = {
    "CreateEndpoint": create_endpoint,
    "DescribeEndpoint": lambda account, request: existing(
        account.endpoints, account, "endpoint", request["EndpointName"]
    ),
    "UpdateEndpoint": update_endpoint,
    "UpdateEndpointWeightsAndCapacities": update_weights_and_capacities,
    "DeleteEndpoint": delete_endpoint,
    "ListEndpoints": lambda account, _: {"Endpoints": [*account.endpoints.values()]},
}
