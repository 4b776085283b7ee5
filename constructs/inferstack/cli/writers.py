"""A template as text, in the formats that CloudFormation reads."""

import json
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import yaml

Template = dict[str, Any]


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
    # Python's own indentation takes four times as long and makes the same text.
    return msgspec.json.format(json.dumps(template), indent=1) + "\n"


WRITERS: dict[str, Callable[[Template], str]] = {"json": _json, "yaml": _yaml}
"""How a template is written, by the name of the format."""
