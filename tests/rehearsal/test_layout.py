"""The files of an archive as the container finds them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.rehearsal import spec

from inferstack.check.load import load_spec
from inferstack.problems import FilePlace, Place
from inferstack.triton.archive.packing import Progress, Watch, unwatched
from inferstack.triton.config import parse_text
from inferstack.triton.rehearsal.layout import LaidOut, pack_and_lay_out
from inferstack.triton.repositories import repositories_of

SPEC = spec(
    "single-model",
    """
    default_model: net
    models:
      net:
        backend: python
        input: [{name: A, data_type: TYPE_FP32, dims: [2]}]
        output: [{name: B, data_type: TYPE_FP32, dims: [2]}]
        files: {1/model.py: net.py, words.txt: words.txt}
      played:
        platform: onnxruntime_onnx
        input: [{name: A, data_type: TYPE_FP32, dims: [2]}]
        output: [{name: B, data_type: TYPE_FP32, dims: [2]}]
        instance_group: [{kind: KIND_GPU}]
        files: {1/model.onnx: weights.onnx, 2/model.onnx: nowhere.onnx}
    """,
)
WEIGHTS = b"heavy" * 1000
NEEDS_ONNX = "ONNX runs for real with `onnxruntime` in the rehearsal's Python (pip install onnxruntime)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text("code")
    (tmp_path / "words.txt").write_text("words")
    (tmp_path / "weights.onnx").write_bytes(WEIGHTS)
    (tmp_path / "spec.yaml").write_text(SPEC)
    return tmp_path


def _lay_out(folder: Path, watch: Watch = unwatched) -> LaidOut:
    [repository] = repositories_of(load_spec(folder / "spec.yaml").spec, folder)

    def locate(place: Place) -> FilePlace:
        return place if isinstance(place, FilePlace) else FilePlace("spec.yaml")

    scratch = folder / "scratch"
    scratch.mkdir()
    [laid_out] = pack_and_lay_out({folder / "out": repository}, scratch, [folder], locate, {}, watch)
    assert [left.name for left in scratch.iterdir()] == ["empty-weights"]
    return laid_out


def test_files_that_a_real_backend_reads_are_copied_and_others_only_as_long(folder: Path) -> None:
    laid_out = _lay_out(folder)
    out = folder / "out"
    assert laid_out.folders == ("net", "played")
    assert (out / "net/1/model.py").read_text() == "code"
    assert (out / "net/words.txt").read_text() == "words"
    assert (out / "played/1/model.onnx").read_bytes() == bytes(len(WEIGHTS))
    assert (out / "played/2/model.onnx").read_bytes() == b""


def test_configurations_are_the_local_ones_and_what_differs_is_noted(folder: Path) -> None:
    laid_out = _lay_out(folder)
    config = parse_text((folder / "out/played/config.pbtxt").read_text())
    assert config == laid_out.configs["played"].config
    assert laid_out.notes == {
        "net": (),
        "played": ("2/model.onnx is not on this machine", NEEDS_ONNX, "its instances run on the CPU"),
    }


def test_the_users_own_files_stay_as_they_are(folder: Path) -> None:
    before = {file: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    _lay_out(folder)
    assert {file: file.read_bytes() for file in before} == before


def test_packing_and_unpacking_can_be_watched_to_their_end(folder: Path) -> None:
    left: dict[str, int] = {}

    @contextmanager
    def watch(label: str, total: int) -> Iterator[Progress]:
        left[label] = total

        def advance(done: int) -> None:
            left[label] -= done

        yield advance

    _lay_out(folder, watch)
    assert left == {"packing model.tar.gz": 0, "unpacking model.tar.gz": 0}
