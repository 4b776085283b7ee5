"""A template as text, in the formats that CloudFormation reads."""

import json
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import yaml

from inferstack.resolve.template import Template


class _TemplateDumper(yaml.SafeDumper):
    """CloudFormation's YAML has no aliases, so that shared parts are written out."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _yaml(template: Template) -> str:
    written: str = yaml.dump(
        template, Dumper=_TemplateDumper, sort_keys=False, allow_unicode=True, width=sys.maxsize
    )
    return written


def _json(template: Template) -> str:
    # Python takes four times as long, but writes what is not ASCII so that any terminal shows it.
    written = msgspec.json.encode(template)
    if not written.isascii():
        written = json.dumps(template).encode()
    return msgspec.json.format(written, indent=1).decode() + "\n"


WRITERS: dict[str, Callable[[Template], str]] = {"json": _json, "yaml": _yaml}
"""How a template is written, by the name of the format."""
