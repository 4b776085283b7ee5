"""Templates say of each resource which line of which spec it comes from."""

from pathlib import Path

import pytest

from inferstack.spec.check import load_spec

EXAMPLE = Path(__file__).parents[2] / "model_specs" / "bert-large.yaml"


def test_the_place_is_the_same_wherever_the_project_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "other"):
        folder = tmp_path / name / "model_specs"
        folder.mkdir(parents=True)
        (folder / EXAMPLE.name).write_bytes(EXAMPLE.read_bytes())
        monkeypatch.chdir(tmp_path / name)
        for path in (Path("model_specs", EXAMPLE.name), folder / EXAMPLE.name):
            assert load_spec(path).source_of(("kind",)).startswith("model_specs/bert-large.yaml:")
    assert load_spec(tmp_path / "one" / "model_specs" / EXAMPLE.name).source_of(()).startswith("/")
