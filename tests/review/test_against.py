"""``inferstack validate --against``: which template a spec is compared with, and what is reported where."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inferstack.cli import main

Say = Callable[..., tuple[int, list[str], list[str]]]

SPEC = """\
kind: single-model
endpoint_name: {name}
model:
  image: {image}
  model_data_url: s3://acme-models/{url}/model.tar.gz
variant: {{instance_type: ml.m5.large, initial_instance_count: 2}}
"""
IMAGE = "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1"
FRAMEWORK = '{framework: sklearn, version: "1.2-1"}'


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()


def write(name: str, *, file: str | None = None, url: str = "one", image: str = IMAGE, more: str = "") -> str:
    path = Path("specs") / f"{name if file is None else file}.yaml"
    path.write_text(SPEC.format(name=name, url=url, image=image) + more, "utf-8")
    return str(path)


def render(*arguments: str) -> None:
    assert main(["render", *arguments, "--out", "old"]) == 0


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Exit status, problems, and the notes without the summary at their end."""

    def say(*arguments: str, against: str = "old") -> tuple[int, list[str], list[str]]:
        capsys.readouterr()
        status = main(["validate", *(arguments or ["specs"]), "--against", against])
        out, err = capsys.readouterr()
        return status, out.splitlines(), err.splitlines()[:-1]

    return say


def test_a_markdown_report_tells_of_the_updates_too(say: Say) -> None:
    render(write("bert"))
    write("bert", url="two")
    _, shown, [note] = say("specs", "--format", "markdown")
    assert shown[0] == "### inferstack: 1 remark in 1 of 1 spec"
    assert f"- {note}" in shown
    assert shown[-1].startswith("| info | `specs/bert.yaml:5` | **IS870** ")


def test_the_same_spec_changes_nothing(say: Say) -> None:
    render(write("bert"))
    assert say() == (
        0,
        [],
        [
            "specs/bert.yaml against old/bert.template.json: nothing changes; "
            "new files under an old S3 key are not deployed"
        ],
    )


TO_ZERO = """\
kind: inference-components
endpoint_name: chat
variant: {{variant_name: AllTraffic, instance_type: ml.g5.2xlarge, initial_instance_count: 2{managed}}}
inference_components:
  chat:
    specification:
      container: {{image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1", artifact_url: s3://acme-models/chat.tar.gz}}
      compute_resource_requirements: {{number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 4096}}
    autoscaling:
      min_capacity: {least}
      max_capacity: 2
      policies: [{{metric: SageMakerInferenceComponentInvocationsPerCopy, target_value: 5}}]
"""


@pytest.mark.parametrize(("least", "then"), [(0, 1), (1, 0)])
def test_a_fleet_that_is_new_for_the_least_of_copies_says_so(least: int, then: int, say: Say) -> None:
    spec = Path("specs/chat.yaml")
    spec.write_text(TO_ZERO.format(least=least, managed=""), "utf-8")
    render("specs", "--region", "us-east-1")
    spec.write_text(TO_ZERO.format(least=then, managed=""), "utf-8")
    [problem] = [line for line in say()[1] if "IS870" in line]
    assert (
        "`managed_instance_scaling` of `AllTraffic` follows from `min_capacity` of its components" in problem
    )
    written = re.findall(r"keep `(managed_instance_scaling: .+?)` by writing it", problem)
    assert len(written) == (1 if least == 0 else 0)
    for it in written:
        spec.write_text(TO_ZERO.format(least=then, managed=f", {it}"), "utf-8")
        assert not any("IS870" in line for line in say()[1])


def test_a_moved_line_changes_nothing(say: Say) -> None:
    file = write("bert")
    render(file)
    Path(file).write_text("# a comment\n\n" + Path(file).read_text("utf-8"), "utf-8")
    _, problems, [note] = say()
    assert problems == []
    assert "nothing changes" in note


def test_what_changes_together_is_said_together(say: Say) -> None:
    render(write("bert"))
    write("bert", url="two", image=IMAGE.replace(":1", ":2"))
    _, [problem], _ = say()
    assert ": `model.image` and `model.model_data_url` change: " in problem


def test_what_changes_is_said_at_its_line(say: Say) -> None:
    render(write("bert"))
    write("bert", url="two")
    status, [problem], [note] = say()
    assert status == 0
    assert problem.startswith("specs/bert.yaml:5:19: IS870: remark: `model.model_data_url` changes: ")
    assert re.sub(r"(?<=ExecutionPolicy)\w+", "", note) == (
        "specs/bert.yaml against old/bert.template.json: added ExecutionPolicy; removed ExecutionPolicy; "
        "replaced Model, EndpointConfig; updated Endpoint; the role gains s3:GetObject on "
        "arn:${AWS::Partition}:s3:::acme-models/two/model.tar.gz and s3:ListBucket on "
        "arn:${AWS::Partition}:s3:::acme-models if the prefix is two/model.tar.gz and loses s3:GetObject on "
        "arn:${AWS::Partition}:s3:::acme-models/one/model.tar.gz and s3:ListBucket on "
        "arn:${AWS::Partition}:s3:::acme-models if the prefix is one/model.tar.gz"
    )


def test_an_order_of_components_is_no_other_right(say: Say) -> None:
    text = """\
kind: inference-components
endpoint_name: bert
variant: {instance_type: ml.g5.12xlarge, initial_instance_count: 1}
inference_components:
"""
    component = """\
  %s:
    specification:
      container: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1", artifact_url: "s3://acme-models/%s.tar.gz"}
      compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 1024}
"""
    for names in ("ab", "ba"):
        Path("specs/bert.yaml").write_text(text + "".join(component % (it, it) for it in names), "utf-8")
        if names == "ab":
            render("specs/bert.yaml")
    _, problems, [note] = say()
    assert problems == []
    assert note.endswith("; the role may do what it could")


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_one_file_is_the_template_of_one_spec_whatever_its_name(form: str, say: Say) -> None:
    render(write("bert"), "--format", form)
    Path("old/bert.template." + form).rename("mine.txt")
    Path("specs/bert.yaml").unlink()
    write("gpt")
    status, [problem], _ = say(against="mine.txt")
    assert status == 0
    assert problem.startswith("specs/gpt.yaml:2:16: IS877: ")


def test_what_aws_refuses_fails(say: Say) -> None:
    render(write("bert"))
    write("BERT", file="bert")
    status, [problem], _ = say()
    assert status == 1
    assert "IS864" in problem


def test_a_spec_without_a_template_is_a_new_stack(say: Say) -> None:
    render(write("bert"))
    write("gpt")
    status, problems, notes = say()
    assert (status, problems) == (0, [])
    assert notes[1] == "specs/gpt.yaml: a new stack, no template of it in old"


def test_a_renamed_endpoint_is_known_by_its_spec_file(say: Say) -> None:
    render(write("bert", file="a"), write("gpt", file="b"))
    write("bart", file="a")
    _, [problem], notes = say()
    assert problem.startswith("specs/a.yaml:2:16: IS877: ")
    assert notes[0].startswith("specs/a.yaml against old/bert.template.json: ")


STAGES = "ignore: [IS061]\nstages: {dev: {}, prod: {variant: {instance_type: ml.m5.xlarge}}}\n"


def test_a_stage_of_its_own_name_finds_its_own_template(say: Say) -> None:
    render(write("bert-${stage}", file="bert", more=STAGES), "--stage", "prod")
    _, problems, notes = say()
    assert problems == []
    assert notes[0] == "specs/bert.yaml (dev): a new stack, no template of it in old"
    assert notes[1].startswith("specs/bert.yaml (prod) against old/bert-prod.template.json: nothing changes")


def test_another_stage_is_no_renamed_endpoint(say: Say) -> None:
    render(write("bert-${stage}", file="bert", more=STAGES), "--stage", "prod")
    assert say("specs", "--stage", "dev")[1:] == (
        [],
        ["specs/bert.yaml (dev): a new stack, no template of it in old"],
    )


def test_without_a_stage_the_spec_without_a_stage_is_meant(say: Say) -> None:
    render(write("bert", more=STAGES))
    _, problems, [note] = say()
    assert problems == []
    assert note.startswith("specs/bert.yaml against")
    _, [problem], [note] = say("specs", "--stage", "prod")
    assert "ml.m5.xlarge" in problem
    assert note.startswith("specs/bert.yaml (prod) against")


def test_stages_that_share_an_endpoint_must_be_told_apart(say: Say) -> None:
    tags = "tags: {stage: '${stage}'}\n"
    render(write("bert", more=STAGES + tags), "--stage", "prod")
    status, [problem], notes = say()
    assert (status, notes) == (1, [])
    assert problem.startswith(
        "specs/bert.yaml:2:16: IS852: the stages `dev` and `prod` all have the endpoint of"
    )
    assert say("specs", "--stage", "prod")[:2] == (0, [])


def another_model_in_each_stage(more: str) -> None:
    file = write("bert-${stage}", file="bert", more=more)
    for stage in ("dev", "prod"):
        render(file, "--stage", stage)
    write("bert-${stage}", file="bert", url="two", more=more)


def test_what_differs_between_stages_says_which_stage_it_is_about(say: Say) -> None:
    # The model is what all stages share; how many instances are replaced for it differs.
    more = "stages: {dev: {}, prod: {variant: {initial_instance_count: 5}}}\n"
    another_model_in_each_stage(more)
    _, problems, _ = say()
    assert [it.partition(" (stage ")[2].partition(")")[0] for it in problems] == ["dev", "prod"]
    _, [alone], _ = say("specs", "--stage", "prod")
    assert "(stage" not in alone
    # What is true of all stages is said once, of none in particular.
    another_model_in_each_stage(more.replace("5", "2"))
    _, [common], _ = say()
    assert "(stage" not in common


ENV = 'env: {{account: "111122223333", region: {}}}\n'


def test_the_same_endpoint_in_two_regions_is_told_apart_by_the_stacks_name(say: Say) -> None:
    for region in ("us-east-1", "eu-west-1"):
        render(write("bert", image=FRAMEWORK, more=ENV.format(region)))
        Path("old/bert.template.json").rename(f"old/bert-111122223333-{region}.template.json")
    _, problems, [note] = say("specs/bert.yaml")
    assert problems == []
    assert "against old/bert-111122223333-eu-west-1.template.json" in note


def test_two_templates_of_one_endpoint_are_a_problem(say: Say) -> None:
    for copy in ("a", "b"):
        render(write("bert"))
        Path("old/bert.template.json").rename(f"old/{copy}.template.json")
    status, [problem], _ = say()
    assert status == 1
    assert "IS852: old/a.template.json and old/b.template.json all have the endpoint `bert`" in problem


def in_stage(*folders: str) -> str:
    """Puts the rendered template where `cdk synth` puts that of a stack in a `Stage`."""
    folder = Path("old", *folders)
    folder.mkdir(parents=True)
    Path("old/bert.template.json").rename(folder / "ProdBert1234.template.json")
    return (folder / "ProdBert1234.template.json").as_posix()


@pytest.mark.parametrize("folders", [("assembly-Prod",), ("assembly-Prod", "assembly-Prod-Europe")])
def test_a_stack_in_a_stage_of_cdk_is_found(folders: tuple[str, ...], say: Say) -> None:
    render(write("bert"))
    file = in_stage(*folders)
    write("bert", url="two")
    _, [problem], [note] = say()
    assert "IS870" in problem
    assert note.startswith(f"specs/bert.yaml against {file}: ")


def test_of_two_stages_with_one_endpoint_one_must_be_named(say: Say) -> None:
    for stage in ("assembly-Prod", "assembly-Test"):
        render(write("bert"))
        in_stage(stage)
    Path("old/assembly-Test/assembly-back").symlink_to(Path("old").absolute())
    status, [problem], _ = say()
    assert status == 1
    assert (
        "IS852: old/assembly-Prod/ProdBert1234.template.json and old/assembly-Test/ProdBert1234.template.json all "
        "have the endpoint `bert`; delete what an earlier synth or another app left, or name one of them instead of "
        "the folder, or a folder that holds no other"
    ) in problem
    assert say(against="old/assembly-Test")[:2] == (0, [])


@pytest.mark.parametrize("region", [[], ["--region", "eu-west-1"]])
def test_the_region_that_a_spec_does_not_name_is_that_of_the_template(region: list[str], say: Say) -> None:
    render(write("bert", image=FRAMEWORK), *region)
    _, problems, [note] = say()
    assert problems == []
    assert "nothing changes" in note


def test_another_region_than_that_of_the_template_has_other_images(say: Say) -> None:
    render(write("bert", image=FRAMEWORK), "--region", "us-east-1")
    _, [problem], [note] = say("specs", "--region", "eu-west-1")
    assert "IS856: warning: `bert` moves from us-east-1 to eu-west-1" in problem
    assert note.endswith("a new stack; the old one stays")


def test_a_region_changes_nothing_in_a_template_for_all_of_them(say: Say) -> None:
    render(write("bert", image=FRAMEWORK))
    _, problems, [note] = say("specs", "--region", "eu-west-1")
    assert (problems, "nothing changes" in note) == ([], True)


def test_another_kind_of_stack_is_a_problem(say: Say) -> None:
    render(write("bert"))
    file = Path("old/bert.template.json")
    template: dict[str, Any] = json.loads(file.read_text("utf-8"))
    resources = template["Resources"]
    resources["Endpoint"], resources["Model"] = resources["Model"], resources["Endpoint"]
    file.write_text(json.dumps(template), "utf-8")
    status, [problem], notes = say()
    assert (status, notes) == (1, [])
    assert problem.startswith("old/bert.template.json:1:1: IS853: `Model` and `Endpoint` is not there")
    resources["Model"] = {"Type": "AWS::S3::Bucket"}
    file.write_text(json.dumps(template), "utf-8")
    assert "IS853" in say("specs/bert.yaml", against=str(file))[1][0]


def foreign(change: Callable[[dict[str, Any]], object]) -> None:
    """Renders `bert`, and changes the resources of the template."""
    render(write("bert"))
    file = Path("old/bert.template.json")
    template: dict[str, Any] = json.loads(file.read_text("utf-8"))
    change(template["Resources"])
    file.write_text(json.dumps(template), "utf-8")


def test_a_template_that_inferstack_has_not_made_is_compared_only_if_asked(say: Say) -> None:
    foreign(lambda resources: [it.pop("Metadata") for it in resources.values()])
    refused = (
        "old/bert.template.json:1:1: IS853: inferstack has not made this template: `Endpoint` has no "
        "`inferstack:source`; compare with that of the endpoint's own stack; to compare all the same, add "
        "`--foreign`"
    )
    assert say() == (1, [refused], [])
    assert say(against="old/bert.template.json") == (1, [refused], [])
    status, problems, [note] = say("specs", "--foreign")
    assert (status, problems) == (0, [])
    assert "nothing changes" in note


def test_a_template_that_is_named_is_meant_even_if_no_spec_has_its_endpoint(say: Say) -> None:
    foreign(lambda resources: resources["Endpoint"].pop("Metadata"))
    Path("specs/bert.yaml").unlink()
    for name in ("gpt", "net"):
        write(name)
    status, [problem], notes = say(against="old/bert.template.json")
    assert (status, notes) == (1, [])
    assert "IS853" in problem


def test_what_no_spec_has_made_is_not_removed_without_a_word(say: Say) -> None:
    resize = {"Type": "AWS::Lambda::Function", "Properties": {"Role": "x"}}
    names = {"Type": "AWS::CDK::Metadata", "Properties": {"Analytics": "x"}}
    foreign(lambda resources: resources.update(Resize=resize, CDKMetadata=names))
    status, problems, _ = say()
    assert (status, len(problems)) == (0, 1)
    assert problems[0].startswith(
        "specs/bert.yaml:1:1: IS893: warning: `Resize` (AWS::Lambda::Function) is removed"
    )
    assert say("specs", "--strict")[0] == 1


def test_a_removed_alarm_is_said_at_the_block_that_made_it(say: Say) -> None:
    render(write("bert", more="alarms: {rules: [{metric: Invocations, threshold: 9000}]}\n"))
    write("bert", more="tags: {a: b}\nalarms: {}\n")
    _, [problem], _ = say()
    assert problem.startswith("specs/bert.yaml:8:1: IS893: warning: `AlarmInvocationsSumAllTraffic")
    write("bert", more="ignore: [IS893]\n")
    assert say()[1] == []


def test_a_spec_with_errors_is_not_compared(say: Say) -> None:
    render(write("bert"))
    write("bert", more="tgas: {}\n")
    status, problems, notes = say()
    assert (status, notes) == (1, [])
    assert [problem.split(" ")[1] for problem in problems] == ["IS101:"]


def test_a_template_that_cannot_be_read_is_a_problem_beside_those_of_the_specs(say: Say) -> None:
    write("bert", more="tgas: {}\n")
    Path("old.json").write_text('{"Resources": {"Mod', "utf-8")
    status, problems, _ = say(against="old.json")
    assert status == 1
    assert [problem.split(" ")[:2] for problem in problems] == [
        ["old.json:1:16:", "IS850:"],
        ["specs/bert.yaml:7:1:", "IS101:"],
    ]


HOSTILE: list[Any] = [None, 1, "x", [], [1], {}, {"Ref": "X"}, {"Fn::Sub": ["${X}", 1]}, True]


@pytest.mark.parametrize("value", HOSTILE, ids=str)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_no_form_of_a_previous_template_ends_in_a_traceback(depth: int, value: Any, say: Say) -> None:
    scaled = """\
autoscaling: {min_capacity: 1, max_capacity: 4, policies: [{metric: CPUUtilization, target_value: 60}]}
"""
    render(write("bert", more=scaled))
    template = json.loads(Path("old/bert.template.json").read_text("utf-8"))
    for resource in template["Resources"].values():
        resource["Properties"] = spoilt(resource["Properties"], depth, value)
    Path("old.json").write_text(json.dumps(template), "utf-8")
    status, _, _ = say(against="old.json")
    assert status in (0, 1)


def spoilt(properties: Any, depth: int, value: Any) -> Any:
    """Replaces everything at this depth by another value."""
    if depth == 0:
        return value
    match properties:
        case dict():
            return {key: spoilt(item, depth - 1, value) for key, item in properties.items()}
        case list():
            return [spoilt(item, depth - 1, value) for item in properties]
        case _:
            return properties


@pytest.mark.parametrize(("name", "in_doubt"), [("Chat", True), ("talk", False)])
def test_a_component_that_only_changes_the_case_of_its_name_may_be_refused(
    name: str, in_doubt: bool, say: Say
) -> None:
    spec = """\
kind: inference-components
endpoint_name: chat
variant: {{instance_type: ml.g5.12xlarge, initial_instance_count: 1}}
inference_components:
  {}:
    specification:
      container: {{image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1"}}
      compute_resource_requirements: {{number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 4096}}
    runtime_config: {{copy_count: 1}}
"""
    file = Path("specs/chat.yaml")
    file.write_text(spec.format("chat"))
    render(str(file))
    file.write_text(spec.format(name))
    _, shown, _ = say()
    [renamed] = [line for line in shown if "IS881" in line]
    assert ("may take both for one name" in renamed) is in_doubt
