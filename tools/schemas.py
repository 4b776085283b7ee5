"""Generates the JSON Schemas of the spec format, and the reference manual that follows from them.

Both follow from the classes in :mod:`inferstack.format` and from the catalog's data; the manual's
examples, from the specs that come with the repository. The schema of reviews follows from the classes in
:mod:`inferstack.review`.
"""

import json

from inferstack.format.schema import PUBLISHED_FILE, STRUCTURE_FILE, JsonSchema
from tools.generated_files import PACKAGE, ROOT, Contents
from tools.review_schema import SCHEMA_FILE, review_schema
from tools.schema_for_editors import for_editors
from tools.schema_from_classes import generate_schema
from tools.spec_places import Examples, example_specs
from tools.spec_reference import reference

STRUCTURE = PACKAGE / "format" / STRUCTURE_FILE
PUBLISHED = PACKAGE / "format" / PUBLISHED_FILE
REVIEW = PACKAGE / "review" / SCHEMA_FILE
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
