"""The Triton that a Python environment has installed.

It is the server inside NVIDIA's `nvidia-pytriton`, https://github.com/triton-inference-server/pytriton, whose
Python code is not used.
"""

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from inferstack.triton.rehearsal.outcome import RehearsalRefused

_INSTALL = "install inferstack there with the extra `rehearse` (Linux x86_64, Python 3.11 or 3.12)"
_PROBE, _STAND_IN = (Path(__file__).with_name(name) for name in ("probe.py", "stand_in.py"))
_PROBE_SECONDS = 60
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


class InstalledServer(msgspec.Struct, frozen=True):
    """Where the parts of the server are, and the Python that its models run on.

    ``folders`` are those that the Python imports from. ``packages`` are those in it, with their versions,
    that can run models in place of a backend.
    """

    folder: Path
    libraries: Path
    python: str
    executables: Path
    shared_python: Path
    folders: tuple[Path, ...]
    packages: Mapping[str, str]

    @property
    def program(self) -> Path:
        """The server."""
        return self.folder / "bin" / "tritonserver"

    @property
    def caches(self) -> Path:
        """The folder of its response caches."""
        return self.folder / "caches"

    @property
    def needs(self) -> tuple[Path, ...]:
        """The files and folders that it reads, besides those of the system."""
        return (*self.folders, self.executables, self.libraries, self.folder, self.shared_python)

    @property
    def stub(self) -> Path:
        """The program that runs a model's Python, one for each version of Python."""
        return self.folder / "python_backend_stubs" / self.python / "triton_python_backend_stub"


def find_server(python: Path) -> InstalledServer:
    """The server in the environment of a Python interpreter.

    Raises:
        RehearsalRefused: when it is not there, or cannot run in this environment.
    """
    found = _probe(python)
    if found["package"] is None:
        raise RehearsalRefused(f"{python} has no nvidia-pytriton, which brings the server: {_INSTALL}")
    package = Path(found["package"])
    _check_numpy(python, found["numpy_version"])
    if found["shared_python"] is None:
        message = f"{python} has no shared libpython{found['python']}.so.1.0, in which the server runs models"
        raise RehearsalRefused(f"{message}; install it (Debian, Ubuntu: libpython{found['python']})")
    server = InstalledServer(
        package / "tritonserver",
        package.parent / "nvidia_pytriton.libs",
        found["python"],
        Path(found["executables"]),
        Path(found["shared_python"]),
        tuple(map(Path, found["folders"])),
        found["packages"],
    )
    _check_parts(server)
    return server


def _probe(python: Path) -> dict[str, Any]:
    try:
        command = [str(python), "-I", str(_PROBE)]
        done = subprocess.run(command, capture_output=True, timeout=_PROBE_SECONDS, check=True, text=True)
        found: dict[str, Any] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise RehearsalRefused(f"{python} is not a Python interpreter that runs here: {why}") from None
    return found


def _check_numpy(python: Path, version: str | None) -> None:
    if version is None:
        raise RehearsalRefused(f"{python} has no numpy, which the server needs: {_INSTALL}")
    if int(version.partition(".")[0]) >= 2:
        reason = "the server was built for numpy 1 and crashes on texts in numpy 2"
        raise RehearsalRefused(f"{python} has numpy {version}, but {reason}: pip install 'numpy<2'")


def _check_parts(server: InstalledServer) -> None:
    if not server.program.is_file() or not server.libraries.is_dir():
        raise RehearsalRefused(f"{server.folder} lacks the server; reinstall nvidia-pytriton: {_INSTALL}")
    if not server.stub.is_file():
        known = sorted(path.name for path in server.stub.parent.parent.iterdir())
        message = f"the server runs models on Python {', '.join(known)}, not on {server.python}"
        raise RehearsalRefused(f"{message}; choose another interpreter with --python")


def install_backends(server: InstalledServer, folder: Path, stand_ins: Iterable[str]) -> Path:
    """Makes the folder of backends: Python's, and a stand-in for each of the names.

    Copies, because Triton refuses a backend whose library is a link to another folder.
    """
    python = folder / "backends" / "python"
    python.mkdir(parents=True)
    for file in ("libtriton_python.so", "triton_python_backend_utils.py"):
        shutil.copy(server.folder / "backends" / "python" / file, python)
    # The server would do that itself, but it cannot write here.
    Path(shutil.copy(server.stub, python)).chmod(0o755)
    for name in stand_ins:
        backend = folder / "backends" / name
        backend.mkdir()
        shutil.copyfile(_STAND_IN, backend / "model.py")
    return folder / "backends"


def server_environment(server: InstalledServer, folder: Path) -> dict[str, str]:
    """The environment that the server needs; nothing comes from the user's, as in a container."""
    libraries = folder / "lib"
    libraries.mkdir()
    # Only this one file: the folder that it lies in may hold libraries that the server must not take.
    (libraries / server.shared_python.name).symlink_to(server.shared_python)
    return {
        "PATH": f"{server.executables}:{_SYSTEM_PATH}",
        "LD_LIBRARY_PATH": f"{libraries}:{server.libraries}",
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        # The same on every machine: no GPU.
        "CUDA_VISIBLE_DEVICES": "",
    }
