"""What can be written on the command line."""

import argparse
from pathlib import Path

from inferstack.catalog import regions
from inferstack.cli import body, package, rehearse
from inferstack.cli.explain import explain, schema
from inferstack.cli.render import render
from inferstack.cli.validate import validate
from inferstack.cli.writers import WRITERS
from inferstack.spec.report import FORMATS, product_version
from inferstack.spec.words import nearest

_STAGE = "choose this stage of every spec"


def parser() -> argparse.ArgumentParser:
    """The parser. What it returns has the command's function in ``run``."""
    top = argparse.ArgumentParser(
        prog="inferstack",
        description="A YAML model spec in, one CloudFormation stack for a SageMaker inference endpoint out.",
        epilog="Exit status: 0 done, 1 problems found, 2 wrong usage.",
    )
    top.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_validate(commands.add_parser("validate", help="check specs", description=validate.__doc__))
    _add_render(commands.add_parser("render", help="print CloudFormation", description=render.__doc__))
    package.add_arguments(
        commands.add_parser("package", help="pack model archives", description=package.package.__doc__)
    )
    rehearse.add_arguments(
        commands.add_parser("rehearse", help="serve models locally", description=rehearse.rehearse.__doc__)
    )
    body.add_arguments(
        commands.add_parser("body", help="make requests, read answers", description=body.body.__doc__)
    )
    _add_explain(commands.add_parser("explain", help="say what a code means", description=explain.__doc__))
    shown = commands.add_parser("schema", help="print the JSON Schema", description=schema.__doc__)
    shown.set_defaults(run=schema)
    return top


class _Version(argparse.Action):
    """Looks the version up when it is asked for, which takes longer than to check a spec."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"inferstack {product_version()}")
        parser.exit()


def _add_validate(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        type=Path,
        default=[Path("model_specs")],
        help="spec files, or folders whose *.yaml and *.yml files are meant (default: model_specs)",
    )
    command.add_argument("--stage", help=f"{_STAGE}; without it all stages are checked")
    command.add_argument("--format", choices=FORMATS, default="text", help="default: text")
    against = "say also what deploying would do to the stack of this template, or to those of a folder"
    command.add_argument("--against", metavar="TEMPLATE_OR_DIR", type=Path, help=against)
    command.add_argument("--strict", action="store_true", help="warnings fail, too")
    command.set_defaults(run=validate)


def _add_render(command: argparse.ArgumentParser) -> None:
    command.add_argument("specs", metavar="SPEC", nargs="+", type=Path, help="spec files")
    command.add_argument("--stage", help=_STAGE)
    command.add_argument("--region", type=_region, help="region of the stack, for a spec that names none")
    command.add_argument(
        "--out", metavar="DIR", type=Path, help="write NAME.template.json (or .yaml) here, NAME from the spec"
    )
    command.add_argument("--format", choices=WRITERS, default="json", help="default: json")
    command.set_defaults(run=render)


def _add_explain(command: argparse.ArgumentParser) -> None:
    command.add_argument("code", metavar="CODE", nargs="?", help="for example IS012; without it, all codes")
    command.set_defaults(run=explain)


def _region(name: str) -> str:
    try:
        regions.partition(name)
    except LookupError as error:
        close = nearest(name, regions.names())
        hint = "write one like us-east-1" if close is None else f"did you mean {close}?"
        raise argparse.ArgumentTypeError(f"{error}; {hint}") from None
    return name
