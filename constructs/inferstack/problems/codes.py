"""Codes. Every problem that inferstack reports has one, from a table beside the code that finds it.

Codes are a public contract: one is never given a new meaning, and a retired one is not used again.
"""

import msgspec

from inferstack.problems import Severity

OWN_FORMAT = "inferstack's spec format"
RETIRED = frozenset({"IS207", "IS308", "IS326", "IS328", "IS867"})
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


class CodeTable(dict[str, Code]):
    """Codes without rules. Its methods register a code and return it, for the module to name."""

    def error(self, code: str, sentence: str, source: str = OWN_FORMAT) -> str:
        """Registers a code for something that stops synthesis."""
        return self._entered(Code(code, Severity.ERROR, sentence, source))

    def warning(self, code: str, sentence: str, source: str = OWN_FORMAT) -> str:
        """Registers a code for advice, or for something that AWS does not confirm; a spec can ignore it."""
        return self._entered(Code(code, Severity.WARNING, sentence, source))

    def _entered(self, entry: Code) -> str:
        if entry.code in self:
            raise ValueError(f"{entry.code} is taken: {self[entry.code].sentence}")
        self[entry.code] = entry
        return entry.code
