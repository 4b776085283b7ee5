"""Plays SageMaker's Triton container: what its start script makes of the environment, a folder that is
`/opt/ml`, a server in it, and two ports to talk to.

The script: https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep

import msgspec

from inferstack.catalog.triton_container import (
    ADDITIONAL_ARGS,
    DEFAULT_MODEL,
    INFERENCE_TYPE,
    INFERENCE_TYPES,
    LOAD_MODEL,
    OPTIONS,
    OVERRIDE_PING_MODE,
    PING_MODE,
    set_variable,
    words,
)
from inferstack.triton.rehearsal.confinement import Client, Confinement
from inferstack.triton.rehearsal.outcome import Failure, failure, why_it_ended
from inferstack.triton.rehearsal.server import InstalledServer, install_backends, server_environment

SINGLE_FOLDER = "/opt/ml/model"
"""Where SageMaker unpacks the archive of an endpoint that has one."""
PORT = 8080
"""The port that SageMaker talks to."""
OWN_PORT = 8000
"""Triton's own HTTP port. The container keeps it closed; here it is for what SageMaker's does not reach."""
_PAUSE = 0.05
_PING_SECONDS = 5.0
_HEALTHY = 200
# Words in the log after which a server neither ends nor gets ready.
_DOOMED = ("Python model file not found",)


# ---------------------------------------------------------------- The start script


class ContainerStops(Exception):  # noqa: N818 - what the container does, no error of the program
    """The container's start script would end before it starts Triton."""

    seconds = 0.0

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.failure = failure(f"the container ends before it starts Triton: {reason}", "")


class Launch(msgspec.Struct, frozen=True):
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
    load = words(f"{LOAD_MODEL}={model}")
    return _launch(environment, SINGLE_FOLDER, load, {DEFAULT_MODEL: model}, "ready")


def launch_multi_model(environment: Mapping[str, str], empty_folder: str) -> Launch:
    """The launch of a multi-model container, which starts without any model.

    Raises:
        ContainerStops: where the start script refuses the environment.
    """
    _check_inference_type(environment)
    return _launch(environment, empty_folder, [], {"SAGEMAKER_MULTI_MODEL": "true"}, "live")


def _model_to_load(environment: Mapping[str, str], folders: Sequence[str]) -> str:
    named = set_variable(environment, DEFAULT_MODEL)
    if named is not None:
        if named not in folders:
            raise ContainerStops(f"{DEFAULT_MODEL} names `{named}`, but the archive has no such folder")
        return named
    # The script splits what `find` prints into a list, and with it names at their white space.
    if len(words("\n".join(folders))) != 1:
        found = f"{len(folders)} folders ({', '.join(folders)})" if folders else "no folder"
        raise ContainerStops(f"the archive has {found}, but {DEFAULT_MODEL} is not set")
    return folders[0]


def _check_inference_type(environment: Mapping[str, str]) -> None:
    value = set_variable(environment, INFERENCE_TYPE)
    if value is not None and value not in INFERENCE_TYPES:
        raise ContainerStops(f"{INFERENCE_TYPE} is `{value}`; allowed: {', '.join(INFERENCE_TYPES)}")


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
        *words(environment.get(ADDITIONAL_ARGS, "")),
        *load,
    ]
    if PING_MODE in environment:
        # The script computes the mode, but passes it on only if the variable was set before.
        more[PING_MODE] = set_variable(environment, OVERRIDE_PING_MODE) or ping
    return Launch(tuple(options), {**environment, **more})


def _options(environment: Mapping[str, str]) -> Iterator[str]:
    for it in OPTIONS:
        value = set_variable(environment, it.variable) or it.default
        if value is not None:
            yield from words(f"{it.option}{value}")


# ---------------------------------------------------------------- The server


class NeverReady(Exception):  # noqa: N818 - an outcome of the rehearsal, no error of the program
    """The server ended, or did not become ready in time."""

    def __init__(self, seconds: float, failure: Failure) -> None:
        super().__init__(failure.what)
        self.seconds, self.failure = seconds, failure


class Host(msgspec.Struct, frozen=True):
    """A container with a server. ``seconds``: how long it waits for the server, and for each answer."""

    confinement: Confinement
    server: InstalledServer
    seconds: float

    @property
    def models(self) -> Path:
        """The folder that is `/opt/ml` inside."""
        return self.confinement.folder / "ml"

    @property
    def sagemaker(self) -> Client:
        """SageMaker's port."""
        return Client(self.confinement, PORT, self.seconds)

    @property
    def triton(self) -> Client:
        """Triton's own port."""
        return Client(self.confinement, OWN_PORT, self.seconds)

    def log(self) -> str:
        """What the server has printed so far."""
        return self._log_file.read_text(encoding="utf-8", errors="replace") if self._log_file.exists() else ""

    def start(self, launch: Launch, stand_ins: Sequence[str]) -> float:
        """Starts the server and waits until `/ping` answers 200; returns how long that took, in seconds.

        Raises:
            NeverReady: when the server ends before, or takes too long.
        """
        folder = self.confinement.folder
        backends = install_backends(self.server, folder, stand_ins)
        folders = (f"--backend-directory={backends}", f"--cache-directory={self.server.caches}")
        arguments = [str(self.server.program), *launch.options, *folders]
        environment: Mapping[str, str] = {**launch.environment, **server_environment(self.server, folder)}
        begun = monotonic()
        self.confinement.start(arguments, environment, self._log_file)
        self._wait_until_ready(begun)
        return monotonic() - begun

    def _wait_until_ready(self, begun: float) -> None:
        ping = Client(self.confinement, PORT, min(_PING_SECONDS, self.seconds))
        while ping.ask("GET", "/ping").status != _HEALTHY:
            waited = monotonic() - begun
            status = self.confinement.exit_status()
            if status is not None:
                raise NeverReady(waited, self._failure(f"Triton ended with status {status}"))
            if any(words in self.log() for words in _DOOMED):
                raise NeverReady(waited, self._failure("Triton hangs: it neither exits nor becomes ready"))
            if waited > self.seconds:
                raise NeverReady(
                    waited, self._failure(f"`/ping` did not answer 200 within {self.seconds:g} s")
                )
            sleep(_PAUSE)

    def _failure(self, what: str) -> Failure:
        return failure(what, why_it_ended(self.log()))

    @property
    def _log_file(self) -> Path:
        return self.confinement.folder / "triton.log"
