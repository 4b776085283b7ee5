"""Specs with the places where they are deployed, and how a command says whether those work."""

import argparse
import sys
from collections.abc import Iterable

import msgspec

from inferstack.account.connection import AccountError, Connection, reached
from inferstack.account.status.outcome import Standing
from inferstack.account.status.snapshot import WatchedStack
from inferstack.check.load import LoadedSpec, check_document
from inferstack.check.project_file import read_spec
from inferstack.check.stack_names import stack_name
from inferstack.cli.arguments import files_of
from inferstack.cli.report import text
from inferstack.cli.terminal import tell
from inferstack.diagnosis.in_spec import SpecBeside
from inferstack.problems import Problem, Severity, SpecError, in_file_order

COLORS = {
    Standing.WORKS: "green",
    Standing.FAILED: "red",
    Standing.RUNNING: "yellow",
    Standing.UNKNOWN: "yellow",
}
_STATUSES = {Standing.FAILED: 1, Standing.RUNNING: 3, Standing.UNKNOWN: 3}
"""The exit statuses, the one that counts most first."""


class Deployment(msgspec.Struct, frozen=True):
    """A spec, and where it is deployed; ``refused`` says why that is not known."""

    loaded: LoadedSpec
    beside: SpecBeside
    watched: WatchedStack | None
    refused: str = ""


def specs_of(options: argparse.Namespace) -> tuple[list[tuple[LoadedSpec, SpecBeside]], list[Problem]]:
    """The specs that the options choose, and the errors in them."""
    files, problems = files_of(options.paths)
    found: list[tuple[LoadedSpec, SpecBeside]] = []
    for file in files:
        try:
            specs, wrong = check_document(read_spec(file), stage=options.stage, region=options.region)
        except SpecError as error:
            specs, wrong = [], list(error.problems)
        # A spec with errors cannot have been deployed as it is. Its warnings may say why it has them.
        if any(it.severity is Severity.ERROR for it in wrong):
            problems += wrong
        found += [(it, SpecBeside(it.document, tuple(wrong))) for it in specs]
    return found, problems


def deployments_of(options: argparse.Namespace) -> tuple[list[Deployment], list[Problem]]:
    """Where the specs that the options choose are deployed, and the errors in them."""
    specs, problems = specs_of(options)
    by_region = {it: reached(it) for it in dict.fromkeys(loaded.spec.region for loaded, _ in specs)}
    return [_deployment(it, beside, by_region[it.spec.region]) for it, beside in specs], problems


def refused(problems: Iterable[Problem]) -> int:
    """Shows what is wrong with specs; returns the exit status."""
    tell(text(in_file_order(problems), sys.stderr).rstrip("\n"))
    return 1


def exit_status(states: Iterable[Standing]) -> int:
    """The exit status of a command: 0 if all work, 1 if one has failed, 3 if that is not known yet."""
    found = {*states}
    return next((status for state, status in _STATUSES.items() if state in found), 0)


def _deployment(loaded: LoadedSpec, beside: SpecBeside, found: Connection | AccountError) -> Deployment:
    spec = loaded.spec
    if isinstance(found, AccountError):
        return Deployment(loaded, beside, None, str(found))
    try:
        region = found.require_region(spec.account)
    except AccountError as error:
        return Deployment(loaded, beside, None, str(error))
    watched = WatchedStack(
        connection=found,
        region=region,
        stack=stack_name(spec.endpoint_name),
        endpoint=found.filled(spec.endpoint_name),
    )
    return Deployment(loaded, beside, watched)
