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
