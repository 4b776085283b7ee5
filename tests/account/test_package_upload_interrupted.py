"""A process that ends in the middle of an upload, or on a full disk, leaves nothing that could be deployed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.checking import check_file
from support.program import PROGRAM, Command
from support.s3 import Cloud

from inferstack.account.checksums import PART

# Every part but the first takes its time, so that there is a middle to be stopped in: the S3 is a thread of the
# test's own process, and the test may learn late that the upload has begun.
SLOW = """
import time, boto3
session = boto3.Session
def slow(*args, **kwargs):
    made = session(*args, **kwargs)
    made.events.register("before-send.s3.UploadPart", wait)
    return made
def wait(request, **_):
    if "partNumber=1" not in request.url:
        time.sleep(8)
boto3.Session = slow
"""
LARGE = PART + (1 << 20)
# No file can become larger: writing fails in the middle, as on a full disk.
FULL = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({LARGE // 2}, {LARGE // 2}))\n"


@pytest.fixture
def large(package: Command) -> None:
    """The spec's weights are large enough for two parts."""
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
    running = start(SLOW + PROGRAM)
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
def test_a_stopped_upload_leaves_nothing_to_pay_for(
    ending: signal.Signals, package: Command, cloud: Cloud
) -> None:
    assert stop_in_the_middle(cloud, ending) == (130, "inferstack: interrupted\n")
    assert list(cloud.objects()) == []
    assert cloud.unfinished() == []
    assert not Path("a.lock.json").exists()
    assert package() == 0


@pytest.mark.usefixtures("large")
def test_a_killed_upload_leaves_nothing_that_can_be_deployed_and_the_next_one_works(
    package: Command, cloud: Cloud
) -> None:
    assert stop_in_the_middle(cloud, signal.SIGKILL)[0] == -signal.SIGKILL
    assert list(cloud.objects()) == []
    assert not Path("a.lock.json").exists()
    assert package() == 0
    (content,) = cloud.objects().values()
    assert content == Path("packages/a/model.tar.gz").read_bytes()
    assert check_file("a.yaml") == []


@pytest.mark.usefixtures("large")
def test_a_disk_that_is_full_is_one_line_and_nothing_is_uploaded(cloud: Cloud) -> None:
    running = start(FULL + PROGRAM)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 1
    assert said == "inferstack: packages/a/model.tar.gz: File too large\n"
    assert list(cloud.objects()) == []
    assert list(Path("packages/a").iterdir()) == []
    assert not Path("a.lock.json").exists()
