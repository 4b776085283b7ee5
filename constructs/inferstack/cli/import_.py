"""``inferstack import``: the spec of an endpoint that exists, whoever made it."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from inferstack.account.connection import AccountError, connect
from inferstack.account.existing import existing_endpoint
from inferstack.cli.arguments import add_region
from inferstack.cli.report import counted
from inferstack.cli.terminal import Refusal, tell
from inferstack.problems import printable
from inferstack.resolve.draft import Data
from inferstack.resolve.imported import Imported, spec_of
from inferstack.source.written import entry_lines
from inferstack.triton.archive.writing import complete_or_absent

_STDOUT = "-"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack import``."""
    add = command.add_argument
    add("name", metavar="NAME", help="name of the endpoint")
    add("--spec", metavar="FILE", type=Path, required=True, help="write its spec into this new file; - for standard output")
    add_region(command, "where the endpoint is, if it is not where the environment or the profile says")


def run(options: argparse.Namespace) -> int:
    """Write the spec of an endpoint that exists. What the spec cannot say is listed, in comments at its top
    and on standard error. Nothing is changed in AWS.
    """
    if str(options.spec) != _STDOUT and options.spec.exists():
        raise Refusal(f"{options.spec}: the file exists, and is not overwritten; name a new one")
    try:
        connection = connect(options.region)
        if connection.region is None:
            raise Refusal("no region is known; add --region")
        answers = existing_endpoint(connection, connection.region, options.name)
    except AccountError as error:
        raise Refusal(printable(str(error))) from None
    imported = spec_of(answers, connection.pseudo_parameters)
    remarks = [printable(it) for it in _remarks(imported)]
    text = _text(imported.data, [f"Imported from the endpoint {options.name}.", *remarks])
    if str(options.spec) == _STDOUT:
        sys.stdout.write(text)
    else:
        with complete_or_absent(options.spec) as file:
            file.write(text.encode())
    for it in remarks:
        tell(f"{options.spec}: {it}")
    is_same = imported.comparison is not None and not imported.comparison.drift
    found = "resolves to what is there" if is_same else "does not resolve to what is there"
    tell(f"{options.spec}: {found}; {counted(len(imported.left_out), 'thing')} left out")
    return int(not is_same)


def _remarks(imported: Imported) -> Iterator[str]:
    """What the spec does not say, and what it says wrong."""
    yield from (f"left out: {it}" for it in imported.left_out)
    yield from (f"error: {it.message}; {it.fix}" for it in imported.problems)
    if imported.comparison is not None:
        for it in imported.comparison.drift:
            where = ".".join(map(str, (it.logical_id, *it.path)))
            yield f"differs: {where} becomes {it.wanted}, and is {it.found}"


def _text(data: Data, comments: list[str]) -> str:
    lines = [f"# {it}" for it in comments]
    for key, value in data.items():
        lines += entry_lines(key, value)
    return "\n".join(lines) + "\n"
