"""The answer: the best of the clues in a text, with what a spec adds to it."""

import msgspec

from inferstack.diagnosis.clues import Clue, Clues
from inferstack.diagnosis.in_spec import SpecBeside
from inferstack.diagnosis.signature import Verdict
from inferstack.problems import FilePlace, Problem

_LACKING = {
    "gpu": "the spec has no instance type with GPUs",
    "serverless": "the spec has no serverless variant",
    "triton": "the spec has no Triton models",
}
_NOTHING_KNOWN = "no line of this text is a failure that inferstack knows"
_GOES_ON = "the program goes on after this line, or tries again; if it did not, this may be why: {}"
_NO_LINE = "the text has no line"
_WHERE = (
    "check the name of the log group, the region and the time; if they are right, no container has logged "
    "anything: there may be no instance (capacity), driver or entry point"
)
_WHOLE_LOG = "give the container's log from its first start on, or the first event of the stack that failed"


class Diagnosis(msgspec.Struct, frozen=True):
    """The answer: what it is, the line that it rests on, and what to do."""

    verdict: Verdict
    certain: bool
    message: str
    code: str = ""
    fix: str = ""
    line: str = ""
    line_number: int = 0
    """0 for a text in JSON."""
    place: FilePlace | None = None
    """The line of the spec, if there is one place only that it can mean."""
    rule: str = ""
    """The code of `validate` that agrees."""
    source: str = ""


def diagnosed(clues: Clues, beside: SpecBeside | None = None) -> Diagnosis:
    """The best of the clues, with what the spec adds to it."""
    for clue in clues.ordered():
        problem = beside.agreeing(clue) if beside is not None else None
        if (clue.signature.alone and not clue.is_doubtful) or problem is not None:
            return _of(clue, problem, beside)
    if clues.is_ready:
        return Diagnosis(
            "healthy", certain=False, message="a container served, and no line after it is a failure"
        )
    doubtful = next((it for it in clues.ordered() if it.signature.alone), None)
    if doubtful is not None:
        text, number = _line_of(doubtful)
        message = _GOES_ON.format(doubtful.message)
        return Diagnosis("cannot-tell", False, message, fix=_WHOLE_LOG, line=text, line_number=number)
    if not clues.lines:
        return Diagnosis("cannot-tell", certain=False, message=_NO_LINE, fix=_WHERE)
    return Diagnosis("cannot-tell", certain=False, message=_NOTHING_KNOWN, fix=_WHOLE_LOG)


def _line_of(clue: Clue) -> tuple[str, int]:
    return clue.line.text.strip(), clue.line.number if clue.line.in_file else 0


def _of(clue: Clue, problem: Problem | None, beside: SpecBeside | None) -> Diagnosis:
    signature = clue.signature
    message, fix = clue.message, clue.fix
    lacks = beside is not None and bool(signature.needs) and not beside.has(signature.needs)
    if lacks:
        message += f"; but {_LACKING[signature.needs]}: is it the spec of this log?"
    if signature.verdict == "cannot-tell":
        fix = _where_to_look(clue, beside)
    if problem is not None:
        fix = problem.fix or fix
    is_cause = signature.verdict == "cause"
    text, number = _line_of(clue)
    said = signature.certain and not clue.is_doubtful and not clue.is_second
    return Diagnosis(
        verdict=signature.verdict,
        certain=is_cause and not lacks and (said or problem is not None),
        message=message,
        code=signature.code,
        fix=fix,
        line=text,
        line_number=number,
        place=_place(clue, problem, beside),
        rule="" if problem is None else problem.code,
        source=signature.source,
    )


def _place(clue: Clue, problem: Problem | None, beside: SpecBeside | None) -> FilePlace | None:
    if beside is None:
        return None
    if problem is not None and problem.line:
        return problem.in_file
    return beside.place(clue)


def _where_to_look(clue: Clue, beside: SpecBeside | None) -> str:
    """Which log says more. The names are those of the line, or of the spec."""
    name = beside.document.data.get("endpoint_name") if beside is not None else None
    endpoint = name if isinstance(name, str) and "$" not in name else "ENDPOINT"
    variant = clue.groups.get("variant")
    stream = f" --log-stream-name-prefix {variant}/" if variant else ""
    group = f"/aws/sagemaker/Endpoints/{endpoint}"
    return (
        f"read the container's log: `aws logs filter-log-events --log-group-name {group}{stream} | "
        "inferstack diagnose -` (for inference components: /aws/sagemaker/InferenceComponents/COMPONENT); "
        "without such a log, none has logged anything: driver, capacity or entry point"
    )
