"""JSON Schema's keywords mean in a spec what AWS and CDK's tokens need, and each of them has words."""

from collections.abc import Iterator
from typing import Any

import pytest

from inferstack.check.structure.report import OF_BLOCKS, structure_problems
from inferstack.check.structure.validator import SpecValidator
from inferstack.check.structure.values import SAYINGS
from inferstack.format.schema import shipped_schema
from inferstack.source.document import Document

TOKEN, LIST_TOKEN, NUMBER_TOKEN = "${Token[TOKEN.1]}", ["#{Token[TOKEN.1]}"], -1.8881545897087626e289
# They say nothing of data, or lead to other schemas.
WITHOUT_WORDS = frozenset({"title", "description", "default", "$ref", "properties", "items", "allOf"})


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "integer"}, 2, 2.0),
        ({"type": "integer"}, 2, True),
        ({"type": "number"}, 2.5, float("inf")),
        ({"type": "number"}, NUMBER_TOKEN, float("nan")),
        ({"type": ["string", "number"]}, 2.5, True),
        ({"enum": [1, 5]}, 1, True),
        ({"enum": [1, 5]}, NUMBER_TOKEN, float("-inf")),
        ({"enum": ["aws"]}, "${AWS::Partition}", "${AWS::Region}"),
        ({"enum": ["aws"]}, TOKEN, "other"),
        ({"minLength": 12, "maxLength": 12}, "${AWS::AccountId}", "a" * 13),
        ({"minLength": 100}, TOKEN, "abc"),
        ({"maxLength": 2}, TOKEN, "abc"),
        ({"pattern": "^a$"}, "a", "a\n"),
        ({"pattern": "^a$"}, "{{resolve:ssm:/a}}", "b"),
        ({"pattern": "^a$"}, TOKEN, "$"),
        # Such a pattern takes quadratic time, so that a long text would take minutes.
        ({"pattern": "^( *)*x$"}, "x", " " * 100_000),
        ({"minimum": 0}, NUMBER_TOKEN, -1),
        ({"minItems": 2}, LIST_TOKEN, ["x"]),
        ({"uniqueItems": True}, [1, True, [1], [True]], [1, 1.0]),
        ({"uniqueItems": True}, [{"a": 1}, {"a": True}], [{"a": 1, "b": [2]}, {"b": [2], "a": 1}]),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, {"a": 1}, {"b": 1}),
        ({"additionalProperties": False}, {}, {"b": 1}),
    ],
)
def test_a_keyword_means_what_a_spec_needs(schema: dict[str, Any], right: object, wrong: object) -> None:
    check = SpecValidator(schema)
    assert check.is_valid(right)
    assert not check.is_valid(wrong)


def keywords(schema: dict[str, Any]) -> Iterator[str]:
    """The keywords of a schema and of all schemas in it."""
    yield from schema
    inner = [it for it in schema.values() if isinstance(it, dict)]
    below = (*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *schema.get("allOf", ()))
    for it in (*below, *(it for it in inner if it is not schema.get("properties"))):
        if it is not schema.get("default"):
            yield from keywords(it)


def test_every_keyword_of_the_shipped_schema_has_words() -> None:
    used = {word for it in shipped_schema()["$defs"].values() for word in keywords(it)}
    assert used - WITHOUT_WORDS == {*OF_BLOCKS, *SAYINGS}


def test_what_is_wrong_under_names_of_the_users_is_reported_in_their_order() -> None:
    names = list("hcafgbed")
    data = {
        "kind": "single-model",
        "endpoint_name": "x",
        "model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/x:1"},
        "variant": {"instance_type": "ml.m5.large"},
        "tags": dict.fromkeys(names, 1),
    }
    found = structure_problems(Document.from_data(data))
    assert [it.path for it in found] == [("tags", name) for name in names]
