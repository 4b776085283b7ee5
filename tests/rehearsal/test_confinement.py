"""How the server is confined: it is unreachable from outside, sees nothing of its user's, is gone with its
user, and does not start where that is not possible.
"""

import ctypes
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
from support.program import SOURCE_ROOT

from inferstack.triton.rehearsal.confinement import Confinement
from inferstack.triton.rehearsal.outcome import RehearsalRefused

_SECONDS = 20.0
# What this Python needs.
_PYTHON = [Path(sys.prefix), Path(sys.base_prefix)]
_SECRET = "a-key-that-nobody-may-see"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _connected(confinement: Confinement, port: int) -> socket.socket:
    deadline = monotonic() + _SECONDS
    while True:
        try:
            return confinement.connect(port, 5.0)
        except ConnectionError:
            assert monotonic() < deadline, "nothing listens inside"
            sleep(0.05)


@pytest.fixture
def confinement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Confinement]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    # As the user's shell has it, before the confinement is made.
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", _SECRET)
    with Confinement(_PYTHON) as made:
        yield made


def _printed(confinement: Confinement, *command: str) -> str:
    """What a program prints in the confinement, with the environment of a server; it must end by itself."""
    log = confinement.folder / "log"
    confinement.start(command, {"PATH": "/usr/bin:/bin"}, log)
    _wait_for(confinement)
    return log.read_text()


def _wait_for(confinement: Confinement) -> None:
    deadline = monotonic() + _SECONDS
    while confinement.exit_status() is None:
        assert monotonic() < deadline
        sleep(0.05)


def test_a_server_on_all_interfaces_answers_its_user_and_nobody_else(confinement: Confinement) -> None:
    port = _free_port()
    listen = ["-m", "http.server", str(port), "--bind", "0.0.0.0", "--directory", str(confinement.folder)]
    confinement.start([sys.executable, *listen], dict(os.environ), confinement.folder / "log")
    with _connected(confinement, port) as inside:
        inside.sendall(b"GET /ml/ HTTP/1.0\r\n\r\n")
        assert inside.recv(64).startswith(b"HTTP/1.0 200")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 1.0)


def test_opt_ml_is_the_rehearsals_and_of_all_else_under_opt_only_python_is_there(
    confinement: Confinement,
) -> None:
    (confinement.folder / "ml" / "here").touch()
    found = _printed(confinement, "/bin/sh", "-c", "ls /opt/ml; ls -A /opt; ls -A /dev/shm")
    python = {path.parts[2] for path in _PYTHON if path.is_relative_to("/opt")}
    assert found.split() == ["here", *sorted({*python, "ml"})]


# ---------------------------------------------------------------- What the code of a model can see and do


def test_the_users_files_are_not_there(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(_SECRET)
    hidden = (
        Path.home(),
        tmp_path / "spec.yaml",
        Path(__file__),
        Path("/etc/shadow"),
        Path("/var"),
        Path("/run"),
    )
    shown = _printed(confinement, sys.executable, "-c", _LOOK, *map(str, hidden)).splitlines()
    seen = dict(zip(hidden, shown, strict=True))
    # Of a home folder in which this Python is installed, only that is shown.
    inside = {path.relative_to(Path.home()).parts[0] for path in _PYTHON if path.is_relative_to(Path.home())}
    assert seen.pop(Path.home()) == (str(sorted(inside)) if inside else "nothing")
    assert set(seen.values()) == {"nothing"}


_LOOK = """
import os, sys
for path in sys.argv[1:]:
    there = os.path.exists(path)
    print(sorted(os.listdir(path)) if os.path.isdir(path) else path if there else "nothing")
"""


def test_neither_the_environment_nor_another_process_shows_a_key(confinement: Confinement) -> None:
    script = "env; cat /proc/*/environ /proc/*/cmdline; grep -r . /proc/1/ 2>/dev/null; ls -d /proc/[0-9]*"
    shown = _printed(confinement, "/bin/sh", "-c", script)
    assert "PATH=/usr/bin" in shown
    assert _SECRET not in shown
    assert str(os.getpid()) not in shown.split("/")
    assert (Path(f"/proc/{os.getpid()}/environ").exists(), os.environ["AWS_SECRET_ACCESS_KEY"]) == (
        True,
        _SECRET,
    )


def test_only_tmp_and_shared_memory_can_be_written(confinement: Confinement) -> None:
    (confinement.folder / "ml" / "model").mkdir()
    places = [
        "/",
        "/usr",
        "/etc",
        "/opt",
        "/opt/ml",
        "/opt/ml/model",
        "/home",
        "/proc/sys/kernel",
        sys.prefix,
    ]
    places += [str(confinement.folder), "/tmp", "/dev/shm"]
    script = 'for place in "$@"; do touch "$place/written" 2>/dev/null && echo "$place"; done; cat /dev/null >/dev/null'
    assert _printed(confinement, "/bin/sh", "-c", script, "sh", *places).split() == ["/tmp", "/dev/shm"]
    assert (confinement.folder / "tmp" / "written").exists()


def test_no_right_of_roots_is_left_even_for_root(confinement: Confinement) -> None:
    status = _printed(confinement, "/bin/cat", "/proc/self/status")
    if not status:
        pytest.skip("the machine allows no /proc of its own to the server")
    found = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert {found[name] for name in ("CapPrm", "CapEff", "CapBnd")} == {"0" * 16}
    assert found["NoNewPrivs"] == "1"


_ESCAPES = """
import ctypes
libc = ctypes.CDLL(None)
READ_WRITE = 0x20 | 0x1000
print(libc.mount(b"none", b"/usr", b"", READ_WRITE, None), libc.umount2(b"/opt/ml", 2), libc.sethostname(b"a", 1))
libc.unshare(0x10000000 | 0x20000)
print(libc.mount(b"none", b"/usr", b"", READ_WRITE, None), libc.umount2(b"/opt/ml", 2), libc.kill(1, 9))
open("/usr/written", "w")
"""


def test_what_is_protected_stays_so_in_a_namespace_of_the_models_own(confinement: Confinement) -> None:
    found = _printed(confinement, sys.executable, "-c", _ESCAPES)
    # The first process of a namespace is not reached by a signal from inside.
    assert "-1 -1 -1\n-1 -1 0\n" in found
    assert "Read-only file system" in found


_KEYS = """
import ctypes, sys
call = ctypes.CDLL(None, use_errno=True).syscall
ADD, REQUEST, CONTROL = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}[sys.argv[1]]
SESSION, USER, SEARCH = ctypes.c_long(-3), ctypes.c_long(-4), 10
print(*(call(CONTROL, SEARCH, ring, b"user", b"inferstack-of-the-caller", 0) for ring in (SESSION, USER)))
print(call(REQUEST, b"user", b"inferstack-of-the-caller", None, 0))
print(*(call(ADD, b"user", b"inferstack-left-behind", b"x", 1, ring) for ring in (SESSION, USER)))
print("inferstack-of-the-caller" in open("/proc/keys").read())
"""
_ADD_AND_FORGET = {"x86_64": (248, 250), "aarch64": (217, 219)}
_FORGET, _SESSION_KEYRING, _USER_KEYRING = 9, -3, -4


@pytest.fixture
def keys_of_the_caller() -> Iterator[Path]:
    """A key in the keyring of the session, and one in that of the user; the list of all keys."""
    call, listed = ctypes.CDLL(None, use_errno=True).syscall, Path("/proc/keys")
    add, control = _ADD_AND_FORGET[platform.machine()]
    rings = [ctypes.c_long(_SESSION_KEYRING), ctypes.c_long(_USER_KEYRING)]
    made = [
        call(add, b"user", b"inferstack-of-the-caller", _SECRET.encode(), len(_SECRET), ring)
        for ring in rings
    ]
    if min(made) < 0 or not listed.exists():
        pytest.skip("the machine allows no keys")
    yield listed
    for key, ring in zip(made, rings, strict=True):
        call(control, _FORGET, key, ring)


def test_no_key_of_the_caller_is_there_and_none_is_left_behind(
    confinement: Confinement, keys_of_the_caller: Path
) -> None:
    assert keys_of_the_caller.read_text().count("inferstack-of-the-caller") == 2
    found = _printed(confinement, sys.executable, "-c", _KEYS, platform.machine())
    assert found.split() == ["-1"] * 5 + ["False"]
    assert "inferstack-left-behind" not in keys_of_the_caller.read_text()


def test_the_session_keyring_is_its_own(keys_of_the_caller: Path) -> None:
    """The kernel uses it in calls that are not refused, and it cannot be asked for from inside."""
    before = _session_keyrings(keys_of_the_caller)
    with Confinement(_PYTHON):
        assert _session_keyrings(keys_of_the_caller) - before


def _session_keyrings(keys: Path) -> set[str]:
    return {line.split()[0] for line in keys.read_text().splitlines() if " _ses:" in line}


def test_a_folder_around_the_users_home_is_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "around" / "home"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for shown, there in ((tmp_path / "around", "nothing"), (home, "nothing"), (home / "env", "[]")):
        shown.mkdir(exist_ok=True)
        with Confinement([*_PYTHON, shown]) as made:
            assert _printed(made, sys.executable, "-c", _LOOK, str(shown)).strip() == there


# ---------------------------------------------------------------- What is left of it


def test_the_folder_and_every_process_are_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    # Known by how long it sleeps.
    seconds = str(1000 + os.getpid())
    with Confinement() as made:
        # A process that leaves its parent and its session, as those of a careless server do.
        script = f"setsid sleep {seconds} & echo $$ > /tmp/started; sleep {seconds}"
        made.start(["/bin/sh", "-c", script], dict(os.environ), made.folder / "log")
        deadline = monotonic() + _SECONDS
        while not (made.folder / "tmp" / "started").exists() or len(_processes_with(seconds)) < 2:
            assert monotonic() < deadline
            sleep(0.05)
    assert _processes_with(seconds) == []
    assert list(tmp_path.iterdir()) == []


def test_links_out_of_the_folder_are_removed_and_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, scratch = tmp_path / "kept", tmp_path / "scratch"
    for folder in (kept, scratch):
        folder.mkdir()
    (kept / "file").touch()
    monkeypatch.setenv("TMPDIR", str(scratch))
    with Confinement() as made:
        (made.folder / "ml" / "link").symlink_to(kept)
    assert list(scratch.iterdir()) == []
    assert (kept / "file").exists()


def test_an_exception_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(ZeroDivisionError), Confinement():
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_cannot_be_started_is_refused(confinement: Confinement) -> None:
    with pytest.raises(RehearsalRefused, match="the server cannot be started"):
        confinement.start(["/nowhere/tritonserver"], {}, confinement.folder / "log")


# Runs where no network namespace can be created: in a user namespace whose limit is zero.
_WITHOUT_NAMESPACES = """
echo 0 > /proc/sys/user/max_net_namespaces
exec "$@"
"""
_ENTER = """
from inferstack.triton.rehearsal.confinement import Confinement
from inferstack.triton.rehearsal.outcome import RehearsalRefused
try:
    with Confinement():
        print("entered")
except RehearsalRefused as refused:
    print("refused:", refused)
"""


def test_a_machine_without_namespaces_is_told_what_to_allow(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    assert unshare is not None
    command = [unshare, "--user", "--map-root-user", "sh", "-c", _WITHOUT_NAMESPACES, "sh"]
    done = subprocess.run(
        [*command, sys.executable, "-c", _ENTER],
        env={**os.environ, "PYTHONPATH": str(SOURCE_ROOT), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("refused: this machine does not allow namespaces (")
    assert "--cap-add SYS_ADMIN" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_linux_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(RehearsalRefused, match="needs Linux"), Confinement():
        pass


def _processes_with(argument: str) -> list[int]:
    """Processes that have an argument in their command line."""
    found: list[int] = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and argument in (process / "cmdline").read_text().split("\0"):
                found.append(int(process.name))
        except OSError:
            continue
    return found
