"""Keeps a server where nothing outside can reach it and nothing can be left behind.

A program of its own, started by :mod:`inferstack.triton.rehearsal.confinement` with one end of a socket
pair; it uses the standard library alone. Two processes: the *outer* one owns the rehearsal's folder, the
*inner* one is the first process of its own process, network and mount namespaces and starts the server on
demand. All of this relies on the order in which things end:

    the caller ends, in whatever way  ->  the socket ends  ->  the inner process ends
    ->  the kernel ends every other process of the namespace and drops its network and its /dev/shm
    ->  the outer process removes the folder

Orders are JSON messages: `start` a server, ask for its `status`, and `connect`, which hands out a connected
socket: a socket belongs to the network in which it was made, so the caller can talk from outside.
Namespaces: https://man7.org/linux/man-pages/man7/namespaces.7.html
"""

import ctypes
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_NEW_MOUNTS, _NEW_USER, _NEW_PROCESSES, _NEW_NETWORK = 0x00020000, 0x10000000, 0x20000000, 0x40000000
_BIND, _RECURSIVE, _PRIVATE, _NO_SETUID, _NO_DEVICES = 0x1000, 0x4000, 1 << 18, 2, 4
_DETACH = 2
_SET_DEATH_SIGNAL = 1
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """The outer process: from making the folder to removing it."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        # Only the end of the socket ends this process. A handler, since children inherit what is ignored.
        signal.signal(number, lambda *_: None)
    folder = Path(tempfile.mkdtemp(prefix="inferstack-rehearsal-"))
    try:
        _leave_the_machine()
        inner = os.fork()
        if inner == 0:
            _inner(channel, folder)
        channel.close()
        os.waitpid(inner, 0)
    except OSError as error:
        _send(channel, no_namespace=str(error))
    finally:
        # Safe: links are not followed, and what the inner process mounted is not visible from here.
        shutil.rmtree(folder, ignore_errors=True)


def _leave_the_machine() -> None:
    """Own network, own process ids; in a user namespace, too, where the rights are missing."""
    wanted = _NEW_NETWORK | _NEW_PROCESSES
    if os.geteuid() == 0 and _libc.unshare(wanted) == 0:
        return
    user, group = os.geteuid(), os.getegid()
    _done(_libc.unshare(wanted | _NEW_USER), "unshare")
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def _inner(channel: socket.socket, folder: Path) -> None:
    status = 1
    try:
        _libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        _mount_private_folders(folder)
        _start_loopback()
        _send(channel, folder=str(folder))
        _obey(channel, folder)
        status = 0
    except OSError as error:
        _send(channel, no_namespace=str(error))
    finally:
        os._exit(status)


def _mount_private_folders(folder: Path) -> None:
    """Mounts an empty /dev/shm, and the folder's `ml` at /opt/ml; the rest of /opt stays as it is."""
    _done(_libc.unshare(_NEW_MOUNTS), "unshare")
    _mount("none", "/", "", _RECURSIVE | _PRIVATE)
    _mount("tmpfs", "/dev/shm", "tmpfs", _NO_SETUID | _NO_DEVICES)
    behind = Path("/dev/shm/opt")
    behind.mkdir()
    _mount("/opt", behind, "", _BIND | _RECURSIVE)
    _mount("tmpfs", "/opt", "tmpfs", _NO_SETUID | _NO_DEVICES)
    for entry in behind.iterdir():
        if entry.name != "ml":
            _show(entry, Path("/opt", entry.name))
    _done(_libc.umount2(os.fsencode(behind), _DETACH), "umount")
    behind.rmdir()
    (folder / "ml").mkdir()
    Path("/opt/ml").mkdir()
    _mount(folder / "ml", "/opt/ml", "", _BIND)


def _show(entry: Path, at: Path) -> None:
    if entry.is_symlink():
        at.symlink_to(entry.readlink())
        return
    if entry.is_dir():
        at.mkdir()
    else:
        at.touch()
    _mount(entry, at, "", _BIND | _RECURSIVE)


def _mount(what: str | Path, at: str | Path, kind: str, flags: int) -> None:
    result = _libc.mount(os.fsencode(what), os.fsencode(at), kind.encode(), ctypes.c_ulong(flags), None)
    _done(result, f"mount on {at}")


def _done(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _start_loopback() -> None:
    """Brings up the loopback interface, which is down in a new network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(control, _GET_FLAGS, request))[1]
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP))


def _obey(channel: socket.socket, folder: Path) -> None:
    server: subprocess.Popen[bytes] | None = None
    while message := channel.recv(1 << 20):
        match json.loads(message):
            case {"start": arguments, "environment": environment, "log": log}:
                try:
                    server = _start(arguments, environment, Path(log), folder)
                    _send(channel, started=server.pid)
                except OSError as error:
                    _send(channel, refused=f"the server cannot be started: {error}")
            case {"connect": port, "seconds": seconds}:
                _connect(channel, port, seconds)
            case _:
                _send(channel, status=None if server is None else server.poll())


def _start(
    arguments: list[str], environment: dict[str, str], log: Path, folder: Path
) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            arguments,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def _connect(channel: socket.socket, port: int, seconds: float) -> None:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connected:
            socket.send_fds(channel, [b"{}"], [connected.fileno()])
    except OSError as error:
        _send(channel, unreachable=str(error))


def _send(channel: socket.socket, **message: Any) -> None:
    channel.send(json.dumps(message).encode())


if __name__ == "__main__":
    main()
