"""How SageMaker's Triton container turns its environment into a server: the start script's decisions.

The script: https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from inferstack.triton.rehearsal.explanations import failure

SINGLE_FOLDER = "/opt/ml/model"
"""Where SageMaker unpacks the archive of an endpoint that has one."""
PORT = 8080
"""The port that SageMaker talks to."""
OWN_PORT = 8000
"""Triton's own HTTP port. The container keeps it closed; here it reaches what SageMaker's port does not."""
_PREFIX = "SAGEMAKER_TRITON_"
DEFAULT_MODEL = f"{_PREFIX}DEFAULT_MODEL_NAME"
"""Names the model that the container loads and that `/invocations` asks."""
INFERENCE_TYPE = f"{_PREFIX}INFERENCE_TYPE"
"""What `/invocations` does with a request, in Triton 25.03 and later."""
_PING_MODE = f"{_PREFIX}PING_MODE"
_INFERENCE_TYPES = ("infer", "generate", "generate_stream")

# Variable, the server's option, and the value when the variable is not set (None: no option).
_OPTIONS: tuple[tuple[str, str, str | None], ...] = (
    (f"{_PREFIX}DISABLE_MODEL_NAMESPACING", "--model-namespacing=", "true"),
    (f"{_PREFIX}ALLOW_GRPC", "--allow-grpc=", "false"),
    (f"{_PREFIX}GRPC_PORT", "--grpc-port=", None),
    (f"{_PREFIX}ALLOW_METRICS", "--allow-metrics=", "false"),
    (f"{_PREFIX}METRICS_PORT", "--metrics-port=", None),
    (f"{_PREFIX}BUFFER_MANAGER_THREAD_COUNT", "--buffer-manager-thread-count=", None),
    (f"{_PREFIX}THREAD_COUNT", "--sagemaker-thread-count=", None),
    (f"{_PREFIX}LOG_VERBOSE", "--log-verbose=", "true"),
    (f"{_PREFIX}LOG_INFO", "--log-info=", None),
    (f"{_PREFIX}LOG_WARNING", "--log-warning=", None),
    (f"{_PREFIX}LOG_ERROR", "--log-error=", None),
    (f"{_PREFIX}SHM_DEFAULT_BYTE_SIZE", "--backend-config=python,shm-default-byte-size=", "16777216"),
    (f"{_PREFIX}SHM_GROWTH_BYTE_SIZE", "--backend-config=python,shm-growth-byte-size=", "1048576"),
    (f"{_PREFIX}TENSORFLOW_VERSION", "--backend-config=tensorflow,version=", None),
)


class ContainerStops(Exception):  # noqa: N818 - what the container does, no error of the program
    """The container's start script would end before it starts Triton."""

    seconds = 0.0

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.failure = failure(f"the container ends before it starts Triton: {reason}", "")


@dataclass(frozen=True, slots=True)
class Launch:
    """The server's options, and the environment that it inherits from the container."""

    options: tuple[str, ...]
    environment: Mapping[str, str]


def launch_single(environment: Mapping[str, str], folders: Sequence[str]) -> Launch:
    """The launch for an archive with these folders at its top.

    Raises:
        ContainerStops: where the start script refuses the archive or the environment.
    """
    _check_inference_type(environment)
    model = _model_to_load(environment, folders)
    return _launch(environment, SINGLE_FOLDER, [f"--load-model={model}"], {DEFAULT_MODEL: model}, "ready")


def launch_multi_model(environment: Mapping[str, str], empty_folder: str) -> Launch:
    """The launch of a multi-model container, which starts without any model.

    Raises:
        ContainerStops: where the start script refuses the environment.
    """
    _check_inference_type(environment)
    return _launch(environment, empty_folder, [], {"SAGEMAKER_MULTI_MODEL": "true"}, "live")


def _model_to_load(environment: Mapping[str, str], folders: Sequence[str]) -> str:
    named = environment.get(DEFAULT_MODEL)
    if named:
        if named not in folders:
            raise ContainerStops(f"{DEFAULT_MODEL} names `{named}`, and the archive has no such folder")
        return named
    if len(folders) != 1:
        found = f"{len(folders)} folders ({', '.join(folders)})" if folders else "no folder"
        raise ContainerStops(f"the archive has {found}, and {DEFAULT_MODEL} is not set")
    return folders[0]


def _check_inference_type(environment: Mapping[str, str]) -> None:
    value = environment.get(INFERENCE_TYPE)
    if value and value not in _INFERENCE_TYPES:
        raise ContainerStops(f"{INFERENCE_TYPE} is `{value}`; allowed: {', '.join(_INFERENCE_TYPES)}")


def _launch(
    environment: Mapping[str, str], repository: str, load: list[str], more: dict[str, str], ping: str
) -> Launch:
    options = [
        f"--model-repository={repository}",
        "--allow-sagemaker=true",
        f"--sagemaker-port={PORT}",
        "--model-control-mode=explicit",
        "--allow-http=true",
        "--http-address=127.0.0.1",
        f"--http-port={OWN_PORT}",
        *_options(environment),
        *shlex.split(environment.get(f"{_PREFIX}ADDITIONAL_ARGS", "")),
        *load,
    ]
    if _PING_MODE in environment:
        # The script computes the mode but passes it on only where the variable was there before.
        more[_PING_MODE] = environment.get(f"{_PREFIX}OVERRIDE_PING_MODE") or ping
    return Launch(tuple(options), {**environment, **more})


def _options(environment: Mapping[str, str]) -> Iterator[str]:
    for variable, option, default in _OPTIONS:
        # A variable that is set to nothing counts as not set.
        value = environment.get(variable) or default
        if value is not None:
            yield f"{option}{value}"
