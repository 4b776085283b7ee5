"""Files of load tests, of traffic and of prices: one reader, which says what is wrong with a whole file."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import asdict
from support.pages import code_blocks

from inferstack.problems import SpecError
from inferstack.sizing.measurements import read_measurements
from inferstack.sizing.prices import read_price_file
from inferstack.sizing.traffic import read_traffic

READERS: dict[str, Callable[[Path], object]] = {
    "measurements": read_measurements,
    "traffic": read_traffic,
    "prices": read_price_file,
}


def pipe(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as found:
        found.bind(path.name)


WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda _: None, "the file cannot be read: No such file or directory; name a"),
    "a folder": (Path.mkdir, "this is a directory; name a"),
    # Opening it would wait for whoever writes into it.
    "a pipe": (pipe, "this is not a regular file; write its content into one"),
    "a socket": (listening, "this is not a regular file"),
    "a broken link": (lambda it: it.symlink_to("nowhere"), "the file cannot be read: No such file"),
    "a circle of links": (lambda it: it.symlink_to(it.name), "the file cannot be read: Too many levels"),
    "nothing in it": (lambda it: it.write_text("\ufeff \n"), "the file is empty; name a"),
    "UTF-16": (lambda it: it.write_text("time,a\n0,1\n", "utf-16"), "the file is UTF-16; save it as UTF-8"),
    "Latin-1": (lambda it: it.write_bytes(b"caf\xe9,1\n"), "the file is not UTF-8 text; save it as UTF-8"),
    "a spreadsheet": (lambda it: it.write_bytes(b"PK\x03\x04\xff"), "export its content as CSV in UTF-8"),
    "compressed": (
        lambda it: it.write_bytes(b"\x1f\x8b\x08"),
        "the file is a spreadsheet or an archive, not text",
    ),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_text_is_not_read(
    case: str, reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make, said = WRONG[case]
    make(Path("file"))
    with pytest.raises(SpecError) as caught:
        READERS[reader](Path("file"))
    [problem] = caught.value.problems
    assert str(problem).startswith("file:1:1: IS07")
    assert said in str(problem)


def test_a_name_that_no_file_can_have_is_said() -> None:
    for read in READERS.values():
        with pytest.raises(SpecError, match="the file cannot be read: embedded null byte"):
            read(Path("a\0b"))


@pytest.mark.parametrize(("separator", "called"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_other_separators_than_commas_are_named(separator: str, called: str, tmp_path: Path) -> None:
    file = tmp_path / "numbers.csv"
    for reader, line in (("measurements", "configuration,instance_type"), ("traffic", "time,a,b")):
        file.write_text(line.replace(",", separator) + "\n")
        with pytest.raises(SpecError) as caught:
            READERS[reader](file)
        [problem] = caught.value.problems
        assert problem.message == f"{called} separate the columns"
        assert problem.fix == "separate them by commas, and write numbers with a point"


def test_a_long_cell_is_shortened_in_messages(tmp_path: Path) -> None:
    file = tmp_path / "numbers.csv"
    for reader, head in (("measurements", ""), ("traffic", "time,a\n0,")):
        file.write_text(head + "x" * 100_000 + ",1\n" if not head else head + "x" * 100_000)
        with pytest.raises(SpecError) as caught:
            READERS[reader](file)
        assert all(len(str(it)) < 500 for it in caught.value.problems)


def test_a_table_in_which_every_line_is_wrong_is_given_up(tmp_path: Path) -> None:
    file = tmp_path / "numbers.csv"
    file.write_text("configuration,instance_type,requests_per_minute\n" + "a,ml.m5.large,x\n" * 500_000)
    with pytest.raises(SpecError) as caught:
        read_measurements(file)
    assert "more problems" in caught.value.problems[-1].message


def test_the_page_shows_a_price_file_with_every_field(tmp_path: Path) -> None:
    [shown] = code_blocks(Path(__file__).parents[2] / "docs" / "sizing.md", "json")
    (tmp_path / "prices.json").write_text(shown, "utf-8")
    [found] = read_price_file(tmp_path / "prices.json").regions.values()
    assert None not in asdict(found).values()
