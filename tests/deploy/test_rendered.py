"""What `render` writes, deployed without CDK: the stack is the same as CDK's."""

import json
from pathlib import Path

import yaml
from emulator.clients import EmulatedAws
from emulator.deploying import deploy
from emulator.inventory import inventory
from support.cdk_cli import Project

SPEC = yaml.safe_load((Path(__file__).parent / "life_cycles.yaml").read_text("utf-8"))["single-model"]["spec"]
NAME = SPEC["endpoint_name"]


def rendered(project: Project, aws: EmulatedAws) -> dict[str, object]:
    ran = project.inferstack("render", "model_specs", "--region", aws.region, "--out", "rendered")
    assert ran.status == 0, ran.output
    template: dict[str, object] = json.loads(
        (project.folder / f"rendered/{NAME}.template.json").read_text("utf-8")
    )
    return template


def test_cdk_and_the_api_take_turns_on_a_stack(aws: EmulatedAws, tmp_path: Path) -> None:
    project = Project(tmp_path, aws)
    assert project.bootstrap().status == 0
    project.write({NAME: yaml.safe_dump(SPEC)})
    assert deploy(aws, NAME, rendered(project, aws)) == "CREATE_COMPLETE"
    there = inventory(aws)
    project.synth()
    taken_over = project.deploy()
    assert taken_over.status == 0, taken_over.output
    assert inventory(aws) == there
    project.write({NAME: yaml.safe_dump({**SPEC, "alarms": {"defaults": False}})})
    assert deploy(aws, NAME, rendered(project, aws)) == "UPDATE_COMPLETE"
    assert inventory(aws)["endpoints"] == there["endpoints"]
