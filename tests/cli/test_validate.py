"""``inferstack validate``: what it checks, what it reports and where, and how it exits."""

import json
from pathlib import Path

import pytest
from support.program import Run, Write

from inferstack.cli import main

WARNED = "ignore: []\nautoscaling: {min_capacity: 1, max_capacity: 4}\n"


def test_right_specs_give_no_output_but_a_summary(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("model_specs/a.yaml", name="a")
    write("model_specs/b.yml", name="b")
    assert main(["validate"]) == 0
    assert capsys.readouterr() == ("", "2 specs: no problems\n")


def test_all_problems_of_all_files_are_reported_at_once(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write("a.yaml", name="a", count="many", more="tgas: {}\n")
    second = write("b.yaml", name="b", count=-1)
    assert main(["validate", str(first), str(second)]) == 1
    out, err = capsys.readouterr()
    places = [line.split(" ")[:2] for line in out.splitlines()]
    assert places == [
        ["a.yaml:6:63:", "IS103:"],
        ["a.yaml:7:1:", "IS101:"],
        ["b.yaml:6:63:", "IS106:"],
    ]
    assert "did you mean `tags`?" in out
    assert err == "3 errors in 2 of 2 specs\n"


def test_a_warning_is_shown_and_fails_only_if_strict(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("model_specs/a.yaml", more=WARNED)
    write("model_specs/b.yaml", name="b")
    assert main(["validate"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("model_specs/a.yaml:8:")
    assert ": warning: " in out
    assert err == "1 warning in 1 of 2 specs\n"
    assert main(["validate", "--strict"]) == 1
    assert capsys.readouterr() == (out, err)


def test_a_spec_that_names_no_region_is_checked_for_the_one_that_is_given(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("model_specs/a.yaml", more="alarms: {actions: ['arn:aws:sns:us-east-1:111122223333:on-call']}\n")
    assert main(["validate", "--region", "us-east-1"]) == 0
    assert "IS810" not in capsys.readouterr().out
    assert main(["validate", "--region", "eu-west-1"]) == 1
    assert "IS810" in capsys.readouterr().out


def test_a_folder_means_its_yaml_files_but_neither_hidden_ones_nor_those_below(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("specs/a.yaml", name="a")
    for name in (".hidden.yaml", "below/c.yaml", "d.json", "folder.yaml/e.yaml"):
        write(f"specs/{name}", count="wrong")
    assert main(["validate", "specs"]) == 0
    assert capsys.readouterr().err == "1 spec: no problems\n"


def test_a_file_that_is_named_twice_is_checked_once(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    file = write("specs/a.yaml")
    assert main(["validate", "specs", str(file), f"./{file}"]) == 0
    assert capsys.readouterr().err == "1 spec: no problems\n"


def test_a_folder_without_specs_is_a_problem(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    assert main(["validate", "empty"]) == 1
    assert capsys.readouterr().out.startswith(
        "empty:1:1: IS040: the folder holds no spec file; put a *.yaml "
    )


def test_of_a_projects_folder_the_specs_in_it_are_meant(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("project/model_specs/a.yaml")
    assert main(["validate", "project"]) == 1
    message = "the folder holds no spec file; did you mean `project/model_specs`?"
    assert capsys.readouterr().out == f"project:1:1: IS040: {message}\n"


def test_a_path_that_does_not_exist_is_a_problem(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate"]) == 1
    assert capsys.readouterr().out == (
        "model_specs:1:1: IS001: no path was given, and the default folder `model_specs` does not exist; "
        "pass a spec file, or a folder of spec files\n"
    )
    (folder / "model.json").touch()
    assert main(["validate"]) == 1
    assert "model.json" not in capsys.readouterr().out
    assert main(["validate", "modle.json"]) == 1
    assert "did you mean `model.json`?" in capsys.readouterr().out


@pytest.mark.parametrize("path", ["a" * 300 + ".yaml", "a.yaml/b.yaml"])
def test_a_path_that_no_file_can_have_is_a_problem(
    path: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("a.yaml")
    assert main(["validate", path]) == 1
    assert f"{path}:1:1: IS00" in capsys.readouterr().out


STAGES = "stages: {dev: {}, prod: {variant: {initial_instance_count: none}}}\n"


def test_every_stage_is_checked_unless_one_is_chosen(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(write("a.yaml", more=STAGES))
    assert main(["validate", file]) == 1
    assert capsys.readouterr().out.startswith("a.yaml:7:")
    assert main(["validate", file, "--stage", "dev"]) == 0
    assert main(["validate", file, "--stage", "prod"]) == 1
    capsys.readouterr()
    assert main(["validate", file, "--stage", "prdo"]) == 1
    assert "did you mean `prod`?" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["validat"],
        ["validate", "--format", "xml"],
        ["validate", "--nope"],
        ["render", "--fail-on-change"],
        ["completion", "bash", "zsh"],
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: inferstack")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["validate", "--nope", "x"], "unknown option --nope\n"),
        (["validate", "--strikt"], "unknown option --strikt; did you mean `--strict`?\n"),
        (["render", "a.yaml", "--regoin=x"], "unknown option --regoin; did you mean `--region`?\n"),
        (["package", "a.yaml", "--uplaod"], "unknown option --uplaod; did you mean `--upload`?\n"),
        (["completion", "bash", "zsh"], "unexpected argument 'zsh'\n"),
    ],
)
def test_an_unknown_option_is_answered_by_its_command(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    err = capsys.readouterr().err
    assert err.startswith(f"usage: inferstack {arguments[0]} [-h]")
    assert err.endswith(f"\ninferstack {arguments[0]}: error: {said}")


def test_the_format_changes_only_the_output(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(write("a.yaml", count="many"))
    for form in ("json", "sarif"):
        assert main(["validate", file, "--format", form]) == 1
        out, err = capsys.readouterr()
        json.loads(out)
        assert err == "1 error in 1 of 1 spec\n"
    assert main(["validate", file, "--format", "github"]) == 1
    assert capsys.readouterr().out.startswith("::error file=a.yaml,line=6,col=63,title=IS103::")


HEAVY = ["aws_cdk", "jsii", "constructs", "boto3", "botocore"]
LOADED = f"""
import sys
from inferstack.cli import main
status = main(['validate'])
sys.exit(str([name for name in {HEAVY} if name in sys.modules]) if not status else status)
"""


def test_validating_loads_neither_the_cdk_nor_an_aws_client(write: Write, run: Run) -> None:
    write("model_specs/a.yaml")
    done = run(program=LOADED)
    assert done.stderr == "1 spec: no problems\n[]\n"


@pytest.mark.parametrize("stage", [[], ["--stage", "prod"]])
def test_the_same_endpoint_in_two_files_is_a_problem(
    stage: list[str], write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("model_specs/a.yaml", name="bert", more="stages: {prod: {}}\n")
    write("model_specs/b.yaml", name="BERT")
    assert main(["validate", *stage]) == 1
    out = capsys.readouterr().out
    assert out.startswith("model_specs/b.yaml:2:16: IS041: ")
    assert out.count("IS041") == 1
    assert "model_specs/a.yaml:2" in out


def test_files_meet_at_each_stage(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("model_specs/a.yaml", name="bert-${stage}", more="stages: {dev: {}, prod: {}}\n")
    write("model_specs/b.yaml", name="bert-prod")
    assert main(["validate"]) == 1
    assert "b.yaml:2:16: IS041: " in capsys.readouterr().out
    assert main(["validate", "--stage", "dev"]) == 0


def test_stages_of_different_files_do_not_meet(write: Write) -> None:
    write("model_specs/a.yaml", name="bert-${stage}", more="stages: {dev: {}, test: {endpoint_name: bert}}\n")
    write(
        "model_specs/b.yaml", name="bert-${stage}", more="stages: {test: {}, prod: {endpoint_name: bert}}\n"
    )
    assert main(["validate"]) == 0


def test_a_stage_that_no_spec_has_is_said_to_change_nothing(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(write("a.yaml"))
    assert main(["validate", file, "--stage", "prdo"]) == 0
    assert capsys.readouterr().err.startswith(
        "warning: the stage `prdo` has no effect because no spec has `stages`; "
    )
    assert main(["validate", file]) == 0
    assert "changes nothing" not in capsys.readouterr().err
