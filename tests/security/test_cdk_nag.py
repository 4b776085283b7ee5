"""Every example at every stage, and every shape, under two packs of cdk-nag: each finding has a reason, and
each reason a finding.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from cdk_nag import AwsSolutionsChecks, NIST80053R5Checks
from security.nag_reasons import (
    LOCAL_DISK,
    NO_ACTION,
    NO_KEY,
    OF_THE_ROLE,
    REASONS,
    Nag,
    Reason,
    has_only_local_disks,
)
from support.cdk import spec
from support.resolving import merged

from inferstack.check.load import LoadedSpec, load_spec, parse_spec
from inferstack.source.document import read_document
from inferstack_stacks import EndpointStack

ROOT = Path(__file__).parents[2]
TOPIC = "arn:aws:sns:${AWS::Region}:111122223333:ml-oncall"
KEY = "arn:aws:kms:${AWS::Region}:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
Specs = Mapping[str, LoadedSpec]


def nags(specs: Specs) -> list[Nag]:
    """What the packs find when CDK calls them during synthesis."""
    app = cdk.App(analytics_reporting=False)
    for name, loaded in specs.items():
        EndpointStack(app, name, spec=loaded)
    packs = AwsSolutionsChecks(app), NIST80053R5Checks(app)
    return sorted(nag for pack in packs for nag in violations(pack.validate_scope(app)))


def violations(report: Any) -> Iterator[Nag]:
    for violation in report.violations:
        rule, detail = re.fullmatch(r"([^\[]+)(?:\[(.*)\])?", violation.rule_name).groups("")
        for at in violation.violating_resources:
            stack, *_, resource = at.construct_path.split("/")
            yield Nag(stack, resource, rule, detail)


def unexplained(found: list[Nag], specs: Specs, reasons: tuple[Reason, ...] = REASONS) -> list[Nag]:
    return [nag for nag in found if not any(it.explains(nag, specs[nag.stack]) for it in reasons)]


def read_examples(change: Callable[[dict[str, Any]], dict[str, Any]] | None = None) -> dict[str, LoadedSpec]:
    """Every example by name and stage, with a change of its data."""
    specs = {}
    for file in sorted((ROOT / "model_specs").glob("*.y*ml")):
        data = read_document(file).data
        data = merged(data, {} if change is None else change(data))
        for stage in (None, *data.get("stages", ())):
            specs["-".join(filter(None, (file.stem, stage)))] = parse_spec(data, stage=stage)
    return specs


@pytest.fixture(scope="module")
def examples() -> Specs:
    shapes = {path.stem: load_spec(path) for path in sorted((ROOT / "tests/shapes").glob("*.yaml"))}
    return read_examples() | shapes


@pytest.fixture(scope="module")
def found(examples: Specs) -> list[Nag]:
    return nags(examples)


def test_no_example_has_a_finding_without_a_reason(examples: Specs, found: list[Nag]) -> None:
    assert unexplained(found, examples) == []


@pytest.mark.parametrize("reason", REASONS, ids=lambda reason: reason.because[:40])
def test_every_reason_is_needed(examples: Specs, found: list[Nag], reason: Reason) -> None:
    assert any(reason.explains(nag, examples[nag.stack]) for nag in found)


@pytest.mark.parametrize(
    ("role", "rule", "detail"),
    [
        ({"action": ["s3:*"], "resource": ["arn:aws:s3:::x/y"]}, "AwsSolutions-IAM5", "Action::s3:*"),
        ({"action": ["s3:GetObject"], "resource": ["*"]}, "AwsSolutions-IAM5", "Resource::*"),
        (
            {"action": ["s3:GetObject"], "resource": ["arn:${AWS::Partition}:s3:::elsewhere/*"]},
            "AwsSolutions-IAM5",
            "Resource::arn:<AWS::Partition>:s3:::elsewhere/*",
        ),
    ],
)
def test_what_a_user_adds_to_the_role_is_not_covered(role: dict[str, Any], rule: str, detail: str) -> None:
    specs = {"wild": spec("single", {"execution_role": {"statements": [role]}})}
    (left,) = [nag for nag in unexplained(nags(specs), specs) if nag.resource.startswith("ExecutionPolicy")]
    assert (left.rule, left.detail) == (rule, detail)


def test_a_managed_policy_is_not_covered() -> None:
    arn = "arn:aws:iam::aws:policy/AmazonSageMakerFullAccess"
    specs = {"wild": spec("single", {"execution_role": {"managed_policy_arns": [arn]}})}
    left = unexplained(nags(specs), specs)
    assert [(nag.resource, nag.rule) for nag in left] == [("ExecutionRole", "AwsSolutions-IAM4")]


# ---------------------------------------------------------------- what one line of the spec avoids


def hardened(data: dict[str, Any]) -> dict[str, Any]:
    """The lines of docs/security.md as they apply to a spec."""
    config: dict[str, Any] = {}
    if not has_only_local_disks(parse_spec(data, stage=next(iter(data.get("stages", ())), None))):
        config["kms_key_id"] = KEY
    if data["kind"] == "inference-components":
        config["enable_network_isolation"] = True
    isolated = {"enable_network_isolation": True}
    lines: dict[str, Any] = {"alarms": {"actions": [TOPIC]}, "endpoint_config": config}
    if "model" in data:
        lines["model"] = isolated
    if "models" in data:
        lines["models"] = dict.fromkeys(data["models"], isolated)
    return lines


def test_one_line_each_leaves_no_finding_that_a_spec_can_avoid() -> None:
    specs = read_examples(hardened)
    left = nags(specs)
    assert unexplained(left, specs, (*OF_THE_ROLE, LOCAL_DISK)) == []
    assert NO_ACTION not in {nag.rule for nag in left}
    assert {nag.stack for nag in left if nag.rule == NO_KEY} < specs.keys()


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        (NO_KEY, {"endpoint_config": {"kms_key_id": KEY}}),
        (NO_ACTION, {"alarms": {"actions": [TOPIC]}}),
        (NO_ACTION, {"alarms": False}),
    ],
)
def test_the_line_turns_its_finding_off(rule: str, line: dict[str, Any]) -> None:
    base = {"variant": {"instance_type": "ml.m5.large"}}
    without, having = (nags({"one": spec("single", it)}) for it in (base, {**base, **line}))
    assert rule in {nag.rule for nag in without}
    assert rule not in {nag.rule for nag in having}


BUCKET = {"endpoint_config": {"async_inference_config": {"create": {"bucket": {}, "error_topic": {}}}}}


def test_of_a_bucket_that_the_stack_makes_one_line_each_avoids_the_rest() -> None:
    lines: dict[str, dict[str, Any]] = {
        "create": {"bucket": {"logging_configuration": {"destination_bucket_name": "acme-logs"}}},
        "output_config": {"kms_key_id": KEY},
    }
    bare = {"one": spec("single", BUCKET)}
    full = {"one": spec("single", merged(BUCKET, {"endpoint_config": {"async_inference_config": lines}}))}
    avoided = {(nag.resource, nag.rule) for nag in unexplained(nags(bare), bare)}
    assert avoided == {
        ("AsyncBucket", "AwsSolutions-S1"),
        ("AsyncBucket", "NIST.800.53.R5-S3BucketLoggingEnabled"),
        ("AsyncBucket", "NIST.800.53.R5-S3DefaultEncryptionKMS"),
    }
    assert unexplained(nags(full), full) == []
