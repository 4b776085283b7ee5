"""Updates of an endpoint that SageMaker refuses."""

from typing import Any

from emulator.account import Account, Description
from emulator.answering import Request, invalid
from emulator.beliefs import believed

_SCALED = "sagemaker:variant:DesiredInstanceCount"


def refuse_update(account: Account, request: Request, before: Description, after: Description) -> None:
    """Refuses to replace the running configuration ``before`` with ``after``."""
    old, new = _by_name(before), _by_name(after)
    _scaled_types(account, request["EndpointName"], old, new)
    _guarded_names(request, old, new)
    _to_serverless(old, new)
    if "AsyncInferenceConfig" in before and "AsyncInferenceConfig" not in after:
        raise invalid(
            believed("asynchronous-for-good", "AsyncInferenceConfig cannot be removed by an update.")
        )


def _by_name(config: Description) -> dict[str, dict[str, Any]]:
    return {it["VariantName"]: it for it in config["ProductionVariants"]}


def _scaled_types(account: Account, endpoint: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    """https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-scaling-update.html, which does not mention pools."""
    for name in old.keys() & new.keys():
        scaled = (f"endpoint/{endpoint}/variant/{name}", _SCALED) in account.targets
        types = {it.get("InstanceType") for it in (old[name], new[name])}
        if scaled and None not in types and len(types) > 1:
            raise invalid(
                f"The instance type of variant {name} cannot change while a scaling target is registered for it; "
                "deregister the target first."
            )


def _guarded_names(request: Request, old: dict[str, Any], new: dict[str, Any]) -> None:
    """https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails-exclusions.html."""
    if request.get("DeploymentConfig") and old.keys() != new.keys():
        raise invalid("Variants cannot be added, removed or renamed in an update with a DeploymentConfig.")


def _to_serverless(old: dict[str, Any], new: dict[str, Any]) -> None:
    """https://docs.aws.amazon.com/sagemaker/latest/dg/serverless-endpoints.html."""
    on_instances = any("ServerlessConfig" not in it for it in old.values())
    if on_instances and any("ServerlessConfig" in it for it in new.values()):
        raise invalid("An endpoint on instances cannot become serverless.")
