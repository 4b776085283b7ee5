"""Wrong specs and their right neighbors; `support/wrong_specs.py` says how they are written."""

from collections import Counter
from pathlib import Path

import pytest
from support.checking import check_file
from support.wrong_specs import ALL, FOLDER, RIGHT, WRONG, Case, marks

from inferstack.check.every_code import every_code
from inferstack.check.lock import LOCK_CODES
from inferstack.check.rules import RULES
from inferstack.check.rules.company import COMPANY
from inferstack.check.rules.language_models.model_files import OF_MODELS
from inferstack.check.rules.objective import MEASURED
from inferstack.problems import Problem
from inferstack.problems.file_codes import COMPARISON_CODES
from inferstack.triton.archive.entries import ARCHIVE_CODES
from inferstack.triton.rules import RULES as TRITON_RULES
from inferstack.updates import UPDATE_RULES

# Tested with wrong models and archives.
TRITON = {*TRITON_RULES, *ARCHIVE_CODES}

# What no text of a single file can cause; it is tested with reading, stages, folders, locks and measurements.
NOT_IN_A_TEXT = {
    *("IS001", "IS002", "IS003", "IS004", "IS005", "IS006", "IS007", "IS010", "IS021", "IS027", "IS031"),
    *("IS037", "IS040", "IS044", "IS045", "IS056", "IS064", "IS070", "IS071", "IS072", "IS073", "IS074"),
    *("IS077", "IS080", "IS081", "IS084", "IS094", "IS095", "IS096", "IS111", "IS112", "IS113", "IS114"),
    *("IS036", "IS049", "IS355", "IS116", "IS117", "IS192", "IS208", "IS209", "IS218", "IS278", "IS895"),
    *LOCK_CODES,
    *MEASURED,
    *OF_MODELS,
    *COMPANY,
    *UPDATE_RULES,
    *COMPARISON_CODES,
}


def problems_of(file: Path, text: str | None = None) -> list[Problem]:
    """What is reported for a spec, except the insides of Triton's models, which have their own tests."""
    if text is not None:
        file.write_text(text, "utf-8")
    return [problem for problem in check_file(file) if problem.code not in TRITON]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: f"{case.base}: {case.title}")
def test_a_wrong_spec_gives_exactly_its_codes_at_their_lines_and_how_to_mend_it(
    case: Case, tmp_path: Path
) -> None:
    text = case.text()
    expected = marks(text)
    assert expected, "the case marks no line"
    found = problems_of(tmp_path / "spec.yaml", text)
    assert Counter((problem.line, problem.code) for problem in found) == expected
    for problem in found:
        assert problem.message
        if problem.code in RULES:
            assert problem.fix, f"{problem} gives no fix"
            assert problem.fix != problem.message


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: f"{case.base}: {case.title}")
def test_a_right_spec_gives_nothing(case: Case, tmp_path: Path) -> None:
    assert problems_of(tmp_path / "spec.yaml", case.text()) == []


@pytest.mark.parametrize("base", sorted((FOLDER / "bases").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_base_is_right(base: Path) -> None:
    assert problems_of(base) == []


def test_no_two_cases_have_the_same_title() -> None:
    titles = Counter((case.base, case.title) for case in ALL)
    assert [title for title, count in titles.items() if count > 1] == []


def test_there_are_many_wrong_specs() -> None:
    assert len(WRONG) >= 150


def test_every_code_has_a_wrong_spec() -> None:
    shown = {code for case in WRONG for _, code in marks(case.text())}
    expected = {*every_code()} - TRITON - NOT_IN_A_TEXT
    missing = sorted(expected - shown)
    assert not missing, f"no wrong spec has {missing}: add one to tests/check/wrong_specs, marked `# <- CODE`"
    assert shown - set(every_code()) == set()


def test_every_rule_has_a_right_spec() -> None:
    shown = {code for case in RIGHT for code in case.codes}
    missing = sorted(set(RULES) - shown)
    assert not missing, f"no right spec is about {missing}: add `right BASE CODE: …` beside the wrong one"
    assert shown - set(every_code()) == set()


@pytest.mark.parametrize("example", sorted(Path("model_specs").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_examples_have_no_errors(example: Path) -> None:
    assert [problem for problem in check_file(example) if problem.severity == "error"] == []
