"""What one version keeps of another's promises (docs/versioning.md): codes, commands, names in Python.

``python -m tools.template_changes`` reports what is not kept. Versions are folders; nothing in them is run.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

CODES = "docs/codes.md"
COMMANDS = "skills/inferstack/references/commands.md"
_CODE = re.compile(r"^\| <a id=.*</a>(IS\d{3}) \| (\w+) \|", re.MULTILINE)
_RETIRED = "## Retired"
_OPTION = re.compile(r"^\| `([^`]+)`", re.MULTILINE)

MODULES = {
    "inferstack.constructs": "constructs/inferstack/constructs/__init__.py",
    "inferstack.review": "constructs/inferstack/review/__init__.py",
    "inferstack.spec": "constructs/inferstack/spec.py",
    "inferstack.triton.invocation": "constructs/inferstack/triton/invocation.py",
    "inferstack_stacks": "stacks/inferstack_stacks/__init__.py",
}
"""The modules whose names are promised, beside the classes of ``inferstack.format``."""

Broken = tuple[str, str]
"""What it is about, as the changelog has to name it, and what has become of it."""


def broken(before: Path, after: Path) -> Iterator[Broken]:
    """All that the first version had and the second has not, or has otherwise."""
    yield from codes(*(_text(it, CODES) for it in (before, after)))
    yield from options(*(_text(it, COMMANDS) for it in (before, after)))
    for module, file in MODULES.items():
        for name in sorted(exported(_text(before, file)) - exported(_text(after, file))):
            yield name, f"is not in {module} any more"


def _text(folder: Path, file: str) -> str:
    """A file of a version; empty if it has none, as before the first release of what it is about."""
    return (folder / file).read_text("utf-8") if (folder / file).is_file() else ""


def codes(before: str, after: str) -> Iterator[Broken]:
    """What differs between two lists of codes; a new code breaks nothing."""
    new = dict(_CODE.findall(after))
    retired = re.findall(r"IS\d{3}", after.partition(_RETIRED)[2])
    for code, severity in _CODE.findall(before):
        if code in new and new[code] != severity:
            yield code, f"was {severity} and is {new[code]} now"
        elif code not in new:
            yield code, "is retired" if code in retired else "is gone; list it in RETIRED"


def options(before: str, after: str) -> Iterator[Broken]:
    """Options that a command had, and has no more."""
    new = _by_command(after)
    for command, words in _by_command(before).items():
        for word in sorted(words - new.get(command, set())):
            yield word, f"is no option of {command} any more" if word != command else "is no command any more"


def _by_command(text: str) -> dict[str, set[str]]:
    """The options of each command, without what they take; a command itself counts as one of its own."""
    options = {}
    for section in text.split("\n## ")[1:]:
        command, _, rest = section.partition("\n")
        words = (word.rstrip(",") for cell in _OPTION.findall(rest) for word in cell.split())
        options[command] = {command, *(it for it in words if it.startswith("-"))}
    return options


def exported(source: str) -> set[str]:
    """The names in ``__all__``."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and any(getattr(it, "id", "") == "__all__" for it in node.targets):
            return {*ast.literal_eval(node.value)}
    return set()
