"""The policies that users copy, and the commands that pass them to AWS: valid, and just enough for our stacks."""

import json
import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from botocore import xform_name
from botocore.session import get_session
from cfnlint.data import AdditionalSpecs
from cfnlint.helpers import load_resource
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER
from support.validators import cfn_lint_findings, validate_findings

from inferstack.account.status.snapshot import RIGHTS
from inferstack.catalog import resource_types
from inferstack.check.files import spec_files
from inferstack.check.load import load_spec
from inferstack.resolve import resolve_template
from inferstack.source.document import read_document
from inferstack.source.stages import stage_names

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pipelines" / "iam"
TYPES = sorted(name for key, name in vars(resource_types).items() if key.endswith("_TYPE"))
POLICIES = sorted(FOLDER.glob("*-policy.json"))
TRUSTS = sorted(FOLDER.glob("trust-*.json"))
PAGE = (FOLDER.parent / "README.md").read_text("utf-8")
COMMANDS = [shlex.split(line) for line in re.findall(r"^\$ aws (.*)$", PAGE, re.MULTILINE)]

EXECUTION = [FOLDER / f"execution-{name}.json" for name in ("policy", "extras-policy")]
"""CloudFormation's rights: what every stack needs, and what some need besides."""
_NOT_OF_BUCKETS = (
    *(
        "Abac",
        "Accelerate",
        "Acl",
        "Analytics",
        "CORS",
        "Cors",
        "IntelligentTiering",
        "Inventory",
        "Metadata",
    ),
    *(
        "MetricsConfiguration",
        "Notification",
        "ObjectLock",
        "Ownership",
        "Replication",
        "Versioning",
        "Website",
    ),
)
_NOT_OF_LOG_GROUPS = (
    *("PutDataProtection", "DeleteDataProtection", "PutIndex", "DeleteIndex"),
    *("PutResource", "DeleteResource", "BearerToken", "DeletionProtection", "LogDelivery"),
)
# What the handlers of CloudFormation's registry declare, and why our stacks never need it.
NEVER_NEEDED = {
    "lambda:*": "a scalable target of ours is never a Lambda function",
    "iam:*GroupPolicy": "a policy of ours is attached by its role, never to groups",
    "iam:*UserPolicy": "a policy of ours is attached by its role, never to users",
    "s3tables:*": "a bucket of ours has no tables of metadata",
    **dict.fromkeys(
        (f"s3:*{what}*" for what in _NOT_OF_BUCKETS), "a bucket of ours never has such a setting"
    ),
    **dict.fromkeys(
        ("s3:DeleteBucketEncryption", "s3:DeleteBucketLifecycle", "s3:DeleteBucketTagging"),
        "a bucket of ours always has this setting, or gets another one",
    ),
    "s3:DeleteObject": "a bucket of ours stays with what is in it",
    **dict.fromkeys(
        (f"logs:*{what}*" for what in _NOT_OF_LOG_GROUPS), "a log group of ours never has such a setting"
    ),
    **dict.fromkeys(("s3:REST.PUT.OBJECT", "firehose:*"), "a log group of ours is delivered to nobody"),
    "logs:DeleteRetentionPolicy": "a log group of ours always has a retention",
    "sns:PutDataProtectionPolicy": "a topic of ours has no such policy",
    "sns:*ubscribe": "a topic of ours has no subscriptions",
    "iam:PutRolePolicy": "a role of ours has no inline policies",
    "iam:DeleteRolePolicy": "a role of ours has no inline policies",
    "iam:DeleteRolePermissionsBoundary": "a role of ours keeps its boundary",
}
# What no handler declares, but AWS requires.
ALSO_NEEDED = {
    # https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-prerequisites.html
    "sagemaker:UpdateEndpointWeightsAndCapacities": "registering a variant for scaling",
    # https://docs.aws.amazon.com/sagemaker/latest/dg/api-permissions-reference.html
    "kms:CreateGrant": "creating an endpoint whose configuration names a key",
}
# IAM knows a resource for it, but an account may have none.
RESOURCE_IS_OPTIONAL = {
    "cloudwatch:GetMetricData",
    "cloudwatch:PutMetricData",
    # Of composite alarms, only such rights count.
    # https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html
    # https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
    "cloudwatch:DescribeAlarms",
    "cloudwatch:PutCompositeAlarm",
}
HANDLERS = ("create", "read", "update", "delete")


def statements(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))["Statement"]
    return found


def listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def granted(file: Path) -> set[str]:
    return {action for statement in statements(file) for action in listed(statement["Action"])}


def declared(type_name: str) -> Iterator[str]:
    """Actions that CloudFormation's handlers of a resource type call, as its schema says."""
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", type_name).schema
    for handler in HANDLERS:
        # Some types cannot be read.
        yield from schema["handlers"].get(handler, {}).get("permissions", ())
    yield from schema.get("tagging", {}).get("permissions", ())


def excused(action: str) -> list[str]:
    return [pattern for pattern in NEVER_NEEDED if fnmatch(action, pattern)]


@pytest.mark.parametrize("file", spec_files(ROOT / "model_specs"), ids=lambda file: file.stem)
def test_a_stack_has_no_resources_of_other_types(file: Path) -> None:
    for stage in stage_names(read_document(file)) or (None,):
        spec = load_spec(file, stage=stage, region="us-east-1").spec
        template = resolve_template(spec, region="us-east-1", source_of=lambda _: "")
        assert {resource["Type"] for resource in template["Resources"].values()} <= set(TYPES)


@pytest.mark.parametrize("type_name", TYPES)
def test_cloudformation_may_do_all_that_a_resource_of_ours_takes(type_name: str) -> None:
    needed = {action for action in declared(type_name) if not excused(action)}
    assert needed <= set[str]().union(*map(granted, EXECUTION))


def test_cloudformation_may_do_nothing_else() -> None:
    needed = {action for type_name in TYPES for action in declared(type_name)}
    extra = set[str]().union(*map(granted, EXECUTION)) - needed
    assert extra == set(ALSO_NEEDED), "explain it in the table, or remove it"


def test_every_excuse_excuses_something() -> None:
    asked = {action for type_name in TYPES for action in declared(type_name)}
    assert {pattern for action in asked for pattern in excused(action)} == set(NEVER_NEEDED)


@cache
def services() -> dict[str, Any]:
    """IAM's service authorization data, which cfn-lint ships."""
    found: dict[str, Any] = load_resource(AdditionalSpecs, "Policies.json")
    return found


def test_who_reviews_may_ask_all_that_a_status_takes() -> None:
    needed = {*re.findall(r"[a-z]+:[A-Z]\w+", RIGHTS)}
    assert granted(FOLDER / "review-policy.json") == needed | {"cloudformation:GetTemplate"}


@pytest.mark.parametrize("file", [*POLICIES, *TRUSTS], ids=lambda file: file.stem)
def test_every_action_is_one_that_iam_knows(file: Path) -> None:
    for action in granted(file):
        service, _, name = action.partition(":")
        assert name.lower() in services()[service]["Actions"], action


@pytest.mark.parametrize("file", POLICIES, ids=lambda file: file.stem)
def test_aws_validators_find_nothing_in_a_policy(file: Path) -> None:
    assert findings("AWS::IAM::ManagedPolicy", PolicyDocument=document(file)) == []


@pytest.mark.parametrize("file", TRUSTS, ids=lambda file: file.stem)
def test_aws_validators_find_nothing_in_a_trust_policy(file: Path) -> None:
    assert findings("AWS::IAM::Role", AssumeRolePolicyDocument=document(file)) == []


def findings(resource_type: str, **properties: Any) -> list[str]:
    """What AWS's validators report about a template with one resource."""
    resource = {"Type": resource_type, "Properties": properties}
    template = {"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"Only": resource}}
    return [*cfn_lint_findings(template), *validate_findings(template)]


def document(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


@pytest.mark.parametrize("file", POLICIES, ids=lambda file: file.stem)
def test_a_star_alone_is_a_resource_only_where_iam_has_none(file: Path) -> None:
    for statement in statements(file):
        if "*" in listed(statement["Resource"]):
            for action in listed(statement["Action"]):
                service, _, name = action.partition(":")
                known = services()[service]["Actions"][name.lower()].get("Resources")
                assert not known or action in RESOURCE_IS_OPTIONAL, action


@pytest.mark.parametrize("file", POLICIES, ids=lambda file: file.stem)
def test_what_knows_no_resource_is_allowed_on_a_star_as_nothing_else_counts(file: Path) -> None:
    for statement in statements(file):
        for action in listed(statement["Action"]):
            service, _, name = action.partition(":")
            known = services()[service]["Actions"][name.lower()].get("Resources")
            assert known or listed(statement["Resource"]) == ["*"], action


def test_no_statement_allows_a_service_as_a_whole() -> None:
    for file in POLICIES:
        assert not [action for action in granted(file) if "*" in action]


def test_whoever_uploads_may_use_a_key_through_s3_only() -> None:
    policy = statements(FOLDER / "upload-policy.json")
    through = {"StringLike": {"kms:ViaService": "s3.*.amazonaws.com"}}
    conditions = {action: it.get("Condition") for it in policy for action in listed(it["Action"])}
    keys = {action: condition for action, condition in conditions.items() if action.startswith("kms:")}
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html#mpuAndPermissions
    assert keys == {"kms:Decrypt": through, "kms:GenerateDataKey": through, "kms:DescribeKey": None}


@pytest.mark.parametrize(
    "action", ["iam:PassRole", "iam:CreateServiceLinkedRole", "iam:AttachRolePolicy", "iam:CreateRole"]
)
def test_what_could_raise_rights_has_a_condition(action: str) -> None:
    for statement in statements(FOLDER / "execution-policy.json"):
        assert action not in listed(statement["Action"]) or statement["Condition"]


@pytest.mark.parametrize("file", TRUSTS, ids=lambda file: file.stem)
def test_a_role_trusts_one_repository_only(file: Path) -> None:
    [statement] = statements(file)
    [(operator, conditions)] = statement["Condition"].items()
    assert operator == "StringEquals", "StringLike with a star trusts every fork, branch or tag"
    assert {key.rpartition(":")[2] for key in conditions} == {"aud", "sub"}


def test_github_is_asked_for_a_repository_by_ids_that_are_never_given_again() -> None:
    # https://docs.github.com/en/actions/reference/security/oidc#immutable-subject-claims
    [statement] = statements(FOLDER / "trust-github.json")
    subject = statement["Condition"]["StringEquals"]["token.actions.githubusercontent.com:sub"]
    assert re.fullmatch(r"repo:[\w-]+@\d+/[\w.-]+@\d+:environment:prod", subject)
    assert subject.partition(":environment:")[0] in PAGE


def options(words: list[str]) -> dict[str, str]:
    """The options of a command, all of which have a value."""
    return dict(zip(words[2::2], words[3::2], strict=True))


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_a_command_of_the_page_is_one_that_the_aws_cli_has(words: list[str]) -> None:
    service = get_session().get_service_model(words[0])
    operation = service.operation_model({xform_name(it, "-"): it for it in service.operation_names}[words[1]])
    required, known = (
        {f"--{xform_name(name, '-')}" for name in names}
        for names in (operation.input_shape.required_members, operation.input_shape.members)
    )
    assert required <= options(words).keys() <= known
    for option, value in options(words).items():
        assert not value.startswith("file://") or (FOLDER / value.removeprefix("file://")).exists()
        # https://docs.aws.amazon.com/cli/latest/userguide/cliv2-migration-changes.html#cliv2-migration-paramfile
        assert not value.startswith("https://") or option == "--url", "version 1 of the AWS CLI fetches it"


def test_the_page_makes_the_identity_providers_that_the_roles_trust() -> None:
    made = {}
    for words in COMMANDS:
        if words[1] == "create-open-id-connect-provider":
            given = options(words)
            made[given["--url"].removeprefix("https://")] = given["--client-id-list"]
    for file in TRUSTS:
        [statement] = statements(file)
        provider = statement["Principal"]["Federated"].partition(":oidc-provider/")[2]
        assert statement["Condition"]["StringEquals"][f"{provider}:aud"] in made.pop(provider)
    assert made == {}


@pytest.mark.parametrize("file", POLICIES, ids=lambda file: file.stem)
def test_a_policy_fits_into_what_iam_takes(file: Path) -> None:
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
    assert len(json.dumps(document(file), separators=(",", ":"))) <= 6144
