"""The table of updates: pairs of specs, what deploying the second over the first does, and what is reported."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from support.updating import deploy, spec_of

from inferstack.check.load import LoadedSpec
from inferstack.problems import Problem
from inferstack.review import Update

_TABLE = yaml.safe_load((Path(__file__).parents[1] / "updates" / "pairs.yaml").read_text("utf-8"))
CHANGES: dict[str, Any] = _TABLE["changes"]
QUIET = {"alarms": False, "dashboard": False}


@dataclass(frozen=True)
class Pair:
    title: str
    base: str
    before: list[Any] = field(default_factory=list)
    after: list[Any] = field(default_factory=list)
    does: list[str] = field(default_factory=list)
    says: dict[str, str | list[str]] = field(default_factory=dict)
    reads: dict[str, str] = field(default_factory=dict)

    @property
    def said(self) -> list[tuple[str, str]]:
        """Every code that is reported, with the path in the spec."""
        listed = {code: [at] if isinstance(at, str) else at for code, at in self.says.items()}
        return [(code, one) for code, at in listed.items() for one in at]

    def specs(self) -> tuple[LoadedSpec, LoadedSpec]:
        before, after = (spec_of(self.base, QUIET, *_changes(it)) for it in (self.before, self.after))
        return before, after

    def deployed(self) -> tuple[Update, list[Problem]]:
        before, after = self.specs()
        return deploy(after, before)


def _changes(listed: list[Any]) -> list[Any]:
    return [CHANGES[it] if isinstance(it, str) else it for it in listed]


PAIRS = [Pair(**pair) for pair in _TABLE["pairs"]]
