"""A template that CloudFormation would not accept is refused where it is made."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.resolving import BASES, merged, wordy_components

from inferstack.check.load import LoadedSpec, parse_spec
from inferstack.cli import main
from inferstack.problems import SpecError
from inferstack.resolve import resolve_template
from inferstack.resolve.template import refuse_too_large

LARGEST = 1_000_000


def template_of(loaded: LoadedSpec) -> dict[str, Any]:
    return resolve_template(loaded.spec, region="us-east-1", source_of=loaded.source_of)


def test_the_last_byte_is_allowed_and_one_more_is_not() -> None:
    loaded = parse_spec(wordy_components(2))
    refuse_too_large(loaded, template_of(loaded), LARGEST)
    with pytest.raises(SpecError, match=r"IS218: the template has 1,000,001 bytes, \d+ % of them for `"):
        refuse_too_large(loaded, template_of(loaded), LARGEST + 1)


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_no_template_is_written_that_cloudformation_would_not_take(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, count in (("fits", 35), ("large", 75)):
        # YAML has the environment once, and refers to it after that.
        Path(f"{name}.yaml").write_text(yaml.dump(wordy_components(count) | {"endpoint_name": name}))
    assert main(["render", "fits.yaml", "--out", "out", "--format", form]) == 0
    assert 500_000 < Path(f"out/fits.template.{form}").stat().st_size <= LARGEST
    capsys.readouterr()
    assert main(["render", "large.yaml", "--out", "out", "--format", form]) == 1
    said = [line for line in capsys.readouterr().err.splitlines() if "IS218" in line]
    line = 1 + Path("large.yaml").read_text().splitlines().index("inference_components:")
    assert len(said) == 1
    where = rf"large\.yaml:{line}:1: IS218: the template has 1,\d{{3}},\d{{3}} bytes"
    assert re.match(
        rf"{where}, 7\d % of them for `inference_components`; at most 1,000,000 are possible: ", said[0]
    )
    assert not Path(f"out/large.template.{form}").exists()


def test_warnings_are_said_beside_it() -> None:
    scaling = {"autoscaling": {"min_capacity": 1, "max_capacity": 4}}
    loaded = parse_spec(merged(yaml.safe_load(BASES["single"]), scaling))
    assert loaded.warnings
    with pytest.raises(SpecError) as refused:
        refuse_too_large(loaded, template_of(loaded), LARGEST + 1)
    assert len(refused.value.problems) == len(loaded.warnings) + 1
