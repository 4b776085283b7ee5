"""Each rule about Triton's models on a wrong model, and on the right one beside it.

A case in `wrong_models/*.txt` is the `triton` block of two specs at once:

    == the least is above the most        the case's title
    head: {image: "24.09"}                what differs from the usual spec, if anything
      models:                             lines of both
    -    m: {max_batch_size: 4}           a line of the right one
    +    m: {max_batch_size: -1}          a line of the wrong one

`$IO` and its like stand for the texts in `MACROS`. `# <- IS922 m.max_batch_size` says what must be reported of the
wrong one and the end of its path in the spec: at the end of a line also that it stands in this line. Nothing else
may be reported, and of the right one nothing at all.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from inferstack.spec.catalogue import catalogue
from inferstack.spec.check import check_file
from inferstack.spec.problem import Problem
from inferstack.triton.rules import RULES

HERE = Path(__file__).parent / "wrong_models"
MARK = re.compile(r"# <- (IS\d{3}) (\S+)")
TENSOR = "data_type: TYPE_FP32, dims: [1]"
STEPS = (
    "ensemble_scheduling: {step: [{model_name: m, model_version: -1, input_map: {X: A}, output_map: {Y: B}}]}"
)
MACROS = {
    "$IO": f"input: [{{name: X, {TENSOR}}}], output: [{{name: Y, {TENSOR}}}]",
    "$T_IO": f"input: [{{name: INPUT__0, {TENSOR}}}], output: [{{name: OUTPUT__0, {TENSOR}}}]",
    "$E_IO": f"input: [{{name: A, {TENSOR}}}]",
    "$PY": "backend: python, files: {1/model.py: model.py}",
    "$TORCH": "platform: pytorch_libtorch, files: {1/model.pt: m.pt}, parameters: {DISABLE_OPTIMIZED_EXECUTION: true}",
    "$STEPS": STEPS,
    "$STEP": f"{STEPS}, input: [{{name: A, {TENSOR}}}], output: [{{name: B, {TENSOR}}}]",
    "$ENSEMBLE": f"platform: ensemble, {STEPS}, input: [{{name: A, {TENSOR}}}], output: [{{name: B, {TENSOR}}}]",
}
USUAL = {"kind": "single-model", "image": "26.05", "instance": "ml.c6i.xlarge", "environment": {}}
# What can only be wrong with files on disk; `test_repository_*.py` and `test_local_files.py` have them.
ON_DISK = {"IS901", "IS903", "IS915", "IS917", "IS987", "IS988", "IS991"}


@dataclass(frozen=True)
class Case:
    title: str
    lines: tuple[str, ...]

    def spec(self, *, wrong: bool) -> str:
        """The whole spec; its `triton` block stands at the end."""
        lines = [it[1:] if it[0] in "+-" else it for it in self.lines if it[0] != "+-"[wrong]]
        heads = [line.strip() for line in lines if line.strip().startswith("head:")]
        block = [line for line in lines if not line.strip().startswith("head:")]
        text = "\n".join([*head(yaml.safe_load(heads[0])["head"] if heads else {}), "triton:", *block, ""])
        for name in sorted(MACROS, key=len, reverse=True):
            text = re.sub(re.escape(name) + r"\b", lambda _, name=name: MACROS[name], text)
        return text


def head(change: dict[str, object]) -> list[str]:
    values = {**USUAL, **change}
    image = values["image"]
    data = {
        "kind": values["kind"],
        "endpoint_name": "e",
        "model": {
            "image": image if "/" in image else {"framework": "triton", "version": image},
            "model_data_url": "s3://models/m/"
            if values["kind"] == "multi-model"
            else "s3://models/m/model.tar.gz",
            "environment": values["environment"],
        },
        "variant": {"instance_type": values["instance"], "initial_instance_count": 2},
    }
    return yaml.safe_dump(data, sort_keys=False).splitlines()


def cases() -> Iterator[Case]:
    for file in sorted(HERE.glob("*.txt")):
        for part in ("\n" + file.read_text("utf-8")).split("\n== ")[1:]:
            title, *lines = part.splitlines()
            yield Case(title, tuple(line for line in lines if line.strip()))


CASES = list(cases())


def problems(tmp_path: Path, text: str) -> list[Problem]:
    file = tmp_path / "spec.yaml"
    file.write_text(text, "utf-8")
    return check_file(file)


def of_triton(found: list[Problem]) -> list[Problem]:
    return [problem for problem in found if problem.code in RULES]


def expected(text: str) -> list[tuple[str, str, int | None]]:
    """Code, end of the path, line if the mark stands in one."""
    return [
        (mark[1], mark[2], None if line.lstrip().startswith("#") else number)
        for number, line in enumerate(text.splitlines(), start=1)
        for mark in MARK.finditer(line)
    ]


def path_of(problem: Problem) -> str:
    return ".".join(map(str, problem.path))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_wrong_model_gives_exactly_its_codes_at_their_places(case: Case, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_the_right_model_beside_it_gives_nothing(case: Case, tmp_path: Path) -> None:
    text = case.spec(wrong=False)
    assert of_triton(problems(tmp_path, text)) == []
    # Else the rules would not even have been asked.
    assert not [problem for problem in problems(tmp_path, text) if problem.code < "IS2"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_every_problem_says_what_was_found_and_how_to_mend_it(case: Case, tmp_path: Path) -> None:
    for problem in of_triton(problems(tmp_path, case.spec(wrong=True))):
        assert problem.message
        assert problem.fix
        assert problem.fix != problem.message


def test_every_rule_has_a_wrong_model_and_a_right_one() -> None:
    shown = {code for case in CASES for code, _, _ in expected(case.spec(wrong=True))}
    assert set(RULES) - shown - ON_DISK == set()
    assert shown <= set(RULES)


def test_no_two_cases_have_the_same_title() -> None:
    assert [title for title, count in Counter(case.title for case in CASES).items() if count > 1] == []


def test_every_rule_is_in_the_catalogue_of_codes() -> None:
    for code, rule in RULES.items():
        assert catalogue()[code].sentence == rule.sentence
        assert rule.sentence.endswith(".")
        assert rule.source
        assert code.startswith("IS9")
