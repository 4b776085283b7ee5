"""SageMaker's Triton container: its releases, and the environment variables that its start script reads.

https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

Release = tuple[int, int]
"""Year and month of a Triton release: ``(26, 5)``."""

PREFIX = "SAGEMAKER_TRITON_"
"""How the names of all these variables begin."""
DEFAULT_MODEL = f"{PREFIX}DEFAULT_MODEL_NAME"
"""Names the model that the container loads and that answers `/invocations`."""
INFERENCE_TYPE = f"{PREFIX}INFERENCE_TYPE"
"""What `/invocations` does with a request; containers older than ``GENERATING_SINCE`` ignore it."""
PING_MODE = f"{PREFIX}PING_MODE"
"""What the health check tests: whether the server runs (`live`), or whether its models are loaded, too
(`ready`)."""
OVERRIDE_PING_MODE = f"{PREFIX}OVERRIDE_PING_MODE"
"""What the health check tests where the start script would otherwise choose the mode itself."""
ADDITIONAL_ARGS = f"{PREFIX}ADDITIONAL_ARGS"
"""Further server options, written as on a command line, but without quoting; see :func:`words`."""
LOAD_MODEL = "--load-model"
"""The server option that names a model to load at startup."""
LOG_VERBOSE = f"{PREFIX}LOG_VERBOSE"
LOG_INFO = f"{PREFIX}LOG_INFO"
SHM_DEFAULT_BYTE_SIZE = f"{PREFIX}SHM_DEFAULT_BYTE_SIZE"

ADDITIONAL_ARGS_SINCE: Release = (23, 7)
"""Older containers ignore ``ADDITIONAL_ARGS``."""
GENERATING = ("generate", "generate_stream")
GENERATING_SINCE: Release = (25, 3)
INFERENCE_TYPES = ("infer", *GENERATING)
PING_MODES = ("live", "ready")

_MOST = 2**31 - 1
_MOST_BYTES = 2**63 - 1
# Enough for its front end, and less than the error of the Python backend says.
_LEAST_SHARED_MEMORY = 2**20


class Value(NamedTuple):
    """What the server accepts for an option: a word in any case, or a number between inclusive bounds.

    ``old_words`` are accepted by releases before ``words_since``. The server reads a number's leading digits
    and drops the rest, so ``16MB`` would be 16.

    The script quotes no value, so further options can follow one, as in ``true --load-model=net``. AWS's
    examples load models in this way with releases that lack ``ADDITIONAL_ARGS``.
    """

    words: tuple[str, ...] = ()
    least: int | None = None
    most: int = _MOST
    is_whole: bool = True
    old_words: tuple[str, ...] = ()
    words_since: Release = (0, 0)

    def fits(self, text: str, release: Release | None) -> bool:
        """Whether the server of a release accepts a text; with None, whether that of any release does."""
        own, *further = _value_words(text)
        return self._takes(own, release) and not any(loose_words(further))

    def _takes(self, text: str, release: Release | None) -> bool:
        is_old = release is None or release < self.words_since
        if text.lower() in (self.words + self.old_words if is_old else self.words):
            return True
        number = r"[-+]?\d+" if self.is_whole else r"[-+]?(\d+\.?\d*|\.\d+)"
        if self.least is None or re.fullmatch(number, text, re.ASCII) is None:
            return False
        return self.least <= float(text) <= self.most


_FLAG = Value(words=("true", "on", "1", "false", "off", "0"))
_PORT = Value(least=1, most=65535)


class Option(NamedTuple):
    """A variable, the server option it sets, the default (None: no option), and the values it may have."""

    variable: str
    option: str
    default: str | None
    value: Value


OPTIONS = (
    Option(f"{PREFIX}DISABLE_MODEL_NAMESPACING", "--model-namespacing=", "true", _FLAG),
    Option(f"{PREFIX}ALLOW_GRPC", "--allow-grpc=", "false", _FLAG),
    Option(f"{PREFIX}GRPC_PORT", "--grpc-port=", None, _PORT),
    Option(f"{PREFIX}ALLOW_METRICS", "--allow-metrics=", "false", _FLAG),
    Option(f"{PREFIX}METRICS_PORT", "--metrics-port=", None, _PORT),
    Option(f"{PREFIX}BUFFER_MANAGER_THREAD_COUNT", "--buffer-manager-thread-count=", None, Value(least=0)),
    Option(f"{PREFIX}THREAD_COUNT", "--sagemaker-thread-count=", None, Value(least=1)),
    Option(LOG_VERBOSE, "--log-verbose=", "true", Value(words=("true", "false"), least=0)),
    Option(LOG_INFO, "--log-info=", None, _FLAG),
    Option(f"{PREFIX}LOG_WARNING", "--log-warning=", None, _FLAG),
    Option(f"{PREFIX}LOG_ERROR", "--log-error=", None, _FLAG),
    Option(
        SHM_DEFAULT_BYTE_SIZE,
        "--backend-config=python,shm-default-byte-size=",
        "16777216",
        Value(least=_LEAST_SHARED_MEMORY, most=_MOST_BYTES),
    ),
    Option(
        f"{PREFIX}SHM_GROWTH_BYTE_SIZE",
        "--backend-config=python,shm-growth-byte-size=",
        "1048576",
        Value(least=1, most=_MOST_BYTES),
    ),
    Option(
        f"{PREFIX}TENSORFLOW_VERSION",
        "--backend-config=tensorflow,version=",
        None,
        Value(words=("2",), old_words=("1",), words_since=(23, 4)),
    ),
)
"""The options that the start script makes from environment variables."""
VALUES = {
    **{it.variable: it.value for it in OPTIONS},
    # The start script turns this one into an option for each GPU.
    f"{PREFIX}MODEL_LOAD_GPU_LIMIT": Value(least=0, most=1, is_whole=False),
}
"""The possible values of all variables whose value becomes that of an option."""
VARIABLES = frozenset(
    {*VALUES, DEFAULT_MODEL, INFERENCE_TYPE, PING_MODE, OVERRIDE_PING_MODE, ADDITIONAL_ARGS}
)
"""All variables that the start script reads."""


def set_variable(environment: Mapping[str, str], name: str) -> str | None:
    """The value of a variable. To the start script, an empty variable is not set."""
    return environment.get(name) or None


def likely_default(names: Sequence[str], ensembles: Sequence[str]) -> str | None:
    """The model that answers if none is named: the only model, otherwise the only ensemble.

    In an archive of a multi-model endpoint, the server's front end finds it this way; elsewhere the container
    must be told its name.
    """
    likely = names if len(names) == 1 else ensembles
    return likely[0] if len(likely) == 1 else None


def words(text: str) -> list[str]:
    """The words that a text becomes on the server's command line if the start script does not quote it."""
    return [word for word in text.replace("\t", " ").replace("\n", " ").split(" ") if word]


def _value_words(text: str) -> list[str]:
    """The words of a text after `--option=`: the option's value, then further arguments."""
    first, *further = words(f"={text}")
    return [first[1:], *further]


def loose_words(arguments: Sequence[str]) -> Iterator[str]:
    """Words that are neither an option nor its value, and values with quotes, which no shell removes."""
    for before, argument in zip(("", *arguments), arguments, strict=False):
        value = argument.partition("=")[2] or argument
        if not argument.startswith("-") and (not before.startswith("-") or "=" in before):
            yield f"the stray word `{argument}`"
        elif value[:1] in ("'", '"') and value[:1] == value[-1:]:
            yield f"the quotes of `{argument}`"


def further_arguments(environment: Mapping[str, str], release: Release | None) -> list[str]:
    """Arguments of the server that the script does not know: additional ones, and those after a value."""
    values = [value for name, value in environment.items() if name in VALUES]
    behind = [word for value in values for word in _value_words(value)[1:]]
    return [*behind, *(words(environment.get(ADDITIONAL_ARGS, "")) if _takes_more(release) else [])]


def with_argument(argument: str, release: Release | None) -> str:
    """The variable that passes one more argument to the server, as a line of an environment."""
    return f"{ADDITIONAL_ARGS}: {argument}" if _takes_more(release) else f"{LOG_INFO}: true {argument}"


def _takes_more(release: Release | None) -> bool:
    return release is None or release >= ADDITIONAL_ARGS_SINCE
