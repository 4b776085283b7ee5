"""Runs a server that nobody else on the network can reach, that sees nothing of the user's, and that vanishes
with its user; and sends requests to it.

A rehearsal runs a model's code, which may be somebody else's. So the server has an environment, a network,
processes and a root of its own: it can read the system's programs, its Python and the archives, write to an
empty /tmp, and use neither a right of root's nor a key of the kernel's keyrings. It shares the machine's
kernel, and the use of processors, memory and disk is not limited.

Triton's SageMaker front end listens on every network interface, and none of its options changes that. Where
the machine allows no namespaces, the rehearsal therefore refuses to run, instead of opening a port that
accepts model code from anybody.

bubblewrap and util-linux's `unshare` were tried. Both need the permissions that this needs, so they run on no
additional machine, and both leave two processes of our own: one inside, which hands out sockets, and one
outside, which removes the folder. bubblewrap would save the mounts, some hundred lines, for a program that
pip cannot install.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from email.message import Message
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self

import msgspec

from inferstack.triton.protocol import header_length
from inferstack.triton.rehearsal.outcome import RehearsalRefused

# Run as a program and never imported, as it needs Linux.
_KEEPER = Path(__file__).with_name("keeper.py")
# Where to make the folder, and where Python may find its library. Models cannot see even these.
_INHERITED = ("TMPDIR", "LD_LIBRARY_PATH")
_SETUP_SECONDS = 20.0
_CLEANUP_SECONDS = 60.0
_HOW_TO_ALLOW = (
    "the rehearsal runs Triton in a network of its own, as its SageMaker port listens on all interfaces; "
    "allow user namespaces (`sysctl kernel.apparmor_restrict_unprivileged_userns=0`, or for Docker "
    "`--security-opt seccomp=unconfined` or `--cap-add SYS_ADMIN`), or run as root"
)


class Confinement:
    """Context manager: own processes, own network, own `/dev/shm`, and a folder that is `/opt/ml` inside.

    ``shown`` are files and folders that the server may read, besides programs and libraries of the system.
    However the caller ends (even by SIGKILL), no process, namespace, shared memory or file is left.

    Raises:
        RehearsalRefused: on entering, where the machine allows no namespaces.
    """

    folder: Path
    """Scratch space that the server can read; it sees its `ml` at `/opt/ml`, and its `tmp` at `/tmp`."""

    def __init__(self, shown: Iterable[Path] = ()) -> None:
        home = Path.home().resolve()
        # A folder around the user's home may be on the path of a Python, but is not shown.
        self._shown = [str(path) for path in shown if not home.is_relative_to(path.resolve())]

    def __enter__(self) -> Self:
        if sys.platform != "linux":
            raise RehearsalRefused("a rehearsal needs Linux: the server is built only for it")
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # A session of its own, so that Ctrl-C in the terminal only reaches the caller, which then leaves.
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_KEEPER), str(theirs.fileno()), json.dumps(self._shown)],
                env={name: os.environ[name] for name in _INHERITED if name in os.environ},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        try:
            self.folder = Path(self._answer()["folder"])
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def start(self, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        """Starts the server; what it prints goes to ``log``."""
        with log.open("ab") as output:
            self._order({"start": list(arguments), "environment": dict(environment)}, output.fileno())
        self._answer()

    def exit_status(self) -> int | None:
        """None while the server runs; negative when a signal ended it."""
        self._order({"status": True})
        status: int | None = self._answer()["status"]
        return status

    def connect(self, port: int, seconds: float) -> socket.socket:
        """A socket to a port of the server.

        Raises:
            ConnectionError: when nothing listens there.
        """
        self._order({"connect": port, "seconds": seconds})
        self._channel.settimeout(seconds + _SETUP_SECONDS)
        message, descriptors, _, _ = socket.recv_fds(self._channel, 1 << 16, 1)
        if not descriptors:
            raise ConnectionRefusedError(_read(message)["unreachable"])
        connected = socket.socket(fileno=descriptors[0])
        connected.settimeout(seconds)
        return connected

    def unconnected(self) -> socket.socket:
        """A socket in the server's network, for a client that connects by itself."""
        self._order({"socket": True})
        self._channel.settimeout(_SETUP_SECONDS)
        message, descriptors, _, _ = socket.recv_fds(self._channel, 1 << 16, 1)
        if not descriptors:
            raise RehearsalRefused(str(_read(message)))
        return socket.socket(fileno=descriptors[0])

    def _order(self, order: Mapping[str, Any], *descriptors: int) -> None:
        self._channel.settimeout(_SETUP_SECONDS)
        socket.send_fds(self._channel, [json.dumps(order).encode()], descriptors)

    def _answer(self) -> dict[str, Any]:
        self._channel.settimeout(_SETUP_SECONDS)
        return _read(self._channel.recv(1 << 16))

    def _end(self) -> None:
        self._channel.close()
        try:
            self._keeper.wait(_CLEANUP_SECONDS)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()


def _read(message: bytes) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(message) if message else {"refused": "the keeper of the server ended"}
    if "no_namespace" in answer:
        raise RehearsalRefused(
            f"this machine does not allow namespaces ({answer['no_namespace']}); {_HOW_TO_ALLOW}"
        )
    if "refused" in answer:
        raise RehearsalRefused(answer["refused"])
    return answer


# ---------------------------------------------------------------- Requests


TRITON_LENGTH = "Inference-Header-Content-Length"
"""Header with the length of the JSON, on Triton's own port."""


class Reply(msgspec.Struct, frozen=True):
    """What the server answered. With status 0 it did not answer, and the body says why."""

    status: int
    body: bytes
    milliseconds: float
    header_length: int | None = None
    """Length of the JSON at the beginning of the body, where binary values follow it."""

    @property
    def text(self) -> str:
        """The reason in a refusal: what the server calls its error, else the whole body."""
        text = self.body.decode(errors="replace")
        try:
            found = json.loads(text)
        except ValueError:
            return text
        return str(found["error"]) if isinstance(found, dict) and "error" in found else text


class Client(msgspec.Struct, frozen=True):
    """Talks to one port. ``seconds``: how long it waits for an answer."""

    confinement: Confinement
    port: int
    seconds: float

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Reply:
        """One request on a connection of its own. Never raises for what the server does."""
        begun = monotonic()
        connection = HTTPConnection("localhost")
        try:
            connection.sock = self.confinement.connect(self.port, self.seconds)
            connection.request(method, path, body, {} if headers is None else dict(headers))
            response = connection.getresponse()
            content = response.read()
            return Reply(response.status, content, _since(begun), _header_length(response.headers))
        except TimeoutError:
            return Reply(0, f"no answer within {self.seconds:g} s".encode(), _since(begun))
        except (OSError, HTTPException) as error:
            return Reply(0, f"no answer: {error or type(error).__name__}".encode(), _since(begun))
        finally:
            connection.close()


def _header_length(headers: Message) -> int | None:
    """SageMaker's port writes the length into the content type, Triton's own into a header."""
    length = header_length(headers.get("Content-Type", ""))
    own = headers.get(TRITON_LENGTH)
    return length if length is not None or own is None else int(own)


def _since(begun: float) -> float:
    return (monotonic() - begun) * 1000
