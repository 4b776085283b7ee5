"""Reading a spec file: everything that can be wrong before YAML begins."""

import gzip
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from support.documents import Problems, Read, places

from inferstack.problems import SpecError, file_codes
from inferstack.source.document import read_document


def test_a_missing_file_names_the_nearest_one(tmp_path: Path) -> None:
    (tmp_path / "bert-large.yaml").write_text("a: 1")
    with pytest.raises(SpecError) as caught:
        read_document(tmp_path / "bert-lage.yaml")
    (problem,) = caught.value.problems
    assert problem.code == file_codes.NO_FILE
    assert "`bert-large.yaml`" in problem.fix


def test_an_ending_makes_no_file_the_nearest_one(tmp_path: Path) -> None:
    (tmp_path / "churn-cpu-mme.yaml").write_text("a: 1")
    with pytest.raises(SpecError) as caught:
        read_document(tmp_path / "nope.yaml")
    assert caught.value.problems[0].fix == "check the path"


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no directory") as caught:
        read_document(tmp_path / "specs" / "a.yaml")
    assert caught.value.problems[0].code == file_codes.NO_FILE


def test_a_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        read_document(tmp_path)
    assert places(caught.value.problems) == [(file_codes.DIRECTORY, 1, 1)]


def _make_pipe(path: Path) -> None:
    os.mkfifo(path)


def _make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def _make_link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [_make_pipe, _make_socket, _make_link_to_a_device])
def test_what_is_no_regular_file_is_never_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None]
) -> None:
    # A relative name, since the path of a socket must be short.
    monkeypatch.chdir(tmp_path)
    make(Path("spec.yaml"))
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("opened"))
    with pytest.raises(SpecError) as caught:
        read_document("spec.yaml")
    assert places(caught.value.problems) == [(file_codes.NOT_REGULAR, 1, 1)]


def test_a_file_without_read_permission_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "spec.yaml"
    path.write_text("a: 1")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SpecError, match="Permission denied") as caught:
        read_document(path)
    assert places(caught.value.problems) == [(file_codes.UNREADABLE, 1, 1)]


@pytest.mark.parametrize("name", ["loop.yaml", "nul\0.yaml", "x" * 5000, "file.yaml/a.yaml"])
def test_a_path_that_leads_nowhere_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    (tmp_path / "file.yaml").write_text("a: 1")
    with pytest.raises(SpecError) as caught:
        read_document(tmp_path / name)
    assert places(caught.value.problems) == [(file_codes.UNREADABLE, 1, 1)]


def test_a_file_may_have_one_mebibyte_and_no_byte_more(read: Read, problems: Problems) -> None:
    line = "a: 1\n"
    largest = line + "#" * (1024 * 1024 - len(line))
    assert read(largest).data == {"a": 1}
    assert places(problems(largest + "#")) == [(file_codes.TOO_LARGE, 1, 1)]


def test_bytes_that_are_not_utf8_are_located(problems: Problems) -> None:
    (problem,) = problems(b"a: 1\nb: \xc3\xa4\xff\n")
    assert (problem.code, problem.line, problem.column) == (file_codes.NOT_UTF8, 2, 5)
    assert "byte 10 (0xff)" in problem.message


def test_utf16_is_recognised(problems: Problems) -> None:
    (problem,) = problems("a: 1\n".encode("utf-16"))
    assert problem.code == file_codes.NOT_UTF8
    assert "UTF-16" in problem.message


def test_an_archive_is_known_to_be_no_spec(tmp_path: Path) -> None:
    (tmp_path / "model.tar.gz").write_bytes(gzip.compress(b"a: 1"))
    with pytest.raises(SpecError) as caught:
        read_document(tmp_path / "model.tar.gz")
    (problem,) = caught.value.problems
    assert (problem.code, "looks like an archive" in problem.message) == (file_codes.NOT_UTF8, True)
    assert "`inferstack package --check ARCHIVE`" in problem.fix


@pytest.mark.parametrize("character", ["\0", "\x07", "\x1b", "\x7f", "\x80", "\ufffe"])
def test_unprintable_characters_are_located(problems: Problems, character: str) -> None:
    (problem,) = problems(f"a: 1\nb: x{character}y{character}\n")
    assert (problem.code, problem.line, problem.column) == (file_codes.UNPRINTABLE, 2, 5)
    assert f"U+{ord(character):04X} is not allowed in YAML, and 1 more" in problem.message


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029", "\u202e", "\u2066"])
def test_characters_that_show_another_file_than_the_one_that_is_read_are_refused(
    problems: Problems, character: str
) -> None:
    (problem,) = problems(f"a: 1 # the weights{character}b: {{c: d}}\n")
    assert (problem.code, problem.line, problem.column) == (file_codes.UNPRINTABLE, 1, 19)
    assert problem.message.startswith(f"the character U+{ord(character):04X} is invisible")
    assert f"\\u{ord(character):04x}" in problem.fix


def test_a_second_byte_order_mark_is_no_part_of_a_spec(problems: Problems) -> None:
    (problem,) = problems("\ufeff\ufeffa: 1\n".encode())
    assert (problem.code, problem.message) == (
        file_codes.UNPRINTABLE,
        "the file begins with two byte order marks",
    )


@pytest.mark.parametrize("text", ["", "\n\n", "# a comment\n", "---\n", "---\n...\n", "null\n", "\ufeff"])
def test_a_file_without_content_is_an_error(problems: Problems, text: str) -> None:
    assert places(problems(text)) == [(file_codes.EMPTY, 1, 1)]


def test_a_link_that_leads_nowhere_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").symlink_to("elsewhere.yaml")
    with pytest.raises(SpecError) as caught:
        read_document(tmp_path / "spec.yaml")
    (problem,) = caught.value.problems
    assert (problem.code, problem.message) == (file_codes.NO_FILE, "this is a broken link")


def test_an_escape_of_json_for_what_is_one_character_is_told_from_a_backslash(problems: Problems) -> None:
    (problem,) = problems('a: "\\ud83d\\ude00"\n')
    assert problem.fix.startswith("write the character itself")
    (problem,) = problems('a: "\\d"\n')
    assert problem.fix.startswith("use single quotes")


# ---------------------------------------------------------------- links out of the project

SECRET = "AKIAIOSFODNN7EXAMPLE"
A_SPEC = "kind: single-model\nendpoint_name: churn\n"
NO_SPECS = {
    "text": SECRET,
    "list": f"- {SECRET}",
    "keys": f"github.com:\n  oauth_token: {SECRET}\n",
    "kind": f"kind: {SECRET}\n",
    "twice": f"{SECRET}: 1\n{SECRET}: 2\n",
    "no YAML": f"{SECRET}: [",
    "binary": f"{SECRET}\0",
    "tags": f"kind: !{SECRET} a\nendpoint_name: *{SECRET}\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a folder of specs; `../elsewhere` is outside of it."""
    for name in ("elsewhere", "project/model_specs", "project/shared"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.mark.parametrize("content", NO_SPECS.values(), ids=NO_SPECS)
@pytest.mark.parametrize("linked", ["file", "folder", "chain"])
def test_nothing_is_shown_of_what_a_link_leads_to_outside(content: str, linked: str, project: Path) -> None:
    target = project.parent / "elsewhere" / "a.yaml"
    target.write_bytes(content.encode())
    file = Path("model_specs/a.yaml")
    if linked == "folder":
        Path("specs").symlink_to(target.parent)
        file = Path("specs/a.yaml")
    elif linked == "chain":
        Path("shared/a.yaml").symlink_to(target)
        file.symlink_to("../shared/a.yaml")
    else:
        file.symlink_to(target)
    for name in (file, file.absolute()):
        with pytest.raises(SpecError) as caught:
            read_document(name)
        (problem,) = caught.value.problems
        assert problem.code == file_codes.FOREIGN
        assert SECRET not in str(problem)
        assert (problem.line, problem.column) == (1, 1), "the place would tell something, too"


def test_a_root_folder_is_no_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.parent / "elsewhere" / "a").write_text(SECRET, "utf-8")
    (project / "model_specs" / "a.yaml").symlink_to("../../elsewhere/a")
    monkeypatch.chdir("/")
    with pytest.raises(SpecError) as caught:
        read_document(project / "model_specs" / "a.yaml")
    assert caught.value.problems[0].code == file_codes.FOREIGN


def test_a_spec_may_be_a_link(project: Path) -> None:
    folder = project / "model_specs"
    # As Kubernetes mounts a ConfigMap, as a monorepo shares a spec, and as Bazel lays out what a program needs.
    (folder / "..2026").mkdir()
    (folder / "..2026" / "mounted.yaml").write_text(A_SPEC, "utf-8")
    (folder / "..data").symlink_to("..2026")
    (folder / "mounted.yaml").symlink_to("..data/mounted.yaml")
    (project / "shared" / "shared.yaml").write_text(A_SPEC, "utf-8")
    (folder / "shared.yaml").symlink_to("../shared/shared.yaml")
    (project.parent / "elsewhere" / "built.yaml").write_text(A_SPEC, "utf-8")
    (folder / "built.yaml").symlink_to(project.parent / "elsewhere" / "built.yaml")
    for name in ("mounted", "shared", "built"):
        assert read_document(f"model_specs/{name}.yaml").data["endpoint_name"] == "churn"


def test_of_a_link_in_the_project_everything_is_shown(project: Path) -> None:
    (project / "shared" / "a.yaml").write_text("hello", "utf-8")
    (project / "model_specs" / "a.yaml").symlink_to("../shared/a.yaml")
    with pytest.raises(SpecError, match='holds "hello"'):
        read_document("model_specs/a.yaml")
