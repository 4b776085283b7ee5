"""The whole life of a stack under the real CDK CLI: one for each kind and shape of spec, all in one account."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from emulator.clients import EmulatedAws
from emulator.inventory import inventory
from emulator.server import reset
from support.cdk_cli import Project, Ran
from support.deployed import give
from support.resolving import merged

CASES: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "life_cycles.yaml").read_text("utf-8"))
# What CloudFormation says of a resource in a change set, by the sign of `cdk diff`.
SIGNS = {"[+]": "added", "[-]": "removed", "[~]": "updated"}


@dataclass
class Life:
    """What each command printed, and what existed afterwards."""

    said: dict[str, Ran] = field(default_factory=dict)
    there: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    compared: str = ""


@pytest.fixture(scope="module")
def life(_server: str, tmp_path_factory: pytest.TempPathFactory) -> Life:
    reset()
    aws = EmulatedAws(_server)
    project = Project(tmp_path_factory.mktemp("life"), aws)
    lived = Life()

    def keep(step: str, ran: Ran) -> None:
        assert ran.status == 0, ran.output
        lived.said[step], lived.there[step] = ran, inventory(aws)

    keep("bootstrap", project.bootstrap())
    for name, case in CASES.items():
        give(aws, f"given-to-{name}", **case.get("given", {}))
    lived.there["given"] = inventory(aws)
    project.write({name: yaml.safe_dump(case["spec"]) for name, case in CASES.items()})
    project.synth()
    keep("deploy", project.deploy())
    keep("again", project.deploy())
    shutil.copytree(project.folder / "cdk.out", project.folder / "deployed")
    project.write({name: yaml.safe_dump(changed(case)) for name, case in CASES.items()})
    project.synth()
    lived.compared = project.inferstack("validate", "--against", "deployed").output
    keep("diff", project.cdk("diff", "--app", "cdk.out"))
    keep("update", project.deploy())
    keep("destroy", project.cdk("destroy", "--app", "cdk.out", "--all", "--force"))
    return lived


def changed(case: dict[str, Any]) -> Any:
    return merged(case["spec"], case["change"])


def about(stack: str, diff: Ran) -> str:
    """What `cdk diff` says of one stack."""
    parts = re.split(r"^Stack (\S+) \(.*\)$", diff.output, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[stack]


@pytest.mark.parametrize("stack", CASES)
def test_every_kind_is_deployed(life: Life, stack: str) -> None:
    [endpoint] = [it for it in life.there["deploy"]["endpoints"] if it.endswith(f":endpoint/{stack}")]
    assert f"{stack}.EndpointArn = {endpoint}" in life.said["deploy"].output


@pytest.mark.parametrize("stack", CASES)
def test_a_second_deployment_changes_nothing(life: Life, stack: str) -> None:
    assert f"✅  {stack} (no changes)" in life.said["again"].output


def test_nothing_is_made_anew_by_a_second_deployment(life: Life) -> None:
    assert life.there["again"] == life.there["deploy"]


@pytest.mark.parametrize("stack", CASES)
def test_cdk_diff_shows_what_validate_says(life: Life, stack: str) -> None:
    theirs, ours = dict(shown(about(stack, life.said["diff"]))), dict(said(stack, life.compared))
    # They get the name of another configuration or model. `cdk diff` does not know names and leaves them out.
    named = [it for it in ours if it == "Endpoint" or it.startswith("InferenceComponent")]
    for logical_id in set(named) - theirs.keys():
        assert ours.pop(logical_id) == "updated"
    assert theirs == ours


def shown(diff: str) -> Iterator[tuple[str, str]]:
    """Logical IDs and what happens to them, as shown by `cdk diff`."""
    pattern = r"^(\[.\]) AWS::\S+ (?:\S+/\S+ )?(\w+)( replace| may be replaced| destroy)?\n((?: .*\n)*)"
    for sign, logical_id, more, details in re.findall(pattern, diff, re.MULTILINE):
        # Another order is not a change of the resource.
        if re.findall(r"^ [├└]─ \[.\] (\w+)", details, re.MULTILINE) != ["DependsOn"]:
            yield logical_id, "replaced" if "replace" in more else SIGNS[sign]


def said(stack: str, compared: str) -> Iterator[tuple[str, str]]:
    """The same as reported by `inferstack validate --against`."""
    [line] = re.findall(rf"^model_specs/{stack}.yaml against \S+: (.*)$", compared, re.MULTILINE)
    for part in line.partition("; the role ")[0].split("; "):
        fate, _, logical_ids = part.partition(" ")
        yield from ((logical_id, fate) for logical_id in logical_ids.split(", "))


@pytest.mark.parametrize("stack", CASES)
def test_an_update_leaves_the_endpoint_in_place(life: Life, stack: str) -> None:
    endpoint = f"arn:aws:sagemaker:us-east-1:123456789012:endpoint/{stack}"
    assert endpoint in life.there["update"]["endpoints"]
    assert not re.search(
        rf"^{stack} .* DELETE_\w+ .*AWS::SageMaker::Endpoint ", life.said["update"].output, re.M
    )


@pytest.mark.parametrize(("kind", "more"), [("models", 0), ("endpoint configurations", 0), ("endpoints", 0)])
def test_an_update_leaves_nothing_old_behind(life: Life, kind: str, more: int) -> None:
    assert len(life.there["update"][kind]) == len(life.there["deploy"][kind]) + more


def test_destroy_leaves_nothing(life: Life) -> None:
    assert life.there["destroy"] == life.there["given"]
