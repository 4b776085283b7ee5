"""``inferstack package --upload`` as a user meets it: what is there afterwards, what is said, how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.locking import COMPONENTS, MANY, ONE, SEVERAL, lay_out_spec, own
from support.s3 import ACCOUNT, BUCKET, Answer, Cloud, Faults

from inferstack.cli import main
from inferstack.spec.check import check_file, load_spec

Command = Callable[..., int]
MAIN = "import sys; from inferstack.cli import main; sys.exit(main())"
# Every part but the first takes its time, so that there is a middle to be stopped in.
SLOW = """
import time, boto3
session = boto3.Session
def slow(*args, **kwargs):
    made = session(*args, **kwargs)
    made.events.register("before-send.s3.UploadPart", wait)
    return made
def wait(request, **_):
    if "partNumber=1" not in request.url:
        time.sleep(0.3)
boto3.Session = slow
"""
LARGE = 48 << 20
# No file may become larger: as on a full disk, writing fails in the middle.
FULL = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({LARGE // 2}, {LARGE // 2}))\n"


@pytest.fixture
def package(cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """``package("--stage", …)`` uploads `a.yaml`, a spec of one model, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    lay_out_spec(Path(), ONE)
    return lambda *arguments: main(["package", "a.yaml", "--upload", *arguments])


def upload() -> dict[str, object]:
    (only,) = uploads().values()
    return only


def uploads() -> dict[str, dict[str, object]]:
    return json.loads(Path("a.lock.json").read_text("utf-8"))["uploads"]


def test_an_archive_is_uploaded_and_the_lock_says_where(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    assert package() == 0
    ((key, content),) = cloud.objects().items()
    assert content == Path("packages/a/model.tar.gz").read_bytes()
    assert upload()["url"] == f"s3://{BUCKET}/{key}"
    assert load_spec("a.yaml").spec.model.model_data_url == upload()["url"]
    said = capsys.readouterr()
    assert said.out.endswith(f"\ns3://{BUCKET}/{key}\n  uploaded\n")
    assert said.err == "a.lock.json: written; commit it with a.yaml\n"


def test_a_second_run_sends_nothing_and_leaves_the_lock_as_it_is(
    package: Command, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    package()
    lock = Path("a.lock.json")
    lock.write_text(lock.read_text().replace('"uploaded": "20', '"uploaded": "19'))
    before = (lock.read_bytes(), lock.stat().st_mtime_ns)
    capsys.readouterr()
    assert package() == 0
    assert faults.operations().count("PutObject") == 1
    assert (lock.read_bytes(), lock.stat().st_mtime_ns) == before
    said = capsys.readouterr()
    assert said.out.endswith("  was there already\n")
    assert said.err == "a.lock.json: unchanged\n"


def test_new_weights_stand_beside_the_old_ones(package: Command, cloud: Cloud) -> None:
    package()
    old = cloud.objects()
    Path("weights/net.onnx").write_text("dogs")
    package()
    new = cloud.objects()
    assert len(new) == 2
    assert new.items() > old.items()


def test_archives_of_a_multi_model_endpoint_keep_their_names_in_a_folder_of_their_own(
    package: Command, cloud: Cloud
) -> None:
    Path("a.yaml").write_text(MANY)
    assert package() == 0
    url = str(upload()["url"])
    assert {f"s3://{BUCKET}/{key}" for key in cloud.objects()} == {f"{url}cats.tar.gz", f"{url}dogs.tar.gz"}
    Path("weights/dogs.onnx").write_text("wolf")
    assert package() == 0
    assert len(cloud.objects()) == 4
    assert upload()["url"] != url


def test_archives_that_others_put_under_a_prefix_are_pointed_out_before_they_are_missed(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.yaml").write_text(MANY)
    for name in ("cats", "birds", "fish"):
        cloud.s3.put_object(Bucket=BUCKET, Key=f"many/{name}.tar.gz", Body=b"")
    package()
    assert "note: birds.tar.gz and 1 more under s3://acme-models/many/ did not come" in capsys.readouterr().err
    package()
    assert "note" not in capsys.readouterr().err


def test_an_inference_component_is_uploaded(package: Command, cloud: Cloud) -> None:
    Path("a.yaml").write_text(COMPONENTS)
    assert package() == 0
    (key,) = cloud.objects()
    assert key.startswith("parts/model-sha256-")


def test_each_component_is_uploaded_to_its_own_place(package: Command, cloud: Cloud) -> None:
    cloud.bucket("acme-dogs")
    Path("a.yaml").write_text(SEVERAL.replace(f"{BUCKET}/dogs", "acme-dogs/dogs"))
    assert package() == 0
    ((cats, content),) = cloud.objects().items()
    assert content == Path("packages/a/cats/model.tar.gz").read_bytes()
    ((dogs, content),) = cloud.objects("acme-dogs").items()
    assert content == Path("packages/a/dogs/model.tar.gz").read_bytes()
    assert [it["url"] for it in uploads().values()] == [f"s3://acme-dogs/{dogs}", f"s3://{BUCKET}/{cats}"]
    assert check_file("a.yaml") == []


def test_new_weights_of_one_component_send_one_archive(package: Command, faults: Faults, cloud: Cloud) -> None:
    Path("a.yaml").write_text(SEVERAL)
    package()
    before = uploads()
    Path("weights/dogs.onnx").write_text("wolf")
    assert package() == 0
    assert faults.operations().count("PutObject") == 3
    assert len(cloud.objects()) == 3
    changed = [location for location, it in uploads().items() if it != before[location]]
    assert changed == [f"s3://{BUCKET}/dogs/model.tar.gz"]


def test_an_archive_that_components_share_is_sent_once(package: Command, faults: Faults, cloud: Cloud) -> None:
    shared = own("birds", "net", f"s3://{BUCKET}/cats/model.tar.gz", "# whichever answers")
    Path("a.yaml").write_text(SEVERAL + shared)
    assert package() == 0
    assert faults.operations().count("PutObject") == len(cloud.objects()) == 2
    assert check_file("a.yaml") == []


def test_an_upload_that_fails_halfway_leaves_the_lock_as_it_was_and_is_continued(
    package: Command, faults: Faults, cloud: Cloud
) -> None:
    Path("a.yaml").write_text(SEVERAL)
    faults.answers["PutObject"] = [None, (400, "ExpiredToken", "The token is expired.")]
    assert package() == 1
    assert len(cloud.objects()) == 1
    assert not Path("a.lock.json").exists()
    faults.answers.clear()
    faults.seen.clear()
    assert package() == 0
    assert faults.operations().count("PutObject") == 1
    assert check_file("a.yaml") == []


def test_a_bucket_that_only_one_component_lacks_is_noticed_before_anything_is_packed(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.yaml").write_text(SEVERAL.replace(f"{BUCKET}/dogs", "acme-dogs/dogs"))
    assert package() == 1
    assert "the bucket acme-dogs cannot be used" in capsys.readouterr().err
    assert not Path("packages").exists()
    assert cloud.objects() == {}


def test_a_bucket_may_be_named_by_account_and_region(package: Command, cloud: Cloud) -> None:
    Path("a.yaml").write_text(ONE.replace(BUCKET, "m-${AWS::AccountId}-${AWS::Region}"))
    cloud.bucket(f"m-{ACCOUNT}-us-east-1")
    assert package() == 0
    assert len(cloud.objects(f"m-{ACCOUNT}-us-east-1")) == 1
    assert str(upload()["url"]).startswith("s3://m-${AWS::AccountId}-${AWS::Region}/one/model-sha256-")


def test_a_stage_has_an_upload_of_its_own(package: Command, cloud: Cloud) -> None:
    cloud.bucket("acme-prod")
    prod = "stages: {prod: {model: {model_data_url: s3://acme-prod/model.tar.gz}}}\n"
    Path("a.yaml").write_text(ONE + prod)
    assert package() == package("--stage", "prod") == 0
    assert len(cloud.objects()) == len(cloud.objects("acme-prod")) == 1
    assert check_file("a.yaml") == []


def test_a_spec_without_models_uploads_nothing(package: Command, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(ONE[: ONE.index("triton:")])
    assert package() == 0
    assert "nothing to package" in capsys.readouterr().err
    assert not Path("a.lock.json").exists()


def test_archives_that_somebody_else_made_are_not_uploaded(package: Command) -> None:
    with pytest.raises(SystemExit) as ended:
        package("--check", "packages/a/model.tar.gz")
    assert ended.value.code == 2


# ---------------------------------------------------------------- what can go wrong

DENIED: Answer = (403, "AccessDenied", "Access Denied")
BUSY: Answer = (503, "SlowDown", "Please reduce your request rate.")
NO_BODY = ""
FAULTS: dict[str, tuple[str, Answer, str]] = {
    "expired at once": ("GetCallerIdentity", (403, "ExpiredToken", "The token is expired"), "log in again"),
    "expired meanwhile": ("PutObject", (400, "ExpiredToken", "The token is expired."), "log in again"),
    "unknown key": ("GetCallerIdentity", (403, "InvalidClientTokenId", "The token is invalid."), "AWS_PROFILE"),
    "may not put": ("PutObject", DENIED, "s3:PutObject"),
    "may not look": ("HeadObject", (403, NO_BODY, NO_BODY), "s3:GetObject"),
    "always busy": ("PutObject", BUSY, "wait a little"),
    "always broken": ("PutObject", (500, "InternalError", "We encountered an error."), "wait a little"),
    "wrong clock": ("PutObject", (403, "RequestTimeTooSkewed", "Too far."), "set the clock"),
    "changed on its way": ("PutObject", (400, "BadDigest", "Does not match."), "let nothing write to it"),
    "something new": ("PutObject", (418, "Teapot", "Short and stout."), "AWS answers Teapot: Short and stout"),
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
    assert "see whether the network is there" in capsys.readouterr().err


def test_without_the_bucket_nothing_is_packed(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.s3.delete_bucket(Bucket=BUCKET)
    assert package() == 1
    assert f"the bucket {BUCKET} cannot be used: AWS answers 404: Not Found; make the bucket" in capsys.readouterr().err
    assert not Path("packages").exists()


def test_a_bucket_in_another_region_is_refused(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.bucket("acme-europe", "eu-west-1")
    Path("a.yaml").write_text(ONE.replace(BUCKET, "acme-europe") + "env: {region: us-east-1}\n")
    assert package() == 1
    assert "the bucket acme-europe is in eu-west-1, and the endpoint in us-east-1" in capsys.readouterr().err


def test_weights_that_are_not_there_are_named_before_aws_is_asked(
    package: Command, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("weights/net.onnx").unlink()
    assert package() == 1
    assert "a.yaml:13:33: IS990" in capsys.readouterr().err
    assert faults.seen == []


@pytest.mark.parametrize("content", ["{", '{"version": 2}'])
def test_a_lock_that_is_none_stays_for_its_user_to_judge(content: str, package: Command, faults: Faults) -> None:
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


# ---------------------------------------------------------------- processes that end in the middle


@pytest.fixture
def large(package: Command) -> None:
    """The spec has weights that need several parts."""
    with Path("weights/net.onnx").open("wb") as file:
        file.truncate(LARGE)


def start(program: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, "package", "a.yaml", "--upload"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def stop_in_the_middle(cloud: Cloud, ending: signal.Signals) -> tuple[int, str]:
    running = start(SLOW + MAIN)
    try:
        while running.poll() is None and not cloud.unfinished():
            time.sleep(0.05)
        running.send_signal(ending)
        _, said = running.communicate(timeout=60)
    finally:
        running.kill()
    return running.returncode, said


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_upload_leaves_nothing_to_pay_for(ending: signal.Signals, package: Command, cloud: Cloud) -> None:
    assert stop_in_the_middle(cloud, ending) == (130, "inferstack: interrupted\n")
    assert cloud.objects() == {}
    assert cloud.unfinished() == []
    assert not Path("a.lock.json").exists()
    assert package() == 0


@pytest.mark.usefixtures("large")
def test_a_killed_upload_leaves_nothing_that_can_be_deployed_and_the_next_one_works(
    package: Command, cloud: Cloud
) -> None:
    assert stop_in_the_middle(cloud, signal.SIGKILL)[0] == -signal.SIGKILL
    assert cloud.objects() == {}
    assert not Path("a.lock.json").exists()
    assert package() == 0
    (content,) = cloud.objects().values()
    assert content == Path("packages/a/model.tar.gz").read_bytes()
    assert check_file("a.yaml") == []


@pytest.mark.usefixtures("large")
def test_a_disk_that_is_full_is_one_line_and_nothing_is_uploaded(cloud: Cloud) -> None:
    running = start(FULL + MAIN)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 1
    assert said == "inferstack: packages/a/model.tar.gz: File too large\n"
    assert cloud.objects() == {}
    assert list(Path("packages/a").iterdir()) == []
    assert not Path("a.lock.json").exists()
