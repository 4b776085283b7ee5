"""Endpoints that move from one stack of an app to another, which `cdk.out` says, and resources that stay behind."""

import copy
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from inferstack.catalog.resource_types import CONFIG_TYPE, MANAGED_POLICY_TYPE, TARGET_TYPE
from inferstack.cli import main
from inferstack.constructs import InferenceEndpoint
from inferstack.endpoint import deployed
from inferstack.format import Autoscaling, LogGroups, Model, ScalingPolicy, SingleModelSpec, Variant
from inferstack.review import compare_templates, read_template, review

IMAGE = "111122223333.dkr.ecr.${AWS::Region}.amazonaws.com/net:1"
HERE = cdk.Environment(account="111122223333", region="us-east-1")
ELSEWHERE = cdk.Environment(account="111122223333", region="eu-west-1")
NOWHERE = cdk.Environment()


def spec(name: str = "churn", data: str = "one", autoscaling: Autoscaling | None = None) -> SingleModelSpec:
    return SingleModelSpec(
        endpoint_name=name,
        model=Model(image=IMAGE, model_data_url=f"s3://acme-models/{data}/model.tar.gz"),
        variant=Variant(instance_type="ml.m5.large", initial_instance_count=2, autoscaling=autoscaling),
        log_groups=LogGroups(retention_in_days=30),
    )


Placed = tuple[Sequence[str], SingleModelSpec]
"""The ids of a stack, and of those nested in it; and the endpoint that goes there."""


def synth(out: Path, *placed: Placed, env: cdk.Environment = HERE, name: str | None = None) -> dict[str, Any]:
    """Synthesizes an app; returns the template of its first stack."""
    app = cdk.App(outdir=str(out))
    stacks = {
        it: cdk.Stack(app, it, env=env, stack_name=name) for it in dict.fromkeys(ids[0] for ids, _ in placed)
    }
    for (first, *nested), one in placed:
        scope = stacks[first]
        for it in nested:
            scope = cdk.NestedStack(scope, it)
        InferenceEndpoint(scope, "Endpoint", spec=one)
    app.synth()
    template: dict[str, Any] = json.loads((out / f"{placed[0][0][0]}.template.json").read_text("utf-8"))
    return template


CHURN, OTHER = spec(), spec("other")
ONE: list[Placed] = [(("Churn",), CHURN)]
MOVED = {
    "to a stack with another id": ([(("Scoring",), CHURN)], "`Churn` to `Scoring`"),
    "into a nested stack": ([(("Churn", "Inner"), CHURN)], "`Churn` to `Churn/InnerNestedStackInner"),
    "two levels down": ([(("Churn", "Inner", "Deep"), CHURN)], "/DeepNestedStackDeep"),
}


@pytest.mark.parametrize("case", MOVED)
def test_a_move_to_another_stack_is_refused(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    placed, said = MOVED[case]
    synth(tmp_path / "before", *ONE)
    synth(tmp_path / "after", *placed)
    for one, other in (("before", "after"), ("after", "before")):
        assert main(["validate", str(tmp_path / other), "--against", str(tmp_path / one)]) == 1
        shown = capsys.readouterr()
        [line] = shown.out.splitlines()
        assert "IS858: `churn`: `churn` (AWS::SageMaker::Endpoint) moves from the stack " in line
        assert "with `/aws/sagemaker/Endpoints/churn` and `churn-${AWS::Region}`: a new one cannot" in line
        assert "moves from the stack" in shown.err
        if one == "before":
            assert said in line
    found = review(str(tmp_path / "after"), str(tmp_path / "before"))
    assert {(it.code, it.effect) for it in found.findings if it.code} == {("IS858", "refused")}


def test_endpoints_that_change_stacks_are_found_in_all_templates(tmp_path: Path) -> None:
    synth(tmp_path / "before", (("One",), CHURN), (("Two",), OTHER))
    synth(tmp_path / "after", (("Two",), CHURN), (("One",), OTHER))
    refused = {("IS858", ("churn",)), ("IS858", ("other",))}
    found = review(str(tmp_path / "after"), str(tmp_path / "before")).findings
    assert {(it.code, it.endpoints) for it in found if it.code} == refused
    # A pipeline fetches templates alone: their files have the names of the stacks that the app has now.
    _without_manifest(tmp_path / "before")
    found = review(str(tmp_path / "after"), str(tmp_path / "before")).findings
    assert {(it.code, it.endpoints) for it in found if it.code} == refused


def _without_manifest(out: Path) -> None:
    (out / "manifest.json").unlink()


STAY: dict[str, tuple[Callable[[Path], Any], Callable[[Path], Any]]] = {
    "a stack with another id keeps its name": (
        lambda out: synth(out, *ONE, name="churn-prod"),
        lambda out: synth(out, (("Scoring",), CHURN), name="churn-prod"),
    ),
    "the endpoint stays in its nested stack": (
        lambda out: synth(out, (("Churn", "Inner"), CHURN)),
        lambda out: synth(out, (("Churn", "Inner"), CHURN)),
    ),
    "which stack it was, no file says": (
        lambda out: (synth(out, *ONE), _without_manifest(out)),
        lambda out: synth(out, (("Scoring",), CHURN)),
    ),
    "a stack of another region has the name, too": (
        lambda out: synth(out, *ONE),
        lambda out: synth(out, (("Scoring",), CHURN), env=ELSEWHERE),
    ),
    "another stack is made that may go anywhere": (
        lambda out: synth(out, *ONE, env=NOWHERE),
        lambda out: synth(out, *ONE, (("Scoring",), CHURN), env=NOWHERE),
    ),
    "the old stack has another endpoint": (
        lambda out: synth(out, (("Churn",), OTHER)),
        lambda out: synth(out, (("Churn",), OTHER), (("Scoring",), CHURN)),
    ),
}


@pytest.mark.parametrize("case", STAY)
def test_what_does_not_move_is_not_refused(case: str, tmp_path: Path) -> None:
    for out, make in zip(("before", "after"), STAY[case], strict=True):
        make(tmp_path / out)
    found = review(str(tmp_path / "after"), str(tmp_path / "before"))
    assert [it for it in found.findings if it.code] == []


def test_the_stack_of_a_template_is_that_of_the_manifest(tmp_path: Path) -> None:
    synth(tmp_path, (("Churn", "Inner"), CHURN), name="churn-prod")
    [nested] = tmp_path.glob("*.nested.template.json")
    inner = read_template(nested)
    assert (inner.account, inner.region) == ("111122223333", "us-east-1")
    assert read_template(tmp_path / "Churn.template.json").stack == "churn-prod"
    assert str(inner.stack).startswith("churn-prod/InnerNestedStackInner")
    # Without a parent, or with itself as the only one, nothing is known.
    parent = json.loads((tmp_path / "Churn.template.json").read_text("utf-8"))
    (tmp_path / "Churn.template.json").write_text("{}", "utf-8")
    assert read_template(nested).stack is None
    nested.write_text(json.dumps(parent), "utf-8")
    assert read_template(nested).stack is None


# ---------------------------------------------------------------- what an app's own stack leaves behind, or lacks


def test_a_policy_that_is_retained_keeps_the_role_its_rights(tmp_path: Path) -> None:
    before, after = (synth(tmp_path / it, (("Churn",), spec(data=it))) for it in ("one", "two"))
    found = compare_templates(before, after)
    assert [it.code for it in found.problems] == ["IS870"]
    assert "loses" in found.notes[0]
    for it in before["Resources"].values():
        it["DeletionPolicy"] = "Retain"
    found = compare_templates(before, after)
    assert [it.code for it in found.problems] == ["IS870", "IS898"]
    assert "stays attached to the role, which keeps its rights" in found.problems[1].message
    assert "gains" in found.notes[0]
    assert "loses" not in found.notes[0]


@pytest.mark.parametrize("policy", ["Delete", "RetainExceptOnCreate"])
def test_a_right_of_the_spec_is_lost_only_with_its_policy(tmp_path: Path, policy: str) -> None:
    statement = {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}
    app = synth(tmp_path / "one", *ONE)
    [policy_id] = deployed.of_type(app["Resources"], MANAGED_POLICY_TYPE)
    old = copy.deepcopy(app["Resources"][policy_id]) | {"DeletionPolicy": policy}
    old["Properties"]["PolicyDocument"]["Statement"].append(statement)
    before = {"Resources": {**app["Resources"], policy_id.replace("Policy", "PolicyOld"): old}}
    for name, template in (("was", before), ("is", app)):
        (tmp_path / f"{name}.json").write_text(json.dumps(template), "utf-8")
    found = review(str(tmp_path / "is.json"), str(tmp_path / "was.json"))
    lost = [it for it in found.findings if "may no longer" in it.message]
    assert len(lost) == (policy == "Delete")


SCALED = Autoscaling(
    min_capacity=2,
    max_capacity=4,
    policies=[ScalingPolicy(metric="SageMakerVariantInvocationsPerInstance", target_value=600)],
)


@pytest.mark.parametrize("lacks", [TARGET_TYPE, CONFIG_TYPE, MANAGED_POLICY_TYPE])
def test_what_a_template_lacks_is_named(tmp_path: Path, lacks: str) -> None:
    one = spec(autoscaling=SCALED)
    before, after = (synth(tmp_path / it, (("Churn",), one)) for it in ("before", "after"))
    [gone] = deployed.of_type(before["Resources"], lacks)
    del after["Resources"][gone]
    found = [it for it in compare_templates(before, after).problems if it.code == "IS859"]
    assert found
    assert all(f"refers to `{gone}`, which the template lacks" in it.message for it in found)
    # What a macro makes, only the macro knows.
    after["Transform"] = "AWS::LanguageExtensions"
    assert "IS859" not in {it.code for it in compare_templates(before, after).problems}
