"""Endpoints that would collide are reported, and no others."""

import pytest

from inferstack.check.load import parse_spec
from inferstack.check.unique_names import TakenNames, names_taken_twice, taken_names
from inferstack.problems.file_codes import SAME_ENDPOINT

Env = dict[str, str] | None
EUROPE = {"account": "111122223333", "region": "eu-west-1"}


def spec(name: str, env: Env) -> TakenNames:
    data = {
        "kind": "single-model",
        "endpoint_name": name,
        "model": {
            "image": {"framework": "sklearn", "version": "1.2-1"},
            "model_data_url": "s3://acme/x.tar.gz",
        },
        "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
    }
    return taken_names(parse_spec(data if env is None else {**data, "env": env}))


@pytest.mark.parametrize(
    ("name", "first", "second", "collide"),
    [
        ("bert", None, None, True),
        ("BERT", EUROPE, EUROPE, True),
        ("bert", EUROPE, EUROPE | {"region": "eu-central-1"}, False),
        ("bert", EUROPE, EUROPE | {"account": "444455556666"}, False),
        ("bert", EUROPE, None, False),
        ("resnet", None, None, False),
    ],
)
def test_endpoints_collide_when_name_account_and_region_are_the_same(
    name: str, first: Env, second: Env, collide: bool
) -> None:
    problems = names_taken_twice([spec("bert", first), spec(name, second)])
    assert [problem.code for problem in problems] == [SAME_ENDPOINT] * collide


def test_every_further_spec_is_compared_with_the_first() -> None:
    problems = names_taken_twice([spec("bert", None)] * 1 + [spec("bert", None) for _ in range(3)])
    assert len(problems) == 3


def test_one_spec_does_not_collide_with_itself() -> None:
    one = spec("bert", None)
    assert names_taken_twice([one, one]) == []
