"""Why something does not work: the best that logs, FailureReasons and events say, for each part."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import msgspec

from inferstack.account.connection import AccountError
from inferstack.account.status.logs import Log
from inferstack.account.status.outcome import Outcome, Standing, is_in_trouble
from inferstack.account.status.snapshot import Snapshot
from inferstack.diagnosis.clues import clues_in
from inferstack.diagnosis.in_spec import SpecBeside
from inferstack.diagnosis.reading import lines_of_answer
from inferstack.diagnosis.signature import VERDICTS
from inferstack.diagnosis.verdict import Diagnosis, diagnosed
from inferstack.endpoint.of_answers import Answer
from inferstack.resolve.execution_role import LOGS_OF_COMPONENTS, LOGS_OF_ENDPOINTS

_TELLING = ("cause", "symptom")
"""What is worth a line while nothing has failed yet, or when another part has the cause."""
_OF_LOGS = "inferstack status --logs 50"


class Reason(msgspec.Struct, frozen=True):
    """Why one part does not work. ``source`` is where that is from."""

    part: str
    source: str
    diagnosis: Diagnosis


class Reasons(msgspec.Struct, frozen=True):
    """What is known of a deployment that does not work, or not yet."""

    found: tuple[Reason, ...] = ()
    unread: tuple[str, ...] = ()
    """Logs that could not be read."""


ReadLog = Callable[[str, datetime | None], Log]


def log_groups(found: Snapshot, endpoint: str) -> dict[str, str]:
    """The log group of each part that runs containers, by what it is called here."""
    names = found.component_names
    if names:
        return {f"component {it}": f"{LOGS_OF_COMPONENTS}{it}" for it in names}
    return {f"endpoint {endpoint}": f"{LOGS_OF_ENDPOINTS}{endpoint}"}


def reasons_of(
    found: Snapshot, outcome: Outcome, endpoint: str, read_log: ReadLog, beside: SpecBeside
) -> Reasons:
    """Why it does not work. Before anything has failed, only what has been found counts."""
    if outcome.state is Standing.WORKS:
        return Reasons()
    made: list[Reason] = []
    unread: list[str] = []
    descriptions = {f"endpoint {endpoint}": found.endpoint}
    descriptions |= {f"component {it['InferenceComponentName']}": it for it in found.components}
    groups = log_groups(found, endpoint)
    for part in dict.fromkeys([*descriptions, *groups]) if found.has_begun else ():
        description = descriptions.get(part)
        if _is_well(part, description):
            continue
        said = [*_said(part, description, beside)]
        if part in groups:
            try:
                said += _logged(part, groups[part], read_log(groups[part], found.began), beside)
            except AccountError as error:
                unread.append(str(error))
        if said:
            made.append(min(said, key=_rank))
    if found.failures:
        part = f"stack {(found.stack or {}).get('StackName', endpoint)}"
        diagnosis = _diagnosed({"StackEvents": found.failures}, beside)
        # What no signature knows is shown as it is.
        made += [Reason(part, "events", diagnosis)] if diagnosis.code else []
    has_cause = any(it.diagnosis.verdict == "cause" for it in made)
    early = outcome.state is Standing.RUNNING
    kept = (it for it in made if it.diagnosis.verdict in _TELLING or not (has_cause or early))
    return Reasons(tuple(sorted(kept, key=_rank)), tuple(unread))


def _is_well(part: str, description: Answer | None) -> bool:
    """Whether a component works. An endpoint that serves may have been rolled back."""
    return part.startswith("component ") and description is not None and not is_in_trouble(description)


def _said(part: str, description: Answer | None, beside: SpecBeside) -> Iterator[Reason]:
    if description is not None and description.get("FailureReason"):
        yield Reason(part, "FailureReason", _diagnosed(description, beside))


def _logged(part: str, group: str, log: Log, beside: SpecBeside) -> Iterator[Reason]:
    if not any(log.streams.values()):
        there = "is empty" if log.exists else "does not exist"
        message = f"no container has logged anything since the deployment began: {group} {there}"
        fix = "there may be no instance (capacity), driver or entry point, or the image logs nothing"
        yield Reason(part, group, Diagnosis("cannot-tell", certain=False, message=message, fix=fix))
    for stream, events in log.streams.items():
        if events:
            found = _diagnosed({"events": [*events]}, beside)
            if found.verdict == "cannot-tell" and not found.code:
                found = msgspec.structs.replace(found, fix=f"read the lines yourself: `{_OF_LOGS}`")
            yield Reason(part, f"{group} {stream}", found)


def _diagnosed(answer: Any, beside: SpecBeside) -> Diagnosis:
    return diagnosed(clues_in(lines_of_answer(answer)), beside)


def _rank(reason: Reason) -> tuple[int, bool, bool, bool]:
    """A cause that is certain first; of texts that tell nothing, the log: the other would ask to read it."""
    found, is_log = reason.diagnosis, reason.source != "FailureReason"
    tells = found.verdict in _TELLING
    return VERDICTS.index(found.verdict), not found.certain, not (tells or is_log), not found.code
