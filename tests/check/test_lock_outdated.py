"""What has changed since the upload is noticed, and nothing else."""

import hashlib
import shutil
from pathlib import Path

import pytest
from support.locked_specs import Change, edit, found, locked_spec, outdated, put
from support.locking import MANY, ONE

from inferstack.check.lock import differences as local
from inferstack.triton import folders

STALE = {
    "another configuration": (ONE, edit("dims: [1]", "dims: [2]"), 9, "with another configuration"),
    "another file": (ONE, edit("weights/net.onnx", "weights/dogs.onnx"), 13, "from weights/net.onnx, not from"),
    "another folder": (ONE, edit("weights/labels", "weights/words"), 13, "not from weights/words/de.txt"),
    "one more file": (ONE, edit("files: {", "files: {more.txt: weights/dogs.onnx, "), 13, "net/more.txt was not uploaded"),
    "one file less": (ONE, edit(", labels: weights/labels", ""), 7, "net/labels/de.txt was uploaded"),
    "another model": (ONE, edit("net:", "other:"), 9, "the model `other` was not uploaded"),
    "another url": (ONE, edit("one/model", "two/model"), 5, "nothing was uploaded for s3://acme-models/two/model.tar.gz, only"),
    "another size": (ONE, put("weights/net.onnx", "lions"), 13, "weights/net.onnx has 5 bytes, but 4 were uploaded"),
    "another content": (ONE, put("weights/net.onnx", "dogs"), 13, "weights/net.onnx has different content than was uploaded"),
    "another content in a folder": (ONE, put("weights/labels/en.txt", "dog"), 13, "weights/labels/en.txt has different content"),
    "one more in a folder": (ONE, put("weights/labels/fr.txt", "chat"), 13, "weights/labels/fr.txt was not uploaded"),
    "another name of an archive": (MANY, edit("dogs.tar.gz", "wolves.tar.gz"), 16, "wolves.tar.gz was not uploaded"),
    "one archive less": (
        MANY,
        lambda file: file.write_text(file.read_text()[: file.read_text().index("    dogs.tar.gz")]),
        8,
        "dogs.tar.gz was uploaded, but the spec no longer has it",
    ),
    "another content of one archive": (MANY, put("weights/dogs.onnx", "wolf"), 22, "weights/dogs.onnx has different content"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "change", "line", "said"), STALE.values(), ids=STALE)
def test_what_is_not_what_was_uploaded_is_an_error_that_says_what_to_run(
    text: str, change: Change, line: int, said: str, tmp_path: Path
) -> None:
    file = locked_spec(tmp_path, text)
    change(file)
    (problem,) = [problem for problem in outdated(file) if said in problem.message]
    assert (problem.file, problem.line) == (file.as_posix(), line)


def test_a_pointer_to_other_weights_than_were_uploaded_is_noticed(tmp_path: Path) -> None:
    file = locked_spec(tmp_path, ONE)
    put("weights/net.onnx", f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 4\n")(
        file
    )
    (problem,) = found(file)
    assert "has 126 bytes, but 4 were uploaded" in problem.message


def remove_weights(file: Path) -> None:
    shutil.rmtree(file.parent / "weights")


def leave_pointers(file: Path) -> None:
    for path in (file.parent / "weights").rglob("*.*"):
        content = path.read_bytes()
        oid = hashlib.sha256(content).hexdigest()
        path.write_text(
            f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n"
        )


RIGHT = {
    "nothing": (ONE, lambda _: None),
    "no weights": (ONE, remove_weights),
    "no weights of many": (MANY, remove_weights),
    "pointers of Git LFS": (ONE, leave_pointers),
    "a comment": (ONE, edit("kind:", "# new\nkind:")),
    "a new time": (ONE, lambda file: (file.parent / "weights/net.onnx").touch()),
    "a link, which is never packed": (
        ONE,
        lambda file: (file.parent / "weights/labels/fr.txt").symlink_to(file.parent / "weights/net.onnx"),
    ),
    "junk": (ONE, put("weights/labels/.DS_Store", "")),
    "another fleet": (ONE, edit("ml.m5.large", "ml.m5.xlarge")),
    "some labels less": (ONE, lambda file: (file.parent / "weights/labels/de.txt").unlink()),
}


@pytest.mark.parametrize(("text", "change"), RIGHT.values(), ids=RIGHT)
def test_what_is_as_it_was_uploaded_is_none(text: str, change: Change, tmp_path: Path) -> None:
    file = locked_spec(tmp_path, text)
    change(file)
    assert found(file) == []


def test_large_files_are_compared_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = locked_spec(tmp_path, ONE)
    put("weights/net.onnx", "dogs")(file)
    assert len(found(file)) == 1
    monkeypatch.setattr(local, "LARGEST_READ", 3)
    assert found(file) == []


@pytest.mark.parametrize(
    ("limit", "path", "said"),
    [
        ("MOST_FILES", "{number}.txt", "weights/labels has more than 3 files and folders, but 2 files were"),
        ("DEEPEST", "a/b/{number}.txt", "weights/labels has folders in one another more than 1 deep, but 2"),
    ],
)
def test_a_folder_with_far_more_than_was_uploaded_is_not_gone_through(
    limit: str, path: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = locked_spec(tmp_path, ONE)
    monkeypatch.setattr(folders, limit, 1)
    assert found(file) == []
    for number in range(2):
        more = tmp_path / "weights/labels" / path.format(number=number)
        more.parent.mkdir(parents=True, exist_ok=True)
        more.touch()
    (problem,) = found(file)
    assert said in problem.message
    assert problem.line == 13
