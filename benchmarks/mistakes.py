"""Spec files with any number of mistakes, each kind in a place that another part of the checks looks at."""

from collections.abc import Callable, Iterable

_SPEC = """\
kind: single-model
endpoint_name: wrong
model:
  image: 111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1
  model_data_url: s3://acme-models/wrong/model.tar.gz
variant: {instance_type: ml.g5.xlarge, initial_instance_count: 1}
"""


def _spec(head: str, lines: Iterable[str]) -> str:
    return "\n".join([f"{_SPEC}{head}", *lines, ""])


def _wrong_types(count: int) -> str:
    return _spec("tags:", (f"  k{i}: {i}" for i in range(count)))


def _unknown_keys(count: int) -> str:
    return _spec("endpoint:", (f"  retain_all_variant_property{i:05}: true" for i in range(count)))


def _wrong_list_items(count: int) -> str:
    return _spec("ignore:", (f"  - IS{i}x" for i in range(count)))


def _duplicate_keys(count: int) -> str:
    return _spec("tags:", ("  team: search" for _ in range(count + 1)))


def _placeholders(count: int) -> str:
    return _spec("tags:", (f"  k{i}: ${{AWS::Regoin}}" for i in range(count)))


def _broken_rules(count: int) -> str:
    return _spec("alarms:\n  rules:", ("    - {metric: ModelLatencies, threshold: 1}" for _ in range(count)))


MISTAKES: dict[str, Callable[[int], str]] = {
    "wrong types": _wrong_types,
    "unknown keys": _unknown_keys,
    "wrong list items": _wrong_list_items,
    "duplicate keys": _duplicate_keys,
    "unknown pseudo parameters": _placeholders,
    "broken rules": _broken_rules,
}
"""The text of a spec with this many mistakes, by the name of the kind of mistake."""
