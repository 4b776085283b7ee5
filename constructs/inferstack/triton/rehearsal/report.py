"""A rehearsal in words, for a terminal."""

from collections.abc import Iterable, Iterator

from inferstack.catalog.triton_container import Release
from inferstack.problems import printable
from inferstack.triton.rehearsal.outcome import Answer, ArchiveOutcome, Failure, ModelOutcome, Tensor
from inferstack.triton.rehearsal.server import SERVER_RELEASE


def report(outcome: ArchiveOutcome) -> str:
    """One archive: whether it was served, and what each model answered."""
    return "".join(f"{printable(line)}\n" for line in _archive(outcome))


def summary(outcomes: Iterable[ArchiveOutcome], deployed: Iterable[Release] = ()) -> str:
    """The last line, with what a rehearsal never shows. ``deployed``: the releases in the spec's images."""
    found = list(outcomes)
    bad = sum(not outcome.good for outcome in found)
    stand_ins = [model for outcome in found for model in outcome.models if model.stand_in is not None]
    played = sum(model.run_by is None for model in stand_ins)
    computed = len(stand_ins) - played
    served = f"{len(found) - bad} of {len(found)} archives served"
    words = f"{served} by Triton {_release(SERVER_RELEASE)} on this CPU"
    others = [_release(it) for it in sorted(set(deployed)) if it != SERVER_RELEASE]
    if others:
        words += f" (the spec's image has {' or '.join(others)})"
    if computed:
        words += f"; {_models(computed)} by stand-ins that compute, but not as fast as their backend"
    if played:
        words += f"; {_models(played)} by stand-ins, whose numbers and speed mean nothing"
    return words


def _release(release: Release) -> str:
    return "{}.{:02}".format(*release)


def _models(number: int) -> str:
    return "1 model" if number == 1 else f"{number} models"


def _archive(outcome: ArchiveOutcome) -> Iterator[str]:
    if outcome.failure is not None and not outcome.models:
        yield f"{outcome.archive}: NOT SERVED, after {outcome.seconds:.1f} s"
    else:
        yield f"{outcome.archive}: ready after {outcome.seconds:.1f} s"
    for model in outcome.models:
        yield from _model(model)
    if outcome.steps:
        yield f"  {', '.join(outcome.steps)}"
    if outcome.failure is not None:
        yield from _failure(outcome.failure, "  ")


def _model(model: ModelOutcome) -> Iterator[str]:
    by = "zeros" if model.run_by is None else f"computed by {model.run_by}"
    played = "" if model.stand_in is None else f", STAND-IN for the backend `{model.stand_in}`: {by}"
    yield f"  {model.name} ({model.way}{played})"
    for answer in model.answers:
        yield from _answer(answer)
    for note in model.notes:
        yield f"    note: {note}"


def _answer(answer: Answer) -> Iterator[str]:
    asked = f"    {answer.form}, batch {answer.batch}, {answer.milliseconds:.1f} ms"
    if answer.failure is not None:
        yield f"{asked}: FAILED"
        yield from _failure(answer.failure, "      ")
        return
    tensors = [_tensor(output) for output in answer.outputs]
    if len(tensors) == 1:
        yield f"{asked}: {tensors[0]}"
    else:
        yield f"{asked}:"
        yield from (f"      {tensor}" for tensor in tensors)
    for deviation in answer.deviations:
        yield f"      WRONG: {deviation}"


def _tensor(tensor: Tensor) -> str:
    first = ", ".join(_value(value) for value in tensor.first)
    more = ", …" if tensor.size > len(tensor.first) else ""
    return f"{tensor.name} {tensor.data_type} {list(tensor.shape)} = {first}{more}"


def _value(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def _failure(failure: Failure, margin: str) -> Iterator[str]:
    yield f"{margin}{failure.what}"
    for line in failure.words:
        yield f"{margin}  Triton: {line}"
    if failure.meaning is not None:
        yield f"{margin}which means: {failure.meaning}"
