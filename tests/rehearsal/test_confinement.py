"""How the server is confined: unreachable from outside, gone with its user, refused where that is not possible."""

import os
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
    with Confinement() as made:
        yield made


def test_a_server_on_all_interfaces_answers_its_user_and_nobody_else(confinement: Confinement) -> None:
    port = _free_port()
    listen = ["-m", "http.server", str(port), "--bind", "0.0.0.0", "--directory", str(confinement.folder)]
    confinement.start([sys.executable, *listen], dict(os.environ), confinement.folder / "log")
    with _connected(confinement, port) as inside:
        inside.sendall(b"GET /ml/ HTTP/1.0\r\n\r\n")
        assert inside.recv(64).startswith(b"HTTP/1.0 200")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 1.0)


def test_opt_ml_is_the_rehearsals_and_all_else_under_opt_is_the_machines(confinement: Confinement) -> None:
    (confinement.folder / "ml" / "here").touch()
    log = confinement.folder / "log"
    confinement.start(["/bin/sh", "-c", "ls /opt/ml; ls -A /opt; ls -A /dev/shm"], dict(os.environ), log)
    deadline = monotonic() + _SECONDS
    while confinement.exit_status() is None:
        assert monotonic() < deadline
        sleep(0.05)
    assert log.read_text().split() == ["here", *sorted({*os.listdir("/opt"), "ml"})]  # noqa: PTH208


def test_the_folder_and_every_process_are_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with Confinement() as made:
        # A process that leaves its parent and its session, as those of a careless server do.
        script = "setsid sleep 1000 & echo $$ > started; sleep 1000"
        made.start(["/bin/sh", "-c", script], dict(os.environ), made.folder / "log")
        deadline = monotonic() + _SECONDS
        while not (made.folder / "started").exists():
            assert monotonic() < deadline
            sleep(0.05)
        assert len(_processes_in(made.folder)) >= 2
    assert _processes_in(made.folder) == []
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


def _processes_in(folder: Path) -> list[int]:
    """Processes whose working directory is a folder, even a deleted one."""
    found: list[int] = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and str((process / "cwd").readlink()).startswith(str(folder)):
                found.append(int(process.name))
        except OSError:
            continue
    return found
