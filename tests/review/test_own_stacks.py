"""Updates of endpoints that stand among other resources of an app, for files, overrides and typed specs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template
from constructs import Construct

from inferstack.cli import main
from inferstack.constructs import InferenceEndpoint
from inferstack.format import Model, SingleModelSpec, Variant
from inferstack.review import compare_templates, each_endpoint, read_template, review
from inferstack.spec import load_spec, parse_spec

IMAGE = "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1"
POLICY = {"metric": "SageMakerVariantInvocationsPerInstance", "target_value": 600}
CHURN = f"""\
kind: single-model
endpoint_name: churn
model: {{image: "{IMAGE}", model_data_url: s3://acme-models/churn/model.tar.gz}}
variant: {{instance_type: ml.m5.large, initial_instance_count: 2}}
ignore: [{{code: IS873, reason: no client names the variant}}]
"""
SCALED: dict[str, Any] = {"autoscaling": {"min_capacity": 2, "max_capacity": 4, "policies": [POLICY]}}


def typed(instance_type: str = "ml.m5.large", **more: Any) -> SingleModelSpec:
    return SingleModelSpec(
        endpoint_name="returns",
        model=Model(image=IMAGE, model_data_url="s3://acme-models/returns/model.tar.gz"),
        variant=Variant(instance_type=instance_type, initial_instance_count=2),
        **more,
    )


def app(
    overrides: dict[str, Any] | None = None,
    spec: SingleModelSpec | None = None,
    ids: tuple[str, str, str] = ("Team", "Churn", "Returns"),
) -> dict[str, Any]:
    """The template of an app: an endpoint of a file with tokens of the app in a scope, a typed one, and a topic."""
    stack = cdk.Stack(cdk.App(), "Customers", env=cdk.Environment(region="us-east-1"))
    topic = cdk.aws_sns.Topic(stack, "Topic")
    given = {"alarms": {"actions": [topic.topic_arn]}, **SCALED, **(overrides or {})}
    InferenceEndpoint(Construct(stack, ids[0]), ids[1], spec=load_spec("specs/churn.yaml", overrides=given))
    InferenceEndpoint(stack, ids[2], spec=typed() if spec is None else spec)
    template: dict[str, Any] = Template.from_stack(stack).to_json()
    return template


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("specs").mkdir()
    Path("specs/churn.yaml").write_text(CHURN, "utf-8")


def codes(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Code, file and path of each problem."""
    found = compare_templates(before, after).problems
    return [(it.code, it.file, ".".join(map(str, it.path))) for it in found]


MORE_VARIANT = {"instance_type": "ml.m5.xlarge"}


@pytest.mark.parametrize(
    ("overrides", "spec", "said"),
    [
        ({}, typed, []),
        (
            {"variant": MORE_VARIANT},
            typed,
            [
                ("IS860", "specs/churn.yaml", "variant.instance_type"),
                ("IS870", "specs/churn.yaml", "variant.instance_type"),
            ],
        ),
        ({}, lambda: typed("ml.m5.xlarge"), [("IS870", "after", "variant.instance_type")]),
        (
            {"autoscaling": None},
            typed,
            [
                ("IS879", "specs/churn.yaml", "endpoint.retain_all_variant_properties"),
                ("IS891", "specs/churn.yaml", ""),
            ],
        ),
        # The file ignores the warning, the typed spec does not.
        (
            {"variant": {"variant_name": "blue"}},
            typed,
            [
                ("IS870", "specs/churn.yaml", "variant.variant_name"),
                ("IS874", "specs/churn.yaml", "variant.variant_name"),
            ],
        ),
    ],
)
def test_an_update_is_judged_endpoint_by_endpoint(
    overrides: dict[str, Any],
    spec: Callable[[], SingleModelSpec],
    said: list[tuple[str, str, str]],
) -> None:
    assert codes(app(), app(overrides, spec())) == said


def test_an_endpoint_that_the_stack_has_no_more_is_removed() -> None:
    after = app()
    after["Resources"] = {it: one for it, one in after["Resources"].items() if not it.startswith("Returns")}
    assert codes(app(), after) == [("IS893", "before", "")]
    assert (
        codes(app(), {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}) == [("IS893", "before", "")] * 2
    )


@pytest.mark.parametrize("ids", [("Sales", "Churn", "Returns"), ("Team", "Scores", "Returns")])
def test_another_construct_id_under_the_same_name_is_refused(ids: tuple[str, str, str]) -> None:
    [problem] = compare_templates(app(), app(ids=ids)).problems
    assert problem.code == "IS858"
    prefix = "".join(ids[:2])
    assert (
        "the logical id of `churn` (AWS::SageMaker::Endpoint) changes from `TeamChurnEndpoint"
        in problem.message
    )
    assert f"to `{prefix}Endpoint" in problem.message
    assert "those of `churn-${AWS::Region}`" in problem.message


def test_another_construct_id_with_another_name_makes_a_new_endpoint() -> None:
    found = codes(app(), app({"endpoint_name": "scores"}))
    assert ("IS877", "specs/churn.yaml", "endpoint_name") in found


def test_a_construct_moves_with_its_old_logical_ids() -> None:
    before = app()
    Path("deployed.json").write_text(json.dumps(before), "utf-8")
    stack = cdk.Stack(cdk.App(), "Customers", env=cdk.Environment(region="us-east-1"))
    moved = InferenceEndpoint(Construct(stack, "Elsewhere"), "Returned", spec=typed())
    [was] = [it for it in each_endpoint(read_template(Path("deployed.json"))) if it.construct == "Returns"]
    for plain, logical_id in was.ids.items():
        moved.get_resource(plain).override_logical_id(logical_id)
    after = Template.from_stack(stack).to_json()
    assert [it for it in codes(before, after) if it[0] != "IS893"] == []
    assert set(after["Resources"]) == set(was.ids.values())


def test_an_app_may_give_only_the_endpoint_its_old_id() -> None:
    """Everything else is new, so the endpoint gets a new fleet; the dashboard cannot be made."""
    before = app()
    stack = cdk.Stack(cdk.App(), "Customers", env=cdk.Environment(region="us-east-1"))
    moved = InferenceEndpoint(stack, "Returned", spec=typed())
    [old] = [it for it in before["Resources"] if it.startswith("ReturnsEndpoint") and "Config" not in it]
    moved.cfn_endpoint.override_logical_id(old)
    found = codes(before, Template.from_stack(stack).to_json())
    assert [it[0] for it in found if it[0] != "IS893"] == ["IS858", "IS870"]


def test_what_has_no_metadata_is_named_and_not_compared() -> None:
    after = app()
    foreign = {"Type": "AWS::SageMaker::Endpoint", "Properties": {"EndpointName": "theirs"}}
    after["Resources"]["Theirs"] = foreign
    found = compare_templates(app(), after)
    assert found.problems == []
    assert "after: `Theirs` has no `inferstack:source`: no spec made it, not compared" in found.notes
    bare = app()
    for it in bare["Resources"].values():
        it.pop("Metadata", None)
    for before, now in ((bare, app()), (app(), bare)):
        compared = compare_templates(before, now)
        [problem] = compared.problems
        assert problem.code == "IS853"
        assert problem.fix == "compare with a template that still has the `Metadata` of its resources"
        assert compared.notes == []


# ---------------------------------------------------------------- on the command line


def write(folder: str, template: dict[str, Any]) -> None:
    Path(folder).mkdir()
    Path(folder, "Customers.template.json").write_text(json.dumps(template), "utf-8")


def test_validate_takes_what_cdk_synth_made(capsys: pytest.CaptureFixture[str]) -> None:
    write("old", app())
    write("cdk.out", app({"variant": MORE_VARIANT}))
    assert main(["validate", "cdk.out", "--against", "old"]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith(
        "specs/churn.yaml:4:26: IS860: `churn`: SageMaker refuses to move `AllTraffic`"
    )
    template = "Customers.template.json"
    assert shown.err.splitlines()[0].startswith(
        f"cdk.out/{template} (TeamChurn) against old/{template} (TeamChurn): replaced EndpointConfig"
    )
    assert shown.err.splitlines()[-1] == "1 error, 1 remark in 1 of 2 specs"
    # A template alone, whatever the file is called.
    Path("old", template).rename("deployed.json")
    assert main(["validate", f"cdk.out/{template}", "--against", "deployed.json"]) == 1
    assert capsys.readouterr().out == shown.out


def test_a_spec_is_found_in_a_stack_of_an_app(capsys: pytest.CaptureFixture[str]) -> None:
    stack = cdk.Stack(cdk.App(), "Customers", env=cdk.Environment(region="us-east-1"))
    cdk.aws_sns.Topic(stack, "Topic")
    InferenceEndpoint(stack, "Churn", spec=load_spec("specs/churn.yaml"))
    InferenceEndpoint(stack, "Returns", spec=typed())
    write("old", Template.from_stack(stack).to_json())
    assert main(["validate", "specs", "--against", "old"]) == 0
    assert "(Churn): nothing changes" in capsys.readouterr().err
    Path("specs/churn.yaml").write_text(CHURN.replace("m5.large", "m5.xlarge"), "utf-8")
    assert main(["validate", "specs", "--against", "old/Customers.template.json"]) == 0
    assert "IS870" in capsys.readouterr().out


def test_a_spec_alone_is_not_what_an_app_deploys_that_adds_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    write("old", app())
    assert main(["validate", "specs", "--against", "old"]) == 1
    said = capsys.readouterr().out
    assert said.startswith(
        "old/Customers.template.json:1:1: IS853: the app gives `TeamChurn` what its spec does not say"
    )
    assert "name `cdk.out`" in said


def test_a_stack_of_an_app_is_never_left_over(capsys: pytest.CaptureFixture[str]) -> None:
    write("old", app())
    Path("specs/other.yaml").write_text(
        CHURN.replace("endpoint_name: churn", "endpoint_name: other"), "utf-8"
    )
    Path("specs/churn.yaml").unlink()
    main(["validate", "specs", "--against", "old"])
    assert "IS854" not in capsys.readouterr().out


def test_a_review_takes_what_cdk_synth_made() -> None:
    write("old", app())
    write("cdk.out", app({"variant": MORE_VARIANT}, ids=("Team", "Churn", "Bought")))
    found = review("cdk.out", "old")
    assert {it.key: it.fate for it in found.endpoints} == {"churn": "updated", "returns": "replaced"}
    refused = {(it.code, it.endpoints) for it in found.findings if it.effect == "refused"}
    assert refused == {("IS860", ("churn",)), ("IS858", ("returns",))}
    assert found.failed
    assert review("old", "old").findings == ()


def test_a_review_says_that_an_endpoint_of_a_stack_goes_and_another_comes() -> None:
    write("old", app())
    after = app()
    for it in after["Resources"].values():
        if it["Type"] == "AWS::SageMaker::Endpoint" and it["Properties"]["EndpointName"] == "returns":
            it["Properties"]["EndpointName"] = "news"
    after["Resources"] = {it.replace("Returns", "News"): one for it, one in after["Resources"].items()}
    after = json.loads(json.dumps(after).replace('"Returns', '"News'))
    write("new", after)
    found = review("new", "old")
    assert {it.key: it.fate for it in found.endpoints} == {
        "churn": "unchanged", "news": "new", "returns": "removed",
    }  # fmt: skip


def test_templates_are_specs_only_where_there_is_something_to_compare_with(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("cdk.out", app())
    assert main(["validate", "cdk.out"]) == 1
    assert "the folder holds no spec file" in capsys.readouterr().out


def test_a_spec_that_a_template_names_outside_of_the_folder_is_not_read() -> None:
    before, after = app(), app({"variant": MORE_VARIANT})
    for template in (before, after):
        for it in template["Resources"].values():
            if "Metadata" in it:
                path = it["Metadata"]["inferstack:source"]
                it["Metadata"]["inferstack:source"] = path.replace("specs/", "../specs/")
    assert {it[1] for it in codes(before, after)} == {"after"}


def test_an_endpoint_moves_from_a_template_of_its_own_only_under_its_ids() -> None:
    """A plain template has the ids of `render`, so nothing is known about those of the app's stack."""
    stack = cdk.Stack(cdk.App(), "One", env=cdk.Environment(region="us-east-1"))
    spec = parse_spec({"endpoint_name": "returns", "kind": "single-model", **_data()})
    InferenceEndpoint(stack, "Endpoint", spec=spec, preserve_logical_ids=True)
    template = Template.from_stack(stack).to_json()
    assert codes(template, template) == []


def _data() -> dict[str, Any]:
    return {
        "model": {"image": IMAGE, "model_data_url": "s3://acme-models/returns/model.tar.gz"},
        "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
    }
