"""The specs of the guides are deployed as they promise, and so is each change that a guide makes to them."""

from pathlib import Path

import pytest
from emulator.clients import EmulatedAws
from emulator.deploying import deploy, failures
from support.guides import GUIDES, lay_out, run
from support.pages import code_blocks, commands, files
from support.promises import broken_promises

from inferstack.check.load import LoadedSpec, load_spec
from inferstack.resolve import resolve_template

TASKS = [it for it in GUIDES if it.parent.name == "tasks"]
_DONE = {"CREATE_COMPLETE", "UPDATE_COMPLETE", "NO CHANGES"}


@pytest.mark.parametrize("guide", GUIDES, ids=lambda it: it.stem)
def test_the_spec_of_a_guide_is_deployed(
    aws: EmulatedAws, guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (spec,) = (content for name, content in files(guide).items() if name.endswith(".yaml"))
    Path("spec.yaml").write_text(spec, "utf-8")
    loaded = put_in_service(aws, Path("spec.yaml"))
    assert broken_promises(aws, loaded.spec) == []


@pytest.mark.parametrize("task", TASKS, ids=lambda it: it.stem)
def test_each_change_of_a_task_is_an_update_of_the_stack(
    aws: EmulatedAws, task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(task, tmp_path)
    aws.client("s3").create_bucket(Bucket="acme-models")
    (spec,) = Path("model_specs").glob("*.yaml")
    put_in_service(aws, spec)
    for session in code_blocks(task, "console"):
        for command, _ in commands(session):
            run(command, tmp_path, aws.environment())
        # What validate refuses is shown only to say why.
        if "1 error" not in session:
            assert broken_promises(aws, put_in_service(aws, spec).spec) == []


def put_in_service(aws: EmulatedAws, spec: Path) -> LoadedSpec:
    """Deploys a spec, at the stage `prod` if it needs one."""
    stage = "prod" if "${stage}" in spec.read_text("utf-8") else None
    loaded = load_spec(spec, stage=stage, region=aws.region)
    template = resolve_template(loaded.spec, region=aws.region, source_of=loaded.source_of)
    assert deploy(aws, "stack", template) in _DONE
    assert failures(aws, "stack") == []
    return loaded
