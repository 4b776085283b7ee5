"""Encryption, network isolation and a VPC each take one line of a spec, and that line is enough."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.resolving import Resolved, Template, only
from support.strict_walk import api_problems
from support.validators import cfn_lint_findings, validate_findings

MODEL = "AWS::SageMaker::Model"
CONFIG = "AWS::SageMaker::EndpointConfig"
POLICY = "AWS::IAM::ManagedPolicy"
# Instances with a volume of their own, since that is what a KMS key encrypts.
BASES = {
    "single": ("single", "{variant: {instance_type: ml.m5.large}}"),
    "components": ("components", "{variant: {instance_type: ml.p3.2xlarge}}"),
}
VPC = "{subnets: [subnet-0a1b2c3d, subnet-1a1b2c3d], security_group_ids: [sg-0a1b2c3d]}"
IN_VPC = {"SecurityGroupIds": ["sg-0a1b2c3d"], "Subnets": ["subnet-0a1b2c3d", "subnet-1a1b2c3d"]}
HERE = "${AWS::Region}:${AWS::AccountId}"
ID = "1234abcd-12ab-34cd-56ef-1234567890ab"
ARN = f"arn:${{AWS::Partition}}:kms:{HERE}:key/{ID}"


@dataclass(frozen=True)
class Line:
    """A line, the one property that it sets, and what each statement that the role gains is about."""

    base: str
    text: str
    type: str
    name: str
    value: Any
    gained: dict[str, list[str]] = field(default_factory=dict)

    def with_it(self, resolve: Resolved) -> Template:
        base, change = BASES[self.base]
        return resolve(base, f"{{{change[1:-1]}, {self.text}}}")

    def without_it(self, resolve: Resolved) -> Template:
        return resolve(*BASES[self.base])


def key(text: str, gained: dict[str, list[str]], base: str = "single") -> Line:
    return Line(base, f"endpoint_config: {{kms_key_id: '{text}'}}", CONFIG, "KmsKeyId", text, gained)


def plain(value: Any) -> Any:
    """The text in an ``Fn::Sub``."""
    return value["Fn::Sub"] if isinstance(value, dict) and "Fn::Sub" in value else value


NETWORK = {
    "JoinVpc": [
        f"arn:${{AWS::Partition}}:ec2:{HERE}:{part}"
        for part in (
            "subnet/subnet-0a1b2c3d",
            "subnet/subnet-1a1b2c3d",
            "security-group/sg-0a1b2c3d",
            "network-interface/*",
        )
    ],
    "LookAtVpc": ["*"],
}
ISOLATION = "enable_network_isolation: true"
ANY_KEY = f"arn:${{AWS::Partition}}:kms:{HERE}:key/*"
LINES = {
    "a key by ARN": key(ARN, {"UseKeys": [ARN], "GrantKeys": [ARN]}),
    "a key by id": key(ID, {"UseKeys": [ARN], "GrantKeys": [ARN]}),
    "a key by alias": key("alias/ml", {"UseKeysByAlias": [ANY_KEY], "GrantKeysByAlias": [ANY_KEY]}),
    "a key for components": key(ARN, {"UseKeys": [ARN], "GrantKeys": [ARN]}, "components"),
    "isolation of a model": Line("single", f"model: {{{ISOLATION}}}", MODEL, "EnableNetworkIsolation", True),
    "isolation of components": Line(
        "components", f"endpoint_config: {{{ISOLATION}}}", CONFIG, "EnableNetworkIsolation", True
    ),
    "the VPC of a model": Line(
        "single", f"model: {{vpc_config: {VPC}}}", MODEL, "VpcConfig", IN_VPC, NETWORK
    ),
    "the VPC of components": Line(
        "components", f"endpoint_config: {{vpc_config: {VPC}}}", CONFIG, "VpcConfig", IN_VPC, NETWORK
    ),
}


@pytest.fixture(params=LINES.values(), ids=LINES)
def line(request: pytest.FixtureRequest) -> Line:
    found: Line = request.param
    return found


def statements(template: Template) -> dict[str, Any]:
    return {it["Sid"]: it for it in only(template, POLICY)["PolicyDocument"]["Statement"]}


def by_noun(template: Template) -> dict[str, Any]:
    """Resources by logical id, without the hash of the policy's content."""
    return {re.sub(r"(?<=^ExecutionPolicy)\w+", "", it): made for it, made in template["Resources"].items()}


def changed(old: Template, new: Template) -> Iterator[tuple[str, str]]:
    """Type and name of every property that differs."""
    was, becomes = by_noun(old), by_noun(new)
    assert was.keys() == becomes.keys()
    for logical_id, resource in becomes.items():
        before, after = was[logical_id]["Properties"], resource["Properties"]
        for name in before.keys() | after.keys():
            if before.get(name) != after.get(name):
                yield resource["Type"], name


def test_the_line_sets_its_property_and_the_role_and_nothing_else(resolve: Resolved, line: Line) -> None:
    old, new = line.without_it(resolve), line.with_it(resolve)
    role = {(POLICY, "PolicyDocument")} if line.gained else set()
    assert set(changed(old, new)) == {(line.type, line.name), *role}
    assert plain(only(new, line.type)[line.name]) == line.value


def test_the_role_gains_what_the_line_needs_and_on_nothing_else(resolve: Resolved, line: Line) -> None:
    old, new = statements(line.without_it(resolve)), statements(line.with_it(resolve))
    gained = {sid: [plain(it) for it in new[sid]["Resource"]] for sid in new.keys() - old.keys()}
    assert gained == line.gained
    assert {sid: new[sid] for sid in old} == old


def test_the_line_gives_a_template_that_aws_accepts(resolve: Resolved, line: Line) -> None:
    template = line.with_it(resolve)
    assert api_problems(template) == []
    assert validate_findings(template) == []
    assert cfn_lint_findings(template) == []


def test_a_key_that_is_known_by_alias_is_used_under_that_alias_only(resolve: Resolved) -> None:
    use = statements(LINES["a key by alias"].with_it(resolve))["UseKeysByAlias"]
    assert use["Condition"] == {"ForAnyValue:StringEquals": {"kms:ResourceAliases": ["alias/ml"]}}


@pytest.mark.parametrize(
    "text",
    [
        "variant: {core_dump_config: {destination_s3_uri: 's3://dumps/x/', kms_key_id: 'KEY'}}",
        "endpoint_config: {async_inference_config: {output_config: {s3_output_path: 's3://out/x/', kms_key_id: 'KEY'}}}",
        "endpoint_config: {data_capture_config: {destination_s3_uri: 's3://seen/x/', initial_sampling_percentage: 1,"
        " capture_options: [{capture_mode: Input}], kms_key_id: 'KEY'}}",
    ],
    ids=["core dumps", "asynchronous answers", "captured data"],
)
def test_a_key_of_files_that_are_written_can_be_used_by_the_role(resolve: Resolved, text: str) -> None:
    use = statements(resolve("single", f"{{{text.replace('KEY', ARN)}}}"))["UseKeys"]
    assert [plain(it) for it in use["Resource"]] == [ARN]
    assert {"kms:Decrypt", "kms:GenerateDataKey"} <= set(use["Action"])


def test_a_role_of_your_own_is_left_alone(resolve: Resolved, line: Line) -> None:
    own = "execution_role: 'arn:aws:iam::111122223333:role/ml'"
    base, change = BASES[line.base]
    template = resolve(base, f"{{{change[1:-1]}, {line.text}, {own}}}")
    assert "AWS::IAM" not in json.dumps(template)
    assert plain(only(template, line.type)[line.name]) == line.value
