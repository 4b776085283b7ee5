"""Fixes in the text of a spec: which can be applied, and what makes the result unlike the spec."""

import copy
import pickle

import pytest

from inferstack.problems import FilePlace, Fix, Problem
from inferstack.problems.words import choose, did_you_mean, did_you_mean_then
from inferstack.source.compose import compose
from inferstack.source.cuts import Cut
from inferstack.source.document import Document
from inferstack.source.fixes import AppliedFix, fixes_of, with_fixes

TEXT = "a: &x 8080  # c\nb: {c: *x, d: s3://a/b}\n"


def document(text: str = TEXT) -> Document:
    return Document("spec.yaml", compose("spec.yaml", text))


def problem(line: int, column: int, found: object, instead: object, file: str = "spec.yaml") -> Problem:
    return Problem((), "wrong", Fix("write it", found, instead), at=FilePlace(file, line, column))


def test_one_text_gets_one_fix_however_often_it_is_used() -> None:
    found = fixes_of(document(), TEXT, [problem(1, 4, 8080, "8080"), problem(1, 4, 8080, "8080")])
    assert with_fixes(document(), TEXT, found) == TEXT.replace("8080", '"8080"')


def test_fixes_that_contradict_each_other_are_none() -> None:
    assert fixes_of(document(), TEXT, [problem(1, 4, 8080, "8080"), problem(1, 4, 8080, 80)]) == []


def test_a_fix_for_something_else_or_elsewhere_is_none() -> None:
    others = [problem(1, 4, 80, "80"), problem(1, 5, 8080, "8080"), problem(1, 4, 8080, "8080", "other.yaml")]
    assert fixes_of(document(), TEXT, [*others, Problem((), "wrong", "write it", at=others[0].at)]) == []


def test_a_part_of_a_text_is_replaced_only_where_it_is_clear_which() -> None:
    assert [it.value for it in fixes_of(document(), TEXT, [problem(2, 15, "//a", "//A")])] == ["s3://A/b"]
    assert fixes_of(document(), TEXT, [problem(2, 15, "/", "-")]) == []


def test_what_does_not_read_as_the_fix_says_is_not_applied() -> None:
    wrong = AppliedFix(problem(2, 15, "s3://a/b", "s3://a/b/"), Cut(30, 38, "s3://a/b/, e: 1"), "s3://a/b/")
    assert TEXT[30:38] == "s3://a/b"
    assert with_fixes(document(), TEXT, [wrong]) is None
    assert with_fixes(document(), TEXT, [wrong._replace(cut=Cut(30, 38, "["))]) is None


@pytest.mark.parametrize(
    ("found", "options", "instead"),
    [
        ("us_east_1", ["us-east-1", "us-west-1"], "us-east-1"),
        ("UPPER", ["upper", "Upper"], None),
        ("us-esat-1", ["us-east-1"], None),
        # Another version.
        ("2605", ["26.05"], None),
        ("1.10", ["11.0"], None),
    ],
)
def test_only_capitals_and_separators_go_without_saying(
    found: str, options: list[str], instead: str | None
) -> None:
    for said in (choose(found, options), did_you_mean(found, options), did_you_mean_then(found, options, "")):
        assert getattr(said, "instead", None) == instead


def test_a_fix_survives_a_copy_and_another_process() -> None:
    fix = Fix("write 60", "60s", 60)
    for it in (copy.deepcopy(fix), pickle.loads(pickle.dumps(fix))):
        assert (it, it.found, it.instead) == ("write 60", "60s", 60)
