"""``inferstack package`` as a user meets it: what it writes, what it prints, and how it ends."""

import os
import pty
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support.archiving import CONFIG, MODEL, PIPE, lay_out, names
from support.program import PROGRAM, Command

from inferstack.cli import main
from inferstack.cli.package import described
from inferstack.cli.terminal import bar
from inferstack.triton.archive.packing import Packed

SPECS = Path(__file__).parents[2] / "model_specs"
SPEC = """\
kind: single-model
endpoint_name: one
model:
  image: {framework: triton, version: "25.09"}
  model_data_url: s3://bucket-one/one/model.tar.gz
variant:
  instance_type: ml.c5.xlarge
  initial_instance_count: 2
"""
NET = """\
triton:
  models:
    net:
      backend: python
      input: [{name: X, data_type: TYPE_FP32, dims: [1]}]
      output: [{name: Y, data_type: TYPE_FP32, dims: [1]}]
      files: {1/model.py: net.py}
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """``package("one.yaml", …)`` in a folder of its own, which has a spec with one model."""
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path, {"one.yaml": SPEC + NET, "net.py": "pass\n"})
    return lambda *arguments: main(["package", *arguments])


def test_an_archive_is_written_and_described(package: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert package("one.yaml", "--out", "out") == 0
    assert names(Path("out/model.tar.gz")) == ["net", "net/1", "net/1/model.py", "net/config.pbtxt"]
    said = capsys.readouterr()
    lines = said.out.splitlines()
    size = Path("out/model.tar.gz").stat().st_size
    assert lines[:2] == ["out/model.tar.gz", f"  size     {size} bytes (10.3 kB)"]
    assert [line.split()[0] for line in lines[2:6]] == ["sha256", "content", "(sha256", "holds"]
    assert max(map(len, lines)) <= 80
    assert "      5 bytes  net/1/model.py" in lines
    assert said.err == ""


def test_a_size_in_bytes_is_said_once() -> None:
    packed = Packed(Path("model.tar.gz"), 293, "a", "b")
    assert "  size     293 bytes\n" in described(packed, [])


def test_archives_of_different_specs_do_not_meet(package: Command) -> None:
    shutil.copy("one.yaml", "two.yaml")
    assert package("one.yaml") == package("two.yaml") == 0
    assert Path("packages/one/model.tar.gz").exists()
    assert Path("packages/two/model.tar.gz").exists()


def test_the_examples_package_with_small_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = ["resnet/model.pt", "resnet/model.plan", "inception/model.dali", "inception/model.graphdef"]
    lay_out(tmp_path / "artifacts", dict.fromkeys([*weights, "inception/inception_labels.txt"], "small"))
    found = {}
    for example in ("resnet-mme", "dali-inception"):
        shutil.copy(SPECS / f"{example}.yaml", tmp_path)
        assert main(["package", str(tmp_path / f"{example}.yaml"), "--out", str(tmp_path / example)]) == 0
        archives = sorted((tmp_path / example).iterdir())
        assert main(["package", str(tmp_path / f"{example}.yaml"), "--check", *map(str, archives)]) == 0
        found |= {archive.name: names(archive) for archive in archives}
    assert found == {
        "resnet_pt_v0.tar.gz": ["resnet", "resnet/1", "resnet/1/model.pt", "resnet/config.pbtxt"],
        "resnet_trt_v0.tar.gz": ["resnet", "resnet/1", "resnet/1/model.plan", "resnet/config.pbtxt"],
        "model.tar.gz": [
            "dali",
            "dali/1",
            "dali/1/model.dali",
            "dali/config.pbtxt",
            "ensemble_dali_inception",
            "ensemble_dali_inception/1",
            "ensemble_dali_inception/config.pbtxt",
            "inception_graphdef",
            "inception_graphdef/1",
            "inception_graphdef/1/model.graphdef",
            "inception_graphdef/config.pbtxt",
            "inception_graphdef/inception_labels.txt",
        ],
    }


def test_a_stage_chooses_its_files(package: Command) -> None:
    lay_out(Path(), {"big.py": "print()\n"})
    stages = "stages: {prod: {triton: {models: {net: {files: {1/big.py: big.py}}}}}}\n"
    Path("one.yaml").write_text(SPEC + NET + stages)
    assert package("one.yaml", "--stage", "prod", "--out", "out") == 0
    assert "net/1/big.py" in names(Path("out/model.tar.gz"))


def test_missing_files_are_named_at_their_lines_and_nothing_is_written(
    package: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("one.yaml").write_text(SPEC + NET.replace("net.py}", "gone.py, labels.txt: gone.txt}"))
    assert package("one.yaml", "--out", "out") == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert [line.split(": ")[:2] for line in said.err.splitlines()] == [
        ["one.yaml:15:27", "IS990"],
        ["one.yaml:15:48", "IS990"],
    ]
    assert not Path("out").exists()


def test_an_invalid_spec_packs_nothing(package: Command, capsys: pytest.CaptureFixture[str]) -> None:
    Path("one.yaml").write_text(SPEC + NET.replace("TYPE_FP32", "TYPE_FP33"))
    assert package("one.yaml", "--out", "out") == 1
    assert "TYPE_FP33" in capsys.readouterr().err
    assert not Path("out").exists()


def test_a_spec_without_triton_has_nothing_to_pack(
    package: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("one.yaml").write_text(SPEC)
    assert package("one.yaml") == 0
    assert capsys.readouterr().err == "one.yaml: nothing to package: the spec has no `triton` block\n"
    assert not Path("packages").exists()


def test_an_existing_repository_is_packed_without_its_junk(
    package: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(Path("models"), {**PIPE, "net/.ipynb_checkpoints/x": "", "__MACOSX/x": ""})
    block = "triton: {repository: models, default_model: pipe}\n"
    Path("one.yaml").write_text(SPEC.replace("single-model", "ensemble") + block)
    assert package("one.yaml", "--out", "out") == 0
    assert names(Path("out/model.tar.gz"))[4:] == ["pipe", "pipe/1", "pipe/config.pbtxt"]
    said = capsys.readouterr().out
    assert "  left out net/.ipynb_checkpoints (copies that Jupyter keeps)\n" in said
    assert "  left out __MACOSX (left by macOS's archiver)\n" in said
    assert "    empty folder  pipe/1\n" in said


def test_a_repository_that_is_not_there_is_an_error(
    package: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("one.yaml").write_text(SPEC + "triton: {repository: models}\n")
    assert package("one.yaml") == 1
    (said,) = [line for line in capsys.readouterr().err.splitlines() if "IS990" in line]
    assert said.startswith("one.yaml:9:22: IS990: models does not exist")
    assert "ignore" not in said


def test_files_from_elsewhere_are_packed_only_when_allowed(
    package: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(Path(), {"specs/one.yaml": SPEC + NET.replace("net.py", "../net.py")})
    assert package("specs/one.yaml", "--out", "out") == 1
    assert "IS992" in capsys.readouterr().err
    assert package("specs/one.yaml", "--out", "out", "--allow", ".") == 0


def test_an_archive_is_never_packed_into_itself(package: Command, capsys: pytest.CaptureFixture[str]) -> None:
    lay_out(Path("models"), MODEL)
    Path("one.yaml").write_text(SPEC + "triton: {repository: models}\n")
    assert package("one.yaml", "--out", "models/net") == 0
    assert package("one.yaml", "--out", "models/net") == 1
    assert "into itself" in capsys.readouterr().err


def test_an_archive_that_cannot_be_written_is_one_line(
    package: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out").write_text("a file")
    assert package("one.yaml", "--out", "out") == 1
    assert capsys.readouterr().err.startswith("inferstack: out")


@pytest.mark.parametrize("arguments", [[], ["--out", "out"], ["--check"]])
def test_without_anything_to_do_it_is_wrong_usage(arguments: Sequence[str], package: Command) -> None:
    with pytest.raises(SystemExit) as ended:
        package(*arguments)
    assert ended.value.code == 2


def test_a_check_says_what_is_inside_and_what_is_wrong(
    package: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(Path("models"), {**PIPE, "net/v2/model.py": ""})
    subprocess.run(["tar", "-czf", "made.tar.gz", "-C", "models", "net", "pipe"], check=True)
    Path("broken.tar.gz").write_bytes(Path("made.tar.gz").read_bytes()[:100])
    assert package("--check", "made.tar.gz", "broken.tar.gz") == 1
    said = capsys.readouterr()
    assert "made.tar.gz\n  size     " in said.out
    assert "net/1/model.py\n" in said.out
    assert "made.tar.gz/net/config.pbtxt:1:1: IS908" in said.out
    assert "broken.tar.gz:1:1: IS996" in said.out
    assert said.err == "1 error, 1 warning in 2 of 2 archives\n"
    subprocess.run(["tar", "-czf", "made.tar.gz", "--exclude", "v2", "-C", "models", "net"], check=True)
    assert package("--check", "made.tar.gz") == 0
    assert capsys.readouterr().err == "1 archive: no problems\n"


def test_a_check_prints_no_control_characters_of_an_archive(
    package: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    with tarfile.open("made.tar.gz", "w:gz") as tar:
        tar.addfile(tarfile.TarInfo("net/\x1b[31mred\nline"))
    assert package("--check", "made.tar.gz") == 1
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "net/\\x1b[31mred\\nline" in said


def test_a_check_judges_by_the_kind_of_endpoint(package: Command) -> None:
    lay_out(Path("models"), {"config.pbtxt": CONFIG, "1/model.py": ""})
    subprocess.run(["tar", "-czf", "made.tar.gz", "-C", "models", "."], check=True)
    many = SPEC.replace("single-model", "multi-model").replace("one/model.tar.gz", "many/")
    Path("many.yaml").write_text(many.replace("ml.c5.xlarge", "ml.g5.xlarge"))
    assert package("--check", "made.tar.gz") == 1
    assert package("one.yaml", "--check", "made.tar.gz") == 1
    assert package("--multi-model", "--check", "made.tar.gz") == 0
    assert package("many.yaml", "--check", "made.tar.gz") == 0


def test_a_check_takes_the_default_model_from_the_spec(
    package: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(Path("models"), PIPE)
    subprocess.run(["tar", "-czf", "made.tar.gz", "-C", "models", "net", "pipe"], check=True)
    variable = "  environment: {SAGEMAKER_TRITON_DEFAULT_MODEL_NAME: net}\n"
    Path("bare.yaml").write_text(SPEC)
    Path("told.yaml").write_text(SPEC.replace("variant:", f"{variable}variant:"))
    assert package("--check", "made.tar.gz") == 0
    assert package("told.yaml", "--check", "made.tar.gz") == 0
    capsys.readouterr()
    assert package("bare.yaml", "--check", "made.tar.gz") == 1
    assert "IS917" in capsys.readouterr().out


def test_a_check_knows_the_image_of_the_spec(package: Command, capsys: pytest.CaptureFixture[str]) -> None:
    lay_out(Path("models"), {**MODEL, "net/config.pbtxt": CONFIG + "model_metrics {}\n"})
    subprocess.run(["tar", "-czf", "made.tar.gz", "-C", "models", "net"], check=True)
    assert package("one.yaml", "--check", "made.tar.gz") == 0
    Path("one.yaml").write_text((SPEC + NET).replace("25.09", "24.09"))
    assert package("one.yaml", "--check", "made.tar.gz") == 1
    assert "model_metrics" in capsys.readouterr().out


def test_a_check_for_an_image_without_triton_is_refused(
    package: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(Path("models"), {"model.joblib": "", "code/inference.py": ""})
    subprocess.run(["tar", "-czf", "made.tar.gz", "-C", "models", "."], check=True)
    Path("bare.yaml").write_text(SPEC.replace("triton", "sklearn").replace('"25.09"', "1.2-1"))
    assert package("bare.yaml", "--check", "made.tar.gz") == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("inferstack: the spec does not run Triton, ")


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_run_leaves_nothing(ending: signal.Signals, package: Command, tmp_path: Path) -> None:
    with Path("net.py").open("wb") as file:
        file.truncate(8 << 30)
    out = tmp_path / "out"
    running = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "package", "one.yaml", "--out", "out"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while running.poll() is None and not any(path.stat().st_size for path in out.glob(".*")):
            time.sleep(0.01)
        running.send_signal(ending)
        _, said = running.communicate(timeout=30)
    finally:
        running.kill()
    assert (running.returncode, said) == (130, "inferstack: interrupted\n")
    assert list(out.iterdir()) == []


def on_a_terminal(work: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> str:
    reader, writer = pty.openpty()
    with os.fdopen(writer, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        work()
        print("end", file=terminal)
    shown = b""
    while not shown.endswith(b"end\r\n"):
        shown += os.read(reader, 65536)
    os.close(reader)
    return shown.decode()


def test_long_work_shows_a_bar_on_a_terminal_and_clears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        with bar("model.tar.gz", 100 << 20) as advance:
            for _ in range(200):
                advance(1 << 19)

    shown = on_a_terminal(work, monkeypatch)
    assert f"\rmodel.tar.gz [{'#' * 15}{' ' * 15}]  50 %" in shown
    assert shown.endswith("100 %\r\x1b[Kend\r\n")
    assert shown.count("\r") < 110


def test_a_bar_stays_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")

    def work() -> None:
        with bar("packing some/long/folder/model.tar.gz", 100 << 20) as advance:
            advance(100 << 20)

    [shown] = [line for line in on_a_terminal(work, monkeypatch).split("\r") if "[" in line and "%" in line]
    assert shown.startswith("…folder/model.tar.gz [###")
    assert len(shown) == 59


def test_short_work_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        with bar("model.tar.gz", 1000) as advance:
            advance(1000)

    assert on_a_terminal(work, monkeypatch) == "end\r\n"


def test_without_a_terminal_there_is_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("model.tar.gz", 100 << 20) as advance:
        advance(100 << 20)
    assert capsys.readouterr().err == ""
