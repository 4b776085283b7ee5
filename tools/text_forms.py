"""Generates ``text_forms.json``: how the ids are written that the registry's schemas call by a ``format``.

The schemas name the format, and cfn-lint, which ships them, has the pattern of each.
"""

import ast
from collections.abc import Iterator
from typing import Any

from tools.cloudformation import SOURCES
from tools.portable_pattern import portable
from tools.sources import Json, package_file, registry_schema


def generate() -> dict[str, Json]:
    """The data file, by its name: patterns by the names of the formats that our resource types use."""
    used = {name for type_name in SOURCES for name in _formats(registry_schema(type_name))}
    patterns = {name: portable(pattern) for name, pattern in _patterns() if name in used}
    return {"text_forms.json": patterns}


def _formats(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("format"), str):
            yield schema["format"]
        for value in schema.values():
            yield from _formats(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _formats(value)


def _patterns() -> Iterator[tuple[str, str]]:
    """Each format with its pattern; ARNs, whose pattern is computed, are left out."""
    for file in sorted(package_file("cfn-lint", "cfnlint/rules/formats").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            keywords = {it.arg: it.value for it in node.keywords} if isinstance(node, ast.Call) else {}
            match keywords.get("format"), keywords.get("pattern"):
                case ast.Constant(value=str() as name), ast.Constant(value=str() as pattern):
                    yield name, pattern
