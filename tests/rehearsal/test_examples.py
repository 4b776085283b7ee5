"""The examples with a Triton repository are packed and rehearsed as they are, with made-up weights."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.rehearsal import SERVER_PYTHON, model

from inferstack.cli import main

SPECS = Path(__file__).parents[2] / "model_specs"
# Files that must be code; all others are weights, which no stand-in reads.
CODE = {
    "catalog-search/tokenizer.py": model(
        """
        ids = np.zeros((len(given["QUERY"]), 32), np.int64)
        ids[:, 0] = [len(text) for [text] in given["QUERY"]]
        return {"input_ids": ids, "attention_mask": (ids > 0).astype(np.int64)}
        """
    )
}
# The files of an example, and what the report must say about it.
EXAMPLES = {
    "resnet-mme.yaml": (
        ["resnet/model.pt", "resnet/model.plan"],
        [
            "resnet_pt_v0.tar.gz: ready",
            "resnet_trt_v0.tar.gz: ready",
            "resnet (POST /models/…/invoke, STAND-IN for the backend `pytorch`: zeros)",
            "resnet (POST /models/…/invoke, STAND-IN for the backend `tensorrt`: zeros)",
            "binary, batch 2, … ms: OUTPUT__0 FP32 [2, 1000] = 0, 0, 0, 0, …",
            "loaded (200), invoked, listed (200), looked up (200), unloaded (200), gone (404)",
        ],
    ),
    "dali-inception.yaml": (
        ["inception/model.dali", "inception/model.graphdef", "inception/inception_labels.txt"],
        [
            "model.tar.gz: ready",
            "ensemble_dali_inception (POST /invocations)",
            "dali (Triton's own port, STAND-IN for the backend `dali`: zeros)",
            "inception_graphdef (Triton's own port, STAND-IN for the backend `tensorflow`: zeros)",
            "binary, batch 2, … ms: OUTPUT FP32 [2, 1001] = 0, 0, 0, 0, …",
        ],
    ),
    "catalog-search.yaml": (
        [
            *("catalog-search/tokenizer.py", "catalog-search/tokenizer.json"),
            *("catalog-search/encoder.onnx", "catalog-search/reranker-a10g.plan"),
        ],
        [
            "query-encoder/model.tar.gz: ready",
            "tokenizer (Triton's own port)\n    JSON, batch 1, … ms:\n"
            "      input_ids INT64 [1, 32] = 9, 0, 0, 0, …\n"
            "      attention_mask INT64 [1, 32] = 1, 0, 0, 0, …\n",
            "encoder (Triton's own port, STAND-IN for the backend `onnxruntime`: zeros)",
            "encode (POST /invocations)",
            "binary, batch 2, … ms: EMBEDDING FP32 [2, 384] = 0, 0, 0, 0, …",
            "reranker/model.tar.gz: ready",
            "reranker (POST /invocations, STAND-IN for the backend `tensorrt`: zeros)",
            "binary, batch 2, … ms: scores FP32 [2, 100] = 0, 0, 0, 0, …",
        ],
    ),
}


def _without_times(said: str) -> str:
    """A report in which `…` replaces each time."""
    words = said.split(" ")
    return " ".join(
        "…" if after[:2] == "ms" else word for word, after in zip(words, [*words[1:], ""], strict=True)
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Copies an example with small weights into a folder; temporary files are beside it."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path)

    def prepare(example: str) -> Path:
        for file in EXAMPLES[example][0]:
            (tmp_path / "artifacts" / file).parent.mkdir(parents=True, exist_ok=True)
            content = CODE[file].encode() if file in CODE else os.urandom(2000)
            (tmp_path / "artifacts" / file).write_bytes(content)
        shutil.copy(SPECS / example, tmp_path)
        return tmp_path

    return prepare


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_packed_and_rehearsed_and_leaves_nothing(
    example: str, folder: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    place = folder(example)
    before = sorted(place.rglob("*"))
    shared_memory = set(Path("/dev/shm").iterdir())
    assert main(["rehearse", example, "--python", str(SERVER_PYTHON)]) == 0
    said = _without_times(capsys.readouterr().out)
    for line in EXAMPLES[example][1]:
        assert line in said
    assert sorted(place.rglob("*")) == before
    assert not [left for left in set(Path("/dev/shm").iterdir()) - shared_memory if "triton" in left.name]


def test_archives_that_package_wrote_are_rehearsed_as_they_are(
    folder: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    place = folder("resnet-mme.yaml")
    assert main(["package", "resnet-mme.yaml", "--out", "out"]) == 0
    shutil.rmtree(place / "artifacts")
    archives = sorted(str(file) for file in (place / "out").iterdir())
    arguments = [part for archive in archives for part in ("--archive", archive)]
    assert main(["rehearse", "resnet-mme.yaml", "--python", str(SERVER_PYTHON), *arguments]) == 0
    assert "is not on this machine" not in capsys.readouterr().out
