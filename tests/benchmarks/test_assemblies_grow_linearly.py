"""What the synthesis writes for a stack does not depend on how many stacks there are."""

import json
from pathlib import Path

import pytest

from benchmarks.family import family
from benchmarks.specs import spec_text
from inferstack_stacks import build_app


def test_the_asset_manifest_of_a_stack_names_its_own_template_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = tmp_path / "model_specs"
    specs.mkdir()
    for endpoint in family(4):
        (specs / f"{endpoint.name}.yaml").write_text(spec_text(endpoint), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    build_app(outdir=str(tmp_path / "out")).synth()
    assets = {
        file.name: list(json.loads(file.read_text("utf-8"))["files"].values())
        for file in (tmp_path / "out").glob("*.assets.json")
    }
    assert {name: len(files) for name, files in assets.items()} == dict.fromkeys(assets, 1)
    assert len(assets) == 4
