"""A file with very many problems: the first are worded, the others counted, and the work stays bounded."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from inferstack.check.files import check_files
from inferstack.check.load import load_spec
from inferstack.cli.report import FORMATS, Findings, in_format
from inferstack.problems import (
    MANY,
    MOST_SHOWN,
    FilePlace,
    Problem,
    Severity,
    SpecError,
    in_file_order,
    words,
)
from inferstack.problems.words import did_you_mean, few_suggestions

# Written here, too, so that larger numbers do not pass unnoticed: each takes milliseconds.
MOST_SUGGESTIONS, MOST_FOUND = 300, 1_000
HEAD = """\
kind: single-model
endpoint_name: churn
model: {image: {framework: xgboost, version: 1.7-1}, model_data_url: s3://acme-models/churn/model.tar.gz}
"""
ON = "variant: {instance_type: ml.m5.large, initial_instance_count: 1}\n"
WRONG = {
    "instance types": "variants:\n"
    + "".join(
        f"- {{variant_name: v{i}, instance_type: ml.m5.x{i}large, initial_instance_count: 1}}\n"
        for i in range(2_000)
    ),
    "keys": "".join(f"variantt{i}: {{}}\n" for i in range(2_000)),
    "keys of variants": "variants:\n"
    + "".join(f"- {{variant_nam: v{i}, instnce_type: m, iic: 1}}\n" for i in range(700)),
    "stages": "variant: {instance_type: ml.m5.large, initial_instance_count: 1}\nstages:\n"
    + "".join(
        f"  s{stage}: {{variants: [{', '.join(f'{{instance_type: ml.m{stage}.x{i}}}' for i in range(40))}]}}\n"
        for stage in range(50)
    ),
    "warnings": "variant: {instance_type: ml.m5.large, initial_instance_count: 1}\nmodel2: 1\ntags: {}\n"
    + "".join(f"tag{i}: 1\n" for i in range(500)),
}


@pytest.fixture(scope="module", params=WRONG)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found: Path = tmp_path_factory.mktemp("many") / "churn.yaml"
    found.write_text(HEAD + WRONG[request.param], "utf-8")
    return found


@contextmanager
def asked() -> Iterator[list[object]]:
    """How often similar words are looked for."""
    found: list[object] = []
    compare, slips = words._compared.__wrapped__, words.slips_among
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_compared", lambda *them: found.append(them) or compare(*them))
        patch.setattr(words, "slips_among", lambda *them: found.append(them) or slips(*them))
        yield found


class Checked(NamedTuple):
    found: list[Problem]
    asked: int


@pytest.fixture(scope="module")
def checked(file: Path) -> Checked:
    with asked() as them:
        found = check_files([file])
    return Checked(found, len(them))


def test_the_first_problems_are_said_and_the_others_counted(checked: Checked) -> None:
    assert checked.asked == MOST_SUGGESTIONS
    found = checked.found
    said = [it for it in found if it.code != MANY]
    counts = [it for it in found if it.code == MANY]
    assert len(said) == MOST_SHOWN
    assert counts
    assert found[-1] in counts
    assert all(it.message and it.severity is Severity.ERROR for it in found)
    assert [it.in_file for it in said] == sorted(
        (it.in_file for it in said), key=lambda it: (it.line, it.column)
    )


@pytest.mark.parametrize("file", ["instance types"], indirect=True)
def test_what_is_said_has_its_suggestion(checked: Checked) -> None:
    said = [it for it in checked.found if it.code == "IS104"]
    assert len(said) > 50
    assert all("did you mean `ml.m5." in it.fix for it in said)


# A comparison with every instance type takes the longest, and one way to it is enough.
@pytest.mark.parametrize("file", sorted({*WRONG} - {"instance types"}), indirect=True)
def test_a_spec_that_is_loaded_has_as_few(file: Path) -> None:
    with asked() as them, pytest.raises(SpecError) as failed:
        load_spec(file, stage="s7" if "stages:" in file.read_text("utf-8") else None)
    # One stage of that file has fewer mistakes.
    assert len(them) == (42 if "stages:" in file.read_text("utf-8") else MOST_SUGGESTIONS)
    assert len(failed.value.problems) <= MOST_SHOWN + 2


class Walked(list[str]):
    """Options that count how often somebody goes through all of them."""

    walks = 0

    def __iter__(self) -> Iterator[str]:
        self.walks += 1
        return super().__iter__()

    def __contains__(self, key: object) -> bool:
        self.walks += 1
        return super().__contains__(key)


@pytest.mark.parametrize(("options", "answered"), [(1, 300), (500, 150), (2_000, 60), (400_000, 0)])
def test_very_many_options_use_up_more_suggestions(options: int, answered: int) -> None:
    known = Walked(f"option-{number}" for number in range(options))
    with asked() as them, few_suggestions():
        for _ in range(2 * MOST_SUGGESTIONS):
            did_you_mean("optoin-0", known)
    assert len(them) == known.walks == answered


LISTS = {
    "entries of a list": "ignore:\n{}",
    "entries of one form of a block": "alarms:\n  actions:\n{}",
    "values": "tags:\n{}",
    "keys": "endpoint:\n{}",
}


@pytest.mark.parametrize("place", LISTS)
def test_beyond_a_thousand_nothing_is_looked_for(place: str, tmp_path: Path) -> None:
    counts = []
    # The list itself may be wrong, too.
    for many in (MOST_FOUND - 1, MOST_FOUND + 1, 4 * MOST_FOUND):
        line = "  - {}\n" if "entries" in place else "  k{}: 5\n"
        text = LISTS[place].format("".join(line.format(number) for number in range(many)))
        (tmp_path / "spec.yaml").write_text(f"{HEAD}{ON}{text}", "utf-8")
        found = check_files([tmp_path / "spec.yaml"])
        counts.append([it.message for it in found if it.code == MANY])
    none_left_out, one_more, many_more = counts
    assert len(none_left_out) == 1
    assert one_more == many_more
    assert "there are more than 1,000 problems like those above: the others were not looked for" in many_more


def test_the_next_file_gets_its_suggestions(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(HEAD + WRONG["keys"], "utf-8")
    (tmp_path / "b.yaml").write_text(f"{HEAD}varint: {{}}\n", "utf-8")
    [problem] = [
        it
        for it in check_files(sorted(tmp_path.iterdir()))
        if it.file.endswith("b.yaml") and it.code == "IS101"
    ]
    assert "did you mean `variant`?" in problem.fix


def problems(count: int, severity: Severity, code: str, file: str = "a.yaml") -> list[Problem]:
    return [
        Problem((), f"no. {line}", "", code, severity, FilePlace(file, line, 1))
        for line in range(1, count + 1)
    ]


def test_errors_are_said_before_warnings() -> None:
    warnings = problems(MOST_SHOWN + 40, Severity.WARNING, "IS203")
    errors = problems(3, Severity.ERROR, "IS101")
    found = in_file_order([*warnings, *errors])
    assert [it.code for it in found].count("IS101") == 3
    assert len(found) == MOST_SHOWN + 1
    assert found[-1].severity is Severity.WARNING, "only warnings are left out"
    assert found[-1].message == "43 more problems: 43 of IS203"
    assert in_file_order(found) == found, "what was counted is not counted again"


def test_as_many_as_are_said_are_not_counted() -> None:
    assert len(in_file_order(problems(MOST_SHOWN, Severity.ERROR, "IS101"))) == MOST_SHOWN
    found = in_file_order(problems(MOST_SHOWN + 1, Severity.ERROR, "IS101"))
    assert [found[-1].code, found[-1].message] == [MANY, "1 more problem: 1 of IS101"]


def test_each_file_has_its_own_limit() -> None:
    many = [it for file in "abc" for it in problems(MOST_SHOWN, Severity.ERROR, "IS101", f"{file}.yaml")]
    assert len(in_file_order(many)) == 3 * MOST_SHOWN


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_says_how_many_are_not_shown(form: str) -> None:
    mixed = [*problems(MOST_SHOWN + 9, Severity.ERROR, "IS101"), *problems(7, Severity.ERROR, "IS104")]
    shown = in_format(form, Findings(in_file_order(mixed), 1))
    assert MANY in shown
    assert "16 more problems: " in shown
    if form in ("json", "sarif"):
        json.loads(shown)
