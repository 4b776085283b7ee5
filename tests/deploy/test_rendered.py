"""What `render` writes, deployed without CDK: the stack is the same as CDK's."""

import json
import re
from pathlib import Path

import pytest
import yaml
from emulator.clients import EmulatedAws
from emulator.deploying import deploy
from emulator.inventory import inventory
from support.cdk_cli import Project, bootstrap

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
    bootstrap(aws)
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


STAGES = """\
kind: inference-components
endpoint_name: "chat-${stage}"
variant: {instance_type: ml.g5.12xlarge, initial_instance_count: 2}
inference_components:
  "chatSTAGE":
    specification:
      container: {image: "123456789012.dkr.ecr.us-east-1.amazonaws.com/llm:1", artifact_url: s3://models/chat.tar.gz}
      compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 4096}
    autoscaling:
      min_capacity: 1
      max_capacity: 2
      policies: [{metric: SageMakerInferenceComponentInvocationsPerCopy, target_value: 10}]
  "chat-frSTAGE":
    specification: {base_inference_component_name: "chatSTAGE", container: {artifact_url: s3://models/fr.tar.gz}}
alarms:
  rules: [{metric: ModelLatency, threshold: 900 ms, inference_component: "chatSTAGE"}]
env: {account: "123456789012", region: us-east-1}
stages: {test: {}, prod: {inference_components: {"chatSTAGE": {runtime_config: {copy_count: 2}}}}}
ignore: [{code: IS442, reason: "the adapter is made here"}]
"""


@pytest.mark.parametrize(
    ("key", "said", "states"),
    [
        ("-${stage}", set(), ["CREATE_COMPLETE", "CREATE_COMPLETE"]),
        ("", {"IS042"}, ["CREATE_COMPLETE", "ROLLBACK_COMPLETE"]),
    ],
)
def test_stages_share_an_account_if_their_components_have_names_of_their_own(
    aws: EmulatedAws, tmp_path: Path, key: str, said: set[str], states: list[str]
) -> None:
    project = Project(tmp_path, aws)
    project.write({"chat": STAGES.replace("STAGE", key)})
    printed = project.inferstack("validate", "model_specs").output
    assert {f"IS{number}" for number in re.findall(r": IS(\d{3}): ", printed)} == said, printed
    for stage in ("test", "prod"):
        ran = project.inferstack("render", "model_specs", "--stage", stage, "--out", "rendered")
        assert ran.status == 0, ran.output
    templates = {it.name.partition(".")[0]: it for it in (project.folder / "rendered").iterdir()}
    assert templates.keys() == {"chat-test", "chat-prod"}
    found = [
        deploy(aws, name, json.loads(templates[name].read_text("utf-8")))
        for name in ("chat-test", "chat-prod")
    ]
    assert found == states
