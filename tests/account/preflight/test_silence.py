"""What an answer lacks is never taken for `ok`; the rights that are printed are those of the requests that are made."""

import json
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from support import ready_account as w
from support.answers import Answers, Refused, optional
from support.iam import allows

from inferstack.account.connection import AnswerOfAws

Preflight = Callable[..., tuple[int, Any]]
BOTH = ("churn.yaml", "chat.yaml")
ENCRYPTED = w.file(ServerSideEncryption="aws:kms", SSEKMSKeyId=w.KEY)
OWN_ROLE = w.SPEC.replace(f"execution_role: arn:aws:iam::{w.ACCOUNT}:role/ml/churn\n", "")


def _running(owner: str) -> dict[str, Any]:
    """`churn` runs alongside another endpoint, in two pages."""
    described = {it: w.endpoint(it) for it in ("churn", "other")}
    first, last = ({"Endpoints": [w.summary(it)]} for it in described)
    return w.running() | {
        "ListServiceQuotas": {"Quotas": [w.quota(w.G5, 8)]},
        "ListEndpoints": lambda params: last if "NextToken" in params else {**first, "NextToken": "2"},
        "DescribeEndpoint": lambda params: described.get(params["EndpointName"], w.NOT_FOUND),
        "DescribeStackResources": {"StackResources": [w.resource(owner)]},
        "DescribeStackResource": w.detail("churn.yaml: endpoint_name"),
    }


def _world(**given: Any) -> dict[str, Any]:
    return w.world() | {"ListServiceQuotas": {"Quotas": [w.quota(w.G5, 4)]}} | given


NO_DOOR = {"VpcEndpoints": []}
WAYS: dict[str, tuple[dict[str, Any], str]] = {
    "the first deployment": (w.world(), w.SPEC),
    "an update": (_running("churn"), w.SPEC),
    "an update of an app's stack": (_running("app"), w.SPEC),
    "an encrypted file": (_world(HeadObject=ENCRYPTED), OWN_ROLE),
    "a NAT gateway": (
        _world(DescribeVpcEndpoints=NO_DOOR, DescribeRouteTables={"RouteTables": [w.table(w.NAT)]}),
        w.SPEC,
    ),
    "a default quota": (
        _world(
            ListServiceQuotas={"Quotas": [w.quota(w.G6, 4)]},
            ListAWSDefaultServiceQuotas={"Quotas": [w.quota(w.G5, 4)]},
        ),
        w.SPEC,
    ),
}
"""In each, everything is well."""

MEANS_SOMETHING: dict[str, set[Any]] = {
    # Whose key it is, and which one an alias means: the key may still be the one that the role may use.
    "DescribeKey": {"KeyManager", "Arn"},
    # It is not asked about where there are files.
    "ListObjectsV2": {"KeyCount"},
    "HeadObject": {"StorageClass", "ServerSideEncryption"},
    # A type or a count that is said elsewhere, and what comes on the next page.
    "ListEndpoints": {"NextToken"},
    "DescribeEndpoint": {"CurrentInstanceCount", "DesiredInstanceCount"},
    "ListServiceQuotas": {"QuotaCode"},
    "ListAWSDefaultServiceQuotas": {"QuotaCode"},
    "DescribeRouteTables": {"Main", "DestinationCidrBlock"},
    "BatchGetImage": {"failures"},
}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    """Operations and the members of their answers that are looked at: what else may be left out changes nothing."""
    names: set[tuple[str, str]] = set()

    def noted(method: str) -> Callable[..., Any]:
        plain = getattr(dict, method)

        def look(self: AnswerOfAws, *arguments: Any) -> Any:
            names.add((self.call, str(arguments[0])))
            return plain(self, *arguments)

        return look

    for method in ("__getitem__", "__contains__", "get"):
        monkeypatch.setattr(AnswerOfAws, method, noted(method), raising=False)
    return names


def _answers(aws: Answers) -> list[tuple[str, Any]]:
    """Every answer that was given, with its operation."""
    found: dict[str, tuple[str, Any]] = {}
    for operation, params in aws.asked:
        given = aws.given[operation]
        answer = given(params) if callable(given) else given
        if not isinstance(answer, Refused):
            found.setdefault(f"{operation}{answer}", (operation, answer))
    return [*found.values()]


@pytest.mark.parametrize("way", WAYS)
def test_what_an_answer_lacks_is_never_ok(
    way: str, ready: Answers, preflight: Preflight, read: set[tuple[str, str]]
) -> None:
    given, spec = WAYS[way]
    Path("churn.yaml").write_text(spec)
    ready.given = given
    specs = BOTH if way == "the first deployment" else ("churn.yaml",)
    status, said = preflight(*specs)
    assert status == 0, said.out
    answers, looked_at = _answers(ready), {*read}
    assert {it for it, _ in answers} == {it for it, _ in looked_at}
    tried = 0
    for operation, answer in answers:
        for path in optional(ready.shapes[operation], answer):
            if (operation, path[-1]) not in looked_at or path[-1] in MEANS_SOMETHING.get(operation, ()):
                continue
            ready.left_out = (operation, path)
            tried += 1
            status, said = preflight(*specs)
            assert status in (1, 3), (operation, path, said.out)
    assert tried > 10


@pytest.mark.parametrize("way", WAYS)
def test_a_denied_permission_is_never_ok(way: str, ready: Answers, preflight: Preflight) -> None:
    given, spec = WAYS[way]
    Path("churn.yaml").write_text(spec)
    ready.given = given
    specs = BOTH if way == "the first deployment" else ("churn.yaml",)
    preflight(*specs)
    for operation in dict.fromkeys(it for it, _ in ready.asked):
        ready.given = given | {operation: Refused("AccessDeniedException", "no", 403)}
        status, said = preflight(*specs)
        assert status == 3, (operation, said.out)


# ---------------------------------------------------------------- rights

_ACTIONS = {"HeadObject": "s3:GetObject", "HeadBucket": "s3:ListBucket", "ListObjectsV2": "s3:ListBucket"}
_PREFIXES = {
    "Get": "iam",
    "BatchGetImage": "ecr",
    "DescribeStack": "cloudformation",
    "DescribeKey": "kms",
    "DescribeEndpoint": "sagemaker",
    "DescribeInference": "sagemaker",
    "ListEndpoints": "sagemaker",
    "ListServiceQuotas": "servicequotas",
    "ListAWS": "servicequotas",
    "GetParameter": "ssm",
    "Describe": "ec2",
}
_HERE = f"us-east-1:{w.ACCOUNT}"
_RESOURCES = {
    "HeadObject": "arn:aws:s3:::{Bucket}/{Key}",
    "HeadBucket": "arn:aws:s3:::{Bucket}",
    "ListObjectsV2": "arn:aws:s3:::{Bucket}",
    "DescribeKey": "{KeyId}",
    "BatchGetImage": "arn:aws:ecr:us-east-1:{registryId}:repository/{repositoryName}",
    "GetRole": f"arn:aws:iam::{w.ACCOUNT}:role/ml/{{RoleName}}",
    "GetPolicy": "{PolicyArn}",
    "GetParameter": f"arn:aws:ssm:{_HERE}:parameter{{Name}}",
    "DescribeStacks": f"arn:aws:cloudformation:{_HERE}:stack/{{StackName}}/1",
    "DescribeStackResource": f"arn:aws:cloudformation:{_HERE}:stack/{{StackName}}/1",
    "DescribeEndpoint": f"arn:aws:sagemaker:{_HERE}:endpoint/{{EndpointName}}",
    "DescribeEndpointConfig": f"arn:aws:sagemaker:{_HERE}:endpoint-config/{{EndpointConfigName}}",
    "DescribeInferenceComponent": f"arn:aws:sagemaker:{_HERE}:inference-component/{{InferenceComponentName}}",
}
"""What a request is about; for others, IAM knows no resource, or AWS only says it in its answer."""


def _action(operation: str) -> str:
    longest = max((it for it in _PREFIXES if operation.startswith(it)), key=len, default="")
    return _ACTIONS.get(operation) or f"{_PREFIXES[longest]}:{operation}"


def test_the_policy_allows_what_is_asked_and_nothing_else(ready: Answers, preflight: Preflight) -> None:
    Path("cdk.json").write_text("{}")
    made = set()
    for given, spec in WAYS.values():
        ready.given = {
            **given,
            "ListAWSDefaultServiceQuotas": {"Quotas": [w.quota(w.G5, 4), w.quota(w.G6, 4)]},
        }
        Path("churn.yaml").write_text(spec)
        policy = json.loads(preflight(*BOTH, "--print-policy")[1].out)
        assert not ready.asked
        assert preflight(*BOTH)[0] == 0
        for operation, params in ready.asked:
            if operation != "GetCallerIdentity":  # Everybody may.
                action, resource = _action(operation), _RESOURCES.get(operation, "*").format(**params)
                assert allows(policy, action, resource), (action, resource)
                made.add(action)
    Path("churn.yaml").write_text(w.SPEC)
    policy = json.loads(preflight(*BOTH, "--print-policy")[1].out)
    actions = [it["Action"] for it in policy["Statement"]]
    assert made == {action for it in actions for action in ([it] if isinstance(it, str) else it)}
    assert not any(fnmatchcase(it, "*[*]*") for it in made)
