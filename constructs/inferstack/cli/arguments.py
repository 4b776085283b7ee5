"""What can be written on the command line."""

import argparse
import re
from collections.abc import Sequence
from functools import partial
from importlib import import_module

from inferstack.problems.words import choose, did_you_mean

# argparse would ask the terminal, even if it shows no help: that takes as long as checking four specs.
_AS_WIDE_AS_EVERY_TERMINAL = partial(argparse.HelpFormatter, width=78)


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parses the words of a command line; the command's function is ``run`` of the result.

    Raises:
        SystemExit: with status 2 for wrong usage, and 0 after help or the version was printed.
    """
    top = argparse.ArgumentParser(
        prog="inferstack",
        description="A YAML model spec in, one CloudFormation stack for a SageMaker inference endpoint out.",
        epilog="Exit status: 0 done, 1 problems found, 2 wrong usage.",
        formatter_class=_AS_WIDE_AS_EVERY_TERMINAL,
    )
    top.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True, prog=top.prog)
    parsers = {}
    # Only the command that is named: making all of them takes longer than checking a spec.
    for name in words[:1] if words and words[0] in _COMMANDS else _COMMANDS:
        made = parsers[name] = commands.add_parser(
            name, help=_COMMANDS[name], formatter_class=_AS_WIDE_AS_EVERY_TERMINAL
        )
        if name in words:
            command = import_module(f"inferstack.cli.{name}")
            made.description = command.run.__doc__
            made.set_defaults(run=command.run)
            command.add_arguments(made)
    if words and not words[0].startswith("-") and words[0] not in _COMMANDS:
        instead = choose(words[0], (*_COMMANDS, "--help", "--version"))
        top.error(f"there is no command {words[0]!r}; {instead}")
    if not words:
        top.error(f"name a command: {', '.join(_COMMANDS)}")
    options, unknown = top.parse_known_args(words)
    if unknown:
        # By itself, argparse shows the usage of `inferstack`, which names none of this command's options.
        asked = parsers.get(words[0], top)
        asked.error("; ".join(_unknown(word, asked) for word in unknown))
    return options


def _unknown(word: str, command: argparse.ArgumentParser) -> str:
    if not word.startswith("-"):
        return f"{word!r} is an argument too many"
    option = word.partition("=")[0]
    question = did_you_mean(option, re.findall(r"--[\w-]+", command.format_usage()))
    return f"there is no option {option}" + (f"; {question}" if question else "")


class _Version(argparse.Action):
    """Looks the version up only when it is asked for, as that takes longer than checking a spec."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from inferstack.cli.report import product_version  # noqa: PLC0415

        print(f"inferstack {product_version()}")
        parser.exit()


_COMMANDS = {
    "validate": "check specs",
    "render": "print CloudFormation",
    "package": "pack model archives",
    "rehearse": "serve models locally",
    "body": "make requests, read answers",
    "explain": "say what a code means",
    "schema": "print the JSON Schema",
}
"""The line of help for each command. In the module of its name, ``run`` does the work, and ``add_arguments``
adds its arguments."""
