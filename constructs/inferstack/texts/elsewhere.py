"""Values that exist elsewhere, as a text names them.

- ``${import:NAME}``: what another stack of the account and region exports
- ``${ssm:NAME}``: a parameter of Systems Manager's Parameter Store
- ``${parameter:NAME}``: a parameter of the stack itself, declared under `parameters`

In place of a list, one of them alone stands for all its entries: a document then has a list with one entry,
``#{ssm:NAME}``, as CDK writes its list tokens.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from inferstack.texts.placeholders import SOURCES

_FORMS = {
    "import": r"[A-Za-z0-9:-]+",
    "ssm": r"/?[A-Za-z0-9_.-]+|(?:/[A-Za-z0-9_.-]+)+",
    "parameter": r"[A-Za-z0-9]+",
}
_IN_WORDS = {
    "import": "write the export's name: letters, digits, colons and hyphens",
    "ssm": "write the parameter's full name, without a version: letters, digits and _ . - /; with a / "
    "in it, one is in front",
    "parameter": "write the name of a parameter under `parameters`: letters and digits",
}
_ANY = re.compile(rf"(?P<mark>[$#])\{{(?P<source>{'|'.join(SOURCES)}):(?P<name>[^{{}}]*)\}}")
_BEGINNING = re.compile(rf"\$\{{(?P<source>{'|'.join(SOURCES)}):")

WHOLE_LIST = rf"^\$\{{({'|'.join(SOURCES)}):.+\}}$"
"""In the schema for editors: a text in place of a list."""


class Elsewhere(NamedTuple):
    """A value that exists elsewhere."""

    source: str
    """One of :data:`~inferstack.texts.placeholders.SOURCES`."""
    name: str
    is_list: bool

    @property
    def written(self) -> str:
        """As a spec has it."""
        return f"${{{self.source}:{self.name}}}"


def elsewhere_in(text: str) -> Iterator[Elsewhere]:
    """The values from elsewhere in a text."""
    return map(_found, _ANY.finditer(text))


def only_elsewhere(text: str) -> Elsewhere | None:
    """The value from elsewhere that a text consists of; None for a text with anything else."""
    found = _ANY.fullmatch(text)
    return None if found is None else _found(found)


def _found(found: re.Match[str]) -> Elsewhere:
    return Elsewhere(found["source"], found["name"], found["mark"] == "#")


def as_list(text: str) -> str:
    """The entry of a list for which the text stands."""
    return f"#{text[1:]}"


def faults(text: str) -> Iterator[tuple[str, str]]:
    """What is wrong with the form of each: message and fix."""
    for begun in _BEGINNING.finditer(text):
        source, whole = begun["source"], _ANY.match(text, begun.start())
        if whole is None:
            message = f"this `${{{source}:…}}` is not closed, or has another placeholder in it"
            yield message, "only `${stage}` can be part of the name"
        elif re.fullmatch(_FORMS[source], whole["name"]) is None:
            yield f"`{whole[0]}` does not have the form of a name", _IN_WORDS[source]
