"""What cannot go into an archive is refused before a byte is written: all of it at once, each at its position."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from support.archiving import MODEL, lay_out, locate

from inferstack.check.load import parse_spec
from inferstack.problems import Problem, SpecError
from inferstack.triton.archive.entries import unfit
from inferstack.triton.archive.plan import Plan, plan_archive, plan_archives
from inferstack.triton.config import config_from_spec
from inferstack.triton.folders import read_repository
from inferstack.triton.model import Repository, TritonModel
from inferstack.triton.repositories import repositories_of

TENSOR = [{"name": "X", "data_type": "TYPE_FP32", "dims": [1]}]


def declared(folder: Path, files: Mapping[str, str], name: str = "net") -> Repository:
    """What a spec declares, even if a check of the spec would refuse it."""
    config = config_from_spec({"backend": "python", "input": TENSOR, "output": TENSOR})
    local = {path: folder / source for path, source in files.items()}
    model = TritonModel(name, config, local, ("1",), lambda path: ("triton", "models", name, *path))
    return Repository("model.tar.gz", (model,), name, ("triton",))


def refusals(repository: Repository, *allowed: Path) -> tuple[Problem, ...]:
    with pytest.raises(SpecError) as caught:
        plan_archive(repository, allowed, locate)
    return caught.value.problems


def contents(plan: Plan) -> list[str]:
    return [entry.name for entry in plan.entries]


def test_a_declared_model_gets_its_configuration_and_an_empty_version(tmp_path: Path) -> None:
    plan = plan_archive(declared(tmp_path, {}), [tmp_path], locate)
    assert contents(plan) == ["net", "net/1", "net/config.pbtxt"]
    assert b"".join(plan.entries[2].chunks()).startswith(b"input {")


def test_a_folder_stands_for_all_that_is_in_it(tmp_path: Path) -> None:
    lay_out(
        tmp_path, {"saved/model.pb": "", "saved/variables/data": "", "saved/.DS_Store": "", "saved/e/": ""}
    )
    plan = plan_archive(declared(tmp_path, {"1/model.savedmodel": "saved"}), [tmp_path], locate)
    assert contents(plan)[2:] == [
        "net/1/model.savedmodel",
        "net/1/model.savedmodel/e",
        "net/1/model.savedmodel/model.pb",
        "net/1/model.savedmodel/variables",
        "net/1/model.savedmodel/variables/data",
        "net/config.pbtxt",
    ]
    assert [left.name for left in plan.left_out] == ["net/1/model.savedmodel/.DS_Store"]


def test_a_folder_comes_before_what_is_in_it_and_before_its_longer_namesake(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a": ""})
    plan = plan_archive(declared(tmp_path, {"1/b/x": "a", "1/b-c": "a", "1/b.d": "a"}), [tmp_path], locate)
    assert contents(plan)[2:6] == ["net/1/b", "net/1/b/x", "net/1/b-c", "net/1/b.d"]


def test_all_missing_files_are_reported_at_once_where_the_spec_names_them(tmp_path: Path) -> None:
    lay_out(tmp_path, {"artifacts/model.onnx": ""})
    files = {"1/model.onnx": "artifacts/model.onx", "labels.txt": "artifacts/labels.txt"}
    found = refusals(declared(tmp_path, files), tmp_path)
    assert [(it.code, it.file) for it in found] == [
        ("IS990", "triton/models/net/files/1/model.onnx"),
        ("IS990", "triton/models/net/files/labels.txt"),
    ]
    assert "did you mean `model.onnx`?" in found[0].fix


def test_a_path_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    (found,) = refusals(declared(tmp_path, {"1/model.py": "a\0b"}), tmp_path)
    assert (found.code, found.file) == ("IS990", "triton/models/net/files/1/model.py")


def test_missing_files_of_all_archives_are_reported_at_once(tmp_path: Path) -> None:
    both = [declared(tmp_path, {"1/a": "gone"}), declared(tmp_path, {"1/b": "gone", "1/c": "gone"})]
    with pytest.raises(SpecError) as caught:
        plan_archives(both, [tmp_path], locate)
    assert len(caught.value.problems) == 3


def a_link(folder: Path) -> None:
    lay_out(folder, {"blob": "weights"})
    (folder / "source").symlink_to("blob")


def a_link_to_a_folder(folder: Path) -> None:
    lay_out(folder, {"blobs/weights": ""})
    (folder / "source").symlink_to("blobs")


def a_link_in_a_folder(folder: Path) -> None:
    lay_out(folder, {"blob": "", "source/model.py": ""})
    (folder / "source/weights").symlink_to("../blob")


def a_dangling_link(folder: Path) -> None:
    (folder / "source").symlink_to("nothing")


def a_link_in_a_circle(folder: Path) -> None:
    lay_out(folder, {"source/model.py": ""})
    (folder / "source/again").symlink_to(".")


def a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "source")


def a_device(folder: Path) -> None:
    (folder / "source").symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("prepare", "what"),
    [
        (a_link, "a symbolic link"),
        (a_link_to_a_folder, "a symbolic link"),
        (a_link_in_a_folder, "a symbolic link"),
        (a_dangling_link, "a symbolic link"),
        (a_link_in_a_circle, "a symbolic link"),
        (a_device, "a symbolic link"),
        (a_pipe, "neither a file nor a folder"),
    ],
)
def test_links_and_pipes_are_refused(prepare: Callable[[Path], None], what: str, tmp_path: Path) -> None:
    prepare(tmp_path)
    (found,) = refusals(declared(tmp_path, {"1/model": "source"}), tmp_path)
    assert found.code == "IS991"
    assert found.message.endswith(f" is {what}")


POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 90000000\n"


@pytest.mark.parametrize("files", [{"source": POINTER}, {"source/model.onnx": POINTER, "source/x": ""}])
def test_pointers_of_git_lfs_are_refused_in_the_place_of_files(files: dict[str, str], tmp_path: Path) -> None:
    lay_out(tmp_path, files)
    (found,) = refusals(declared(tmp_path, {"1/model": "source"}), tmp_path)
    assert found.code == "IS989"
    assert found.message.endswith("is a Git LFS pointer to a file of 90,000,000 bytes")
    assert found.fix == "fetch the files: `git lfs pull`"


@pytest.mark.parametrize(
    "content", [POINTER[:-1], f"{POINTER}more", "version 1\n", "", f"{POINTER}{'x' * 2000}"]
)
def test_what_only_resembles_a_pointer_is_a_file(content: str, tmp_path: Path) -> None:
    lay_out(tmp_path, {"source": content})
    plan = plan_archive(declared(tmp_path, {"1/model": "source"}), [tmp_path], locate)
    assert "net/1/model" in contents(plan)


def test_links_in_an_existing_repository_are_refused(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models", MODEL)
    (folder / "net/1/weights").symlink_to("model.py")
    (folder / "net/extra").symlink_to("1")
    (found, other) = refusals(read_repository(folder), folder)
    assert {found.code, other.code} == {"IS991"}


@pytest.mark.parametrize("source", ["../secret", "sub/../../secret", "{absolute}", "linked/secret"])
def test_files_outside_of_the_folder_are_refused_unless_it_is_allowed(source: str, tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "specs", {"sub/": ""})
    lay_out(tmp_path, {"secret": "key"})
    (folder / "linked").symlink_to(tmp_path)
    repository = declared(folder, {"1/model": source.format(absolute=tmp_path / "secret")})
    assert [it.code for it in refusals(repository, folder)] == ["IS992"]
    assert "net/1/model" in contents(plan_archive(repository, [folder, tmp_path], locate))


def test_a_path_with_dots_that_stays_inside_is_no_offence(tmp_path: Path) -> None:
    lay_out(tmp_path, {"sub/": "", "model": ""})
    plan = plan_archive(declared(tmp_path, {"1/model": "sub/../model"}), [tmp_path], locate)
    assert "net/1/model" in contents(plan)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../x", "it has `..` in it"),
        ("1/../../x", "it has `..` in it"),
        ("1//x", "it has an empty part"),
        ("1/", "it has an empty part"),
        ("./x", "it has `.` in it"),
        ("1\\x", "it has a backslash"),
        ("1/x\n", "it has characters that cannot be printed"),
        ("1/\udcff", "it has characters that cannot be printed"),
        ("1/" + "x" * 256, "a part of it is longer than 255 bytes"),
        ("1/" + "é" * 128, "a part of it is longer than 255 bytes"),
        ("a/" * 65 + "x", "it has more than 64 parts"),
    ],
)
def test_paths_that_cannot_stand_in_an_archive_are_refused(path: str, why: str, tmp_path: Path) -> None:
    lay_out(tmp_path, {"model": ""})
    (found,) = refusals(declared(tmp_path, {path: "model"}), tmp_path)
    assert found.code == "IS993"
    assert found.message.endswith(why)


@pytest.mark.parametrize("path", ["x" * 255, "é" * 127 + "x", "a/" * 63 + "x"])
def test_paths_that_just_fit_are_taken(path: str) -> None:
    assert unfit(path) is None


@pytest.mark.parametrize("name", ["../out.tar.gz", "a/../../out.tar.gz", "a\\b.tar.gz", "/out.tar.gz"])
def test_an_archive_cannot_be_named_out_of_its_folder(name: str, tmp_path: Path) -> None:
    one = declared(tmp_path, {})
    repository = Repository(name, one.models, None, ("triton", "archives", name), multi_model=True)
    assert [it.code for it in refusals(repository, tmp_path)] == ["IS993"]


@pytest.mark.parametrize(
    "files",
    [
        {"1/Model.py": "model", "1/model.py": "model"},
        {"1/stra\u00dfe": "model", "1/STRASSE": "model"},
        {"1/caf\u00e9": "model", "1/cafe\u0301": "model"},
        {"Data/a": "model", "data/b": "model"},
        {"1": "model"},
        {"a": "model", "a/b": "model"},
        {"config.pbtxt": "model"},
        {"Config.pbtxt": "model"},
        {"1/x": "folder", "1/x/model": "model"},
    ],
)
def test_two_files_that_are_one_somewhere_are_refused(files: dict[str, str], tmp_path: Path) -> None:
    lay_out(tmp_path, {"model": "", "folder/model": ""})
    assert {it.code for it in refusals(declared(tmp_path, files), tmp_path)} == {"IS994"}


def test_accents_that_are_written_in_two_ways_can_be_told_apart(tmp_path: Path) -> None:
    lay_out(tmp_path, {"model": ""})
    (found,) = refusals(declared(tmp_path, {"1/caf\u00e9": "model", "1/cafe\u0301": "model"}), tmp_path)
    assert "1/caf\\xe9" in found.message
    assert "1/cafe\\u0301" in found.message
    assert "upper and lower case" not in found.message


@pytest.mark.parametrize(("name", "code"), [("a\\b", "IS993"), ("MODEL.py", "IS994"), ("a\nb", "IS993")])
def test_a_file_of_a_repository_is_told_of_where_it_lies(name: str, code: str, tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models", MODEL)
    (folder / "net/1" / name).write_text("")
    (found,) = refusals(read_repository(folder), folder)
    assert found.code == code
    assert Path(found.file).parent == folder / "net/1"


def test_archives_that_differ_in_case_only_are_refused(tmp_path: Path) -> None:
    one = declared(tmp_path, {})
    both = [
        Repository(name, one.models, None, (name,), multi_model=True) for name in ("a.tar.gz", "A.tar.gz")
    ]
    with pytest.raises(SpecError, match="IS994"):
        plan_archives(both, [tmp_path], locate)


def test_what_is_wrong_with_a_repository_keeps_it_from_being_packed(tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "models", {**MODEL, "net/config.pbtxt": "backend: 1 nonsense"})
    assert [it.code for it in refusals(read_repository(folder), folder)] == ["IS900"]


def test_a_multi_model_spec_has_a_plan_for_each_archive(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.py": "", "b.py": ""})
    model = {"backend": "python", "input": TENSOR, "output": TENSOR}
    archives = {
        f"{name}.tar.gz": {"models": {name: {**model, "files": {"1/model.py": f"{name}.py"}}}}
        for name in ("b", "a")
    }
    spec = parse_spec(
        {
            "kind": "multi-model",
            "endpoint_name": "many",
            "model": {
                "image": {"framework": "triton", "version": "25.09"},
                "model_data_url": "s3://b-bucket/many/",
            },
            "variant": {"instance_type": "ml.g5.xlarge", "initial_instance_count": 2},
            "triton": {"archives": archives},
        }
    ).spec
    plans = plan_archives(repositories_of(spec, tmp_path), [tmp_path], locate)
    assert [plan.archive for plan in plans] == ["b.tar.gz", "a.tar.gz"]
    assert contents(plans[0]) == ["b", "b/1", "b/1/model.py", "b/config.pbtxt"]
