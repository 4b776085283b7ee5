"""``inferstack status``: how deployments stand, and why one does not work."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC
from time import monotonic, sleep, strftime
from typing import Any

import msgspec

from inferstack.account.connection import AccountError
from inferstack.account.status.outcome import Outcome, Standing, outcome_of
from inferstack.account.status.reasons import Reasons, log_groups, reasons_of
from inferstack.account.status.snapshot import Snapshot, WatchedStack
from inferstack.cli.arguments import add_paths, add_region, whole_number, whole_number_within
from inferstack.cli.deployment import COLORS, Deployment, deployments_of, exit_status, refused
from inferstack.cli.diagnose import diagnosis_fields, diagnosis_lines
from inferstack.cli.escaping import json_text
from inferstack.cli.terminal import painted, table, tell
from inferstack.diagnosis.reading import failed_status, failure_reason
from inferstack.endpoint.deployed import entries, mapping
from inferstack.endpoint.of_answers import Answer
from inferstack.problems import printable

_OVER = (Standing.WORKS, Standing.FAILED)
_DEADLINE, _LONGEST_DEADLINE = 180, 1440
"""Minutes. CloudFormation waits 160 for a new endpoint."""
_SOON, _LATER, _SLOWER = 10.0, 60.0, 1.5
"""Seconds between two looks: few after a change, more while nothing changes."""
_MOST_FAILURES = 3
"""In a row: a network may fail once."""
_SHORT = "%H:%M:%S"

Row = tuple[str, str, str]
"""What it is, its name, and how it is."""


class Report(msgspec.Struct, frozen=True):
    """What is found at one moment."""

    deployment: Deployment
    outcome: Outcome
    found: Snapshot = Snapshot()
    reasons: Reasons = Reasons()
    is_hopeless: bool = False
    """Whether AWS will not say it later, either."""

    @property
    def unread(self) -> tuple[str, ...]:
        """What the credentials may not read."""
        return self.found.unread + self.reasons.unread


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack status``."""
    add_paths(command)
    add = command.add_argument
    add("--stage", help="show only this stage; without it, all that can be deployed")
    add_region(command)
    add("--follow", action="store_true", help="wait for the end, with one line for each change")
    deadline = f"with --follow: how long, at most (default: {_DEADLINE})"
    minutes = whole_number_within(1, _LONGEST_DEADLINE)
    add("--deadline", metavar="MINUTES", type=minutes, help=deadline)
    add("--logs", metavar="N", type=whole_number, help="show the last N lines of each log, too")
    add("--format", choices=("text", "json"), default="text", help="default: text")
    command.set_defaults(wrong_usage=command.error)


def run(options: argparse.Namespace) -> int:
    """Show how deployments stand: stack, endpoint, components, copies and alarms, and why one does not work,
    from its containers' logs. Nothing is changed.

    Exit status: 0 all work, 1 one has failed, 3 one is still under way, or AWS does not say how it is.
    """
    if options.deadline is not None and not options.follow:
        options.wrong_usage("--deadline is for --follow")
    deployments, problems = deployments_of(options)
    if problems:
        return refused(problems)
    if options.follow:
        reports = _followed(deployments, options.deadline or _DEADLINE)
    else:
        reports = [_report(it) for it in deployments]
    logs = [{} if options.logs is None else _logs(it, options.logs) for it in reports]
    if options.format == "json":
        print(json_text([*map(_fields, reports, logs)]), flush=True)
    else:
        for it, lines in zip(reports, logs, strict=True):
            print("\n".join(_lines(it, lines)), flush=True)
    return exit_status(it.outcome.state for it in reports)


# ---------------------------------------------------------------- one look, and many


def _report(deployment: Deployment) -> Report:
    watched = deployment.watched
    if watched is None:
        return Report(deployment, Outcome(Standing.UNKNOWN, deployment.refused), is_hopeless=True)
    try:
        found = watched.read()
    except AccountError as error:
        outcome = Outcome(Standing.UNKNOWN, str(error))
        return Report(deployment, outcome, is_hopeless=error.is_about_credentials)
    outcome = outcome_of(found, watched.title)
    reasons = reasons_of(found, outcome, watched.endpoint, watched.log, deployment.beside)
    return Report(deployment, outcome, found, reasons)


def _followed(deployments: Sequence[Deployment], minutes: int) -> list[Report]:
    """Looks again and again until all are over, or nobody may look any longer."""
    end = monotonic() + minutes * 60
    reports = [_report(it) for it in deployments]
    before: list[set[str]] = [set() for _ in reports]
    failures, pause = [0] * len(reports), _SOON
    while True:
        changed = False
        for index, it in enumerate(reports):
            failures[index] = failures[index] + 1 if it.outcome.state is Standing.UNKNOWN else 0
            lines = [*_changes(it)]
            for line in lines:
                if line not in before[index]:
                    tell(printable(f"{strftime(_SHORT)}  {it.deployment.loaded.title}  {line}"))
                    changed = True
            before[index] = set(lines)
        left = [index for index, it in enumerate(reports) if not _is_over(it, failures[index])]
        pause = _SOON if changed else min(pause * _SLOWER, _LATER)
        if not left or monotonic() + pause > end:
            return reports
        sleep(pause)
        for index in left:
            reports[index] = _report(deployments[index])


def _is_over(report: Report, failures: int) -> bool:
    return report.outcome.state in _OVER or report.is_hopeless or failures >= _MOST_FAILURES


def _changes(report: Report) -> Iterator[str]:
    """Each line that is worth one when it changes."""
    if report.outcome.state in (Standing.UNKNOWN, *_OVER):
        yield f"{report.outcome.state}: {report.outcome.message}"
    for what, name, how in _rows(report.found):
        yield " ".join(filter(None, (what, name, how)))
    for it in report.reasons.found:
        yield f"{it.part}: {it.diagnosis.verdict}: {it.diagnosis.message}"
    yield from report.unread


# ---------------------------------------------------------------- for people


def _lines(report: Report, logs: dict[str, list[str]]) -> Iterator[str]:
    outcome = report.outcome
    state = painted(outcome.state, COLORS[outcome.state], sys.stdout)
    yield f"{printable(report.deployment.loaded.title)}: {state}: {printable(outcome.message)}"
    rows = [*_rows(report.found)]
    yield from (f"  {printable(line)}" for line in table(rows)) if rows else ()
    for it in report.reasons.found:
        first, *others = diagnosis_lines(it.diagnosis, it.source)
        yield f"  {printable(it.part)}: {first}"
        yield from (f"    {printable(line.strip())}" for line in others)
    for line in report.unread:
        yield f"  not read: {printable(line)}"
    for part, lines in logs.items():
        yield f"  log of {printable(part)}:"
        yield from (f"    {printable(line)}" for line in lines or ["nothing"])


def _rows(found: Snapshot) -> Iterator[Row]:
    if found.stack is not None:
        reason = found.stack.get("StackStatusReason")
        yield "stack", found.stack["StackName"], _with_reason(found.stack["StackStatus"], reason)
    for it in found.failures[:1]:
        how = _with_reason(failed_status(it), failure_reason(it))
        yield "event", it.get("LogicalResourceId", ""), how
    endpoint = found.endpoint
    if endpoint is not None:
        config = endpoint.get("EndpointConfigName")
        said = endpoint["EndpointStatus"] + (f", serves {config}" if config else "")
        yield "endpoint", endpoint["EndpointName"], _with_reason(said, endpoint.get("FailureReason"))
        for key in ("ProductionVariants", "ShadowProductionVariants"):
            yield from (("variant", it["VariantName"], _variant(it)) for it in entries(endpoint.get(key)))
        yield "updated", "", f"{endpoint['LastModifiedTime'].astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    for it in found.components:
        yield "component", it["InferenceComponentName"], _component(it)
    yield from (("alarm", it, "ALARM") for it in found.alarms)


def _variant(variant: Answer) -> str:
    count = _of_count(variant.get("CurrentInstanceCount"), variant.get("DesiredInstanceCount"), "instances")
    statuses = [str(it.get("Status")) for it in entries(variant.get("VariantStatus"))]
    return ", ".join([count, *statuses]) if count else ", ".join(["serverless", *statuses])


def _component(component: Answer) -> str:
    runtime = mapping(component.get("RuntimeConfig"))
    count = _of_count(runtime.get("CurrentCopyCount"), runtime.get("DesiredCopyCount"), "copies")
    status = str(component.get("InferenceComponentStatus", "?"))
    return _with_reason(", ".join(filter(None, (status, count))), component.get("FailureReason"))


def _of_count(there: int | None, wanted: int | None, what: str) -> str:
    if there is None and wanted is None:
        return ""
    return f"{'?' if there is None else there} of {'?' if wanted is None else wanted} {what}"


def _with_reason(said: str, reason: str | None) -> str:
    return f"{said}: {' '.join(reason.split())}" if reason else said


# ---------------------------------------------------------------- logs, and programs


def _logs(report: Report, count: int) -> dict[str, list[str]]:
    watched = report.deployment.watched
    if watched is None:
        return {}
    return {
        part: _last(watched, group, report.found, count)
        for part, group in log_groups(report.found, watched.endpoint).items()
    }


def _last(watched: WatchedStack, group: str, found: Snapshot, count: int) -> list[str]:
    try:
        log = watched.log(group, found.began)
    except AccountError as error:
        return [f"not read: {error}"]
    cut = [f"(only the first part of {group} was read)"] if log.is_cut else []
    return log.last(count) + cut


def _fields(report: Report, logs: dict[str, list[str]]) -> dict[str, Any]:
    found, loaded = report.found, report.deployment.loaded
    return {
        "spec": loaded.document.file,
        "stage": loaded.stage,
        "state": report.outcome.state,
        "message": report.outcome.message,
        "parts": [{"what": what, "name": name, "is": how} for what, name, how in _rows(found)],
        "reasons": [
            {"part": it.part, "from": it.source, **diagnosis_fields(it.diagnosis)}
            for it in report.reasons.found
        ],
        "unread": list(report.unread),
        "logs": logs,
    }
