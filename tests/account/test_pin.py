"""``inferstack pin``: which version of a group a spec is deployed with, and that it stays an approved one."""

import json
from pathlib import Path
from typing import Any

import boto3
import pytest
from support.checking import check_file
from support.program import Command
from support.s3 import ACCOUNT, Cloud, Faults

from inferstack.check.load import load_spec
from inferstack.cli import main
from inferstack.problems import SpecError

SPEC = """\
kind: single-model
endpoint_name: churn
model: {model_package: {group: Churn, version: latest-approved}}
variant: {instance_type: ml.m5.large, initial_instance_count: 2}
"""
STAGES = "stages: {test: {}, prod: {}}\n"
# AWS writes names of groups in lower case.
ARN = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:model-package/churn"
GROUP = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:model-package-group/Churn"
DIGEST = f"sha256:{'0' * 64}"
IMAGE = f"{ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/churn:1"
FILES = "s3://acme-models/churn/model.tar.gz"


class Registry:
    """The group of the spec, as those see it who register and approve versions."""

    def __init__(self, url: str) -> None:
        key = {"aws_access_key_id": "other", "aws_secret_access_key": "other"}
        self.client = boto3.client("sagemaker", "us-east-1", endpoint_url=url, **key)
        self.client.create_model_package_group(ModelPackageGroupName="Churn")

    def register(self, status: str = "Approved") -> None:
        container = {"Image": IMAGE, "ImageDigest": DIGEST, "ModelDataUrl": FILES, "ModelDataETag": "e1"}
        types = {"SupportedContentTypes": ["text/csv"], "SupportedResponseMIMETypes": ["text/csv"]}
        self.client.create_model_package(
            ModelPackageGroupName="Churn",
            ModelApprovalStatus=status,
            InferenceSpecification={"Containers": [container], **types},
        )

    def approve(self, version: int, status: str = "Approved") -> None:
        self.client.update_model_package(ModelPackageArn=f"{ARN}/{version}", ModelApprovalStatus=status)


@pytest.fixture
def registry(cloud: Cloud) -> Registry:
    return Registry(cloud.url)


@pytest.fixture
def pin(cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """``pin("--check", …)`` for `a.yaml`, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(SPEC)
    return lambda *arguments: main(["pin", "a.yaml", *arguments])


def lock() -> dict[str, Any]:
    return json.loads(Path("a.lock.json").read_text("utf-8"))


def deployed(stage: str | None = None) -> str | None:
    return load_spec("a.yaml", stage=stage).spec.model.model_package_name


def test_the_newest_approved_version_is_pinned_and_deployed(
    pin: Command, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    for status in ("Approved", "Approved", "Rejected", "PendingManualApproval"):
        registry.register(status)
    assert pin() == 0
    said = capsys.readouterr()
    assert said.out == f"Churn/latest-approved\n  {ARN}/2\n"
    assert said.err == "a.lock.json: written; commit it with a.yaml\n"
    assert deployed() == f"{ARN}/2"
    (pinned,) = lock()["pins"].values()
    assert pinned.pop("pinned").endswith("Z")
    container = {"image": IMAGE, "image_digest": DIGEST, "model_data_url": FILES, "model_data_etag": "e1"}
    assert pinned == {"arn": f"{ARN}/2", "version": 2, "approval": "Approved", "containers": [container]}
    assert {it.code for it in check_file("a.yaml")} == {"IS830"}


def test_what_is_approved_later_is_deployed_once_it_is_pinned(pin: Command, registry: Registry) -> None:
    registry.register()
    pin()
    registry.register()
    assert deployed() == f"{ARN}/1"
    pin()
    assert deployed() == f"{ARN}/2"


def test_a_second_run_leaves_the_lock_as_it_is(
    pin: Command, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register()
    pin()
    path = Path("a.lock.json")
    path.write_text(path.read_text().replace('"pinned": "20', '"pinned": "19'))
    before = path.read_bytes()
    assert pin() == 0
    assert path.read_bytes() == before
    assert capsys.readouterr().err.endswith("a.lock.json: unchanged\n")


def test_a_version_of_its_own_choice_needs_no_pin_but_can_have_one(pin: Command, registry: Registry) -> None:
    registry.register()
    registry.register()
    Path("a.yaml").write_text(SPEC.replace("latest-approved", "1"))
    assert deployed() == "Churn/1"
    assert pin() == 0
    assert deployed() == f"{ARN}/1"


def test_a_group_of_another_account_goes_by_its_arn(pin: Command, registry: Registry) -> None:
    registry.register()
    Path("a.yaml").write_text(SPEC.replace("Churn", GROUP) + "env: {account: '444455556666'}\n")
    assert pin() == 0
    assert deployed() == f"{ARN}/1"
    Path("a.yaml").write_text(SPEC.replace("Churn", GROUP).replace("latest-approved", "9"))
    assert deployed() == f"{GROUP.replace('-group/', '/')}/9"


def test_a_name_in_another_account_is_not_taken_for_one_in_this(
    pin: Command, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register()
    Path("a.yaml").write_text(SPEC + "env: {account: '444455556666'}\n")
    assert pin() == 1
    said = "Churn is in the account 444455556666, but the credentials are for 123456789012; use credentials"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("status", "version", "said"),
    [
        (None, "latest-approved", "no version of Churn is approved; approve one with"),
        ("Rejected", "latest-approved", "no version of Churn is approved; approve one with"),
        (
            "PendingManualApproval",
            "1",
            f"{ARN}/1 is not approved, but PendingManualApproval; approve it: aws sagemaker "
            f"update-model-package --model-package-arn {ARN}/1 --model-approval-status Approved",
        ),
        ("Approved", "7", "Churn has no version 7, but 1 as the newest; correct `version`"),
        (None, "7", "Churn has no version 7, but none; correct `version`"),
    ],
)
def test_what_is_not_approved_is_not_pinned(
    status: str | None,
    version: str,
    said: str,
    pin: Command,
    registry: Registry,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if status is not None:
        registry.register(status)
    Path("a.yaml").write_text(SPEC.replace("latest-approved", version))
    assert pin() == 1
    assert said in capsys.readouterr().err
    assert not Path("a.lock.json").exists()


def answer(*versions: dict[str, Any], more: bool = False) -> tuple[int, str, str]:
    """A page of ListModelPackages, with the fields that AWS's answer always has."""
    listed = [{"CreationTime": 0, "ModelPackageStatus": "Completed", **it} for it in versions]
    token = {"NextToken": "next"} if more else {}
    return 200, "", json.dumps({"ModelPackageSummaryList": listed, **token})


def test_an_empty_page_is_not_the_last_and_what_is_unfinished_is_passed_over(
    pin: Command, registry: Registry, faults: Faults
) -> None:
    registry.register()
    failed = {"ModelPackageArn": f"{ARN}/2", "ModelPackageStatus": "Failed"}
    faults.answers["ListModelPackages"] = [
        answer(more=True),
        answer(failed, {"ModelPackageArn": f"{ARN}/1"}),
    ]
    assert pin() == 0
    assert deployed() == f"{ARN}/1"
    assert faults.operations().count("ListModelPackages") == 2


FAULTS = {
    "unknown group": (400, "ValidationException", "ModelPackageGroup does not exist.", "does not exist"),
    "denied": (400, "AccessDeniedException", "Not authorized.", "pinning needs sagemaker:ListModelPackages"),
    "busy": (400, "ThrottlingException", "Rate exceeded.", "wait a moment"),
    "expired": (400, "ExpiredTokenException", "The token is expired.", "log in again"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_refusal_of_aws_is_one_line_that_helps(
    fault: tuple[int, str, str, str],
    pin: Command,
    faults: Faults,
    capsys: pytest.CaptureFixture[str],
) -> None:
    *refused, said = fault
    faults.answers["ListModelPackages"] = [(refused[0], refused[1], refused[2])]
    assert pin() == 1
    line = capsys.readouterr().err
    assert line.startswith(f"inferstack: the versions of Churn cannot be listed: AWS answers {refused[1]}")
    assert said in line
    assert line.count("\n") == 1


# ---------------------------------------------------------------- Stages


def test_a_stage_is_promoted_by_the_lock_alone(
    pin: Command, registry: Registry, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.yaml").write_text(SPEC + STAGES)
    registry.register()
    assert pin("--stage", "test") == pin("--stage", "prod") == 0
    registry.register()
    assert pin("--stage", "test") == 0
    assert (deployed("test"), deployed("prod")) == (f"{ARN}/2", f"{ARN}/1")
    faults.seen.clear()
    assert pin("--stage", "prod", "--from", "test") == 0
    assert faults.seen == []
    assert deployed("prod") == f"{ARN}/2"
    assert lock()["pins_of_stages"]["prod"] == lock()["pins_of_stages"]["test"]
    assert not {"IS051", "IS063"} & {it.code for it in check_file("a.yaml")}


def test_a_stage_without_pins_of_its_own_has_those_of_the_bare_spec(pin: Command, registry: Registry) -> None:
    Path("a.yaml").write_text(SPEC + STAGES)
    registry.register()
    pin()
    registry.register()
    pin("--stage", "test")
    assert (deployed("prod"), deployed("test")) == (f"{ARN}/1", f"{ARN}/2")
    assert pin("--stage", "test", "--from", "prod") == 0
    assert deployed("test") == f"{ARN}/1"


@pytest.mark.parametrize(
    ("stages", "said"),
    [
        ("{test: {}, prod: {}}", "the stage `test` has no pin for `Churn/latest-approved`; it has none"),
        (
            "{test: {model: {model_package: {group: Other, version: 1}}}, prod: {}}",
            "the stage `test` has no pin for `Churn/latest-approved`; it has none",
        ),
    ],
)
def test_what_another_stage_has_not_is_not_promoted(
    stages: str, said: str, pin: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.yaml").write_text(f"{SPEC}stages: {stages}\n")
    assert pin("--stage", "prod", "--from", "test") == 1
    assert f"{said}: run `inferstack pin a.yaml --stage test` first" in capsys.readouterr().err


def test_groups_of_one_name_in_two_accounts_are_two_groups(
    pin: Command, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register()
    stages = f"{{test: {{env: {{account: '{ACCOUNT}'}}}}, prod: {{env: {{account: '444455556666'}}}}}}"
    Path("a.yaml").write_text(f"{SPEC}stages: {stages}\n")
    assert pin("--stage", "test") == 0
    assert pin("--stage", "prod", "--from", "test") == 1
    assert "name one group for both, by its ARN" in capsys.readouterr().err
    Path("a.yaml").write_text(f"{SPEC.replace('Churn', GROUP)}stages: {stages}\n")
    assert pin("--stage", "test") == pin("--stage", "prod", "--from", "test") == 0
    assert deployed("prod") == f"{ARN}/1"


@pytest.mark.parametrize("arguments", [("--from", "test"), ("--stage", "prod", "--from", "test", "--check")])
def test_promotion_needs_a_stage_and_checks_nothing(arguments: tuple[str, ...], pin: Command) -> None:
    with pytest.raises(SystemExit) as ended:
        pin(*arguments)
    assert ended.value.code == 2


def test_pins_and_uploads_do_not_undo_each_other(pin: Command, registry: Registry) -> None:
    before = {"s3://b/a.tar.gz": upload()}
    Path("a.yaml").write_text(SPEC)
    registry.register()
    Path("a.lock.json").write_text(json.dumps({"version": 1, "uploads": before}))
    assert pin() == 0
    assert lock()["uploads"] == before
    assert lock()["version"] == 2


def upload() -> dict[str, Any]:
    archive = {"size": 1, "sha256": "0" * 64, "files": {"net/1/x": {"size": 1, "sha256": "0" * 64}}}
    url = f"s3://b/a-sha256-{'0' * 16}.tar.gz"
    return {"url": url, "uploaded": "2026-01-01T00:00:00Z", "archives": {"a.tar.gz": archive}}


# ---------------------------------------------------------------- --check


def test_a_pin_that_still_holds_is_no_problem(
    pin: Command, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register()
    pin()
    capsys.readouterr()
    assert pin("--check") == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == (f"{ARN}/1: Approved\n", "a.yaml: no problems\n")
    registry.register()
    assert pin("--check") == 0
    assert capsys.readouterr().err == f"note: {ARN}/2 is approved now\na.yaml: no problems\n"


def test_a_pin_that_is_not_approved_any_more_is_reported(
    pin: Command, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.yaml").write_text(SPEC + STAGES)
    registry.register()
    pin("--stage", "test")
    registry.register()
    pin("--stage", "prod")
    registry.approve(1, "Rejected")
    before = Path("a.lock.json").read_bytes()
    capsys.readouterr()
    assert pin("--check") == 1
    said = capsys.readouterr()
    rejected, fine = said.out.splitlines()
    assert rejected.startswith(f"{ARN}/1: Rejected, but it was Approved when it was pinned, 20")
    assert fine == f"{ARN}/2: Approved"
    assert said.err == "a.yaml: 1 of 2 model packages must not be deployed\n"
    assert pin("--check", "--stage", "prod") == 0
    assert Path("a.lock.json").read_bytes() == before


def test_a_version_that_now_has_another_image_is_reported(
    pin: Command, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register()
    pin()
    path = Path("a.lock.json")
    path.write_text(path.read_text().replace(DIGEST, f"sha256:{'1' * 64}"))
    assert pin("--check") == 1
    assert f"{ARN}/1: its image or files are not those that were pinned\n" in capsys.readouterr().out


def test_what_is_not_pinned_is_reported_and_a_version_of_ones_own_choice_is_looked_up(
    pin: Command, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register("Rejected")
    assert pin("--check") == 1
    assert capsys.readouterr().out == "Churn/latest-approved: not pinned\n"
    Path("a.yaml").write_text(SPEC.replace("latest-approved", "1"))
    assert pin("--check") == 1
    assert f"Churn/1: {ARN}/1 is not approved, but Rejected" in capsys.readouterr().out
    registry.approve(1)
    assert pin("--check") == 0


def test_a_version_that_was_deleted_is_reported(
    pin: Command, registry: Registry, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register()
    pin()
    faults.answers["DescribeModelPackage"] = [(400, "ValidationException", "It does not exist.")]
    assert pin("--check") == 1
    assert (
        "cannot be looked at: AWS answers ValidationException: It does not exist\n" in capsys.readouterr().out
    )


# ---------------------------------------------------------------- Specs and their locks


def test_a_spec_without_model_packages_has_nothing_to_pin(
    pin: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.yaml").write_text(
        SPEC.replace("{model_package: {group: Churn, version: latest-approved}}", "{model_package_name: a/1}")
    )
    assert pin() == 0
    assert capsys.readouterr().err == "a.yaml: nothing to pin: no container has a `model_package`\n"
    assert not Path("a.lock.json").exists()


def test_containers_of_a_pipeline_are_pinned_each_to_its_own(pin: Command, registry: Registry) -> None:
    registry.register()
    registry.register()
    one, other = (f"{{model_package: {{group: Churn, version: {it}}}}}" for it in ("1", "latest-approved"))
    model = f"model: {{containers: [{one}, {other}]}}"
    text = SPEC.replace("model: {model_package: {group: Churn, version: latest-approved}}", model)
    Path("a.yaml").write_text(text.replace("single-model", "pipeline"))
    assert pin() == 0
    containers = load_spec("a.yaml").spec.model.containers
    assert [it.model_package_name for it in containers] == [f"{ARN}/1", f"{ARN}/2"]


def test_without_the_pin_a_spec_says_what_to_run(pin: Command) -> None:
    Path("a.yaml").write_text(SPEC + STAGES)
    with pytest.raises(SpecError) as raised:
        load_spec("a.yaml", stage="prod")
    said = "a.yaml:3:48: IS063: no version of Churn is pinned for the stage `prod`; "
    fix = "run `inferstack pin a.yaml --stage prod`, and commit a.lock.json"
    assert f"{said}{fix}" in str(raised.value)
