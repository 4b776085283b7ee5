"""What was read can be copied and sent to another process, as by `ProcessPoolExecutor.map(load_spec, files)`."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.locked_specs import locked_spec
from support.locking import ONE

from inferstack.check.load import LoadedSpec, load_spec, parse_spec
from inferstack.problems import SpecError
from inferstack.resolve.template import template_of

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "model_specs" / "sentiment-ab.yaml", ROOT / "tests" / "shapes" / "observed.yaml"]


def sent(given: Any) -> Any:
    """As it comes out of another process."""
    return pickle.loads(pickle.dumps(given))


def assert_same(made: LoadedSpec, loaded: LoadedSpec) -> None:
    """Whether both say the same and know where it stands."""
    assert (made.spec, made.stage, made.warnings) == (loaded.spec, loaded.stage, loaded.warnings)
    assert made.uploaded == loaded.uploaded
    paths: list[tuple[str, ...]] = [("endpoint_name",), ("model", "image"), ("variant",), ("nowhere",)]
    assert [made.document.position(it) for it in paths] == [loaded.document.position(it) for it in paths]
    assert template_of(made) == template_of(loaded)


@pytest.mark.parametrize("copied", [sent, copy.deepcopy, copy.copy])
@pytest.mark.parametrize("file", FILES, ids=lambda it: it.stem)
def test_a_copy_of_a_file_says_the_same(file: Path, copied: Callable[[LoadedSpec], LoadedSpec]) -> None:
    loaded = load_spec(file)
    assert_same(copied(loaded), loaded)


@pytest.mark.parametrize("copied", [sent, copy.deepcopy])
def test_a_copy_knows_what_was_uploaded(copied: Callable[[LoadedSpec], LoadedSpec], tmp_path: Path) -> None:
    loaded = load_spec(locked_spec(tmp_path, ONE))
    assert loaded.uploaded
    assert_same(copied(loaded), loaded)


@pytest.mark.parametrize("copied", [sent, copy.deepcopy, copy.copy])
def test_a_copy_of_an_error_has_the_problems(copied: Callable[[SpecError], SpecError]) -> None:
    with pytest.raises(SpecError) as found:
        parse_spec({"kind": "single-model", "endpoint_name": "one", "variant": {"initial_instance_count": 0}})
    error = copied(found.value)
    assert (str(error), error.problems) == (str(found.value), found.value.problems)
