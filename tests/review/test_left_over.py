"""``inferstack validate --against DIR``: templates of stacks that no spec makes any more."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from inferstack.cli import main

SPEC = """\
kind: single-model
endpoint_name: {name}
model:
  image: 111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1
  model_data_url: s3://acme-models/net/model.tar.gz
variant: {{instance_type: ml.m5.large, initial_instance_count: 2}}
"""
STAGES = "stages: {test: {}, prod: {}}\n"

LeftOver = Callable[..., list[str]]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()


def write(name: str, *, file: str = "specs/churn.yaml", more: str = "") -> Path:
    path = Path(file)
    path.parent.mkdir(exist_ok=True)
    path.write_text(SPEC.format(name=name) + more, "utf-8")
    return path


def render(*arguments: str) -> None:
    assert main(["render", *arguments, "--out", "old"]) == 0


@pytest.fixture
def left_over(capsys: pytest.CaptureFixture[str]) -> LeftOver:
    """Templates that are reported as left over."""

    def left_over(*arguments: str, against: str = "old") -> list[str]:
        capsys.readouterr()
        assert main(["validate", *(arguments or ["specs"]), "--against", against]) in (0, 1)
        return [line.split(":")[0] for line in capsys.readouterr().out.splitlines() if ": IS854: " in line]

    return left_over


def test_a_removed_spec_leaves_a_stack_that_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    write("churn")
    removed = write("two", file="specs/two.yaml")
    render("specs")
    removed.unlink()
    capsys.readouterr()
    assert main(["validate", "specs", "--against", "old"]) == 0
    out, err = capsys.readouterr()
    assert out == (
        "old/two.template.json:1:1: IS854: warning: no spec makes the endpoint `two` any more (specs/two.yaml "
        "did): if it was deployed, it stays and costs money; delete its stack: `aws cloudformation delete-stack "
        "--stack-name two --region us-east-1`; if that is done, remove this template\n"
    )
    assert err.endswith("1 warning in 1 other path, none in 1 spec\n")
    assert main(["validate", "specs", "--against", "old", "--strict"]) == 1


def test_a_folder_beside_the_working_directory_is_the_one_that_a_template_names(
    left_over: LeftOver, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("churn")
    removed = write("two", file="specs/two.yaml").absolute()
    Path("infra").mkdir()
    monkeypatch.chdir("infra")
    render(str(removed.parent))
    removed.unlink()
    assert left_over(str(removed.parent)) == ["old/two.template.json"]
    assert left_over("../specs") == ["old/two.template.json"]


def test_a_stack_whose_spec_is_there_is_not_left_over(left_over: LeftOver) -> None:
    write("churn")
    render("specs")
    assert left_over() == []


def test_a_moved_spec_file_leaves_nothing(left_over: LeftOver) -> None:
    render(str(write("churn")))
    Path("specs/churn.yaml").rename("specs/moved.yaml")
    assert left_over() == []


def test_who_names_files_has_not_removed_the_others(left_over: LeftOver) -> None:
    file = write("churn")
    render(str(write("two", file="specs/two.yaml")))
    Path("specs/two.yaml").unlink()
    assert left_over(str(file)) == []
    assert left_over("specs") == ["old/two.template.json"]


def test_one_template_is_no_folder_of_them(left_over: LeftOver) -> None:
    write("churn")
    render(str(write("two", file="specs/two.yaml")))
    Path("specs/two.yaml").unlink()
    assert left_over(against="old/two.template.json") == []


def test_the_last_spec_of_a_folder_leaves_its_stack(left_over: LeftOver) -> None:
    file = write("churn")
    render("specs")
    file.unlink()
    assert left_over() == ["old/churn.template.json"]


def test_a_folder_that_is_gone_as_a_whole_leaves_its_stacks(
    left_over: LeftOver, capsys: pytest.CaptureFixture[str]
) -> None:
    write("churn")
    write("two", file="specs/two.yaml")
    render("specs")
    shutil.rmtree("specs")
    assert left_over() == ["old/churn.template.json", "old/two.template.json"]
    assert main(["validate", "specs", "--against", "old"]) == 1
    assert "specs:1:1: IS001: " in capsys.readouterr().out


def test_the_usual_folder_that_is_gone_leaves_its_stacks(
    left_over: LeftOver, capsys: pytest.CaptureFixture[str]
) -> None:
    write("churn", file="model_specs/churn.yaml")
    render("model_specs")
    shutil.rmtree("model_specs")
    capsys.readouterr()
    assert main(["validate", "--against", "old"]) == 1
    assert "old/churn.template.json:1:1: IS854: " in capsys.readouterr().out


def test_a_named_file_that_is_gone_leaves_its_stack(left_over: LeftOver) -> None:
    file = write("churn")
    render(str(file), str(write("two", file="specs/two.yaml")))
    file.unlink()
    assert left_over(str(file)) == ["old/churn.template.json"]
    assert left_over(str(file), "specs/two.yaml") == ["old/churn.template.json"]
    assert left_over(str(file), against="old/churn.template.json") == ["old/churn.template.json"]
    assert left_over(str(file), against="old/two.template.json") == []


def test_a_stage_that_is_not_chosen_is_there_all_the_same(left_over: LeftOver) -> None:
    write("churn-${stage}", more=STAGES)
    render("specs", "--stage", "prod")
    assert left_over("specs", "--stage", "test") == []


def test_a_new_name_with_stages_leaves_the_stack_of_the_old_one(left_over: LeftOver) -> None:
    write("churn-${stage}", more=STAGES)
    render("specs", "--stage", "test")
    write("churner-${stage}", more=STAGES)
    assert left_over("specs", "--stage", "test") == ["old/churn-test.template.json"]


def test_a_stage_that_is_removed_leaves_its_stack(left_over: LeftOver) -> None:
    write("churn-${stage}", more=STAGES)
    render("specs", "--stage", "test")
    write("churn-${stage}", more="stages: {prod: {}}\n")
    assert left_over() == ["old/churn-test.template.json"]


def test_one_of_several_regions_that_is_removed_leaves_its_stack(left_over: LeftOver) -> None:
    for region in ("us-east-1", "eu-west-1"):
        write("churn", more=f"env: {{region: {region}}}\n")
        text = Path("specs/churn.yaml").read_text("utf-8").replace("ecr.us-east-1", f"ecr.{region}")
        Path("specs/churn.yaml").write_text(text, "utf-8")
        render("specs")
        Path("old/churn.template.json").rename(f"old/churn-{region}.template.json")
    assert left_over() == ["old/churn-us-east-1.template.json"]


def test_what_a_spec_with_errors_would_make_is_not_known(left_over: LeftOver) -> None:
    render(str(write("churn")))
    write("churn", file="specs/new.yaml", more="tgas: {}\n")
    Path("specs/churn.yaml").unlink()
    assert left_over() == []
    write("churner", file="specs/churn.yaml", more="endpoint_name: again\n")
    assert left_over() == []


def test_a_removed_spec_is_reported_whatever_is_wrong_with_others(left_over: LeftOver) -> None:
    render(str(write("churn")))
    for more in ("tgas: {}\n", "endpoint_name: again\n"):
        write("churner", file="specs/new.yaml", more=more)
        Path("specs/churn.yaml").unlink(missing_ok=True)
        assert left_over() == ["old/churn.template.json"]


def test_another_folder_has_another_app(left_over: LeftOver) -> None:
    render(str(write("theirs", file="others/theirs.yaml")))
    write("churn")
    assert left_over("specs") == []
    Path("others/theirs.yaml").unlink()
    assert left_over("specs", "others") == ["old/theirs.template.json"]


def change(**changes: object) -> None:
    """Changes resources of the template, which are named by logical id."""
    file = Path("old/churn.template.json")
    template = json.loads(file.read_text("utf-8"))
    template["Resources"] |= changes
    file.write_text(json.dumps(template), "utf-8")


ENDPOINT = {"Type": "AWS::SageMaker::Endpoint", "Properties": {"EndpointName": "churn"}}


def test_a_template_that_no_spec_made_has_not_lost_it(left_over: LeftOver) -> None:
    render(str(write("churn")))
    write("new")
    change(Endpoint=ENDPOINT | {"Metadata": {}})
    assert left_over() == []


def test_a_stack_with_more_than_the_endpoint_has_an_app_of_its_own(left_over: LeftOver) -> None:
    render(str(write("churn")))
    Path("specs/churn.yaml").rename("specs/new.yaml")
    write("new", file="specs/new.yaml")
    came = {"inferstack:source": "specs/churn.yaml:1"}
    change(Endpoint={"Type": "AWS::S3::Bucket"}, MyEndpoint1A2B=ENDPOINT | {"Metadata": came})
    assert left_over() == []


def test_a_name_that_only_the_deployment_knows_may_be_that_of_any_spec(left_over: LeftOver) -> None:
    render(str(write("churn")))
    Path("specs/churn.yaml").rename("specs/new.yaml")
    write("new", file="specs/new.yaml")
    assert left_over() == ["old/churn.template.json"]
    came = {"inferstack:source": "specs/churn.yaml:1"}
    change(Endpoint=ENDPOINT | {"Metadata": came, "Properties": {"EndpointName": {"Ref": "Name"}}})
    assert left_over() == []
