"""The review as JSON, in the form of `review.schema.json`."""

import json

import msgspec

from inferstack.cli.escaping import json_text
from inferstack.review.page import Review


def as_json(review: Review) -> str:
    """The whole review in ASCII, so that any terminal shows it and no character is invisible."""
    return json_text(json.dumps(msgspec.to_builtins(review), indent=1)) + "\n"
