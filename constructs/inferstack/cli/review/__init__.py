"""``inferstack review``: what a change deploys, costs, replaces and risks, on one page."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from inferstack.check.files import idle_stage
from inferstack.cli.arguments import add_paths, add_region, files_of
from inferstack.cli.escaping import json_text
from inferstack.cli.review.html import SourceUrl, as_html, source_url
from inferstack.cli.review.markdown import markdown
from inferstack.cli.review.text import text
from inferstack.cli.terminal import tell
from inferstack.problems import printable
from inferstack.review import Review, review
from inferstack.review.policies import NAMES, Policy, broken, policy_of
from inferstack.sizing.prices import HOW_TO_GET_PRICES, PRICE_FILE


def as_json(review: Review) -> str:
    """The review in the form of `review.schema.json`, in ASCII, so that no character is invisible."""
    return json_text(msgspec.to_builtins(review)) + "\n"


_WRITERS: dict[str, Callable[[Review], str]] = {
    "text": lambda found: text(found, sys.stdout),
    "markdown": markdown,
    "json": as_json,
    "html": as_html,
}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack review``."""
    add_paths(command)
    command.add_argument("--stage", help="review this stage of every spec; without it, all of them")
    add_region(command)
    base = (
        "compare with a template, a folder of templates or specs, or a commit, branch or tag of git; "
        "git:REVISION is never a path"
    )
    command.add_argument("--base", metavar="BASE", help=base)
    program = "render the specs of the base with this inferstack, which is of the base's own version"
    command.add_argument("--base-program", metavar="PROGRAM", help=program)
    command.add_argument("--prices", type=Path, metavar="FILE", help=f"a price file ({PRICE_FILE})")
    command.add_argument("--format", choices=_WRITERS, default="text", help="default: text")
    url = "for --format html: the address of a line on the web, with {file} and {line}"
    command.add_argument("--source-url", metavar="URL", type=_source_url, help=url)
    fail = f"exit with 1 for this, too; may be repeated: {', '.join(NAMES)}"
    command.add_argument("--fail-on", metavar="POLICY", type=_policy, action="append", default=[], help=fail)
    command.set_defaults(wrong_usage=command.error)


def _policy(text: str) -> Policy:
    try:
        return policy_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _source_url(text: str) -> SourceUrl:
    try:
        return source_url(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(options: argparse.Namespace) -> int:
    """Show what specs deploy: instances, capacity, quotas, cost, alarms and rights; with --base, what changes
    and what that means. AWS is not asked.

    The exit status is 1 if a spec has errors, AWS would refuse an update, or a policy is broken.
    """
    if options.base == "":
        options.wrong_usage("--base is empty; leave it out to compare with nothing")
    if options.base_program is not None and options.base is None:
        options.wrong_usage("--base-program needs --base, the specs to render with it")
    if options.source_url is not None and options.format != "html":
        options.wrong_usage("--source-url needs --format html, which has links")
    found = review(
        options.paths,
        options.base,
        stage=options.stage,
        region=options.region,
        prices=options.prices,
        base_program=options.base_program,
    )
    print(_written(found, options), end="", flush=True)
    _tell_beside(found, options)
    breaks = list(broken(options.fail_on, found))
    for line in breaks:
        tell(printable(f"not allowed here: {line}"))
    return int(found.failed or bool(breaks))


def _written(found: Review, options: argparse.Namespace) -> str:
    if options.format == "html":
        return as_html(found, options.source_url)
    return _WRITERS[options.format](found)


def _tell_beside(found: Review, options: argparse.Namespace) -> None:
    for note in found.notes:
        tell(printable(f"warning: {note}"))
    if (said := idle_stage(files_of(options.paths)[0], options.stage)) is not None:
        tell(f"warning: {said}")
    if any(it.cost.unpriced for it in found.totals):
        tell(f"some prices are not known, so instances are counted; {HOW_TO_GET_PRICES}")
