"""A template as text, in the formats that CloudFormation reads."""

import re
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import yaml

from inferstack.resolve.template import Template

# What YAML 1.2, or one of the many readers between 1.1 and 1.2, takes for a number, but PyYAML does not.
_NUMBER = re.compile(
    r"[-+]?(0[xob][0-9a-f_]+|([0-9][0-9_]*\.?[0-9_]*|\.[0-9_]+)(e[-+]?[0-9]+)?)", re.IGNORECASE
)
# True and false in YAML 1.1 itself, if not in PyYAML.
_LETTERS = frozenset("yYnN")
# They end a line in YAML 1.1 only, or nobody sees them, though some turn the text around them: a reviewer
# would read something else than CloudFormation. https://www.unicode.org/reports/tr36/#Bidirectional_Text_Spoofing
_UNSEEN = re.compile(
    "[\x85\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_ESCAPED_IN_JSON = re.compile("[\x7f-\uffff]")


class _TemplateDumper(yaml.SafeDumper):
    """CloudFormation's YAML has no aliases, so that shared parts are written out."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _TemplateDumper, text: str) -> yaml.ScalarNode:
    style = None
    if _UNSEEN.search(text):
        style = '"'
    elif text in _LETTERS or _NUMBER.fullmatch(text):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_TemplateDumper.add_representer(str, _text)


def _yaml(template: Template) -> str:
    written: str = yaml.dump(
        template, Dumper=_TemplateDumper, sort_keys=False, allow_unicode=True, width=sys.maxsize
    )
    # Texts with such characters are in double quotes, where the dumper escapes some of them, but not all.
    return _UNSEEN.sub(_escape, written)


def _json(template: Template) -> str:
    written = msgspec.json.encode(template)
    if not written.isascii():
        written = _ESCAPED_IN_JSON.sub(_escape, written.decode()).encode()
    return msgspec.json.format(written, indent=1).decode() + "\n"


def _escape(found: re.Match[str]) -> str:
    """Escapes a character, so that any terminal shows it. Not one that takes a pair of escapes, which
    CloudFormation's linter does not read.
    """
    return f"\\u{ord(found[0]):04x}"


WRITERS: dict[str, Callable[[Template], str]] = {"json": _json, "yaml": _yaml}
"""How a template is written, by the name of the format."""
