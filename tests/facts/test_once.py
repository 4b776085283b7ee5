"""What is remembered about a spec belongs to that spec only, and is found only once."""

from support.damaged_specs import SPECS

from inferstack.check.load import parse_spec
from inferstack.facts import walk
from inferstack.facts.once import found_once
from inferstack.format.kinds import ModelSpec


def test_each_spec_gets_its_own_answer() -> None:
    specs = [parse_spec(data).spec for data in SPECS]
    fresh = [list(walk.containers.__wrapped__(spec)) for spec in specs]  # type: ignore[attr-defined]
    for _ in range(2):
        assert [list(walk.containers(spec)) for spec in specs] == fresh


def test_what_is_asked_again_is_not_searched_again() -> None:
    asked: list[ModelSpec] = []

    @found_once
    def names(spec: ModelSpec) -> list[str]:
        asked.append(spec)
        return [spec.endpoint_name]

    one, other = (parse_spec(data).spec for data in SPECS[:2])
    assert [names(one), names(one), names(other), names(other)] == [
        (one.endpoint_name,),
        (one.endpoint_name,),
        (other.endpoint_name,),
        (other.endpoint_name,),
    ]
    assert asked == [one, other]


def test_an_equal_spec_that_is_another_is_asked_anew() -> None:
    one, same = parse_spec(SPECS[0]).spec, parse_spec(SPECS[0]).spec
    assert walk.containers(one) is walk.containers(one)
    assert walk.containers(same) is not walk.containers(one)
