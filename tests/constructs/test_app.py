import json
import os
import subprocess
import sys
from pathlib import Path

import aws_cdk as cdk
import pytest
import yaml
from support.locking import ONE, lay_out_spec, write_lock
from support.resolving import wordy_components

from inferstack.problems import SpecError
from inferstack_stacks import add_stacks, build_app

ROOT = Path(__file__).parents[2]
SPEC = """
kind: single-model
endpoint_name: {name}
model:
  image: 111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1
  model_data_url: s3://acme/model.tar.gz
variant: {{instance_type: ml.m5.large, initial_instance_count: {count}}}
"""
STAGES = "stages: {prod: {variant: {initial_instance_count: 4}}}\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with an empty `model_specs`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model_specs").mkdir()
    return tmp_path


def write(file: str, text: str = "", **values: object) -> None:
    path = Path("model_specs", file)
    path.write_text(text or SPEC.format(**{"name": path.stem, "count": 2, **values}))


def synthesised(name: str) -> dict:
    return json.loads(Path("cdk.out", f"{name}.template.json").read_text())


def test_each_spec_becomes_a_stack(folder):
    write("a.yaml")
    write("b.yml")
    write(".hidden.yaml", "kind: 1")
    assert [it.stack_name for it in build_app().synth().stacks] == ["a", "b"]


def test_a_lock_is_no_spec_and_says_what_is_deployed(folder):
    file = lay_out_spec(Path("model_specs"), ONE)
    write_lock(file)
    build_app().synth()
    (model,) = [
        it for it in synthesised("one")["Resources"].values() if it["Type"] == "AWS::SageMaker::Model"
    ]
    assert model["Properties"]["PrimaryContainer"]["ModelDataUrl"].startswith(
        "s3://acme-models/one/model-sha256-"
    )


def test_a_spec_that_does_not_fit_its_lock_makes_no_stack(folder, capsys):
    file = lay_out_spec(Path("model_specs"), ONE)
    write_lock(file)
    file.write_text(file.read_text().replace("dims: [1]", "dims: [2]"))
    with pytest.raises(SystemExit):
        build_app()
    assert "model_specs/a.yaml:9:9: IS054" in capsys.readouterr().err
    assert not Path("cdk.out").exists()


def test_nothing_is_in_the_output_folder_before_the_synthesis(folder):
    write("a.yaml")
    app = build_app()
    assert list(Path("cdk.out").iterdir()) == []
    app.synth()
    assert synthesised("a")


def test_without_the_cdk_cli_the_output_goes_to_cdk_out(folder):
    write("a.yaml")
    build_app().synth()
    assert synthesised("a")["Resources"].keys() >= {"Endpoint"}


def test_resources_name_their_line_in_the_same_words_on_every_machine(folder):
    write("a.yaml")
    build_app(folder / "model_specs").synth()
    assert synthesised("a")["Resources"]["Model"]["Metadata"] == {
        "inferstack:source": "model_specs/a.yaml: model"
    }


def test_nothing_of_this_machine_is_written(folder):
    write("a.yaml")
    build_app().synth()
    for file in Path("cdk.out").iterdir():
        assert str(folder) not in file.read_text()
        assert str(ROOT) not in file.read_text()


def test_no_lines_of_node_are_written(folder):
    write("a.yaml")
    build_app().synth()
    assert "creationStack" not in Path("cdk.out", "a.metadata.json").read_text()


def test_whoever_wants_the_lines_of_node_gets_them(folder):
    write("a.yaml")
    build_app(context={"aws:cdk:disable-creation-stack-traces": False}).synth()
    assert "creationStack" in Path("cdk.out", "a.metadata.json").read_text()


def test_context_chooses_the_stage(folder):
    write("a.yaml", SPEC.format(name="a", count=1) + STAGES)
    build_app(context={"stage": "prod"}).synth()
    (variant,) = synthesised("a")["Resources"]["EndpointConfig"]["Properties"]["ProductionVariants"]
    assert variant["InitialInstanceCount"] == 4


def test_context_chooses_the_specs(folder):
    write("a.yaml")
    Path("model_specs").rename("others")
    build_app(context={"specs": "others"}).synth()
    assert "others/a.yaml" in json.dumps(synthesised("a"))


def test_context_that_is_null_chooses_nothing(folder):
    write("a.yaml")
    app = build_app(context={"specs": None, "stage": None})
    assert [it.stack_name for it in app.synth().stacks] == ["a"]


@pytest.mark.parametrize(
    ("key", "meant"), [("stages", "stage"), ("Stage", "stage"), ("satge", "stage"), ("spec", "specs")]
)
def test_context_that_is_called_nearly_so_is_not_passed_over(folder, key, meant):
    write("a.yaml")
    with pytest.raises(
        SystemExit, match=f"^the context has `{key}`: did you mean `-c {meant}=prod`? ".replace("?", r"\?")
    ):
        build_app(context={key: "prod"})


@pytest.mark.parametrize(
    "context",
    [
        {"stages": "mine", "stage": None},
        {"stages": {"prod": "111122223333"}},
        {"stage-name": "x", "state": 1},
    ],
)
def test_an_app_may_have_context_of_its_own(folder, context):
    write("a.yaml")
    build_app(context=context)


def test_no_folder_is_no_choice_of_specs(folder):
    write("a.yaml")
    with pytest.raises(
        SystemExit, match=r"^`-c specs=` does not name a folder; write `-c specs=DIR`, or leave it out$"
    ):
        build_app(context={"specs": ""})


def test_all_problems_of_all_files_are_printed_one_a_line_and_nothing_is_written(folder, capsys):
    write("a.yaml", SPEC.format(name="a", count=2) + "modle: 1\n")
    write("b.yaml", SPEC.format(name="b", count="two"))
    write("c.yaml", name="d")
    write("d.yaml")
    with pytest.raises(SystemExit) as stopped:
        build_app()
    assert stopped.value.code == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines if "warning" not in line] == [
        "model_specs/a.yaml",
        "model_specs/b.yaml",
        "model_specs/d.yaml",
    ]
    assert 'the endpoint name "d" is taken by model_specs/c.yaml:3' in lines[-1]
    assert not Path("cdk.out").exists()


def test_templates_that_are_too_large_are_problems_of_all_their_files(folder, capsys):
    for name in ("a", "b"):
        spec = wordy_components(75)
        components = {f"{name}-{key}": it for key, it in spec["inference_components"].items()}
        write(f"{name}.yaml", yaml.dump(spec | {"endpoint_name": name, "inference_components": components}))
    with pytest.raises(SystemExit) as exit_:
        build_app()
    assert exit_.value.code == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines if "IS218" in line] == [
        f"model_specs/{it}.yaml" for it in "ab"
    ]
    assert len(set(lines)) == len(lines)


def test_an_empty_folder_is_a_problem(folder, capsys):
    with pytest.raises(SystemExit):
        build_app()
    assert "model_specs:1:1: IS040" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_a_problem(folder, capsys):
    with pytest.raises(SystemExit):
        build_app("nowhere")
    assert "nowhere:1:1: IS001" in capsys.readouterr().err


def test_an_output_folder_that_cannot_be_made_is_named(folder):
    write("a.yaml", SPEC.format(name="a", count=1))
    Path("taken").write_text("", encoding="utf-8")
    with pytest.raises(
        SystemExit, match=r"^taken: the output folder cannot be made: File exists; choose another"
    ):
        build_app(outdir="taken")


def test_a_stage_that_a_spec_does_not_have_is_a_problem(folder, capsys):
    write("a.yaml", SPEC.format(name="a", count=1) + STAGES)
    with pytest.raises(SystemExit):
        build_app(context={"stage": "prd"})
    assert "did you mean `prod`?" in capsys.readouterr().err


@pytest.mark.parametrize("under_the_cli", [True, False])
def test_a_stage_that_changes_nothing_is_said_to(folder, capsys, monkeypatch, under_the_cli):
    if under_the_cli:
        monkeypatch.setenv("CDK_OUTDIR", str(folder / "elsewhere"))
    write("a.yaml")
    write("b.yaml")
    build_app(context={"stage": "prdo"})
    said = "warning: the stage `prdo` has no effect because no spec has `stages`; write `stages: {prdo: …}` into one, or choose none"
    assert capsys.readouterr().err == f"{said}\n"
    build_app()
    write("b.yaml", SPEC.format(name="b-${stage}", count=1))
    build_app(context={"stage": "prdo"})
    assert capsys.readouterr().err == ""


ACCOUNTS = """
stages:
  dev: {env: {account: "111111111111", region: eu-west-1}}
  prod: {env: {account: "333333333333", region: us-east-1}, variant: {initial_instance_count: 4}}
"""


@pytest.mark.parametrize(
    ("stage", "where"), [("dev", "aws://111111111111/eu-west-1"), ("prod", "aws://333333333333/us-east-1")]
)
def test_each_stage_goes_to_its_own_account_and_region(folder, stage, where):
    spec = SPEC.format(name="a", count=2).replace("us-east-1", "${AWS::Region}")
    write("a.yaml", spec + ACCOUNTS)
    (stack,) = build_app(context={"stage": stage}).synth().stacks
    assert stack.environment.name == where


WIDE = "execution_role: {statements: [{action: ['s3:*'], resource: ['*']}]}\n"
WARNED = SPEC.format(name="a", count=2) + WIDE


@pytest.mark.parametrize("in_a_stage", [True, False])
def test_a_folder_of_specs_stands_beside_other_stacks(folder, in_a_stage):
    app = cdk.App(analytics_reporting=False)
    cdk.Stack(app, "Other")
    env = cdk.Environment(account="111122223333", region="us-east-1")
    scope = cdk.Stage(app, "Prod", env=env) if in_a_stage else app
    write("a.yaml", SPEC.format(name="a", count=1) + STAGES)
    write("b.yaml")
    made = add_stacks(scope, folder / "model_specs", stage="prod")
    assert [it.stack_name for it in made] == ["a", "b"]
    assert [it.region == "us-east-1" for it in made] == [in_a_stage] * 2
    written = scope.synth().get_stack_by_name("a").template
    (variant,) = written["Resources"]["EndpointConfig"]["Properties"]["ProductionVariants"]
    assert variant["InitialInstanceCount"] == 4


def test_errors_of_all_files_of_a_folder_are_one_error(folder):
    write("a.yaml", SPEC.format(name="a", count="two"))
    write("b.yaml", SPEC.format(name="b", count="two"))
    with pytest.raises(SpecError) as found:
        add_stacks(cdk.App())
    assert [it.file for it in found.value.problems] == ["model_specs/a.yaml", "model_specs/b.yaml"]


def test_a_spec_that_is_wrong_where_the_stage_goes_is_one_of_the_errors(folder):
    elsewhere = cdk.Stage(cdk.App(), "Prod", env=cdk.Environment(account="111122223333", region="eu-west-1"))
    for name in ("a", "b"):
        write(f"{name}.yaml", SPEC.format(name=name, count=2) + "env: {region: us-east-1}\n")
    with pytest.raises(SpecError) as found:
        add_stacks(elsewhere)
    assert [it.code for it in found.value.problems] == ["IS111", "IS111"]


def test_a_warning_is_printed_once(folder, capsys):
    write("a.yaml", WARNED)
    build_app().synth()
    err = capsys.readouterr().err.splitlines()
    assert len(err) == len(set(err)) >= 1
    assert all(line.startswith("model_specs/a.yaml:") and ": warning: " in line for line in err)


def test_under_the_cdk_cli_warnings_are_left_to_the_cli(folder, capsys, monkeypatch):
    monkeypatch.setenv("CDK_OUTDIR", str(folder / "elsewhere"))
    write("a.yaml", WARNED)
    build_app().synth()
    assert capsys.readouterr().err == ""
    written = "".join(it.read_text() for it in (folder / "elsewhere").glob("*.json"))
    assert "aws:cdk:warning" in written


def test_the_cli_names_account_and_region_where_the_spec_does_not(folder, monkeypatch):
    monkeypatch.setenv("CDK_DEFAULT_ACCOUNT", "111122223333")
    monkeypatch.setenv("CDK_DEFAULT_REGION", "us-east-1")
    write("a.yaml")
    (stack,) = build_app().synth().stacks
    assert stack.environment.name == "aws://111122223333/us-east-1"


def test_one_endpoint_in_two_regions_makes_two_stacks_of_one_name(folder):
    for region in ("us-east-1", "us-west-2"):
        text = SPEC.format(name="a", count=2) + f"env: {{region: {region}}}\n"
        write(f"{region}.yaml", text.replace("us-east-1.amazonaws", f"{region}.amazonaws"))
    stacks = build_app().synth().stacks
    assert [(it.id, it.stack_name) for it in stacks] == [("a-us-east-1", "a"), ("a-us-west-2", "a")]


# ---------------------------------------------------------------- as processes


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(str(ROOT / it) for it in ("constructs", "stacks"))
    keep = {name: value for name, value in os.environ.items() if name != "CDK_VALIDATION"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**keep, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_cdks_own_validation_finds_nothing_in_the_examples(tmp_path):
    (tmp_path / "model_specs").symlink_to(ROOT / "model_specs")
    done = run("-m", "inferstack_stacks", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # Only validation writes this file, and it contains only findings.
    assert json.loads((tmp_path / "cdk.out/validation-report.json").read_text())["pluginReports"] == []
    header, *rows, templates = done.stdout.splitlines()
    assert header.split() == ["STACK", "KIND", "RESOURCES"]
    assert max(map(len, done.stdout.splitlines())) < 80
    assert len(rows) == len(list((ROOT / "model_specs").glob("*.y*ml")))
    where = templates.removeprefix("templates: ")
    assert all((tmp_path / where.replace("STACK", row.split()[0])).is_file() for row in rows)


def test_wrong_specs_end_the_app_without_a_traceback(folder):
    write("a.yaml", "kind: nothing\n")
    done = run(str(ROOT / "app.py"), cwd=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("model_specs/a.yaml:1:7: IS104: ")


def test_the_app_prints_nothing_when_all_is_well(folder):
    write("a.yaml", SPEC.format(name="a", count=2) + "ignore: [IS270]\n")
    done = run(str(ROOT / "app.py"), cwd=folder, CDK_VALIDATION="false")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert Path("cdk.out/a.template.json").is_file()


def test_the_cdk_clis_context_chooses_the_stage_and_adds_no_metadata(folder):
    write("a.yaml", SPEC.format(name="a", count=1) + STAGES)
    said = {"aws:cdk:enable-path-metadata": True, "aws:cdk:version-reporting": True, "stage": "prod"}
    done = run(
        str(ROOT / "app.py"),
        cwd=folder,
        CDK_CONTEXT_JSON=json.dumps(said),
        CDK_OUTDIR=str(folder / "assembly"),
        CDK_VALIDATION="false",
    )
    assert done.returncode == 0, done.stderr
    template = json.loads((folder / "assembly/a.template.json").read_text())
    (variant,) = template["Resources"]["EndpointConfig"]["Properties"]["ProductionVariants"]
    assert variant["InitialInstanceCount"] == 4
    assert "aws:cdk:path" not in json.dumps(template)
    assert "CDKMetadata" not in template["Resources"]


def test_the_env_of_a_spec_counts_before_that_of_the_credentials(tmp_path, monkeypatch):
    (tmp_path / "there.yaml").write_text(
        "kind: single-model\nendpoint_name: there\nenv: {account: '444455556666', region: eu-west-1}\n"
        "model: {image: '444455556666.dkr.ecr.eu-west-1.amazonaws.com/net:1'}\n"
        "variant: {instance_type: ml.m5.large, initial_instance_count: 2}\n",
        "utf-8",
    )
    monkeypatch.setenv("CDK_DEFAULT_ACCOUNT", "111122223333")
    monkeypatch.setenv("CDK_DEFAULT_REGION", "us-east-1")
    mine = cdk.DefaultStackSynthesizer(qualifier="mine")
    app = build_app(tmp_path, outdir=str(tmp_path / "out"), default_stack_synthesizer=mine)
    made = app.synth().get_stack_by_name("there")
    assert (made.environment.account, made.environment.region) == ("444455556666", "eu-west-1")
    assert "mine" in made.assume_role_arn
