"""Every example, at every stage: created as promised, updated only by changes, and deleted without remains."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from emulator.clients import EmulatedAws
from emulator.deploying import deploy, destroy, failures
from emulator.inventory import inventory
from support.promises import broken_promises

from inferstack.check.load import load_spec
from inferstack.resolve import resolve_template
from inferstack.source.document import read_document
from inferstack.source.stages import stage_names, uses_stage

ROOT = Path(__file__).parents[2]


def examples() -> Iterator[tuple[Path, str | None]]:
    for file in sorted((ROOT / "model_specs").glob("*.y*ml")):
        document = read_document(file)
        stages = stage_names(document)
        for stage in stages if stages and uses_stage(document) else (None, *stages):
            yield file, stage


def tagged(template: dict[str, Any]) -> dict[str, Any]:
    """The template with another tag on the endpoint."""
    changed = copy.deepcopy(template)
    properties = changed["Resources"]["Endpoint"]["Properties"]
    properties["Tags"] = [*properties.get("Tags", ()), {"Key": "changed", "Value": "yes"}]
    return changed


@pytest.mark.parametrize(
    ("file", "stage"), [*examples()], ids=lambda it: it.stem if isinstance(it, Path) else it or "base"
)
def test_it_is_created_up_to_date_and_removed(
    aws: EmulatedAws, file: Path, stage: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    loaded = load_spec(file.relative_to(ROOT), stage=stage, region=aws.region)
    template = resolve_template(loaded.spec, region=aws.region, source_of=loaded.source_of)
    before = inventory(aws)
    assert (deploy(aws, "stack", template), failures(aws, "stack")) == ("CREATE_COMPLETE", [])
    assert broken_promises(aws, loaded.spec) == []
    assert deploy(aws, "stack", template) == "NO CHANGES"
    assert deploy(aws, "stack", tagged(template)) == "UPDATE_COMPLETE"
    assert destroy(aws, "stack") == "DELETE_COMPLETE"
    assert inventory(aws) == before
