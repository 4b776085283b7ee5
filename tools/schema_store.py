"""Makes the copy of the published schema for SchemaStore, from which editors take schemas by a file's name.

    python -m tools.schema_store DIR    writes the copy, and the entry of SchemaStore's catalog

Each release makes them from what it publishes; the repository has no copy. SchemaStore's collection asks for
draft-07, which knows no `$defs`, and ignores whatever stands beside a `$ref`.
https://github.com/SchemaStore/schemastore/blob/master/CONTRIBUTING.md
"""

import json
import sys
from pathlib import Path
from typing import Any

from inferstack.format.schema import JsonSchema, published_schema_text

NAME = "inferstack.json"
ENTRY = "catalog-entry.json"
_ADDRESS = f"https://json.schemastore.org/{NAME}"
FILES = ["*.inferstack.yaml", "*.inferstack.yml"]
"""A folder like `model_specs` may be anybody's, so the name of the file has to decide."""
_VALUES = ("enum", "const", "default", "examples")
"""Keywords whose values are no schemas."""
_NAMES = ("properties", "patternProperties", "definitions")
"""Keywords whose values are schemas by name."""


def for_schema_store(published: JsonSchema) -> JsonSchema:
    """The schema in draft-07, with the same verdict on every spec."""
    first = {"$schema": "http://json-schema.org/draft-07/schema#", "$id": _ADDRESS}
    others = {key: it for key, it in published.items() if key not in first}
    others["definitions"] = others.pop("$defs")
    return first | _schema(others)


def catalog_entry(published: JsonSchema) -> JsonSchema:
    """The entry of SchemaStore's catalog."""
    return {
        "name": published["title"],
        "description": published["description"],
        "fileMatch": FILES,
        "url": _ADDRESS,
    }


def _schema(schema: JsonSchema) -> JsonSchema:
    made = {key: _below(key, it) for key, it in schema.items()}
    if len(made) == 1 or "$ref" not in made:
        return made
    return {"allOf": [{"$ref": made.pop("$ref")}], **made}


def _below(key: str, value: Any) -> Any:
    match value:
        case _ if key in _VALUES:
            return value
        case dict() if key in _NAMES:
            return {name: it if isinstance(it, bool) else _schema(it) for name, it in value.items()}
        case dict():
            return _schema(value)
        case list():
            return [_schema(it) if isinstance(it, dict) else it for it in value]
        case str() if key == "$ref":
            return value.replace("#/$defs/", "#/definitions/")
        case _:
            return value


def write(folder: Path) -> None:
    """Writes both files, from the schema of the inferstack that is installed."""
    published = json.loads(published_schema_text())
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in ((NAME, for_schema_store(published)), (ENTRY, catalog_entry(published))):
        (folder / name).write_text(json.dumps(made, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
