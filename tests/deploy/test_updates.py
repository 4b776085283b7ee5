"""Every pair of the table of updates, deployed: what is reported about an update beforehand is what happens."""

import json
import re
from collections.abc import Collection
from typing import Any

import pytest
from emulator.clients import EmulatedAws
from emulator.deploying import deploy, destroy, events, failures
from emulator.inventory import inventory
from support.template_pairs import PAIRS, Pair
from support.updating import fates

from inferstack.check.load import LoadedSpec
from inferstack.format.kinds import ExecutionRole
from inferstack.problems import Severity
from inferstack.resolve import resolve_template
from inferstack.updates import UPDATE_RULES

_HASH = re.compile(r"[0-9A-F]{8}(?=$|[A-Z])")
_REPLACED = "requires the creation of a new physical resource"
# Where a container has written a line already, its log group is there, and none can be made.
REFUSED = {code for code, it in UPDATE_RULES.items() if it.severity is Severity.ERROR} | {"IS896"}


def each(pairs: Collection[Pair]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("pair", pairs, ids=lambda pair: f"{pair.base}: {pair.title}")


MOVES = [it for it in PAIRS if "IS856" in it.says]


def template(loaded: LoadedSpec) -> dict[str, Any]:
    found: dict[str, Any] = resolve_template(loaded.spec, region=None, source_of=lambda _: "spec:1")
    return found


def happened(aws: EmulatedAws) -> set[str]:
    """What the last update did: signs and logical IDs, without the hashes in the IDs."""
    told = events(aws, "stack")
    start = max(
        at
        for at, it in enumerate(told)
        if (it["LogicalResourceId"], it["ResourceStatus"]) == ("stack", "UPDATE_IN_PROGRESS")
    )
    signs: dict[str, str] = {}
    for it in told[start:]:
        name, status = it["LogicalResourceId"], it["ResourceStatus"]
        if name == "stack":
            continue
        if status == "UPDATE_IN_PROGRESS":
            signs[name] = "!" if _REPLACED in it.get("ResourceStatusReason", "") else "~"
        elif status == "CREATE_COMPLETE":
            signs[name] = "+"
        elif status in ("DELETE_COMPLETE", "DELETE_SKIPPED"):
            signs.setdefault(name, "-")
    return {sign + _HASH.sub("", name) for name, sign in signs.items()}


def make_policies(aws: EmulatedAws, loaded: LoadedSpec) -> None:
    """Creates the user's own policies that a role has beside its generated ones; they stay for other pairs."""
    role = loaded.spec.execution_role
    iam = aws.client("iam")
    there = {it["Arn"] for it in iam.list_policies(Scope="Local")["Policies"]}
    for arn in role.managed_policy_arns if isinstance(role, ExecutionRole) else ():
        if arn not in there:
            statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
            document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
            iam.create_policy(PolicyName=arn.rpartition("/")[2], PolicyDocument=document)


def store(aws: EmulatedAws, *templates: dict[str, Any]) -> None:
    """Puts what templates take from the Parameter Store into it."""
    for it in (parameter for found in templates for parameter in found.get("Parameters", {}).values()):
        if it["Type"].startswith("AWS::SSM::Parameter::Value"):
            name = it["Default"]
            aws.client("ssm").put_parameter(Name=name, Value=f"of{name}", Type="String", Overwrite=True)


@each([it for it in PAIRS if it not in MOVES])
def test_cloudformation_does_what_was_said(aws: EmulatedAws, pair: Pair) -> None:
    before, after = pair.specs()
    make_policies(aws, before)
    store(aws, template(before), template(after))
    empty = inventory(aws)
    assert (deploy(aws, "stack", template(before)), failures(aws, "stack")) == ("CREATE_COMPLETE", [])
    deployed = inventory(aws)
    update, problems = pair.deployed()
    status = deploy(aws, "stack", template(after))
    if REFUSED & {it.code for it in problems}:
        assert status == "UPDATE_ROLLBACK_COMPLETE"
        assert inventory(aws) == deployed
    else:
        assert (status, failures(aws, "stack")) in (("UPDATE_COMPLETE", []), ("NO CHANGES", []))
        assert happened(aws) == fates(update) if status == "UPDATE_COMPLETE" else not fates(update)
        assert deploy(aws, "stack", template(after)) == "NO CHANGES"
    assert destroy(aws, "stack") == "DELETE_COMPLETE"
    assert inventory(aws) == empty


@each(MOVES)
def test_a_move_makes_a_stack_there_and_leaves_the_old_one(aws: EmulatedAws, pair: Pair) -> None:
    before, after = pair.specs()
    there = EmulatedAws(aws.url, str(after.spec.region))
    empty = inventory(aws), inventory(there)
    assert deploy(aws, "stack", template(before)) == "CREATE_COMPLETE"
    deployed = inventory(aws)
    update, _ = pair.deployed()
    status = deploy(there, "stack", template(after))
    if "IS869" in pair.says:
        # The old stack has a name that the new one needs, too.
        assert status == "ROLLBACK_COMPLETE"
    else:
        assert status == "CREATE_COMPLETE"
        made = there.client("cloudformation").describe_stack_resources(StackName="stack")["StackResources"]
        assert {f"+{_HASH.sub('', it['LogicalResourceId'])}" for it in made} == fates(update)
    assert destroy(there, "stack") == "DELETE_COMPLETE"
    assert inventory(aws) == deployed
    assert destroy(aws, "stack") == "DELETE_COMPLETE"
    assert (inventory(aws), inventory(there)) == empty
