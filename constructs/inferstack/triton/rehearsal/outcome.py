"""What a rehearsal found: as data, with the meaning of Triton's messages, and as text for a terminal."""

import re
from collections.abc import Iterable, Iterator
from math import prod

import msgspec

from inferstack.catalog.triton_container import GENERATING, INFERENCE_TYPE, SHM_DEFAULT_BYTE_SIZE, Release
from inferstack.problems import printable
from inferstack.problems.words import listed

SERVER_RELEASE = (24, 10)
"""Release of Triton in `nvidia-pytriton`: the same since 2024, and in all versions that the extra allows."""


class RehearsalRefused(Exception):  # noqa: N818 - no error of the program: the user reads its text
    """Says in one line what is missing on this machine or in the files, and how to get it."""


class Tensor(msgspec.Struct, frozen=True):
    """One tensor of an answer: the protocol's name of its type, its shape, and its first values."""

    name: str
    data_type: str
    shape: tuple[int, ...]
    first: tuple[object, ...]

    @property
    def size(self) -> int:
        """How many values it has."""
        return prod(self.shape)


class Failure(msgspec.Struct, frozen=True):
    """What went wrong, Triton's own message about it, and what that means, if known."""

    what: str
    words: tuple[str, ...] = ()
    meaning: str | None = None


class Answer(msgspec.Struct, frozen=True):
    """The answer to one request. ``form`` is `JSON` or `binary`; ``deviations`` are from what is declared."""

    form: str
    batch: int
    milliseconds: float
    outputs: tuple[Tensor, ...] = ()
    failure: Failure | None = None
    deviations: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Whether it is what the model declares."""
        return self.failure is None and not self.deviations


class ModelOutcome(msgspec.Struct, frozen=True):
    """One model: how it was reached and what it answered.

    ``stand_in`` is the backend that the local server lacks; ``run_by`` the package, with its version, that
    computed instead of it; without one, the answers were zeros. ``notes`` are what the rehearsal cannot show
    about the model, or why it was not asked.
    """

    name: str
    way: str
    stand_in: str | None = None
    answers: tuple[Answer, ...] = ()
    notes: tuple[str, ...] = ()
    run_by: str | None = None

    @property
    def good(self) -> bool:
        """Whether every answer is what the model declares."""
        return all(answer.good for answer in self.answers)


class ArchiveOutcome(msgspec.Struct, frozen=True):
    """One archive: how long it took until it answered, in seconds, or why it never did."""

    archive: str
    seconds: float
    failure: Failure | None = None
    models: tuple[ModelOutcome, ...] = ()
    steps: tuple[str, ...] = ()
    """What else went right; a step that went wrong is at the beginning of ``failure``."""

    @property
    def good(self) -> bool:
        """Whether the container serves it."""
        return self.failure is None and all(model.good for model in self.models)


# ---------------------------------------------------------------- What Triton's messages mean
#
# Most come from a model's own code, which no check can foresee. What is wrong with a configuration is found
# before a server starts; if Triton's message about it shows up after all, the check's code is named.


_LOG_HEAD = re.compile(r"^(?P<level>[IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ \d+ \S+:\d+\] ?")
_DYING = "error: "
_MOST_LINES = 20
# What the server prints wherever there is no GPU.
_NOISE = ('"CudaDriverHelper has not been initialized', "CudaDriverHelper")


class Explanation(msgspec.Struct, frozen=True):
    """A pattern in Triton's messages, its meaning, and the code of the check that should find it earlier."""

    pattern: re.Pattern[str]
    meaning: str
    code: str | None = None


def _when(pattern: str, meaning: str, code: str | None = None) -> Explanation:
    return Explanation(re.compile(pattern, re.IGNORECASE), meaning, code)


_OF_CODE: tuple[Explanation, ...] = (
    _when(
        r"ModuleNotFoundError|No module named",
        "the model imports a package that the rehearsal's Python lacks; install it there, or choose another "
        "interpreter with --python. The container needs it, too: in its image or by EXECUTION_ENV_PATH",
    ),
    _when(
        r"Temporary failure in name resolution|Name or service not known|Network is unreachable",
        "the model uses the network, which a rehearsal does not have (nor has an isolated endpoint); "
        "put what it loads into the archive",
    ),
    _when(
        r"Read-only file system",
        "the model writes to a place that a rehearsal protects, such as its own folder; write to /tmp",
    ),
    _when(
        r"no NVIDIA driver|CUDA error|Torch not compiled with CUDA|no CUDA-capable device|cudaErrorNoDevice",
        "the model asks for a GPU, but a rehearsal runs on the CPU; let it choose the device by "
        "`args['model_instance_kind']`",
    ),
    _when(
        r"shared memory pool|No space left on device",
        f"the tensors do not fit into shared memory; raise {SHM_DEFAULT_BYTE_SIZE}, or free it",
    ),
    _when(
        r"Stub process .* is not healthy|stub process has exited|failed to launch.*stub",
        "the process that runs the model's Python died",
    ),
    _when(
        r"no answer within",
        "the model took longer than --timeout; SageMaker itself waits 60 s for an answer",
    ),
    _when(
        r"did not answer 200 within",
        "loading takes longer than --timeout; SageMaker waits for "
        "`container_startup_health_check_timeout_in_seconds`",
    ),
)
_OF_CONFIGURATION: tuple[Explanation, ...] = (
    _when(r"Error parsing text-format", "Triton cannot read a `config.pbtxt`", "IS900"),
    _when(r"unexpected directory name", "the name in a `config.pbtxt` is not that of its folder", "IS904"),
    _when(r"at least one version must be available", "a model has no version folder to load", "IS907"),
    _when(
        r"Python model file not found", "a Python model needs `model.py` in each version's folder", "IS910"
    ),
    _when(r"but the archive has no such folder", "the default model and the archive do not agree", "IS916"),
    _when(r"the archive has \d+ folders", "several models need a `default_model`", "IS917"),
    _when(
        r"decoupled transaction policy",
        "SageMaker's port takes one answer for one request; a decoupled model needs "
        f"{INFERENCE_TYPE} {listed(GENERATING, quote='')}, which the local Triton does not have yet",
    ),
    _when(r"unable to find .*backend|must specify 'platform'", "no backend of this name is known", "IS920"),
    _when(
        r"but model specifies|specifies one or more GPUs|no GPUs are available", "there is no GPU", "IS931"
    ),
    _when(r"sending (FP16|BF16) data via JSON", "16-bit floats can only be sent in binary bodies", "IS941"),
    _when(r"is not written|is unused|unexpected deadlock", "an ensemble's tensors are not joined", "IS955"),
    _when(r"contains models that are not available", "a step of an ensemble has no model", "IS956"),
    _when(r"required version .* is not loaded", "a step needs `model_version: -1` for the latest", "IS958"),
    _when(
        r"unexpected shape for input|batch.?size must be <=",
        "a tensor has another shape than its receiver declares; in an ensemble the model before it answers "
        "with another shape than it declares, or only one of them has `max_batch_size`",
        "IS962",
    ),
)
EXPLANATIONS = (*_OF_CODE, *_OF_CONFIGURATION)
"""In order: the first that fits is shown. Those about a model's own code come first, as they say more."""


def failure(what: str, words: str) -> Failure:
    """A failure with Triton's message, and its meaning if known."""
    lines = tuple(line.rstrip() for line in words.splitlines() if line.strip())
    meaning = next(filter(None, map(meaning_of, (*lines, what))), None)
    return Failure(what, lines, meaning)


def meaning_of(words: str) -> str | None:
    """What a message of Triton's means; None if unknown."""
    known = next((known for known in EXPLANATIONS if known.pattern.search(words)), None)
    if known is None or known.code is None:
        return None if known is None else known.meaning
    return f"{known.meaning} ({known.code}: `inferstack explain {known.code}` says more)"


def why_it_ended(log: str) -> str:
    """The server's errors from its log: the last one, after the errors that led to it.

    A log without any gives its last lines.
    """
    last = [line for line in log.splitlines() if line.startswith(_DYING)]
    lines = [line for said in (*_errors(log), *last) for line in said.replace("\\n", "\n").splitlines()]
    found = list(dict.fromkeys(lines)) or log.splitlines()
    return "\n".join(found[-_MOST_LINES:])


def _errors(log: str) -> Iterator[str]:
    """Error entries of the log without time and place; an entry may have several lines (a traceback)."""
    inside = False
    for line in log.splitlines():
        head = _LOG_HEAD.match(line)
        if head is not None:
            inside = head["level"] in "EF"
        said = line if head is None else line[head.end() :]
        if inside and not said.startswith(("+--", "|", _DYING, *_NOISE)):
            yield said.rstrip().strip('"')


# ---------------------------------------------------------------- In words


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
    first = ", ".join(f"{it:.6g}" if isinstance(it, float) else repr(it) for it in tensor.first)
    more = ", …" if tensor.size > len(tensor.first) else ""
    return f"{tensor.name} {tensor.data_type} {list(tensor.shape)} = {first}{more}"


def _failure(failure: Failure, margin: str) -> Iterator[str]:
    yield f"{margin}{failure.what}"
    for line in failure.words:
        yield f"{margin}  Triton: {line}"
    if failure.meaning is not None:
        yield f"{margin}which means: {failure.meaning}"
