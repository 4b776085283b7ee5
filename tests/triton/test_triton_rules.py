"""Each rule about Triton's models on a wrong model, and on the right one beside it; `support/wrong_models.py` says
how they are written.
"""

from collections import Counter
from pathlib import Path

import pytest
from support.checking import check_file
from support.wrong_models import CASES, Case, expected

from inferstack.check.every_code import TOPICS, every_code
from inferstack.problems import Problem
from inferstack.triton.rules import RULES

# What can only be wrong with files on disk; it is tested in `test_repository_*.py` and `test_local_files.py`.
ON_DISK = {
    *("IS765", "IS775", "IS785", "IS901", "IS903", "IS915", "IS917", "IS967", "IS987", "IS988", "IS991"),
}


def problems(tmp_path: Path, text: str) -> list[Problem]:
    file = tmp_path / "spec.yaml"
    file.write_text(text, "utf-8")
    return check_file(file)


def of_triton(found: list[Problem]) -> list[Problem]:
    return [problem for problem in found if problem.code in RULES]


def path_of(problem: Problem) -> str:
    return ".".join(map(str, problem.path))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_wrong_model_gives_exactly_its_codes_at_their_places_and_how_to_mend_it(
    case: Case, tmp_path: Path
) -> None:
    text = case.spec(wrong=True)
    found = problems(tmp_path, text)
    marks = expected(text)
    assert marks, "the case marks nothing"
    assert Counter(problem.code for problem in of_triton(found)) == Counter(code for code, _, _ in marks), (
        found
    )
    for code, end, line in marks:
        assert [
            problem
            for problem in found
            if problem.code == code and path_of(problem).endswith(end) and line in (None, problem.line)
        ], (code, end, line, found)
    for problem in of_triton(found):
        assert problem.message
        assert problem.fix
        assert problem.fix != problem.message


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_the_right_model_beside_it_gives_nothing(case: Case, tmp_path: Path) -> None:
    found = problems(tmp_path, case.spec(wrong=False))
    assert of_triton(found) == []
    # Otherwise the rules would not even have been run.
    assert not [problem for problem in found if problem.code < "IS2"]


def test_every_rule_has_a_wrong_model_and_a_right_one() -> None:
    shown = {code for case in CASES for code, _, _ in expected(case.spec(wrong=True))}
    missing = sorted(set(RULES) - shown - ON_DISK)
    assert not missing, (
        f"no case is about {missing}: add one to tests/triton/wrong_models, marked `# <- CODE PATH`"
    )
    assert shown <= set(RULES)


def test_no_two_cases_have_the_same_title() -> None:
    assert [title for title, count in Counter(case.title for case in CASES).items() if count > 1] == []


def test_every_rule_is_in_the_list_of_codes() -> None:
    for code, rule in RULES.items():
        assert every_code()[code].sentence == rule.sentence
        assert rule.sentence.endswith(".")
        assert rule.source
        assert TOPICS[code[:3]].endswith("Triton's models")
