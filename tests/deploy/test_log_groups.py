"""Log groups with a retention: made before anything writes into them, and still there when the stack is gone."""

from typing import Any

import pytest
import yaml
from emulator.clients import EmulatedAws
from emulator.deploying import deploy, destroy, failures
from support.resolving import BASES, merged

from inferstack.check.load import parse_spec
from inferstack.resolve import resolve_template

KINDS = {
    "single": ["/aws/sagemaker/Endpoints/one"],
    "components": ["/aws/sagemaker/Endpoints/shared", "/aws/sagemaker/InferenceComponents/chat"],
}


def template(base: str, days: int | None) -> dict[str, Any]:
    kept = None if days is None else {"retention_in_days": days}
    loaded = parse_spec(merged(yaml.safe_load(BASES[base]), {"log_groups": kept}))
    found: dict[str, Any] = resolve_template(loaded.spec, region="us-east-1", source_of=loaded.source_of)
    return found


def kept(aws: EmulatedAws) -> dict[str, int | None]:
    """For how many days each log group keeps its lines; None is forever."""
    found = aws.client("logs").describe_log_groups()["logGroups"]
    return {it["logGroupName"]: it.get("retentionInDays") for it in found}


@pytest.mark.parametrize(("base", "groups"), KINDS.items(), ids=KINDS)
def test_they_are_there_first_are_updated_and_outlive_the_stack(
    aws: EmulatedAws, base: str, groups: list[str]
) -> None:
    assert (deploy(aws, "stack", template(base, 30)), failures(aws, "stack")) == ("CREATE_COMPLETE", [])
    assert kept(aws) == dict.fromkeys(groups, 30)
    assert deploy(aws, "stack", template(base, 60)) == "UPDATE_COMPLETE"
    assert kept(aws) == dict.fromkeys(groups, 60)
    assert destroy(aws, "stack") == "DELETE_COMPLETE"
    assert kept(aws) == dict.fromkeys(groups, 60)
    # A second stack cannot make them again, and leaves them as they are.
    assert deploy(aws, "second", template(base, 30)) == "ROLLBACK_COMPLETE"
    assert "already exists" in failures(aws, "second")[0]
    assert kept(aws) == dict.fromkeys(groups, 60)


@pytest.mark.parametrize(("base", "groups"), KINDS.items(), ids=KINDS)
def test_a_running_endpoint_has_groups_of_sagemakers_own_that_cannot_be_made_again(
    aws: EmulatedAws, base: str, groups: list[str]
) -> None:
    assert deploy(aws, "stack", template(base, None)) == "CREATE_COMPLETE"
    assert kept(aws) == {groups[-1]: None}
    assert deploy(aws, "stack", template(base, 30)) == "UPDATE_ROLLBACK_COMPLETE"
    assert any("already exists" in it for it in failures(aws, "stack"))
    assert kept(aws) == {groups[-1]: None}
    assert destroy(aws, "stack") == "DELETE_COMPLETE"


def test_a_stack_that_fails_when_it_is_made_leaves_no_group(aws: EmulatedAws) -> None:
    made = template("single", 30)
    made["Resources"]["Endpoint"]["Properties"]["EndpointConfigName"] = "missing"
    assert deploy(aws, "stack", made) == "ROLLBACK_COMPLETE"
    assert kept(aws) == {}
