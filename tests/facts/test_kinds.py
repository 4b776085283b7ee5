"""A kind of spec answers each question that depends on the kind, and is asked each of them."""

from typing import Any

import msgspec
import pytest

from inferstack.catalog.metrics import INSTANCE_COUNT
from inferstack.facts.kinds import KINDS, Kind, kind_of, table_of
from inferstack.format import kinds
from inferstack.format.kinds import ModelBackedSpec
from inferstack.spec import parse_spec

QUESTIONS = [it.name for it in msgspec.structs.fields(Kind)]


class NovelSpec(ModelBackedSpec, tag="novel", tag_field="kind"):
    """A kind that the library does not know yet."""


ANSWERS: dict[str, Any] = {
    "spec": NovelSpec,
    "hosts": "models",
    "containers": "one",
    "archives": "one",
    "triton": "perhaps",
    "publishes": "instances",
    "scales": frozenset({INSTANCE_COUNT}),
}


def test_every_kind_has_a_row() -> None:
    assert {row.spec for row in KINDS} == {*kinds.KINDS}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_new_kind_is_asked_every_question(question: str) -> None:
    assert Kind(**ANSWERS).name == "novel"
    with pytest.raises(TypeError, match=question):
        Kind(**{name: answer for name, answer in ANSWERS.items() if name != question})


def test_a_new_kind_without_a_row_is_not_imported() -> None:
    with pytest.raises(TypeError, match=r"no row in facts/kinds\.py for NovelSpec"):
        table_of(KINDS, (*kinds.KINDS, NovelSpec))


def test_what_a_new_kind_publishes_must_be_known() -> None:
    novel = Kind(**{**ANSWERS, "publishes": "by mail"})
    with pytest.raises(TypeError, match="`kind: novel` publishes 'by mail', which has no metrics"):
        table_of((*KINDS, novel), kinds.KINDS)


def test_a_new_kind_has_the_alarms_and_graphs_of_what_it_publishes() -> None:
    novel = table_of((*KINDS, Kind(**ANSWERS)), (*kinds.KINDS, NovelSpec))[NovelSpec]
    single = next(row for row in KINDS if row.name == "single-model")
    assert (novel.alarms, novel.shows) == (single.alarms, single.shows)


def test_a_spec_knows_its_kind() -> None:
    image = {"framework": "sklearn", "version": "1.2-1"}
    model = {"image": image, "model_data_url": "s3://acme/one.tar.gz"}
    variant = {"instance_type": "ml.m5.large", "initial_instance_count": 2}
    data = {"kind": "single-model", "endpoint_name": "one", "model": model, "variant": variant}
    assert kind_of(parse_spec(data).spec).name == "single-model"
