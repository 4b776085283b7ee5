"""Existing repositories are read as they are, and nothing behind links is read."""

from pathlib import Path

from support.archiving import CONFIG, MODEL, PIPE, lay_out
from support.repositories import loaded, spec_file

from inferstack.problems import FilePlace
from inferstack.triton.folders import read_repository


def test_an_existing_repository_is_read_as_it_stands(tmp_path: Path) -> None:
    files = {**PIPE, "net/2/model.py": "", "net/v3/model.py": "", "net/labels.txt": "", ".git/HEAD": ""}
    repository = read_repository(lay_out(tmp_path, files))
    net, pipe = repository.models
    assert (net.name, net.versions, net.folders) == ("net", ("1", "2"), ("1", "2", "v3"))
    assert set(net.files) == {"1/model.py", "2/model.py", "v3/model.py", "labels.txt"}
    assert net.files["labels.txt"] == tmp_path / "net/labels.txt"
    assert (net.text, net.complete) == (CONFIG, True)
    assert (pipe.name, pipe.versions, dict(pipe.files)) == ("pipe", ("1",), {})
    assert repository.faults == ()


def test_a_field_stands_where_the_text_has_it(tmp_path: Path) -> None:
    (model,) = read_repository(lay_out(tmp_path, MODEL)).models
    file = (tmp_path / "net/config.pbtxt").as_posix()
    assert model.where(("input", 0, "data_type")) == FilePlace(file, 2, 19)
    assert model.where(("input", 0, "reshape", "shape", 0)) == FilePlace(file, 2, 1)
    assert model.where(("max_batch_size",)) == FilePlace(file, 1, 1)


def test_of_what_tools_leave_in_a_model_nothing_is_read_as_of_what_is_packed(tmp_path: Path) -> None:
    files = {"net/.git/config": "", "net/1/__pycache__/model.pyc": "", "net/1/.DS_Store": ""}
    (model,) = read_repository(lay_out(tmp_path, {**MODEL, **files})).models
    assert set(model.files) == {"1/model.py"}


def test_folders_of_a_repository_are_the_archives_of_a_multi_model_endpoint(tmp_path: Path) -> None:
    inner = {f"both/{path}": content for path, content in PIPE.items()}
    lay_out(tmp_path / "models", {**MODEL, **inner})
    file = spec_file(tmp_path, "{repository: models}", "multi-model")
    assert [(it.archive, it.default_model, len(it.models)) for it in loaded(file)] == [
        ("both.tar.gz", "pipe", 2),
        ("net.tar.gz", "net", 1),
    ]
