"""Whatever can go wrong with an upload is reported in one helpful line, and leaves nothing half done."""

import json
import os
import sys
from pathlib import Path

import pytest
from support.checking import check_file
from support.locking import ONE
from support.program import Command
from support.s3 import BUCKET, Answer, Cloud, Faults

DENIED: Answer = (403, "AccessDenied", "Access Denied")
BUSY: Answer = (503, "SlowDown", "Please reduce your request rate.")
NO_BODY = ""
FAULTS: dict[str, tuple[str, Answer, str]] = {
    "expired at once": ("GetCallerIdentity", (403, "ExpiredToken", "The token is expired"), "log in again"),
    "expired meanwhile": ("PutObject", (400, "ExpiredToken", "The token is expired."), "log in again"),
    "unknown key": (
        "GetCallerIdentity",
        (403, "InvalidClientTokenId", "The token is invalid."),
        "AWS_PROFILE",
    ),
    "may not put": ("PutObject", DENIED, "s3:PutObject"),
    "may not look": ("HeadObject", (403, NO_BODY, NO_BODY), "s3:GetObject"),
    "always busy": ("PutObject", BUSY, "wait a moment"),
    "always broken": ("PutObject", (500, "InternalError", "We encountered an error."), "wait a moment"),
    "wrong clock": ("PutObject", (403, "RequestTimeTooSkewed", "Too far."), "correct the clock"),
    "changed on its way": (
        "PutObject",
        (400, "BadDigest", "Does not match."),
        "make sure that nothing writes to it",
    ),
    "something new": (
        "PutObject",
        (418, "Teapot", "Short and stout."),
        "AWS answers Teapot: Short and stout",
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_refusal_is_one_line_that_helps_and_loses_nothing(
    fault: tuple[str, Answer, str],
    package: Command,
    cloud: Cloud,
    faults: Faults,
    capsys: pytest.CaptureFixture[str],
) -> None:
    operation, answer, said = fault
    faults.answers[operation] = [answer]
    assert package() == 1
    line = capsys.readouterr().err
    assert line.startswith("inferstack: ")
    assert line.count("\n") == 1
    assert said in line
    assert cloud.objects() == {}
    assert not Path("a.lock.json").exists()
    faults.answers.clear()
    assert package() == 0
    assert check_file("a.yaml") == []


def test_without_credentials_it_says_how_to_get_some(
    package: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert package() == 1
    assert "Unable to locate credentials; set AWS_PROFILE" in capsys.readouterr().err
    assert not Path("packages").exists()


def test_without_boto3_it_says_what_to_install(
    package: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    assert package() == 1
    assert capsys.readouterr().err.endswith("pip install 'inferstack[aws]'\n")
    assert not Path("packages").exists()


@pytest.mark.usefixtures("faults")
def test_without_a_network_it_says_so(
    package: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert package() == 1
    assert "check the network" in capsys.readouterr().err


def test_without_the_bucket_nothing_is_packed(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.s3.delete_bucket(Bucket=BUCKET)
    assert package() == 1
    assert (
        f"the bucket {BUCKET} cannot be used: AWS answers 404: Not Found; create the bucket"
        in capsys.readouterr().err
    )
    assert not Path("packages").exists()


def test_a_bucket_in_another_region_is_refused(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.bucket("acme-europe", "eu-west-1")
    Path("a.yaml").write_text(ONE.replace(BUCKET, "acme-europe") + "env: {region: us-east-1}\n")
    assert package() == 1
    assert (
        "the bucket acme-europe is in eu-west-1, but the endpoint is in us-east-1" in capsys.readouterr().err
    )


def test_weights_that_are_not_there_are_named_before_aws_is_asked(
    package: Command, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("weights/net.onnx").unlink()
    assert package() == 1
    assert "a.yaml:13:33: IS990" in capsys.readouterr().err
    assert faults.seen == []


@pytest.mark.parametrize("content", ["{", '{"version": 3}'])
def test_a_lock_that_is_none_stays_for_its_user_to_judge(
    content: str, package: Command, faults: Faults
) -> None:
    Path("a.lock.json").write_text(content)
    assert package() == 1
    assert Path("a.lock.json").read_text() == content
    assert faults.seen == []


def test_a_folder_that_takes_no_lock_is_noticed_before_anything_is_uploaded(
    package: Command, faults: Faults, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert package() == 1
    assert capsys.readouterr().err == "inferstack: a.lock.json cannot be written: its folder is read-only\n"
    assert faults.seen == []


def test_another_stage_that_is_uploaded_at_the_same_time_is_kept(
    package: Command, faults: Faults, cloud: Cloud
) -> None:
    Path("a.yaml").write_text(ONE + "stages: {dev: {}, prod: {}}\n")

    def meanwhile() -> None:
        assert package("--stage", "dev") == 0

    faults.before["PutObject"] = meanwhile
    assert package("--stage", "prod") == 0
    assert list(json.loads(Path("a.lock.json").read_text())["stages"]) == ["dev", "prod"]
    assert len(cloud.objects()) == 1
