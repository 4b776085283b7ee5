"""Every code once, with an explanation and a source; and the committed page shows exactly that."""

import re
from pathlib import Path

import pytest

from inferstack.check.every_code import TOPICS, every_code, every_entry
from inferstack.problems.codes import RETIRED, CodeTable
from tools import code_list

ROOT = Path(__file__).parents[2]


def test_every_code_is_unique() -> None:
    codes = [entry.code for entry in every_entry()]
    assert len(codes) > 40
    assert sorted(codes) == sorted(set(codes))


def test_a_retired_code_is_not_used_again() -> None:
    again = sorted(RETIRED & every_code().keys())
    assert not again, f"{again} had another meaning once: choose a code that docs/codes.md and RETIRED lack"


def test_every_code_belongs_to_a_topic() -> None:
    for code in every_code():
        assert re.fullmatch(r"IS\d{3}", code)
        assert code[:3] in TOPICS


def test_every_entry_is_a_sentence_with_a_source() -> None:
    for entry in every_code().values():
        assert entry.sentence.endswith("."), entry
        assert entry.sentence == " ".join(entry.sentence.split()), entry
        assert entry.source, entry


def test_every_code_that_the_source_mentions_is_listed() -> None:
    found = {
        (code, path.name)
        for path in (ROOT / "constructs" / "inferstack").rglob("*.py")
        for code in re.findall(
            r'^\s*(?:[A-Z_]+ = |@\w+\(|)"(IS\d{3})"', path.read_text("utf-8"), re.MULTILINE
        )
    }
    assert len(found) > 20
    missing = {it for it in found if it[0] not in every_code()}
    assert not missing, f"{missing}: list a new module of rules in its package's __init__.py"


def test_the_page_shows_every_code_once() -> None:
    page = code_list.page(every_code().values())
    assert re.findall(r'^\| <a id="\w+"></a>(IS\d{3}) \|', page, re.MULTILINE) == list(every_code())


def test_a_code_stands_once_in_its_table() -> None:
    table = CodeTable()
    table.error("IS001", "There is no such file.")
    with pytest.raises(ValueError, match="IS001 is taken: There is no such file"):
        table.warning("IS001", "There is one.")
