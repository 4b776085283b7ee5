"""``inferstack drift`` and ``import`` on an emulated account: what they print, and what they refuse."""

import json
from pathlib import Path

import pytest
from emulator.clients import EmulatedAws
from emulator.deploying import deploy, is_there
from support.deployed import left_alone

from inferstack.check.load import load_spec
from inferstack.cli import main
from inferstack.resolve.template import template_of

Read = pytest.CaptureFixture[str]
SPEC = """\
kind: single-model
endpoint_name: churn
env: {region: us-east-1}
model:
  image: {framework: xgboost, version: "1.7-1"}
  model_data_url: s3://acme-models/churn/model.tar.gz
  environment: {WORKERS: "2"}
variant: {instance_type: ml.m5.xlarge, initial_instance_count: 2}
alarms: false
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("churn.yaml").write_text(SPEC)


def with_stack(aws: EmulatedAws) -> None:
    assert deploy(aws, "churn", template_of(load_spec("churn.yaml"))) == "CREATE_COMPLETE"


def without_stack(aws: EmulatedAws) -> None:
    left_alone(aws, template_of(load_spec("churn.yaml")), "churn")


def scale(aws: EmulatedAws, count: int) -> None:
    wanted = [{"VariantName": "AllTraffic", "DesiredInstanceCount": count}]
    aws.client("sagemaker").update_endpoint_weights_and_capacities(
        EndpointName="churn", DesiredWeightsAndCapacities=wanted
    )


def test_drift_shows_the_line_of_the_spec(aws: EmulatedAws, capsys: Read) -> None:
    with_stack(aws)
    assert main(["drift", "churn.yaml"]) == 0
    assert capsys.readouterr() == ("", "churn.yaml: no drift\n")
    scale(aws, 3)
    assert main(["drift", "churn.yaml"]) == 1
    assert capsys.readouterr() == (
        "PLACE         KEY                             WANTED  FOUND\n"
        "churn.yaml:8  variant.initial_instance_count  2       3 now\n",
        "churn.yaml: 1 difference\n",
    )
    assert main(["drift", "churn.yaml", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out) == [
        {
            "file": "churn.yaml",
            "line": 8,
            "key": "variant.initial_instance_count",
            "resource": "EndpointConfig",
            "in_template": "ProductionVariants.0.InitialInstanceCount",
            "wanted": "2",
            "found": "3 now",
        }
    ]


@pytest.mark.parametrize("command", [["drift", "churn.yaml"], ["import", "churn", "--spec", "new.yaml"]])
def test_without_the_endpoint_nothing_is_said_to_be_right(
    aws: EmulatedAws, capsys: Read, command: list[str]
) -> None:
    assert main(command) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "there is no endpoint churn in us-east-1 of the account 123456789012; check" in err
    assert not Path("new.yaml").exists()


@pytest.mark.parametrize(
    ("command", "status"),
    [(["drift", "churn.yaml"], 3), (["import", "churn", "--change-set", "churn.yaml"], 1)],
)
def test_credentials_for_another_account_are_refused(
    aws: EmulatedAws, capsys: Read, command: list[str], status: int
) -> None:
    # There is no such endpoint in theirs.
    Path("churn.yaml").write_text(SPEC.replace("{region", '{account: "111122223333", region'))
    assert main(command) == status
    assert (
        "the spec is for the account 111122223333, but the credentials are for 123456789012"
        in capsys.readouterr().err
    )


def test_a_file_is_never_overwritten(aws: EmulatedAws, capsys: Read) -> None:
    without_stack(aws)
    assert main(["import", "churn", "--spec", "churn.yaml"]) == 1
    assert capsys.readouterr().err == (
        "inferstack: churn.yaml: the file exists, and is not overwritten; name a new one\n"
    )
    assert Path("churn.yaml").read_text() == SPEC


def test_a_folder_that_is_missing_is_named_before_anything_is_read(capsys: Read) -> None:
    assert main(["import", "churn", "--spec", "new/churn.yaml"]) == 1
    assert capsys.readouterr().err == "inferstack: new/churn.yaml: there is no folder new; create it first\n"


def test_a_spec_goes_to_standard_output(aws: EmulatedAws, capsys: Read) -> None:
    without_stack(aws)
    assert main(["import", "churn", "--spec", "-"]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == [
        "# Imported from the endpoint churn.",
        "kind: single-model",
        "endpoint_name: churn",
    ]


def imported(aws: EmulatedAws) -> None:
    without_stack(aws)
    assert main(["import", "churn", "--spec", "new.yaml"]) == 0


def test_nobody_who_was_not_asked_deploys_anything(aws: EmulatedAws, capsys: Read) -> None:
    imported(aws)
    assert main(["import", "churn", "--change-set", "new.yaml"]) == 1
    out, err = capsys.readouterr()
    assert "Import  AWS::SageMaker::Endpoint        Endpoint" in out
    assert err.splitlines()[-1] == (
        "nothing is deployed; the stack churn stays, without any resource; answer yes, or add --yes"
    )
    [stack] = aws.client("cloudformation").describe_stacks(StackName="churn")["Stacks"]
    assert stack["StackStatus"] == "REVIEW_IN_PROGRESS"
    assert aws.client("cloudformation").list_change_sets(StackName="churn")["Summaries"] == []
    assert main(["import", "churn", "--change-set", "new.yaml", "--yes"]) == 0


@pytest.mark.parametrize("left", [0, 1])
def test_an_interrupted_import_does_not_block_the_next(
    aws: EmulatedAws, monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    imported(aws)

    def interrupted(_: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("inferstack.cli.import_._says_yes", interrupted)
        if left:  # as if the process had been killed
            patch.setattr("inferstack.account.importing.Stacks.discard", lambda *_: None)
        assert main(["import", "churn", "--change-set", "new.yaml"]) == 130
    assert len(aws.client("cloudformation").list_change_sets(StackName="churn")["Summaries"]) == left
    assert main(["import", "churn", "--change-set", "new.yaml", "--yes"]) == 0


def test_what_the_spec_adds_is_the_second_deployment(aws: EmulatedAws, capsys: Read) -> None:
    imported(aws)
    Path("new.yaml").write_text(Path("new.yaml").read_text().replace("defaults: false", "defaults: true"))
    config = aws.client("sagemaker").describe_endpoint(EndpointName="churn")["EndpointConfigName"]
    capsys.readouterr()
    assert main(["import", "churn", "--change-set", "new.yaml", "--yes"]) == 0
    actions = [it.split()[0] for it in capsys.readouterr().out.splitlines()]
    assert set(actions) == {"Import", "Add"}
    assert aws.client("sagemaker").describe_endpoint(EndpointName="churn")["EndpointConfigName"] == config
    [stack] = aws.client("cloudformation").describe_stacks(StackName="churn")["Stacks"]
    assert stack["StackStatus"] == "UPDATE_COMPLETE"


@pytest.mark.parametrize(
    ("before", "after", "refusal"),
    [
        ("ml.m5.xlarge", "ml.m5.large", "EndpointConfig.ProductionVariants differ"),
        ('WORKERS: "2"', 'WORKERS: "4"', "Model.PrimaryContainer differ"),
        ("execution_role:", "# ", "ExecutionRole, which the stack would make"),
        ("endpoint_name: churn", "endpoint_name: other", "the spec is of the endpoint other, not churn"),
        ("WORKERS: ", 'TABLE: "${ssm:/t}", WORKERS: ', "an import takes no stack parameters"),
    ],
)
def test_an_import_that_would_replace_something_is_refused(
    aws: EmulatedAws, capsys: Read, before: str, after: str, refusal: str
) -> None:
    imported(aws)
    text = Path("new.yaml").read_text()
    assert before in text
    Path("new.yaml").write_text(text.replace(before, after))
    assert main(["import", "churn", "--change-set", "new.yaml", "--yes"]) == 1
    assert refusal in capsys.readouterr().err
    assert not is_there(aws, "churn")


def test_an_endpoint_of_another_stack_stays_there(aws: EmulatedAws, capsys: Read) -> None:
    assert deploy(aws, "legacy", template_of(load_spec("churn.yaml"))) == "CREATE_COMPLETE"
    assert main(["import", "churn", "--spec", "new.yaml"]) == 0
    assert main(["import", "churn", "--change-set", "new.yaml", "--yes"]) == 1
    assert "the endpoint churn belongs to the stack legacy" in capsys.readouterr().err


def test_options_of_one_way_are_refused_for_the_other(capsys: Read) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["import", "churn", "--spec", "new.yaml", "--yes"])
    assert ended.value.code == 2
    assert "--stage and --yes are for --change-set" in capsys.readouterr().err
