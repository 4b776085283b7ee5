"""What a code is. Every problem that inferstack reports has one, from a table of the module that finds it.

Codes are a public contract: one is never given a new meaning, and a retired one is not used again.
"""

import msgspec

from inferstack.problems import Severity

OWN_FORMAT = "inferstack's spec format"
RETIRED = frozenset({"IS308", "IS326", "IS328", "IS867"})
"""Codes that were reported once and are not any more. None of them is free."""


class Code(msgspec.Struct, frozen=True):
    """A code as `explain` shows it. ``source`` is the page or report that it is based on."""

    code: str
    severity: Severity
    sentence: str
    source: str

    @property
    def source_url(self) -> str | None:
        """The source, if it is a web page."""
        return self.source if self.source.startswith("https://") else None


def error(code: str, sentence: str, source: str = OWN_FORMAT) -> Code:
    """A code for something that stops synthesis."""
    return Code(code, Severity.ERROR, sentence, source)


def warning(code: str, sentence: str, source: str = OWN_FORMAT) -> Code:
    """A code for advice, or for something that AWS does not confirm; a spec can ignore it."""
    return Code(code, Severity.WARNING, sentence, source)


def by_code(*codes: Code) -> dict[str, Code]:
    """A table of these codes.

    Raises:
        ValueError: when a code occurs twice.
    """
    table = {it.code: it for it in codes}
    if len(table) < len(codes):
        raise ValueError(f"a code stands twice among {', '.join(it.code for it in codes)}")
    return table
