"""A rule about certain fields cannot be broken by models without them: skipping the rule hides nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from support.wrong_models import CASES, Case

from inferstack.check.triton_models import triton_contexts
from inferstack.facts.triton import triton_blocks
from inferstack.source.document import read_document
from inferstack.triton.model import Repository, TritonModel
from inferstack.triton.repository.config import model_config_class
from inferstack.triton.repository.of_spec import repositories_at
from inferstack.triton.rules import RULES, Context
from tests.check.test_rules_about import typed

ASKED = sorted({field for rule in RULES.values() for field in rule.about})


def without(model: TritonModel, field: str) -> TritonModel:
    config = model_config_class()()
    config.CopyFrom(model.config)
    config.ClearField(field)
    return replace(model, config=config)


def shapes(repository: Repository) -> Iterator[Repository]:
    """The repository, and what is left of it without each of the fields that rules are about."""
    yield repository
    for field in ASKED:
        if any(field in model.fields for model in repository.models):
            yield replace(repository, models=tuple(without(model, field) for model in repository.models))


def repositories(file: Path) -> Iterator[tuple[Repository, Context]]:
    spec = typed(read_document(file).data)
    assert spec is not None
    for placed in triton_blocks(spec):
        for repository in repositories_at(placed, file.parent):
            for context in triton_contexts(spec, placed):
                yield from ((shape, context) for shape in shapes(repository))


def found_by_others(repository: Repository, context: Context) -> list[str]:
    """Codes that rules would report for models that they are not about."""
    fields = frozenset[str]().union(*(model.fields for model in repository.models))
    found = [
        rule.code
        for rule in RULES.values()
        if rule.whole and rule.about and not rule.about & fields and list(rule.check(repository, context))
    ]
    for rule in RULES.values():
        for model in repository.models if rule.about and not rule.whole else ():
            found += [rule.code] if not rule.about & model.fields and list(rule.check(model, context)) else []
    return found


@pytest.mark.parametrize("wrong", [True, False], ids=["wrong", "right"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_who_is_not_asked_has_nothing_to_say(case: Case, wrong: bool, tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(case.spec(wrong=wrong), "utf-8")
    for repository, context in repositories(file):
        assert found_by_others(repository, context) == []


def test_rules_are_about_fields_that_triton_has() -> None:
    assert set(ASKED) <= set(model_config_class().DESCRIPTOR.fields_by_name)
