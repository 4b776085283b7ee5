"""Generates the shipped JSON Schema of the spec format, and the reference manual that follows from it.

    python -m tools.update_schema            writes what has changed
    python -m tools.update_schema --check    writes nothing, exits 1 and names what is out of date

Both follow from the classes in :mod:`inferstack.format` and from the catalog's data; the manual's
examples, from the specs that come with the repository.
"""

import json
import sys
from collections.abc import Sequence

from inferstack.format.schema import SCHEMA_FILE
from tools import generated_files
from tools.generated_files import ROOT, Contents
from tools.schema_from_classes import generate_schema
from tools.spec_places import Examples, example_specs
from tools.spec_reference import reference

COMMAND = "python -m tools.update_schema"
SCHEMA = ROOT / "constructs" / "inferstack" / "format" / SCHEMA_FILE
REFERENCE = ROOT / "docs" / "spec.md"


def generate() -> Contents:
    text = json.dumps(generate_schema(), indent=1) + "\n"
    schema = json.loads(text)
    return {SCHEMA: text, REFERENCE: reference(schema, Examples(schema, example_specs()))}


def main(arguments: Sequence[str]) -> int:
    description = "Regenerate the schema of the spec format and its reference."
    return generated_files.main(COMMAND, description, generate, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
