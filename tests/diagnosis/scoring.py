"""How well `diagnose` does on texts of public threads."""

import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import yaml

from inferstack.diagnosis.clues import clues_in
from inferstack.diagnosis.reading import lines_of
from inferstack.diagnosis.verdict import Diagnosis, diagnosed

TEXTS = Path(__file__).parent / "texts"


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text, where it is from, and what caused it: None if the text does not say so."""

    url: str
    text: str
    cause: str | None = None
    also: list[str] = []
    """Other causes that fit as well, written down with the first."""
    line: str = ""
    """What the line that the verdict rests on must have."""
    healthy: bool = False


def cases(name: str) -> list[Case]:
    """The cases of a file."""
    read: list[dict[str, Any]] = yaml.safe_load((TEXTS / name).read_text(encoding="utf-8"))
    return [msgspec.convert(it, Case) for it in read]


def answer(case: Case) -> Diagnosis:
    """What `diagnose` says of a text."""
    return diagnosed(clues_in(lines_of(BytesIO(case.text.encode()))))


class Score(msgspec.Struct):
    """How many causes are named, and what is wrong."""

    failures: int = 0
    causes: int = 0
    """Texts that say the cause."""
    named: int = 0
    wrong: list[str] = []
    blamed: list[str] = []
    unnamed: list[str] = []


def scored(name: str) -> Score:
    """The score of a file of texts."""
    score = Score()
    for case in cases(name):
        found = answer(case)
        shown = (
            f"{case.url}: {found.verdict}{' certain' * found.certain} {found.code} instead of {case.cause}"
        )
        if case.healthy:
            if found.verdict in ("cause", "symptom"):
                score.blamed.append(shown)
            continue
        score.failures += 1
        score.causes += case.cause is not None
        if found.verdict == "cause":
            if found.code in (case.cause, *case.also) and case.line in found.line:
                score.named += 1
            else:
                score.wrong.append(shown)
        elif found.verdict == "healthy":
            score.wrong.append(shown)
        elif case.cause is not None:
            score.unnamed.append(shown)
    return score


if __name__ == "__main__":
    for each in sys.argv[1:]:
        result = scored(each)
        print(f"{each}: {result.named} of {result.failures} failures named ({result.causes} say their cause)")
        for part in ("wrong", "blamed", "unnamed"):
            print(f"{part}: {len(getattr(result, part))}", *getattr(result, part), sep="\n  ")
