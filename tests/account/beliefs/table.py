"""What is believed of AWS, what was found, and what it takes to find it out: two files, of which a run writes one."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from tests.emulator.beliefs import BELIEFS

HERE = Path(__file__).parent
RESULTS = HERE / "results.toml"
_ACCOUNT = re.compile(r"\b\d{12}\b")
_CODE = r"IS\d{3}"

Finding = Literal["holds", "wrong", "cannot tell"]


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a belief can be tried.

    ``believed`` is left out for a belief of the emulator, which says it itself. ``rests``: the rules and files that
    rely on it. ``minutes``, and the ``instances`` that run during them, are estimates, on the large side. ``missing``: what it
    would take to write the experiment; without it, there is a function of that name.
    """

    rests: Annotated[list[str], msgspec.Meta(min_length=1)]
    shows: str
    believed: str = ""
    minutes: Annotated[int, msgspec.Meta(ge=1)] = 1
    instances: int = 0
    missing: str = ""

    @property
    def instance_hours(self) -> float:
        """What it costs."""
        return self.minutes * self.instances / 60

    @property
    def codes(self) -> list[str]:
        """The rules that rely on it."""
        return [it for it in self.rests if re.fullmatch(_CODE, it)]


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an experiment has found."""

    belief: str
    finding: Finding
    date: str
    region: str
    evidence: str


def experiments() -> dict[str, Experiment]:
    """All of them by name, in the order in which they are run."""
    given = tomllib.loads((HERE / "experiments.toml").read_text("utf-8"))
    found = msgspec.convert(given, dict[str, Experiment])
    return {
        name: msgspec.structs.replace(it, believed=it.believed or BELIEFS[name]) for name, it in found.items()
    }


def results(file: Path = RESULTS) -> dict[str, Result]:
    """What was found, by the name of the belief."""
    if not file.exists():
        return {}
    found = msgspec.convert(tomllib.loads(file.read_text("utf-8")).get("result", []), list[Result])
    return {it.belief: it for it in found}


def tried(found: Mapping[str, Result]) -> int:
    """How many beliefs have an answer."""
    return sum(it.finding != "cannot tell" for it in found.values())


def write(found: Iterable[Result], file: Path = RESULTS) -> None:
    """Writes results, without the number of any account."""
    # A string of JSON is one of TOML.
    tables = (
        "[[result]]\n"
        + "".join(f"{key} = {json.dumps(value)}\n" for key, value in msgspec.to_builtins(it).items())
        for it in sorted(found, key=lambda it: it.belief)
    )
    file.write_text(_ACCOUNT.sub("123456789012", "\n".join(tables)), "utf-8")
