"""What preflight finds in an account, situation by situation."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support import ready_account as w
from support.answers import Answers, Refused

Preflight = Callable[..., tuple[int, Any]]
DENIED = Refused("AccessDeniedException", "not authorized", 403)
EXPIRED = Refused("ExpiredTokenException", "The security token included in the request is expired", 403)
KMS_FILE = w.file(ServerSideEncryption="aws:kms", SSEKMSKeyId=w.KEY)
OWN_ROLE = w.SPEC.replace(f"execution_role: arn:aws:iam::{w.ACCOUNT}:role/ml/churn\n", "")
SERVERLESS = OWN_ROLE.replace(
    "instance_type: ml.g5.xlarge, initial_instance_count: 2",
    "serverless_config: {memory_size_in_mb: 1024, max_concurrency: 20}",
).replace("  vpc_config: {subnets: [subnet-0a, subnet-0b], security_group_ids: [sg-0a]}\n", "")
SERVERLESS = "".join(line for line in SERVERLESS.splitlines(True) if "kms_key_id" not in line)


class Case(NamedTuple):
    """What differs from an account in which everything is there, and what is said about it."""

    check: str
    state: str
    said: str
    given: dict[str, Any] = {}
    spec: str = w.SPEC


def _pages(*pages: Any) -> Callable[[Any], Any]:
    """Answers in pages, which follow one another by their tokens."""

    def answer(params: Any) -> Any:
        index = int(params.get("NextToken", 0))
        more = {"NextToken": str(index + 1)} if index + 1 < len(pages) else {}
        return {**pages[index], **more}

    return answer


def _quotas(*pages: Any) -> dict[str, Any]:
    return {"ListServiceQuotas": _pages(*({"Quotas": [*it]} for it in pages))}


def _others(count: int, **more: Any) -> dict[str, Any]:
    """Other endpoints with two instances each, in pages of one."""
    names = [f"other-{index}" for index in range(count)]
    return {
        "ListEndpoints": _pages(*({"Endpoints": [w.summary(it)]} for it in names)),
        "DescribeEndpoint": lambda params: (
            w.NOT_FOUND if params["EndpointName"] == "churn" else w.endpoint(params["EndpointName"], **more)
        ),
    }


def _own(owner: dict[str, Any], **more: Any) -> dict[str, Any]:
    return w.running() | {"DescribeStackResources": {"StackResources": [owner]}, **more}


PENDING = {
    "EndpointConfigName": "next",
    "ProductionVariants": [
        {"VariantName": "AllTraffic", "InstanceType": "ml.g5.xlarge", "DesiredInstanceCount": 1}
    ],
}
STARTING = [{"VariantName": "AllTraffic", "CurrentInstanceCount": 0, "DesiredInstanceCount": 3}]
POOLS = [
    {
        "VariantName": "AllTraffic",
        "InstancePools": [{"InstanceType": "ml.g5.xlarge", "CurrentInstanceCount": 5}],
    }
]
FOUND = {"DescribeEndpoint": w.endpoint(), "ListEndpoints": {"Endpoints": [w.summary("churn")]}}
CASES = [
    # Credentials and region
    Case("credentials", "ok", f"account {w.ACCOUNT}, us-east-1"),
    Case("credentials", "problem", "log in again", {"GetCallerIdentity": EXPIRED}),
    Case(
        *("credentials", "problem", "enable us-east-1 in the account"),
        {"GetCallerIdentity": Refused("InvalidClientTokenId", "The security token is invalid", 403)},
    ),
    Case("credentials", "cannot tell", "wait a moment", {"GetCallerIdentity": Refused("Throttling", "", 400)}),
    Case("the rest", "cannot tell", "nothing else was checked", {"GetCallerIdentity": EXPIRED}),
    Case(
        *("credentials", "problem", "the spec is for the account 123456789012, but the credentials are for 4"),
        {"GetCallerIdentity": {"Account": "444455556666"}},
    ),
    # Quotas
    Case("quota", "ok", f"`{w.G5}` is 4 in us-east-1; `churn` may need 2"),
    Case(
        *("quota", "problem", f"`{w.G5}` is 1 in us-east-1, but `churn` may need 2; ask for 2: `aws service-quotas"),
        _quotas([w.quota(w.G5, 1)]),
    ),
    Case("quota", "problem", "--quota-code L-1928E07B --desired-value 2 --region us-east-1", _quotas([w.quota(w.G5, 0)])),
    Case("quota", "ok", "is 4 in us-east-1", _quotas([w.quota("x", 1)], [w.quota(w.G5, 4)])),
    Case(
        *("quota", "ok", "is 4 in us-east-1"),
        {"ListServiceQuotas": [Refused("TooManyRequestsException", "Rate exceeded", 429), {"Quotas": [w.quota(w.G5, 4)]}]},
    ),
    Case(
        *("quota", "cannot tell", "TooManyRequestsException"),
        {"ListServiceQuotas": Refused("TooManyRequestsException", "Rate exceeded", 429)},
    ),
    Case("quota", "cannot tell", "allow servicequotas:ListServiceQuotas (`--print", {"ListServiceQuotas": DENIED}),
    Case(
        *("quota", "problem", f"`{w.G5}` is 0"),
        {"ListServiceQuotas": {"Quotas": []}, "ListAWSDefaultServiceQuotas": {"Quotas": [w.quota(w.G5, 0)]}},
    ),
    Case("quota", "problem", "us-east-1 does not offer ml.g5.xlarge for endpoints", {"ListServiceQuotas": {"Quotas": []}}),
    Case(
        *("quota", "cannot tell", "Service Quotas lists no `ml.g5.xlarge"),
        {"ListServiceQuotas": {"Quotas": []}, "ListAWSDefaultServiceQuotas": {"Quotas": []}},
    ),
    Case("quota", "problem", "may need 2, and other endpoints have 4 now; ask for 6", _others(2)),
    Case("quota", "ok", "may need 2, and other endpoints have 2 now", _others(1)),
    Case("quota", "problem", "other endpoints have 3 now", _others(1, PendingDeploymentSummary=PENDING)),
    Case("quota", "problem", "other endpoints have 3 now", _others(1, ProductionVariants=STARTING)),
    Case("quota", "problem", "other endpoints have 5 now", _others(1, ProductionVariants=POOLS)),
    Case(
        *("quota", "ok", "`churn` may need 2"),
        {**_others(1), "DescribeEndpointConfig": w.config("ml.m5.large")},
    ),
    Case("quota", "cannot tell", "what other endpoints take is not known: sagemaker:ListEndp", {"ListEndpoints": DENIED}),
    Case(
        *("quota", "problem", "`churn` may need 2; ask for 2"),
        {"ListEndpoints": DENIED, **_quotas([w.quota(w.G5, 1)])},
    ),
    Case(
        *("quota", "cannot tell", "AWS does not say the instance type of the endpoint other-0"),
        {**_others(1), "DescribeEndpointConfig": Refused("ValidationException", "Could not find endpoint configuration")},
    ),
    Case("quota", "ok", "`churn` may need 4", w.running()),
    Case(
        *("quota", "problem", "an update that makes new instances alongside the old ones needs 4 for `churn`; ask for 4"),
        w.running() | _quotas([w.quota(w.G5, 3)]),
    ),
    Case("quota", "problem", "needs 5 for `churn`", w.running() | {"DescribeEndpoint": w.endpoint(ProductionVariants=STARTING)}),
    Case("quota", "ok", "may need 2", w.running() | {"DescribeEndpointConfig": w.config("ml.g4dn.xlarge")}),
    Case("quota", "problem", f"`{w.CONCURRENCY}` is 10 in us-east-1, but `churn` may need 20", _quotas([w.quota(w.CONCURRENCY, 10)]), SERVERLESS),
    # Files
    Case("files", "ok", "s3://acme-models/churn/model.tar.gz, 1,000 bytes"),
    Case("files", "problem", "model.tar.gz is not there; upload it", {"HeadObject": Refused("404", "Not Found", 404)}),
    Case("files", "cannot tell", "allow s3:GetObject", {"HeadObject": Refused("403", "Forbidden", 403)}),
    Case("files", "problem", "there is no bucket acme-models", {"HeadBucket": Refused("404", "Not Found", 404)}),
    Case("files", "problem", "is in eu-west-1, but the endpoint is in us-east-1", {"HeadBucket": {"BucketRegion": "eu-west-1"}}),
    Case("files", "cannot tell", "AWS does not say in which region", {"HeadBucket": {}}),
    Case("files", "problem", "is empty", {"HeadObject": w.file(ContentLength=0)}),
    Case("files", "problem", "is archived (DEEP_ARCHIVE)", {"HeadObject": w.file(StorageClass="DEEP_ARCHIVE")}),
    Case("files", "ok", "1,000 bytes", {"HeadObject": w.file(StorageClass="GLACIER_IR")}),
    Case("files", "cannot tell", "may use it was not checked; make sure that arn:aws:iam", {"HeadObject": KMS_FILE}),
    Case("files", "problem", 'add `execution_role: {kms_key_arns: ["arn:aws:kms', {"HeadObject": KMS_FILE}, OWN_ROLE.replace(f'endpoint_config: {{kms_key_id: "{w.KEY}"}}\n', "")),
    Case("files", "ok", "a key that the role may use", {"HeadObject": KMS_FILE}, OWN_ROLE),
    Case("files", "problem", "its state is Disabled; enable it", {"HeadObject": KMS_FILE, "DescribeKey": w.key("Disabled")}, OWN_ROLE),
    Case(
        *("files", "cannot tell", "only the deployment knows it"),
        spec=w.SPEC.replace("s3://acme-models/churn/model.tar.gz", "${ssm:/model}"),
    ),
    Case("files", "ok", "s3://acme-models/llama/ has files", spec=w.COMPONENTS),
    Case("files", "problem", "nothing is under s3://acme-models/llama/", {"ListObjectsV2": {"KeyCount": 0}}, w.COMPONENTS),
    # Images
    Case("image", "ok", "/churn:1"),
    Case(
        *("image", "problem", "/churn:1 is not there; push it"),
        {"BatchGetImage": {"images": [], "failures": [{"failureCode": "ImageNotFound"}]}},
    ),
    Case("image", "cannot tell", "ECR says KmsError", {"BatchGetImage": {"failures": [{"failureCode": "KmsError"}]}}),
    Case("image", "problem", "has no repository churn", {"BatchGetImage": Refused("RepositoryNotFoundException", "")}),
    Case(
        *("image", "problem", "no repository sagemaker-xgboost in us-east-1; it would be AWS's own: choose another"),
        {"BatchGetImage": Refused("RepositoryNotFoundException", "")},
        w.SPEC.replace(f"{w.ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/churn:1", "{framework: xgboost, version: 1.7-1}"),
    ),
    Case("image", "cannot tell", "allow ecr:BatchGetImage", {"BatchGetImage": DENIED}),
    # Keys and roles
    Case("key", "ok", "is enabled"),
    Case("key", "problem", "its state is PendingDeletion; keep it", {"DescribeKey": w.key("PendingDeletion")}),
    Case("key", "cannot tell", "the state of the key", {"DescribeKey": w.key("Updating")}),
    Case("key", "problem", "there is no key", {"DescribeKey": Refused("NotFoundException", "")}),
    Case("role", "ok", "trusts SageMaker"),
    Case("role", "problem", "there is no role", {"GetRole": Refused("NoSuchEntity", "", 404)}),
    Case("role", "problem", "does not trust SageMaker", {"GetRole": w.role({"Statement": [w.TRUST["Statement"][0] | {"Principal": {"Service": "ec2.amazonaws.com"}}]})}),
    Case("role", "cannot tell", "under a condition", {"GetRole": w.role({"Statement": [w.TRUST["Statement"][0] | {"Condition": {}}]})}),
    Case("role", "cannot tell", "excludes something", {"GetRole": w.role({"Statement": [*w.TRUST["Statement"], {"Effect": "Deny"}]})}),
    Case("role", "cannot tell", "cannot be read", {"GetRole": w.role("no policy")}),
    Case("role", "problem", f"write arn:aws:iam::{w.ACCOUNT}:role/churn", {"GetRole": w.role(arn=f"arn:aws:iam::{w.ACCOUNT}:role/churn")}),
    Case("role", "problem", "is in the account 444455556666", spec=w.SPEC.replace(f"iam::{w.ACCOUNT}", "iam::444455556666").replace(f'account: "{w.ACCOUNT}", ', "")),
    Case("policy", "ok", w.POLICY, spec=w.COMPONENTS),
    Case("policy", "problem", "there is no policy", {"GetPolicy": Refused("NoSuchEntity", "", 404)}, w.COMPONENTS),
    # Networks
    Case("subnets", "ok", "free addresses: subnet-0a has 200 and subnet-0b has 200; up to 4 are needed"),
    Case("subnets", "problem", "which is 4", {"DescribeSubnets": {"Subnets": [w.subnet("subnet-0a", 2), w.subnet("subnet-0b", 1)]}}),
    Case("subnets", "problem", "too few", {"DescribeSubnets": {"Subnets": [w.subnet("subnet-0a"), w.subnet("subnet-0b", 0)]}}),
    Case("subnets", "problem", "not all of subnet-0a and", {"DescribeSubnets": Refused("InvalidSubnetID.NotFound")}),
    Case("subnets", "problem", "different VPCs", {"DescribeSubnets": {"Subnets": [w.subnet("subnet-0a"), w.subnet("subnet-0b", vpc="vpc-2")]}}),
    Case("subnets", "cannot tell", "AWS says nothing of subnet-0b", {"DescribeSubnets": {"Subnets": [w.subnet("subnet-0a")]}}),
    Case("subnets", "cannot tell", "allow ec2:DescribeSubnets", {"DescribeSubnets": Refused("UnauthorizedOperation", "", 403)}),
    Case("groups", "ok", "sg-0a in vpc-1"),
    Case("groups", "problem", "sg-0a is in vpc-2, but the subnets are in vpc-1", {"DescribeSecurityGroups": {"SecurityGroups": [{"GroupId": "sg-0a", "VpcId": "vpc-2"}]}}),
    Case("groups", "problem", "not all of sg-0a", {"DescribeSecurityGroups": Refused("InvalidGroup.NotFound")}),
    Case("s3 route", "ok", "a gateway endpoint"),
    Case("s3 route", "ok", "a NAT gateway", {"DescribeVpcEndpoints": {"VpcEndpoints": []}, "DescribeRouteTables": {"RouteTables": [w.table(w.NAT)]}}),
    Case("s3 route", "ok", "an interface endpoint", {"DescribeVpcEndpoints": {"VpcEndpoints": [w.door("Interface", PrivateDnsEnabled=True)]}}),
    Case("s3 route", "cannot tell", "which was not followed", {"DescribeVpcEndpoints": {"VpcEndpoints": [w.door("Interface")]}}),
    Case("s3 route", "problem", "subnet-0a and subnet-0b: no way to S3", {"DescribeVpcEndpoints": {"VpcEndpoints": []}}),
    Case("s3 route", "problem", "no public address", {"DescribeVpcEndpoints": {"VpcEndpoints": []}, "DescribeRouteTables": {"RouteTables": [w.table(w.IGW)]}}),
    Case("s3 route", "problem", "subnet-0b: no way to S3", {"DescribeRouteTables": _pages({"RouteTables": [w.table()]}, {"RouteTables": [w.table(of="subnet-0b", name="rtb-b")]})}),
    Case("s3 route", "problem", "no way", {"DescribeVpcEndpoints": {"VpcEndpoints": [w.door(State="deleting")]}}),
    Case("s3 route", "problem", "no way", {"DescribeVpcEndpoints": {"VpcEndpoints": []}, "DescribeRouteTables": {"RouteTables": [w.table({**w.NAT, "State": "blackhole"})]}}),
    Case("s3 route", "cannot tell", "leads elsewhere", {"DescribeVpcEndpoints": {"VpcEndpoints": []}, "DescribeRouteTables": {"RouteTables": [w.table({"DestinationCidrBlock": "0.0.0.0/0", "TransitGatewayId": "tgw-1", "State": "active"})]}}),
    Case("s3 route", "cannot tell", "does not say which route table", {"DescribeVpcEndpoints": {"VpcEndpoints": []}, "DescribeRouteTables": {"RouteTables": [w.table(w.NAT), {**w.table(w.IGW), "Associations": [{"Main": False}]}]}}),
    # Names
    Case("stack", "ok", "churn does not exist yet"),
    Case("stack", "ok", "churn is UPDATE_COMPLETE", w.running()),
    Case("stack", "problem", "delete-stack --stack-name churn", {"DescribeStacks": w.stack("ROLLBACK_COMPLETE")}),
    Case("stack", "problem", "continue-update-rollback", {"DescribeStacks": w.stack("UPDATE_ROLLBACK_FAILED")}),
    Case("stack", "problem", "wait until", {"DescribeStacks": w.stack("UPDATE_IN_PROGRESS")}),
    Case("stack", "ok", "churn is empty", {"DescribeStacks": w.stack("REVIEW_IN_PROGRESS")}),
    Case("stack", "cannot tell", "no endpoint is among its 0 resources", {"DescribeStacks": w.stack()}),
    Case("stack", "cannot tell", "allow cloudformation:DescribeStacks", {"DescribeStacks": Refused("AccessDenied", "", 403)}),
    Case("name", "ok", "churn is free"),
    Case("name", "ok", "churn belongs to the stack churn", w.running()),
    Case("name", "problem", "the endpoint churn exists, and belongs to no stack", FOUND),
    Case("name", "problem", "exists, and belongs to the stack other", _own(w.resource("other"))),
    Case("name", "ok", "the stack app, as this spec's", _own(w.resource("app"), DescribeStackResource=w.detail("churn.yaml: endpoint_name"))),
    Case("name", "problem", "belongs to the stack app", _own(w.resource("app"), DescribeStackResource=w.detail("else.yaml: endpoint_name"))),
    Case("name", "cannot tell", "AWS does not say which stack", _own(w.resource(arn="arn:of:another"))),
    Case("name", "cannot tell", "AWS answers ValidationException", {"DescribeEndpoint": Refused("ValidationException", "1 validation error detected")}),
    Case("name", "ok", "llama is free", spec=w.COMPONENTS),
]  # fmt: skip
STATUS = {"ok": 0, "problem": 1, "cannot tell": 3}


def _ids(case: Case) -> str:
    return f"{case.check}, {case.state}, {case.said[:40]}"


@pytest.mark.parametrize("case", CASES, ids=_ids)
def test_situation(case: Case, ready: Answers, preflight: Preflight) -> None:
    ready.given |= case.given
    Path("churn.yaml").write_text(case.spec)
    status, said = preflight("churn.yaml", "--format", "json")
    found = json.loads(said.out)
    states = {it["state"] for it in found}
    assert status == (1 if "problem" in states else 3 if "cannot tell" in states else 0)
    those = [it for it in found if it["check"] == case.check and case.said in f"{it['message']}; {it['fix']}"]
    assert [it["state"] for it in those] == [case.state], said.out
    assert all(it["fix"] for it in found if it["state"] == "problem")
