"""The command line: its commands, and the arguments for specs that several of them share."""

import argparse
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from keyword import iskeyword
from pathlib import Path

from inferstack.catalog import regions
from inferstack.check.files import USUAL_FOLDER, spec_files
from inferstack.cli.report import product_version
from inferstack.problems import FilePlace, Problem, SpecError
from inferstack.problems.file_codes import NO_FILE
from inferstack.problems.words import choose, did_you_mean, listed

# Help is the same everywhere, as in the documentation.
_AS_WIDE_AS_EVERY_TERMINAL = partial(argparse.HelpFormatter, width=78)

_COMMANDS = {
    "init": "start a project",
    "validate": "check specs",
    "render": "print CloudFormation",
    "list": "show what specs make",
    "review": "show what a change deploys, costs and risks",
    "package": "pack model archives",
    "prices": "write AWS's prices into a file",
    "size": "count instances for an objective",
    "fit": "find instance types that hold a language model",
    "describe-model": "write the small files that describe a model",
    "share": "compare a shared fleet with separate endpoints",
    "recommend": "measure models on SageMaker",
    "preflight": "ask the account whether a deployment can work",
    "pin": "pin versions of the model registry",
    "rehearse": "serve models locally",
    "measure": "put models under load",
    "drift": "compare a running endpoint with its spec",
    "import": "write the spec of an endpoint that exists",
    "body": "make requests, read answers",
    "invoke": "ask what is deployed, and check what it answers",
    "status": "show how a deployment stands, and why it fails",
    "diagnose": "name the cause of a failure",
    "explain": "explain a code, key, metric or word",
    "schema": "print the JSON Schema",
    "completion": "complete commands in a shell",
}
"""The line of help for each command. In the module of its name, ``run`` does the work, and ``add_arguments``
adds its arguments."""
_OTHER_NAMES = {"pack": "share"}
"""Commands that are found by another name, too, which no help shows."""
_OF_OTHER_TOOLS = {
    **dict.fromkeys(("plan", "diff"), "did you mean `review`?"),
    **dict.fromkeys(("synth", "build"), "did you mean `render`?"),
    **dict.fromkeys(("lint", "check", "test"), "did you mean `validate`?"),
    **dict.fromkeys(
        ("deploy", "apply", "up"),
        "`npx cdk deploy STACK` deploys in a project, and `aws cloudformation deploy` what `render` writes",
    ),
    **dict.fromkeys(
        ("destroy", "delete", "down"),
        "`npx cdk destroy STACK` or `aws cloudformation delete-stack` deletes what is deployed",
    ),
}
"""What to use for the commands of Terraform, CDK and other tools."""

_MOST = 86_400
_MOST_COUNT = 1_000_000_000
_MOST_DIGITS = 20


def unread(options: argparse.Namespace, names: Iterable[str], what_for: str) -> Iterator[str]:
    """Says of options that are given although nothing reads them what they are for."""
    given = [f"--{it.replace('_', '-')}" for it in names if getattr(options, it) not in (None, False, [])]
    if given:
        yield f"{listed(given, quote='', last='and')} {'is' if len(given) == 1 else 'are'} for {what_for}"


UNREAD_PERIOD = "--period is for answers of CloudWatch, and none is read"
"""What is wrong with a period that nothing has."""


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parses the words of a command line; the command's function is ``run`` of the result.

    Raises:
        SystemExit: with status 2 for wrong usage, and 0 after help or the version was printed.
    """
    if words:
        words = [_OTHER_NAMES.get(words[0], words[0]), *words[1:]]
    top, parsers = parser_of(words)
    if words and not words[0].startswith("-") and words[0] not in _COMMANDS:
        instead = _OF_OTHER_TOOLS.get(words[0]) or choose(words[0], (*_COMMANDS, "--help", "--version"))
        top.error(f"unknown command {words[0]!r}; {instead}")
    if not words:
        top.error(f"choose a command: {', '.join(_COMMANDS)}")
    options, unknown = top.parse_known_args(words)
    if unknown:
        # By itself, argparse shows the usage of `inferstack`, which names none of this command's options.
        asked = parsers.get(words[0], top)
        asked.error("; ".join(_unknown(word, asked) for word in unknown))
    return options


def whole_parser() -> argparse.ArgumentParser:
    """The parser with the arguments of all commands."""
    return parser_of(_COMMANDS)[0]


def parser_of(
    words: Collection[str],
) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser, and those of the commands, of which only the ones among ``words`` have their arguments."""
    top = argparse.ArgumentParser(
        prog="inferstack",
        description="A YAML model spec in, one CloudFormation stack for a SageMaker inference endpoint out.",
        epilog="Exit status: 0 done, 1 problems found, 2 wrong usage, 3 something could not be checked.",
        formatter_class=_AS_WIDE_AS_EVERY_TERMINAL,
    )
    top.add_argument(
        "-V", "--version", action=_Version, nargs=0, help="show program's version number and exit"
    )
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True, prog=top.prog)
    parsers = {}
    for name, help_ in _COMMANDS.items():
        made = parsers[name] = commands.add_parser(
            name, help=help_, formatter_class=_AS_WIDE_AS_EVERY_TERMINAL
        )
        # No other command is imported: each needs libraries of its own, such as NumPy.
        if name in words:
            module = f"{name}_" if iskeyword(name) else name.replace("-", "_")
            command = import_module(f"inferstack.cli.{module}")
            made.description = command.run.__doc__
            made.set_defaults(run=command.run)
            command.add_arguments(made)
    return top, parsers


def _unknown(word: str, command: argparse.ArgumentParser) -> str:
    if not word.startswith("-"):
        return f"unexpected argument {word!r}"
    option = word.partition("=")[0]
    question = did_you_mean(option, re.findall(r"--[\w-]+", command.format_usage()))
    return f"unknown option {option}" + (f"; {question}" if question else "")


class _Version(argparse.Action):
    """Looks the version up when it is asked for; argparse's own action takes a text."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"inferstack {product_version()}")
        parser.exit()


# ---------------------------------------------------------------- specs and their region

_DEFAULT = Path(USUAL_FOLDER)


def add_paths(command: argparse.ArgumentParser) -> None:
    """Adds the argument for any number of spec files and folders of spec files."""
    command.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        type=Path,
        default=[_DEFAULT],
        help=f"spec files, or folders of *.yaml and *.yml files; - for standard input (default: {_DEFAULT})",
    )


_FOR_SPECS = "region of the stack, for specs that do not name one"


def add_region(command: argparse.ArgumentParser, help_: str = _FOR_SPECS) -> None:
    """Adds the option for a region: by default that of specs that do not name one."""
    command.add_argument("--region", type=region_name, help=help_)


def region_name(name: str) -> str:
    """The name of a region, known or of the usual form."""
    try:
        regions.partition(name)
    except LookupError as error:
        hint = did_you_mean(name, regions.names(), "write one like us-east-1")
        raise argparse.ArgumentTypeError(f"{error}; {hint}") from None
    return name


def positive_number(written: str) -> float:
    """A positive number, in seconds no more than a day, and for a budget as much."""
    try:
        number = float(written)
    except ValueError:
        number = 0.0
    if not 0 < number <= _MOST:
        raise argparse.ArgumentTypeError(f"{written} is not a positive number, up to {_MOST}")
    return number


def whole_number_within(lowest: int, highest: int) -> Callable[[str], int]:
    """Reads whole numbers within bounds."""

    def read(written: str) -> int:
        # Python refuses to read thousands of digits.
        is_short = written.isascii() and written.isdecimal() and len(written) < _MOST_DIGITS
        if not is_short or not lowest <= int(written) <= highest:
            said = f"{written[:40]!r} is not a whole number from {lowest} to {highest}"
            raise argparse.ArgumentTypeError(said)
        return int(written)

    return read


whole_number = whole_number_within(1, _MOST_COUNT)


def files_of(paths: Iterable[Path]) -> tuple[list[Path], list[Problem]]:
    """The spec files at some paths, each once, and the problems of the folders among them."""
    files: dict[Path, Path] = {}
    problems: list[Problem] = []
    # Asked once: `Path.absolute` would ask the system for each file.
    here = Path.cwd()
    for path in paths:
        if path == _DEFAULT and not path.exists():
            problems.append(_no_default())
            continue
        try:
            for file in spec_files(path):
                files.setdefault(here / file, file)
        except SpecError as error:
            problems += error.problems
    return list(files.values()), problems


def _no_default() -> Problem:
    """The default folder does not exist. Probably no path was given, so no similar name is suggested."""
    message = f"no path was given, and the default folder `{_DEFAULT}` does not exist"
    return Problem(FilePlace(str(_DEFAULT)), message, "pass a spec file, or a folder of spec files", NO_FILE)
