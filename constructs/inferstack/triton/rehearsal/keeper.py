"""Keeps a server where nothing outside can reach it, where it sees nothing of the user's, and where nothing
can be left behind.

A program of its own, started by :mod:`inferstack.triton.rehearsal.confinement` with one end of a socket
pair and the folders that the server may read; it uses the standard library alone. Two processes: the *outer*
one owns the rehearsal's folder, the *inner* one is the first process of its own process, network, mount and
IPC namespaces and starts the server on demand. All of this relies on the order in which things end:

    the caller ends, in whatever way  ->  the socket ends  ->  the inner process ends
    ->  the kernel ends every other process of the namespace and drops its network and its /dev/shm
    ->  the outer process removes the folder

Orders are JSON messages: `start` a server, ask for its `status`, and `connect` or `socket`, which hand out a
connected socket or one for the caller to connect: a socket belongs to the network in which it was made, so
the caller can talk from outside.
Namespaces: https://man7.org/linux/man-pages/man7/namespaces.7.html
"""

import ctypes
import errno
import fcntl
import json
import os
import platform
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_NEW_MOUNTS, _NEW_IPC, _NEW_USER = 0x00020000, 0x08000000, 0x10000000
_NEW_PROCESSES, _NEW_NETWORK = 0x20000000, 0x40000000
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 1 << 18
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_PROGRAMS = 1, 2, 4, 8
_DETACH = 2
_SET_DEATH_SIGNAL, _SET_DUMPABLE, _DROP_CAPABILITY, _NO_NEW_RIGHTS = 1, 4, 24, 38
_CAPABILITIES = 64
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
# `mount_setattr`, which glibc has no name for until 2.36; the number is the same on all machines.
_MOUNT_SETATTR, _HERE, _ALL_BELOW = 442, -100, 0x8000

# By machine: its name in the kernel, and the first of `add_key`, `request_key` and `keyctl`, in this order.
# https://man7.org/linux/man-pages/man7/keyrings.7.html
_KEY_CALLS = {"x86_64": (0xC000003E, 248), "aarch64": (0xC00000B7, 217)}
_JOIN_SESSION = 1
# https://man7.org/linux/man-pages/man2/seccomp.2.html
_SET_FILTER, _BY_PROGRAM = 22, 2
_LOAD, _IS, _IS_AT_LEAST, _ANSWER = 0x20, 0x15, 0x35, 0x06
_NUMBER, _MACHINE = 0, 4
_ALLOWED, _REFUSED = 0x7FFF0000, 0x00050000 | errno.EPERM

# What programs need of a system. Nothing of it is the user's, and secrets of services are in none of them.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/sys/devices/system")
_OF_ETC = (
    *(
        "alternatives",
        "group",
        "host.conf",
        "hosts",
        "ld.so.cache",
        "ld.so.conf",
        "ld.so.conf.d",
        "localtime",
    ),
    *("mime.types", "nsswitch.conf", "passwd", "protocols", "services", "ssl/certs", "ssl/openssl.cnf"),
)
_DEVICES = ("null", "zero", "full", "random", "urandom")

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """The outer process: from making the folder to removing it."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    shown = [Path(path) for path in json.loads(sys.argv[2])]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        # Only the end of the socket ends this process. A handler, since children inherit what is ignored.
        signal.signal(number, lambda *_: None)
    folder = Path(tempfile.mkdtemp(prefix="inferstack-rehearsal-")).resolve()
    try:
        _leave_the_keys()
        _leave_the_machine()
        inner = os.fork()
        if inner == 0:
            _inner(channel, folder, shown)
        channel.close()
        os.waitpid(inner, 0)
    except OSError as error:
        _send(channel, no_namespace=str(error))
    finally:
        # Safe: links are not followed, and what the inner process mounted is not visible from here.
        shutil.rmtree(folder, ignore_errors=True)


def _leave_the_keys() -> None:
    """Joins a session keyring of its own, as the kernel itself looks up keys there, such as for file systems
    and for encryption by sockets. Fails where the kernel has no keys, or they are refused already.
    """
    _libc.syscall(_KEY_CALLS[platform.machine()][1] + 2, _JOIN_SESSION, None)


def _leave_the_machine() -> None:
    """Own network, process ids and IPC; in a user namespace, too, where the rights are missing."""
    wanted = _NEW_NETWORK | _NEW_PROCESSES | _NEW_IPC
    if os.geteuid() == 0 and _libc.unshare(wanted) == 0:
        return
    user, group = os.geteuid(), os.getegid()
    _done(_libc.unshare(wanted | _NEW_USER), "unshare")
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def _inner(channel: socket.socket, folder: Path, shown: Iterable[Path]) -> None:
    status = 1
    try:
        _libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        # Other processes cannot read this one's memory, which has more rights than theirs.
        _libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
        _done(_libc.unshare(_NEW_MOUNTS), "unshare")
        _mount("none", "/", "", _RECURSIVE | _PRIVATE)
        _enter(_new_root(folder, shown))
        _start_loopback()
        _refuse_keys()
        _send(channel, folder=str(folder))
        _obey(channel)
        status = 0
    except OSError as error:
        _send(channel, no_namespace=str(error))
    finally:
        os._exit(status)


# ---------------------------------------------------------------- What the server can see
#
# A root of its own: the system's programs and libraries, the folders of the server's Python and that of the
# rehearsal, all read-only, and its own /tmp. Home folders, most of /etc, and other processes are not in it.


def _new_root(folder: Path, shown: Iterable[Path]) -> Path:
    """Assembles the server's root and returns its place."""
    root, models, scratch = (folder / name for name in ("root", "ml", "tmp"))
    for made in (root, models, scratch):
        made.mkdir()
    _mount("tmpfs", root, "tmpfs", _NO_SETUID | _NO_DEVICES)
    # First, as the others may be in it.
    _bind(scratch, root / "tmp")
    for path in (*map(Path, _SYSTEM), *(Path("/etc", name) for name in _OF_ETC), *shown):
        _show(path, root)
    _bind(folder, _below(root, folder))
    _bind(models, root / "opt/ml")
    for name in ("proc", "dev"):
        (root / name).mkdir()
    _set_read_only(root, _ALL_BELOW)
    _set_read_only(root / "tmp", 0, clear=True)
    _make_devices(root / "dev")
    _mount_processes(root / "proc")
    return root


def _show(path: Path, root: Path) -> None:
    """Binds a file or folder of the machine, where it is there, to the same path below a root."""
    place = _below(root, path)
    if not path.exists() or os.path.lexists(place):
        # In a folder that is shown already.
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        place.symlink_to(path.readlink())
        _show(path.resolve(), root)
        return
    if path.is_dir():
        place.mkdir()
    else:
        place.touch()
    _mount(path, place, "", _BIND | _RECURSIVE)


def _bind(folder: Path, place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    _mount(folder, place, "", _BIND)


def _below(root: Path, path: Path) -> Path:
    return root / str(path).lstrip("/")


def _make_devices(dev: Path) -> None:
    """Mounts the harmless devices, and shared memory of the namespace's own."""
    _mount("tmpfs", dev, "tmpfs", _NO_SETUID | _NO_PROGRAMS)
    # In a folder that everybody may write to, `> /dev/null` would be refused.
    dev.chmod(0o755)
    for name in _DEVICES:
        (dev / name).touch()
        _mount(Path("/dev", name), dev / name, "", _BIND)
    (dev / "shm").mkdir()
    _mount("tmpfs", dev / "shm", "tmpfs", _NO_SETUID | _NO_DEVICES)


def _mount_processes(proc: Path) -> None:
    """Mounts the namespace's own /proc. A machine that hides parts of its own allows no other; then there is
    none.
    """
    try:
        _mount("proc", proc, "proc", _READ_ONLY | _NO_SETUID | _NO_DEVICES | _NO_PROGRAMS)
    except OSError as error:
        if error.errno != errno.EPERM:
            raise
        return
    # It names the keys of every process of the same user.
    if (proc / "keys").exists():
        _mount("/dev/null", proc / "keys", "", _BIND)


def _enter(root: Path) -> None:
    """Makes a folder the root; what was the root before is no longer there."""
    os.chdir(root)
    _done(_libc.pivot_root(b".", b"."), "pivot_root")
    _done(_libc.umount2(b".", _DETACH), "umount")
    os.chdir("/tmp")


def _set_read_only(place: Path, below: int, *, clear: bool = False) -> None:
    """Makes a mount, and with ``_ALL_BELOW`` those below it, read-only, or the mount writable again."""
    flags = _READ_ONLY if clear else _READ_ONLY | _NO_SETUID | _NO_DEVICES
    attributes = struct.pack("=4Q", 0, flags, 0, 0) if clear else struct.pack("=4Q", flags, 0, 0, 0)
    path = os.fsencode(place)
    result = _libc.syscall(_MOUNT_SETATTR, _HERE, path, below, attributes, len(attributes))
    _done(result, f"protecting {place}")


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


def _refuse_keys() -> None:
    """Refuses the system calls about keys to this process and its children: the keyring of a user is the same
    in every session, and keeps what is put there. Calls of other machines, which have other numbers, are
    refused, too.
    """
    machine, first = _KEY_CALLS[platform.machine()]
    program = (
        (_LOAD, 0, 0, _MACHINE),
        (_IS, 0, 4, machine),
        (_LOAD, 0, 0, _NUMBER),
        # x86's calls with 32-bit pointers begin here.
        (_IS_AT_LEAST, 2, 0, 1 << 30),
        (_IS_AT_LEAST, 0, 2, first),
        (_IS_AT_LEAST, 1, 0, first + 3),
        (_ANSWER, 0, 0, _REFUSED),
        (_ANSWER, 0, 0, _ALLOWED),
    )
    steps = b"".join(struct.pack("=HBBI", *step) for step in program)
    held = ctypes.create_string_buffer(steps, len(steps))
    filter_ = struct.pack("@HP", len(program), ctypes.addressof(held))
    _done(_libc.prctl(_SET_FILTER, _BY_PROGRAM, filter_, 0, 0), "refusing keys")


def _obey(channel: socket.socket) -> None:
    server: subprocess.Popen[bytes] | None = None
    while True:
        message, descriptors, _, _ = socket.recv_fds(channel, 1 << 20, 1)
        if not message:
            return
        match json.loads(message):
            case {"start": arguments, "environment": environment}:
                try:
                    server = _start(arguments, environment, descriptors[0])
                    _send(channel, started=server.pid)
                except OSError as error:
                    _send(channel, refused=f"the server cannot be started: {error}")
            case {"connect": port, "seconds": seconds}:
                _connect(channel, port, seconds)
            case {"socket": _}:
                with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as made:
                    socket.send_fds(channel, [b"{}"], [made.fileno()])
            case _:
                _send(channel, status=None if server is None else server.poll())


def _start(arguments: list[str], environment: dict[str, str], log: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            arguments,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=_give_up_rights,  # noqa: PLW1509 - this process has one thread
        )
    finally:
        os.close(log)


def _give_up_rights() -> None:
    """No program that the server starts has any right of root's, even if it is run as root."""
    for capability in range(_CAPABILITIES):
        # Fails for those that the system does not know.
        _libc.prctl(_DROP_CAPABILITY, capability, 0, 0, 0)
    _libc.prctl(_NO_NEW_RIGHTS, 1, 0, 0, 0)


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
