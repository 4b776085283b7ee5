"""``inferstack rehearse``: Triton models served on this machine before they are deployed."""

import argparse
import sys
from pathlib import Path

from inferstack.spec.check import load_spec

_SECONDS = 120.0


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What can be written after ``inferstack rehearse``."""
    add = command.add_argument
    add("spec", metavar="SPEC", type=Path, help="spec file")
    add("--stage", help="choose this stage of the spec")
    timeout = f"longest wait in seconds for a start, for loading, and for each answer (default: {_SECONDS:g})"
    add("--timeout", metavar="S", type=_seconds, default=_SECONDS, help=timeout)
    python = "interpreter with nvidia-pytriton and with what the models import (default: this one)"
    add("--python", metavar="FILE", type=Path, default=Path(sys.executable), help=python)
    allow = "files may come from here, too; else only from the folder of the spec"
    add("--allow", metavar="DIR", type=Path, action="append", default=[], help=allow)
    archive = (
        "rehearse this archive, which is there already, instead of packing; can be repeated for a "
        "multi-model endpoint"
    )
    add("--archive", metavar="FILE", type=Path, action="append", default=[], help=archive)
    component = "rehearse this inference component only; with --archive: the archive is for it"
    add("--component", metavar="NAME", help=component)
    model = "rehearse this one of `models` only; with --archive: the archive is for it"
    add("--model", metavar="NAME", help=model)
    add("--log", metavar="FILE", type=Path, help="write Triton's whole log here")
    command.set_defaults(wrong_usage=command.error)


def run(options: argparse.Namespace) -> int:
    """Serve a spec's Triton models on this machine, as the hosting container would, and ask each of them."""
    from inferstack.cli.rehearse_run import rehearse_and_tell  # noqa: PLC0415 - brings protobuf

    # The lock is left aside: what is rehearsed is what will be uploaded, not what was.
    return rehearse_and_tell(load_spec(options.spec, stage=options.stage, locked=False), options)


def _seconds(written: str) -> float:
    try:
        seconds = float(written)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86400:
        raise argparse.ArgumentTypeError(f"{written} is no number of seconds above 0")
    return seconds
