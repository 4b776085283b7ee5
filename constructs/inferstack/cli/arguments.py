"""What can be written on the command line."""

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from inferstack.catalog import regions
from inferstack.cli import body, package, rehearse
from inferstack.cli.explain import explain, schema
from inferstack.cli.render import render
from inferstack.cli.spec_paths import add_paths
from inferstack.cli.validate import validate
from inferstack.cli.writers import WRITERS
from inferstack.spec.report import FORMATS, product_version
from inferstack.spec.words import choose, did_you_mean

_STAGE = "choose this stage of every spec"


def parse(words: Sequence[str]) -> argparse.Namespace:
    """What the words of a command line say; the command's function is in ``run``.

    Raises:
        SystemExit: with status 2 for wrong usage, and 0 after help or the version was printed.
    """
    top = argparse.ArgumentParser(
        prog="inferstack",
        description="A YAML model spec in, one CloudFormation stack for a SageMaker inference endpoint out.",
        epilog="Exit status: 0 done, 1 problems found, 2 wrong usage.",
    )
    top.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    parsers = {}
    for name, command in _COMMANDS.items():
        made = parsers[name] = commands.add_parser(name, help=command.help, description=command.run.__doc__)
        # All arguments of all commands take longer than to check a spec.
        if name in words:
            command.add_arguments(made)
            made.set_defaults(run=command.run)
    if words and not words[0].startswith("-") and words[0] not in _COMMANDS:
        top.error(f"there is no command {words[0]!r}; {choose(words[0], tuple(_COMMANDS))}")
    if not words:
        top.error(f"name a command: {', '.join(_COMMANDS)}")
    options, unknown = top.parse_known_args(words)
    if unknown:
        # Left to itself, argparse shows the usage of all commands, which names none of this one's options.
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
    """Looks the version up when it is asked for, which takes longer than to check a spec."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"inferstack {product_version()}")
        parser.exit()


def _add_validate(command: argparse.ArgumentParser) -> None:
    add_paths(command)
    command.add_argument("--stage", help=f"{_STAGE}; without it all stages are checked")
    command.add_argument("--format", choices=FORMATS, default="text", help="default: text")
    against = "say also what deploying would do to the stack of this template, or to those of a folder"
    command.add_argument("--against", metavar="TEMPLATE_OR_DIR", type=Path, help=against)
    command.add_argument("--strict", action="store_true", help="warnings fail, too")


def _add_render(command: argparse.ArgumentParser) -> None:
    add_paths(command)
    command.add_argument("--stage", help=_STAGE)
    command.add_argument("--region", type=_region, help="region of the stack, for a spec that names none")
    command.add_argument(
        "--out", metavar="DIR", type=Path, help="write NAME.template.json (or .yaml) here, NAME from the spec"
    )
    command.add_argument("--format", choices=WRITERS, default="json", help="default: json")
    change = "status 1 when DIR was not up to date; if PATH is a folder, templates of no spec count, too"
    command.add_argument("--fail-on-change", action="store_true", help=change)
    command.set_defaults(wrong_usage=command.error)


def _add_explain(command: argparse.ArgumentParser) -> None:
    command.add_argument("code", metavar="CODE", nargs="?", help="for example IS012; without it, all codes")


def _region(name: str) -> str:
    try:
        regions.partition(name)
    except LookupError as error:
        hint = did_you_mean(name, regions.names(), "write one like us-east-1")
        raise argparse.ArgumentTypeError(f"{error}; {hint}") from None
    return name


def _add_nothing(_: argparse.ArgumentParser) -> None:
    pass


class _Command(NamedTuple):
    """A command in the list of commands, what it does, and what can be written after it."""

    help: str
    run: Callable[[argparse.Namespace], int]
    add_arguments: Callable[[argparse.ArgumentParser], None] = _add_nothing


_COMMANDS = {
    "validate": _Command("check specs", validate, _add_validate),
    "render": _Command("print CloudFormation", render, _add_render),
    "package": _Command("pack model archives", package.package, package.add_arguments),
    "rehearse": _Command("serve models locally", rehearse.rehearse, rehearse.add_arguments),
    "body": _Command("make requests, read answers", body.body, body.add_arguments),
    "explain": _Command("say what a code means", explain, _add_explain),
    "schema": _Command("print the JSON Schema", schema),
}
