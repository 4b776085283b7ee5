"""SageMaker's Triton container: its releases, and the environment that its start script reads.

https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve
"""

from collections.abc import Mapping, Sequence

Release = tuple[int, int]
"""Year and month of a Triton release: ``(26, 5)``."""

_PREFIX = "SAGEMAKER_TRITON_"
DEFAULT_MODEL = f"{_PREFIX}DEFAULT_MODEL_NAME"
"""Names the model that the container loads and that `/invocations` asks."""
INFERENCE_TYPE = f"{_PREFIX}INFERENCE_TYPE"
"""What `/invocations` does with a request; older containers than ``GENERATING_SINCE`` ignore it."""
PING_MODE = f"{_PREFIX}PING_MODE"
"""What the health check asks: whether the server runs (`live`), or has loaded its models, too (`ready`)."""
OVERRIDE_PING_MODE = f"{_PREFIX}OVERRIDE_PING_MODE"
"""The same, where the script would compute another."""
ADDITIONAL_ARGS = f"{_PREFIX}ADDITIONAL_ARGS"
"""Options of the server, as on a command line but for quotes; see :func:`words`."""
LOAD_MODEL = "--load-model"
"""The server's option that names a model to load at the start."""
LOG_VERBOSE = f"{_PREFIX}LOG_VERBOSE"
SHM_DEFAULT_BYTE_SIZE = f"{_PREFIX}SHM_DEFAULT_BYTE_SIZE"

GENERATING = ("generate", "generate_stream")
GENERATING_SINCE: Release = (25, 3)
INFERENCE_TYPES = ("infer", *GENERATING)
PING_MODES = ("live", "ready")

OPTIONS: tuple[tuple[str, str, str | None], ...] = (
    (f"{_PREFIX}DISABLE_MODEL_NAMESPACING", "--model-namespacing=", "true"),
    (f"{_PREFIX}ALLOW_GRPC", "--allow-grpc=", "false"),
    (f"{_PREFIX}GRPC_PORT", "--grpc-port=", None),
    (f"{_PREFIX}ALLOW_METRICS", "--allow-metrics=", "false"),
    (f"{_PREFIX}METRICS_PORT", "--metrics-port=", None),
    (f"{_PREFIX}BUFFER_MANAGER_THREAD_COUNT", "--buffer-manager-thread-count=", None),
    (f"{_PREFIX}THREAD_COUNT", "--sagemaker-thread-count=", None),
    (LOG_VERBOSE, "--log-verbose=", "true"),
    (f"{_PREFIX}LOG_INFO", "--log-info=", None),
    (f"{_PREFIX}LOG_WARNING", "--log-warning=", None),
    (f"{_PREFIX}LOG_ERROR", "--log-error=", None),
    (SHM_DEFAULT_BYTE_SIZE, "--backend-config=python,shm-default-byte-size=", "16777216"),
    (f"{_PREFIX}SHM_GROWTH_BYTE_SIZE", "--backend-config=python,shm-growth-byte-size=", "1048576"),
    (f"{_PREFIX}TENSORFLOW_VERSION", "--backend-config=tensorflow,version=", None),
)
"""Variable, the server's option, and the value when the variable is not set (None: no option)."""


def set_variable(environment: Mapping[str, str] | None, name: str) -> str | None:
    """What a variable is set to. To the start script one that is set to nothing is not set."""
    return None if environment is None else environment.get(name) or None


def likely_default(names: Sequence[str], ensembles: Sequence[str]) -> str | None:
    """The one among models that answers where nobody names it: the only one, else the only ensemble.

    Of an archive of a multi-model endpoint the front end finds it so; of any other it has to be named.
    """
    likely = names if len(names) == 1 else ensembles
    return likely[0] if len(likely) == 1 else None


def words(text: str) -> list[str]:
    """What becomes of a text on the server's command line, where the start script does not quote it."""
    return [word for word in text.replace("\t", " ").replace("\n", " ").split(" ") if word]
