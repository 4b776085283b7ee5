"""``inferstack render``: templates without CDK, either all of them or none."""

import json
import os
import signal
from pathlib import Path

import pytest
import yaml
from support.program import ENDED, Run, Write

from inferstack.cli import main

SPECS = Path(__file__).parents[2] / "model_specs"


def test_one_spec_is_printed(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", str(write("a.yaml"))]) == 0
    out, err = capsys.readouterr()
    template = json.loads(out)
    assert template["Resources"]["Endpoint"]["Type"] == "AWS::SageMaker::Endpoint"
    assert template["Resources"]["Model"]["Metadata"] == {"inferstack:source": "a.yaml: model"}
    assert err == ""


@pytest.mark.parametrize("path", sorted(SPECS.glob("*.yaml")), ids=lambda path: path.stem)
def test_yaml_and_json_are_the_same_template(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", str(path)]) == 0
    as_json = capsys.readouterr().out
    assert main(["render", str(path), "--format", "yaml"]) == 0
    as_yaml = capsys.readouterr().out
    assert yaml.safe_load(as_yaml) == json.loads(as_json)
    assert list(yaml.safe_load(as_yaml)["Resources"]) == list(json.loads(as_json)["Resources"])
    assert not [event for event in yaml.parse(as_yaml) if isinstance(event, yaml.AliasEvent)]


def test_the_source_is_relative_wherever_the_spec_was_named_from(
    write: Write, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write("specs/a.yaml")
    assert main(["render", str(folder / file)]) == 0
    assert '"inferstack:source": "specs/a.yaml: model"' in capsys.readouterr().out


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_name_that_is_not_utf8_is_shown_by_its_bytes(
    form: str, write: Write, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        write("a.yaml").rename(folder / os.fsdecode(b"b\xff.yaml"))
    except OSError:
        pytest.skip("this file system has no such names")
    assert main(["render", os.fsdecode(b"b\xff.yaml"), "--format", form]) == 0
    template = yaml.safe_load(capsys.readouterr().out)
    assert template["Resources"]["Model"]["Metadata"] == {"inferstack:source": "b\\udcff.yaml: model"}


def test_the_region_decides_the_image(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(write("a.yaml"))
    assert main(["render", file, "--region", "eu-west-1"]) == 0
    assert ".dkr.ecr.eu-west-1.amazonaws.com/" in capsys.readouterr().out
    assert main(["render", file]) == 0
    assert ".dkr.ecr.eu-west-1." not in capsys.readouterr().out


def test_a_region_that_is_none_is_wrong_usage(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["render", str(write("a.yaml")), "--region", "eu_west_1"])
    assert exit_.value.code == 2
    assert "did you mean `eu-west-1`?" in capsys.readouterr().err


def test_a_stage_is_chosen(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(write("a.yaml", more="stages: {prod: {variant: {initial_instance_count: 7}}}\n"))
    for arguments, count in (([], 2), (["--stage", "prod"], 7)):
        assert main(["render", file, *arguments]) == 0
        assert f'"InitialInstanceCount": {count}' in capsys.readouterr().out


def test_several_specs_go_to_a_folder(write: Write, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(write(f"{name}.yaml", name=name)) for name in ("a", "b")]
    with pytest.raises(SystemExit) as exit_:
        main(["render", *files])
    assert exit_.value.code == 2
    assert "error: 2 specs need --out DIR, for one" in capsys.readouterr().err
    assert main(["render", *files, "--out", "out/put", "--format", "yaml"]) == 0
    assert capsys.readouterr().out.splitlines() == ["out/put/a.template.yaml", "out/put/b.template.yaml"]
    assert sorted(path.name for path in (folder / "out/put").iterdir()) == [
        "a.template.yaml",
        "b.template.yaml",
    ]


def test_nothing_is_written_if_one_spec_has_an_error(
    write: Write, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(write("a.yaml", name="a")), str(write("b.yaml", name="b", count="many"))]
    assert main(["render", *files, "--out", "out"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("b.yaml:6:63: IS103: ")
    assert not (folder / "out").exists()


def test_specs_that_collide_are_not_rendered(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(write("a.yaml")), str(write("b.yaml"))]
    assert main(["render", *files, "--out", "out"]) == 1
    assert "b.yaml:2:16: IS041: " in capsys.readouterr().err


def test_two_specs_are_not_written_to_one_file(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    # The first two are called like the third: by name and region, since they share the name.
    files = [
        str(write(f"{name}.yaml", name="a", more=f"env: {{region: {region}}}\n"))
        for name, region in (("x", "us-east-1"), ("y", "eu-west-1"))
    ]
    files.append(str(write("z.yaml", name="a-us-east-1")))
    assert main(["render", *files, "--out", "out"]) == 1
    assert "two specs would be written to a-us-east-1.template.json" in capsys.readouterr().err


def test_a_template_is_called_like_its_stack_whatever_the_file_of_the_spec_is_called(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(write("a.yaml", name="churn")), str(write("b.yaml", name="2nd"))]
    assert main(["render", *files, "--out", "out"]) == 0
    assert capsys.readouterr().out.split() == ["out/churn.template.json", "out/endpoint-2nd.template.json"]


STAGES = "stages:\n  eu: {env: {region: eu-west-1}}\n  us: {env: {region: us-east-1}}\n"


@pytest.mark.parametrize(
    ("name", "templates"),
    [
        ("bert-${stage}", ["bert-eu", "bert-us"]),
        ("bert", ["bert-eu-west-1", "bert-us-east-1"]),
    ],
)
def test_the_stages_of_a_spec_may_share_a_folder(
    name: str, templates: list[str], write: Write, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("model_specs/a.yaml", name=name, more=STAGES)
    for _ in range(2):
        for stage in ("eu", "us"):
            capsys.readouterr()
            main(["render", "--stage", stage, "--out", "out", "--fail-on-change"])
    assert capsys.readouterr().err == ""
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        f"{it}.template.json" for it in templates
    ]
    (folder / "out/other.template.json").write_text("{}")
    assert main(["render", "--stage", "us", "--out", "out", "--fail-on-change"]) == 1
    assert capsys.readouterr().err == "out/other.template.json: no spec makes this template; remove it\n"


def test_a_warning_goes_to_standard_error(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    file = write("a.yaml", more="autoscaling: {min_capacity: 1, max_capacity: 4}\n")
    assert main(["render", str(file)]) == 0
    out, err = capsys.readouterr()
    json.loads(out)
    assert err.startswith("a.yaml:7:")
    assert ": warning: " in err


@pytest.mark.parametrize("out", ["taken", "taken/below", "full"])
def test_a_folder_that_cannot_be_written_is_one_line(
    out: str, write: Write, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "taken").write_text("")
    # There is a folder where the template should go, so the last step fails and not the first.
    (folder / "full" / "a.template.json").mkdir(parents=True)
    assert main(["render", str(write("a.yaml", name="a")), "--out", out]) == 1
    printed, err = capsys.readouterr()
    assert printed == ""
    assert err.startswith(f"inferstack: {out}: templates cannot be written here: ")
    assert err.count("\n") == 1
    assert [path.name for path in (folder / "full").iterdir()] == ["a.template.json"]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_templates_that_were_not_finished_leave_nothing(
    ending: signal.Signals, write: Write, folder: Path, run: Run
) -> None:
    files = [str(write(f"{name}.yaml", name=name)) for name in ("a", "b")]
    done = run("render", *files, "--out", "out", program=ENDED.format(ending=ending))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "inferstack: interrupted\n")
    assert list((folder / "out").iterdir()) == []


def test_a_template_replaces_the_one_of_before_as_a_whole(write: Write, folder: Path) -> None:
    file = str(write("a.yaml", name="a"))
    assert main(["render", file, "--out", "out"]) == 0
    before = (folder / "out/a.template.json").read_bytes()
    (folder / "out/a.template.json").write_text("x" * 100_000)
    assert main(["render", file, "--out", "out"]) == 0
    assert (folder / "out/a.template.json").read_bytes() == before


def test_a_template_that_is_there_already_is_left_alone(write: Write, folder: Path) -> None:
    files = [str(write(f"{name}.yaml", name=name)) for name in ("a", "b")]
    made = [folder / f"out/{name}.template.json" for name in ("a", "b")]
    assert main(["render", *files, "--out", "out"]) == 0
    made[1].write_text("x" * made[1].stat().st_size)
    before = [path.stat().st_ino for path in made]
    assert main(["render", *files, "--out", "out"]) == 0
    after = [path.stat().st_ino for path in made]
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert json.loads(made[1].read_bytes())["Resources"]


def test_what_is_no_file_is_not_waited_for(write: Write, folder: Path) -> None:
    pipe = folder / "out/a.template.json"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    assert main(["render", str(write("a.yaml", name="a")), "--out", "out"]) == 0
    assert pipe.is_file()


def test_a_folder_means_its_specs(write: Write, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        write(f"model_specs/{name}.yml", name=name)
    assert main(["render", "--out", "out"]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines() == ["out/a.template.json", "out/b.template.json"]
    assert main(["render", "model_specs", "model_specs/a.yml", "--out", "out"]) == 0
    assert capsys.readouterr().out == printed


def test_a_folder_without_specs_is_not_rendered(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    assert main(["render", "empty"]) == 1
    assert capsys.readouterr().err.startswith("empty:1:1: IS040: ")


def test_a_folder_that_was_not_up_to_date_fails_where_asked_and_is_then(
    write: Write, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b", "c"):
        write(f"model_specs/{name}.yaml", name=name)
    call = ["render", "--out", "out", "--fail-on-change"]
    assert main(["render", "model_specs/a.yaml", "model_specs/b.yaml", "--out", "out"]) == 0
    (folder / "out/b.template.json").write_text("{}")
    capsys.readouterr()
    assert main(call) == 1
    assert capsys.readouterr().err.splitlines() == [
        "out/b.template.json: was out of date and has been written; add it to your commit",
        "out/c.template.json: was missing and has been written; add it to your commit",
    ]
    assert main(call) == 0
    assert capsys.readouterr().err == ""


def test_a_template_whose_spec_is_gone_fails_where_asked_and_stays(
    write: Write, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [write(f"model_specs/{name}.yaml", name=name) for name in ("a", "b")]
    assert main(["render", "--out", "out"]) == 0
    (folder / files[1]).unlink()
    (folder / "out/README.md").write_text("")
    capsys.readouterr()
    assert main(["render", "--out", "out"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["render", "--out", "out", "--fail-on-change"]) == 1
    assert capsys.readouterr().err == "out/b.template.json: no spec makes this template; remove it\n"
    assert (folder / "out/b.template.json").is_file()
    # Naming files says nothing about the rest of the folder.
    assert main(["render", str(files[0]), "--out", "out", "--fail-on-change"]) == 0
