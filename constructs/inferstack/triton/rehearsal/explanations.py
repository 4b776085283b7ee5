"""What Triton's messages mean.

Most come from a model's own code, which no check can foresee. What is wrong with a configuration is found
before a server starts; if Triton's message about it shows up after all, the check's code is named.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from inferstack.catalog.triton_container import GENERATING, INFERENCE_TYPE, SHM_DEFAULT_BYTE_SIZE
from inferstack.problems.words import listed
from inferstack.triton.rehearsal.outcome import Failure

_LOG_HEAD = re.compile(r"^(?P<level>[IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ \d+ \S+:\d+\] ?")
_DYING = "error: "
_MOST_LINES = 20
# What the server prints wherever there is no GPU.
_NOISE = ('"CudaDriverHelper has not been initialized', "CudaDriverHelper")


@dataclass(frozen=True, slots=True)
class Explanation:
    """A pattern of Triton's words, what it means, and the code of the check that should find it before."""

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
        "the model uses the network, which a rehearsal has not (nor an endpoint with network isolation); "
        "put what it loads into the archive",
    ),
    _when(
        r"no NVIDIA driver|CUDA error|Torch not compiled with CUDA|no CUDA-capable device|cudaErrorNoDevice",
        "the model asks for a GPU, and a rehearsal runs on the CPU; let it choose the device by "
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
    _when(r"unexpected directory name", "a `config.pbtxt` names another model than its folder", "IS904"),
    _when(r"at least one version must be available", "a model has no version folder to load", "IS907"),
    _when(
        r"Python model file not found", "a Python model needs `model.py` in each version's folder", "IS910"
    ),
    _when(r"and the archive has no such folder", "the default model and the archive do not agree", "IS916"),
    _when(r"the archive has \d+ folders", "several models need a `default_model`", "IS917"),
    _when(
        r"decoupled transaction policy",
        "SageMaker's port takes one answer for one request; a decoupled model needs "
        f"{INFERENCE_TYPE} {listed(GENERATING, quote='')}, which the local Triton has not yet",
    ),
    _when(r"unable to find .*backend|must specify 'platform'", "no backend of this name is known", "IS920"),
    _when(
        r"but model specifies|specifies one or more GPUs|no GPUs are available", "there is no GPU", "IS931"
    ),
    _when(r"sending (FP16|BF16) data via JSON", "16-bit floats travel in binary bodies only", "IS941"),
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
    """A failure with Triton's words, and their meaning where it is known."""
    lines = tuple(line.rstrip() for line in words.splitlines() if line.strip())
    meaning = next(filter(None, map(meaning_of, (*lines, what))), None)
    return Failure(what, lines, meaning)


def meaning_of(words: str) -> str | None:
    """What a message of Triton's means, None if that is not known."""
    known = next((known for known in EXPLANATIONS if known.pattern.search(words)), None)
    if known is None or known.code is None:
        return None if known is None else known.meaning
    return f"{known.meaning} ({known.code}: `inferstack explain {known.code}` says more)"


def why_it_ended(log: str) -> str:
    """The server's errors from its log: its last word, and before it the errors that led there.

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
