"""Jobs for language models on an emulated SageMaker."""

import io
import tarfile
from pathlib import Path

import pytest
from emulator.clients import EmulatedAws
from support.jobs import COMPONENTS, Read, started, write
from support.program import Command
from support.s3 import Faults

from inferstack.account.recommender import Recommender
from inferstack.sizing.measurements import read_measurements


def test_a_benchmark_measures_the_components_of_the_endpoint(
    chat: Command, aws: EmulatedAws, faults: Faults, capsys: Read
) -> None:
    assert chat("--block", "ai_benchmark_job", "--run", "--measurements-out", "m.csv") == 0
    said = capsys.readouterr()
    assert "endpoint   chat: llama; it gets this load besides its own" in said.out
    (measured,) = read_measurements(Path("m.csv"))
    assert measured.instance_type == "ml.g5.2xlarge"
    # The load of two instances.
    assert round(measured.requests_per_minute, 2) * 2 == pytest.approx(70, abs=0.5)
    assert faults.operations().index("CreateAIWorkloadConfig") < faults.operations().index(
        "CreateAIBenchmarkJob"
    )
    assert chat("--block", "ai_benchmark_job", "--result", said.out.splitlines()[0], "--instances", "1") == 0


def test_a_benchmark_without_its_archive_says_so(chat: Command, faults: Faults, capsys: Read) -> None:
    assert chat("--block", "ai_benchmark_job", "--run") == 0
    job = started(capsys)
    empty = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
    faults.answers["ListObjectsV2"] = [(404, "NoSuchBucket", empty)]
    assert chat("--block", "ai_benchmark_job", "--result", job) == 1
    assert "AWS answers NoSuchBucket" in capsys.readouterr().err


def packed(name: str, content: bytes) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as files:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        files.addfile(member, io.BytesIO(content))
    return archive.getvalue()


def linked(name: str) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as files:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = tarfile.SYMTYPE, "elsewhere.json"
        files.addfile(member)
    return archive.getvalue()


ARCHIVES = {
    "missing": None,
    "no archive": b"no archive",
    "without the file": packed("other.json", b"{}"),
    "with a file that is no JSON": packed("a/profile_export_aiperf.json", b"{"),
    "with a file that is a list": packed("a/profile_export_aiperf.json", b"[]"),
    "with a file of nothing but brackets": packed("a/profile_export_aiperf.json", b"[" * 200_000),
    "with a link in place of the file": linked("a/profile_export_aiperf.json"),
    "cut off": packed("a/profile_export_aiperf.json", b"{}")[:40],
}


@pytest.mark.parametrize("content", ARCHIVES.values(), ids=ARCHIVES)
def test_an_archive_that_is_none_is_named(
    content: bytes | None, chat: Command, monkeypatch: pytest.MonkeyPatch, capsys: Read
) -> None:
    monkeypatch.setattr(Recommender, "output", lambda *_: content)
    assert chat("--block", "ai_benchmark_job", "--run") == 1
    assert (
        "IS081: the job's archive in S3 is missing, or has no profile_export_aiperf.json"
        in capsys.readouterr().err
    )


def test_a_recommendation_says_what_to_deploy(chat: Command, capsys: Read) -> None:
    assert chat("--block", "ai_recommendation_job", "--run", "--measurements-out", "m.csv") == 0
    said = capsys.readouterr().out
    assert "considers  ml.g6.24xlarge" in said
    assert "high-otps-on-g6-24xlarge: 1 x ml.g6.24xlarge" in said
    assert '    SM_VLLM_TENSOR_PARALLEL_SIZE: "2"' in said
    assert read_measurements(Path("m.csv"))[0].users == 88


def test_a_failed_recommendation_says_why(chat: Command, capsys: Read) -> None:
    write(COMPONENTS.replace("llama.tar.gz", "broken.tar.gz"))
    assert chat("--block", "ai_recommendation_job", "--run") == 1
    assert "FAILED: The model cannot be loaded." in capsys.readouterr().err


def test_jobs_for_language_models_are_stopped(
    chat: Command, monkeypatch: pytest.MonkeyPatch, capsys: Read
) -> None:
    for block in ("ai_benchmark_job", "ai_recommendation_job"):

        def interrupted(_: float) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("inferstack.account.recommender.time.sleep", interrupted)
            assert chat("--block", block, "--run") == 130
        job = started(capsys)
        assert chat("--block", block, "--stop", job) == 0
        assert chat("--block", block, "--result", job) == 1
        assert "STOPPED" in capsys.readouterr().err


def test_scaling_is_for_load_tests(chat: Command, capsys: Read) -> None:
    with pytest.raises(SystemExit):
        chat("--block", "ai_benchmark_job", "--run", "--autoscaling")
    assert "--autoscaling is for jobs of `load_test`" in capsys.readouterr().err
