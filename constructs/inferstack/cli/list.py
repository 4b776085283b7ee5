"""``inferstack list``: a table of the stacks that specs make, or of the endpoints that are deployed."""

import argparse
import sys
from collections.abc import Iterable, Sequence

import msgspec

from inferstack.account.connection import AccountError, connect
from inferstack.account.inventory import ListedEndpoint, inventory
from inferstack.catalog.resource_types import ALARM_TYPE
from inferstack.check.load import LoadedSpec
from inferstack.check.stack_names import stack_name
from inferstack.cli.arguments import add_paths, add_region
from inferstack.cli.deployment import refused, specs_of
from inferstack.cli.escaping import json_text
from inferstack.cli.terminal import painted, table, tell
from inferstack.endpoint.counts import Counts
from inferstack.endpoint.of_spec import instance_counts
from inferstack.facts.walk import every_variant, instance_types
from inferstack.problems import SpecError, printable
from inferstack.problems.words import counted
from inferstack.resolve.template import template_of

_HEADER = ("STACK", "STAGE", "KIND", "RESOURCES", "INSTANCES", "ALARMS")
_UNKNOWN = 3
"""The exit status when AWS does not say what is deployed."""
_DEPLOYED_HEADER = ("ENDPOINT", "STATUS", "SPEC", "STAGE", "STACK", "CREATED", "REGION")


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
    deployed = "list the endpoints in the account instead, with the spec and stage of each"
    command.add_argument("--deployed", action="store_true", help=deployed)
    command.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    command.set_defaults(wrong_usage=command.error)


def run(options: argparse.Namespace) -> int:
    """List the stacks that specs make: kind, number of resources and alarms, and how many instances run:
    minimum, initial, maximum. Specs with errors are reported instead. With --deployed, list the endpoints in
    the account, those that no spec has, and specs without an endpoint. Nothing is changed in AWS.

    Exit status: 0 all is listed, 1 a spec has errors, 3 AWS does not say what is deployed.
    """
    if options.deployed:
        return _list_deployed(options)
    specs, problems = specs_of(options)
    rows = []
    for loaded, _ in specs:
        try:
            rows.append(_row(loaded))
        except SpecError as error:
            problems += error.problems
    _show(options, _HEADER, rows, (it.cells for it in rows))
    return refused(problems) if problems else 0


def _list_deployed(options: argparse.Namespace) -> int:
    if options.stage is not None:
        options.wrong_usage("--deployed says the stage of each endpoint; leave out --stage")
    specs, problems = specs_of(options)
    # The endpoint of a spec with errors would pass for one that no spec has.
    if problems:
        return refused(problems)
    try:
        found = inventory(connect(options.region), [loaded for loaded, _ in specs], options.region)
    except AccountError as error:
        tell(printable(f"not listed: {error}"))
        return _UNKNOWN
    _show(options, _DEPLOYED_HEADER, found.endpoints, map(_cells, found.endpoints))
    for it in found.elsewhere:
        tell(printable(f"{it.title}: not looked for: it is for the account {it.spec.account}"))
    there = {(it.region, it.endpoint) for it in found.endpoints if it.status is not None}
    claimed = {(it.region, it.endpoint) for it in found.endpoints if it.spec is not None}
    missing = counted(sum(it.status is None for it in found.endpoints), "spec")
    counts = f"{counted(len(there), 'endpoint')}, {len(there - claimed)} of them without a spec"
    tell(f"account {found.account}: {counts}; {missing} without an endpoint")
    return 0


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


def _cells(it: ListedEndpoint) -> tuple[str, ...]:
    created = None if it.created is None else f"{it.created:%Y-%m-%d}"
    status = "not deployed" if it.status is None else it.status
    return it.endpoint, status, *(one or "-" for one in (it.spec, it.stage, it.stack, created)), it.region


def _show(
    options: argparse.Namespace,
    header: tuple[str, ...],
    rows: Sequence[StackRow | ListedEndpoint],
    cells: Iterable[tuple[str, ...]],
) -> None:
    if options.format == "json":
        said = [json_text(msgspec.to_builtins(rows))]
    elif rows:
        first, *others = table([header, *cells])
        said = [painted(first, "bold", sys.stdout), *others]
    else:
        said = []
    # Flushed at once, so that what is wrong comes last where both streams end up in one place.
    print("".join(f"{line}\n" for line in said), end="", flush=True)
