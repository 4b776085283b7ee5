"""``inferstack drift``: how an endpoint that runs differs from its spec."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from inferstack.account.connection import AccountError, connect
from inferstack.account.existing import NoEndpointError, existing_endpoint, existing_stack
from inferstack.account.status.outcome import SERVING
from inferstack.check.load import LoadedSpec, load_spec
from inferstack.check.stack_names import stack_name
from inferstack.cli.arguments import add_region
from inferstack.cli.escaping import json_text
from inferstack.cli.terminal import Refusal, painted, table, tell
from inferstack.facts.walk import variants
from inferstack.problems import printable
from inferstack.problems.words import counted
from inferstack.resolve.imported import template
from inferstack.resolve.template import resolve_resources, template_of
from inferstack.review.deploying import place_in
from inferstack.updates.drift import Drift, Drifts, compared
from inferstack.updates.update import spec_path, written_part

_HEADER = ("PLACE", "KEY", "WANTED", "FOUND")
_WIDEST = 60
_UNKNOWN = 3
"""The exit status when AWS does not say what runs."""


class DriftRow(msgspec.Struct, frozen=True):
    """One difference, where the spec has it. ``key`` is the nearest key that is written there."""

    file: str
    line: int
    key: str
    resource: str
    in_template: str
    """The property in the template; empty for a resource as a whole."""
    wanted: str
    found: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        what = ".".join(filter(None, (self.resource, self.in_template)))
        return f"{self.file}:{self.line}", self.key or what, _cut(self.wanted), _cut(self.found)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack drift``."""
    add = command.add_argument
    add("spec", metavar="SPEC", type=Path, help="spec file")
    add("--stage", help="compare with the endpoint of this stage")
    add_region(command)
    add("--format", choices=_WRITERS, default="text", help="default: text")


def run(options: argparse.Namespace) -> int:
    """Compare an endpoint that runs with its spec: what the spec wants, and what is found instead. Counts
    that scaling changes are no drift. Nothing is changed in AWS.

    Exit status: 0 no drift, 1 something differs, or nothing runs, 3 AWS does not say what runs.
    """
    loaded = load_spec(options.spec, stage=options.stage, region=options.region)
    try:
        loaded, comparison = _compared(loaded, options)
    except NoEndpointError as error:
        raise Refusal(str(error)) from None
    except AccountError as error:
        tell(printable(f"{options.spec}: not compared: {error}"))
        return _UNKNOWN
    rows = _rows(loaded, comparison)
    print(_WRITERS[options.format](rows), end="", flush=True)
    for it in comparison.not_compared:
        tell(printable(f"{options.spec}: not compared: {it}"))
    summary = counted(len(rows), "difference") if rows else "no drift"
    tell(f"{options.spec}: {summary}")
    return int(bool(rows))


def _compared(loaded: LoadedSpec, options: argparse.Namespace) -> tuple[LoadedSpec, Drifts]:
    spec = loaded.spec
    connection = connect(spec.region)
    region = connection.require_region(spec.account)
    if spec.region is None:
        loaded = load_spec(options.spec, stage=options.stage, region=region)
    name = connection.filled(spec.endpoint_name)
    answers = existing_endpoint(connection, region, name)
    status = answers.endpoint.get("EndpointStatus")
    if status == "Failed":
        raise Refusal(
            f"the endpoint {name} is Failed, so nothing runs that could be compared; `inferstack status "
            f"{options.spec}` says why"
        )
    if status not in SERVING:
        tell(f"{options.spec}: the endpoint is {status}: what is found now may change until it is InService")
    stack = existing_stack(connection, region, stack_name(spec.endpoint_name))
    parameters: dict[str, Any] = dict(connection.pseudo_parameters)
    if stack is None:
        tell(f"{options.spec}: there is no stack {stack_name(spec.endpoint_name)}")
        return loaded, compared(template(loaded, parameters), answers)
    lists = {it for it, one in template_of(loaded).get("Parameters", {}).items() if "List" in one["Type"]}
    parameters |= {it: text.split(",") if it in lists else text for it, text in stack.parameters.items()}
    return loaded, compared(template(loaded, parameters, stack.ids), answers)


def _rows(loaded: LoadedSpec, comparison: Drifts) -> list[DriftRow]:
    sources = {it: one.source for it, one in resolve_resources(loaded.spec, loaded.spec.region).items()}
    by_name = {variant.variant_name: path for path, variant in variants(loaded.spec)}
    rows = []
    for it in comparison.drift:
        source = sources.get(it.logical_id, ("endpoint_name",))
        path = spec_path(by_name, it.type, source, it.path) if it.path else source
        rows.append(_row(loaded, it, written_part(loaded.document.data, path)))
    return rows


def _row(loaded: LoadedSpec, it: Drift, path: tuple[str | int, ...]) -> DriftRow:
    place = place_in(loaded, path)
    return DriftRow(
        file=place.file,
        line=place.line,
        key=place.path,
        resource=it.logical_id or it.type,
        in_template=".".join(map(str, it.path)),
        wanted=it.wanted,
        found=it.found,
    )


def _cut(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= _WIDEST else f"{shown[: _WIDEST - 1]}…"


def _text(rows: Sequence[DriftRow]) -> str:
    if not rows:
        return ""
    header, *others = table([_HEADER, *(row.cells for row in rows)])
    return "".join(f"{line}\n" for line in (painted(header, "bold", sys.stdout), *others))


def _json(rows: Sequence[DriftRow]) -> str:
    return json_text(msgspec.to_builtins(rows)) + "\n"


_WRITERS = {"text": _text, "json": _json}
