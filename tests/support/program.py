"""What the fixtures for tests of the command line return, and how the program is started."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

SOURCE_ROOT = Path(__file__).parents[2] / "constructs"
PROGRAM = "import sys; from inferstack.cli import main; sys.exit(main())"
ENDED = f"import os, pathlib; pathlib.Path.replace = lambda *_: os.kill(os.getpid(), {{ending:d}}); {PROGRAM}"
"""The program, made to end at the moment when it would give its first file the final name."""

Write = Callable[..., Path]
Run = Callable[..., CompletedProcess[str]]
Command = Callable[..., int]
"""Runs the program, or one of its commands, in the process of the test; returns its exit code."""
