"""Where a template that `cdk synth` wrote is deployed: what the files around it in `cdk.out` say.

    manifest.json      account, region and name of each stack
    *.assets.json      under which key the template of a nested stack is uploaded
    the other templates      which stack has it under that key

https://docs.aws.amazon.com/cdk/v2/guide/deploy.html
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.endpoint import deployed

_ENVIRONMENT = re.compile(r"aws://([^/]+)/([^/]+)")
_STACK_TYPE = "AWS::CloudFormation::Stack"


class StackInApp(msgspec.Struct, frozen=True):
    """Where an app deploys a template; None for what is not known."""

    account: str | None = None
    region: str | None = None
    name: str | None = None
    """The name of the stack; of a nested one, that of the stack around it, and its logical id there."""


def stack_in_app(path: Path) -> StackInApp:
    """Where a template is deployed, as far as the files around it say so."""
    try:
        return _stack(path)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration, RecursionError):
        # There need not be any, and they may be of a version that says this in another way.
        return StackInApp()


def _stack(path: Path) -> StackInApp:
    for name, it in _json(path.parent / "manifest.json")["artifacts"].items():
        properties = deployed.mapping(deployed.mapping(it).get("properties"))
        if properties.get("templateFile") == path.name:
            account, region = _ENVIRONMENT.fullmatch(it["environment"]).groups()  # type: ignore[union-attr]
            return StackInApp(_known(account), _known(region), str(properties.get("stackName", name)))
    parent, logical_id = next(_parents(path))
    around = _stack(parent)
    return replace(around, name=f"{around.name}/{logical_id}")


def _known(place: str) -> str | None:
    return None if place.startswith("unknown-") else place


def _parents(path: Path) -> Iterator[tuple[Path, str]]:
    """The templates with a stack of this template, each with the logical id of that."""
    keys = {
        destination["objectKey"]
        for file in path.parent.glob("*.assets.json")
        for asset in _json(file)["files"].values()
        if asset["source"].get("path") == path.name
        for destination in asset["destinations"].values()
    }
    for parent in sorted(path.parent.glob("*.template.json")):
        for logical_id, properties in deployed.of_type(_json(parent)["Resources"], _STACK_TYPE).items():
            if any(key in deployed.shown(properties.get("TemplateURL")) for key in keys):
                yield parent, logical_id


def _json(file: Path) -> Any:
    if not file.is_file():
        raise FileNotFoundError(file)
    return json.loads(file.read_text("utf-8"))
