"""``inferstack explain`` and ``inferstack schema``: what the product knows about its own format."""

import argparse

from inferstack.cli.refusal import Refusal
from inferstack.spec.catalogue import catalogue
from inferstack.spec.problem import Severity
from inferstack.spec.schema import shipped_schema_text
from inferstack.spec.words import nearest


def explain(options: argparse.Namespace) -> int:
    """Say what a problem's code means and what it rests on."""
    entry = catalogue().get(options.code.upper())
    if entry is None:
        close = nearest(options.code, list(catalogue()))
        hint = "see docs/codes.md for all codes" if close is None else f"did you mean {close}?"
        raise Refusal(f"there is no code {options.code}; {hint}")
    print(f"{entry.code} ({entry.severity})", entry.sentence, f"Source: {entry.source}", sep="\n")
    if entry.severity is Severity.WARNING:
        print(f"If it does not apply to a spec, say so there: ignore: [{{code: {entry.code}, reason: …}}]")
    return 0


def schema(_: argparse.Namespace) -> int:
    """Print the JSON Schema (draft 2020-12) of the spec format, for editors and other tools."""
    print(shipped_schema_text(), end="")
    return 0
