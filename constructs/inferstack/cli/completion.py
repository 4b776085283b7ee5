"""``inferstack completion``: the script that completes commands in a shell."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from inferstack.cli.arguments import whole_parser
from inferstack.cli.terminal import Refusal

_SHELLS = ("bash", "zsh", "fish", "powershell", "tcsh")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack completion``."""
    command.add_argument("shell", metavar="SHELL", choices=_SHELLS, help=", ".join(_SHELLS))


def run(options: argparse.Namespace) -> int:
    """Print a script that completes commands, options and files in a shell: for bash,
    `eval "$(inferstack completion bash)"` in ~/.bashrc.
    """
    try:
        import shtab  # noqa: PLC0415 - comes with an extra
    except ImportError:
        raise Refusal("this needs shtab; run: pip install 'inferstack[completion]'") from None
    parser = whole_parser()
    for action in _actions(parser):
        if action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, options.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)
