"""Prints the templates of specs as JSON, made by the inferstack that is found first.

A program of its own for ``tools.template_changes``, since another version is another process. It uses nothing
but the command line, which stays the same from one version to the next.
"""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import yaml

from inferstack.cli import main

_REGION = "us-east-1"


def stages_of(file: str) -> list[str | None]:
    """The stages of a spec; a spec that uses ``${stage}`` is not rendered without one."""
    text = Path(file).read_text("utf-8")
    stages = [*(yaml.safe_load(text).get("stages") or {})]
    return stages if stages and "${stage}" in text else [None, *stages]


def ran(*words: str) -> tuple[int, str]:
    """The status of a command, and what it printed to standard output."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(io.StringIO()):
        status = main(words)
    return status, printed.getvalue()


def made(file: str, stage: str | None) -> dict[str, Any]:
    """The template of a spec at a stage, and what is reported about it."""
    options = ("--region", _REGION, *(() if stage is None else ("--stage", stage)))
    _, report = ran("validate", file, *options, "--format", "json")
    status, template = ran("render", file, *options)
    return {
        "template": json.loads(template) if status == 0 else None,
        "problems": {it["code"]: f"{it['severity']}: {it['message']}" for it in json.loads(report)},
    }


if __name__ == "__main__":
    found = {
        f"{file} at stage {stage}" if stage else file: made(file, stage)
        for file in sys.argv[1:]
        for stage in stages_of(file)
    }
    json.dump(found, sys.stdout)
