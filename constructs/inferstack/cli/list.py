"""``inferstack list``: a table of the stacks that specs make."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from inferstack.catalog.resource_types import ALARM_TYPE
from inferstack.check.load import LoadedSpec, check_document
from inferstack.check.project_file import read_spec
from inferstack.check.stack_names import stack_name
from inferstack.cli.arguments import add_paths, add_region, files_of
from inferstack.cli.report import text
from inferstack.cli.terminal import painted, table, tell
from inferstack.endpoint.counts import Counts
from inferstack.endpoint.of_spec import instance_counts
from inferstack.facts.walk import every_variant, instance_types
from inferstack.problems import Problem, Severity, SpecError, in_file_order
from inferstack.resolve.template import template_of

_HEADER = ("STACK", "STAGE", "KIND", "RESOURCES", "INSTANCES", "ALARMS")


class StackRow(msgspec.Struct, frozen=True):
    """One stack: of a spec at a stage, or without one. ``instances`` is None if the endpoint has none."""

    stack: str
    spec: str
    stage: str | None
    kind: str
    region: str | None
    resources: int
    instances: Counts | None
    instance_types: tuple[str, ...]
    alarms: int

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        counts = "serverless" if self.instances is None else str(self.instances)
        return self.stack, self.stage or "-", self.kind, str(self.resources), counts, str(self.alarms)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack list``."""
    add_paths(command)
    command.add_argument("--stage", help="list only this stage; without it, all that can be deployed")
    add_region(command)
    command.add_argument("--format", choices=_WRITERS, default="text", help="default: text")


def run(options: argparse.Namespace) -> int:
    """List the stacks that specs make: kind, number of resources and alarms, and how many instances run:
    minimum, initial, maximum. Specs with errors are reported instead.
    """
    files, problems = files_of(options.paths)
    rows: list[StackRow] = []
    for file in files:
        stacks, wrong = _of_file(file, options.stage, options.region)
        rows += stacks
        problems += wrong
    # Flushed at once, so that what is wrong comes last where both streams end up in one place.
    print(_WRITERS[options.format](rows), end="", flush=True)
    if problems:
        tell(text(in_file_order(problems), sys.stderr).rstrip("\n"))
    return int(bool(problems))


def _of_file(file: Path, stage: str | None, region: str | None) -> tuple[list[StackRow], list[Problem]]:
    try:
        specs, problems = check_document(read_spec(file), stage=stage, region=region)
        rows = [_row(one) for one in specs]
    except SpecError as error:
        return [], list(error.problems)
    return rows, [it for it in problems if it.severity is Severity.ERROR]


def _row(loaded: LoadedSpec) -> StackRow:
    spec = loaded.spec
    resources = template_of(loaded)["Resources"].values()
    types = (name for _, variant in every_variant(spec) for name in instance_types(variant))
    return StackRow(
        stack=stack_name(spec.endpoint_name),
        spec=loaded.document.file,
        stage=loaded.stage,
        kind=spec.kind,
        region=spec.region,
        resources=len(resources),
        instances=instance_counts(spec),
        instance_types=tuple(dict.fromkeys(types)),
        alarms=sum(it["Type"] == ALARM_TYPE for it in resources),
    )


def _text(rows: Sequence[StackRow]) -> str:
    if not rows:
        return ""
    header, *others = table([_HEADER, *(row.cells for row in rows)])
    return "".join(f"{line}\n" for line in (painted(header, "bold", sys.stdout), *others))


def _json(rows: Sequence[StackRow]) -> str:
    return json.dumps(msgspec.to_builtins(rows), indent=1) + "\n"


_WRITERS = {"text": _text, "json": _json}
