"""What single lines of logs, reasons and answers mean: data, from the files in ``signatures``."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

Verdict = Literal["cause", "symptom", "cannot-tell", "healthy"]
Where = Literal["log", "reason", "answer", "any"]
"""A container's log; what SageMaker or CloudFormation say of a failure; what a request got."""


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a line means if ``pattern`` is found in it. The pattern's groups fill in ``cause`` and ``fix``."""

    code: str
    pattern: str
    where: Where
    cause: str
    source: str
    """The page or thread that says so."""
    fix: str = ""
    verdict: Verdict = "cause"
    certain: bool = False
    """Whether the line leaves no doubt."""
    rank: int = 1
    """Of several causes in one start of a container, the lowest rank is taken, then the first line."""
    needs: str = ""
    """What a spec must have, or the line is not about it: ``gpu``, ``serverless`` or ``triton``."""
    keys: tuple[str, ...] = ()
    """Keys of the spec that are to be changed, the likeliest first."""
    rules: tuple[str, ...] = ()
    """Codes of `validate` that mean the same: where one of them is reported, the cause is certain."""
    alone: bool = True
    """Whether the line counts without one of the rules."""


class Signatures(msgspec.Struct, frozen=True):
    """All signatures, and the lines of containers that work."""

    signatures: tuple[tuple[re.Pattern[str], Signature], ...]
    ready: re.Pattern[str]
    """A container that serves."""
    harmless: re.Pattern[str]
    """What looks like trouble and is not."""
    warning: re.Pattern[str]
    """A warning: seldom the cause."""
    start: re.Pattern[str]
    """The first line of a container's start."""


@cache
def known() -> Signatures:
    """Reads the files once."""
    folder = files("inferstack.diagnosis") / "signatures"
    read = {it.name: tomllib.loads(it.read_text(encoding="utf-8")) for it in folder.iterdir()}
    healthy: Mapping[str, list[str]] = read.pop("healthy.toml")
    made = [msgspec.convert(it, Signature) for name in sorted(read) for it in read[name].get("signature", ())]
    either = {name: re.compile("|".join(f"(?:{it})" for it in found)) for name, found in healthy.items()}
    return Signatures(tuple((re.compile(it.pattern), it) for it in made), **either)
