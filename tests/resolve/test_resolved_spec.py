"""A spec that was resolved ahead is not resolved again, unless it is another one by then."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from inferstack.check.load import LoadedSpec, load_spec
from inferstack.resolve import resolve_template
from inferstack.resolve.template import resolve_ahead, template_of

EXAMPLE = Path(__file__).parents[2] / "model_specs" / "bert-large.yaml"


@pytest.fixture
def loaded() -> LoadedSpec:
    return load_spec(EXAMPLE)


def test_the_template_is_the_one_that_was_made_ahead(loaded: LoadedSpec) -> None:
    ahead = resolve_ahead(loaded)
    assert template_of(ahead) is ahead.template
    assert ahead.template == resolve_template(loaded.spec, region=None, source_of=loaded.source_of)


def test_a_spec_that_was_replaced_is_resolved_again(loaded: LoadedSpec) -> None:
    ahead = resolve_ahead(loaded)
    other = replace(ahead, spec=replace(ahead.spec, endpoint_name="other"))
    assert template_of(other) == template_of(replace(loaded, spec=other.spec)) != ahead.template


def test_what_was_read_is_kept(loaded: LoadedSpec) -> None:
    ahead = resolve_ahead(loaded)
    assert all(getattr(ahead, field) is getattr(loaded, field) for field in LoadedSpec.__struct_fields__)
