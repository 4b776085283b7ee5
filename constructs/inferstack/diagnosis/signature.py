"""What single lines of logs, reasons and answers mean: data, from the files in ``signatures``."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

import msgspec

Verdict = Literal["cause", "symptom", "cannot-tell", "healthy"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""The one that counts most first."""
Where = Literal["log", "reason", "answer", "any"]
"""A container's log; what SageMaker or CloudFormation say of a failure; what a request got."""


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a line means if ``pattern`` is found in it. The pattern's groups fill in ``cause`` and ``fix``."""

    code: str
    where: Where
    cause: str
    source: str
    """The page, thread or file that has the sentence."""
    pattern: str = ""
    """Empty if it takes more than a pattern to find it."""
    elsewhere: dict[str, str] = {}
    """Patterns of sentences that mean the same, by the other pages and files that have them."""
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
    calm: bool = False
    """Whether its program logs it as a warning or as information, although it is what went wrong."""
    follows: tuple[str, ...] = ()
    """Codes of findings that explain this one, if the same start has one of them before it."""


Finding = tuple[Signature, dict[str, str]]
"""What a line means, and the words that fill in the braces."""


def filled(text: str, groups: Mapping[str, str]) -> str:
    """The text with the groups of a pattern in its braces, or … for those that it lacks."""
    return text.format_map(_Groups(groups))


class _Groups(dict[str, str]):
    """A pattern's alternatives name their groups ``what``, ``what2`` and so on: one of them is filled."""

    def __missing__(self, name: str) -> str:
        return next((value for key, value in self.items() if key.rstrip("0123456789") == name), "…")


class Signatures(msgspec.Struct, frozen=True):
    """All signatures, and the lines of containers that work."""

    signatures: tuple[tuple[re.Pattern[str], Signature], ...]
    """Each pattern, and its signature with the source that has this sentence."""
    extracted: dict[str, Signature]
    """Those that ``extractors.py`` finds, by their codes."""
    read: tuple[Signature, ...]
    """As the files have them."""
    ready: re.Pattern[str]
    """A container that has started."""
    answers: re.Pattern[str]
    """A container that has answered."""
    harmless: re.Pattern[str]
    """What looks like trouble and is not."""
    warning: re.Pattern[str]
    """A warning, or a failure after which the program goes on: not the cause by itself."""
    mention: re.Pattern[str]
    """What stands before words that are only mentioned, in advice, a question or a prompt."""
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
    by_pattern = tuple(
        (re.compile(pattern), msgspec.structs.replace(it, source=source, pattern=pattern))
        for it in made
        if it.pattern
        for source, pattern in {it.source: it.pattern, **it.elsewhere}.items()
    )
    return Signatures(by_pattern, {it.code: it for it in made if not it.pattern}, tuple(made), **either)


def every_signature() -> dict[str, list[Signature]]:
    """All signatures by their codes, in the order of the alphabet."""
    by_code: dict[str, list[Signature]] = {}
    for it in known().read:
        by_code.setdefault(it.code, []).append(it)
    return dict(sorted(by_code.items()))
