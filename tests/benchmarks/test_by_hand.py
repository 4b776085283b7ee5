"""The hand-written app is a yardstick only while it makes the same as inferstack."""

import json
from pathlib import Path

import pytest

from benchmarks.by_hand import app as by_hand
from benchmarks.check_equal import differences_between
from benchmarks.family import family
from benchmarks.specs import write_specs
from inferstack_stacks import build_app


def test_both_apps_make_the_same_templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_specs(tmp_path / "model_specs", 12)
    monkeypatch.chdir(tmp_path)
    build_app(outdir=str(tmp_path / "out")).synth()
    by_hand.main(12, str(tmp_path / "hand"))
    found = differences_between(tmp_path / "hand", tmp_path / "out")
    assert not found, "\n".join(
        (f"make the same in benchmarks/by_hand; {len(found)} differ, such as", *found[:2])
    )


def test_a_difference_is_found(tmp_path: Path) -> None:
    template = {"Resources": {"Model": {"Type": "AWS::SageMaker::Model", "Properties": {}}}}
    for folder, properties in (("one", {}), ("other", {"EnableNetworkIsolation": True})):
        template["Resources"]["Model"]["Properties"] = properties
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{family(1)[0].name}.template.json").write_text(json.dumps(template))
    (line,) = differences_between(tmp_path / "one", tmp_path / "other")
    assert "Resources.Model" in line
