"""Templates say of each resource which key of which spec it comes from."""

from pathlib import Path

import pytest

from inferstack.resolve import resolve_template
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
            assert load_spec(path).source_of(("variants", 0)) == "model_specs/bert-large.yaml: variants.0"
    assert load_spec(tmp_path / "one" / "model_specs" / EXAMPLE.name).source_of(()).startswith("/")


def test_a_comment_above_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    templates = []
    for above in ("", "# A comment.\n"):
        file.write_text(above + EXAMPLE.read_text("utf-8"), "utf-8")
        loaded = load_spec(file)
        templates.append(resolve_template(loaded.spec, region="us-east-1", source_of=loaded.source_of))
    assert templates[0] == templates[1]
