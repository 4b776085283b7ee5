"""Plays the hosting container: a folder that is `/opt/ml`, a server in it, and two ports to talk to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from inferstack.triton.rehearsal.confinement import Client, Confinement
from inferstack.triton.rehearsal.container import OWN_PORT, PORT, Launch
from inferstack.triton.rehearsal.explanations import failure, why_it_ended
from inferstack.triton.rehearsal.outcome import Failure
from inferstack.triton.rehearsal.server import InstalledServer, install_backends, server_environment

_PAUSE = 0.05
_PING_SECONDS = 5.0
_HEALTHY = 200
# Words in the log after which a server neither ends nor gets ready.
_DOOMED = ("Python model file not found",)


class NeverReady(Exception):  # noqa: N818 - an outcome of the rehearsal, no error of the program
    """The server ended, or did not get ready in time."""

    def __init__(self, seconds: float, failure: Failure) -> None:
        super().__init__(failure.what)
        self.seconds, self.failure = seconds, failure


@dataclass(frozen=True, slots=True)
class Host:
    """One container. ``seconds``: how long it waits for the server, and for each answer."""

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
        arguments = [str(self.server.program), *launch.options, f"--backend-directory={backends}"]
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
                raise NeverReady(waited, self._failure("Triton hangs: it neither ends nor gets ready"))
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
