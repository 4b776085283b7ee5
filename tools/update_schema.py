"""Generates the JSON Schemas of the spec format, and the reference manual that follows from them.

    python -m tools.update_schema            writes what has changed
    python -m tools.update_schema --check    writes nothing, exits 1 and names what is out of date

Both follow from the classes in :mod:`inferstack.format` and from the catalog's data; the manual's
examples, from the specs that come with the repository. The schema of reviews follows from the classes in
:mod:`inferstack.review.page`.
"""

import json
import sys
from collections.abc import Sequence

from inferstack.format.schema import PUBLISHED_FILE, STRUCTURE_FILE, JsonSchema
from tools import generated_files
from tools.generated_files import ROOT, Contents
from tools.review_schema import SCHEMA_FILE, review_schema
from tools.schema_for_editors import for_editors
from tools.schema_from_classes import generate_schema
from tools.spec_places import Examples, example_specs
from tools.spec_reference import reference

COMMAND = "python -m tools.update_schema"
_FORMAT = ROOT / "constructs" / "inferstack" / "format"
STRUCTURE = _FORMAT / STRUCTURE_FILE
PUBLISHED = _FORMAT / PUBLISHED_FILE
REVIEW = ROOT / "constructs" / "inferstack" / "review" / "page" / SCHEMA_FILE
REFERENCE = ROOT / "docs" / "spec.md"


def generate() -> Contents:
    text = _written(generate_schema())
    schema = json.loads(text)
    return {
        STRUCTURE: text,
        PUBLISHED: _written(for_editors(schema)),
        REVIEW: _written(review_schema()),
        REFERENCE: reference(schema, Examples(schema, example_specs())),
    }


def _written(schema: JsonSchema) -> str:
    return json.dumps(schema, indent=1) + "\n"


def main(arguments: Sequence[str]) -> int:
    description = "Regenerate the schema of the spec format and its reference."
    return generated_files.main(COMMAND, description, generate, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
