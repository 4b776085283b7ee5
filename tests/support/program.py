"""What the fixtures for tests of the command line return, and how the program is started."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

SOURCE_ROOT = Path(__file__).parents[2] / "constructs"
PROGRAM = "import sys; from inferstack.cli import main; sys.exit(main())"
ENDED = f"import os, pathlib; pathlib.Path.replace = lambda *_: os.kill(os.getpid(), {{ending:d}}); {PROGRAM}"
"""The program, made to end at the moment when it would give its first file the final name."""

Write = Callable[..., Path]
Run = Callable[..., CompletedProcess[str]]
Command = Callable[..., int]
"""Runs the program, or one of its commands, in the process of the test; returns its exit code."""

# Root may read and write everything, unless a program starts without these two of its rights.
WITHOUT_RIGHTS = """
import ctypes, os, sys
drop, override, search = 24, 1, 2
for right in (override, search) if sys.platform == "linux" else ():
    ctypes.CDLL(None).prctl(drop, right, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def without_rights(barred: Path, right: str, *arguments: str) -> CompletedProcess[str]:
    """Runs the program as a user who is refused a right to a path: `R_OK` or `W_OK`, as `os` calls them."""

    def ran(*command: str) -> CompletedProcess[str]:
        program = [sys.executable, "-c", WITHOUT_RIGHTS, sys.executable, *command]
        return subprocess.run(program, capture_output=True, text=True, check=False)

    has_it = f"import os, sys; sys.exit(not os.access(sys.argv[1], os.{right}))"
    if ran("-c", has_it, str(barred)).returncode == 0:
        pytest.skip("no permission binds this user, who cannot give that up")
    return ran("-m", "inferstack", *arguments)
