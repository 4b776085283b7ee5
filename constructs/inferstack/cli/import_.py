"""``inferstack import``: an endpoint that exists, whoever made it, as a spec, and as a stack of that spec."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from inferstack.account.connection import AccountError, Connection, connect
from inferstack.account.existing import existing_endpoint
from inferstack.account.importing import ChangeSet, Stacks
from inferstack.check.load import load_spec
from inferstack.check.stack_names import stack_name
from inferstack.cli.arguments import add_region
from inferstack.cli.terminal import Refusal, table, tell
from inferstack.endpoint.of_answers import EndpointAnswers
from inferstack.problems import dotted, printable
from inferstack.problems.words import counted
from inferstack.resolve.imported import Imported, spec_of, template
from inferstack.resolve.template import template_of
from inferstack.source.whole_files import complete_or_absent
from inferstack.source.written import document_text
from inferstack.updates.drift import compared
from inferstack.updates.import_plan import UnfitForImportError, import_plan

_STDOUT = "-"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack import``."""
    add = command.add_argument
    add("name", metavar="NAME", help="name of the endpoint")
    what = command.add_mutually_exclusive_group(required=True).add_argument
    what("--spec", metavar="FILE", type=Path, help="write its spec into this new file; - for standard output")
    takes_over = "make a stack of this spec, which takes the endpoint over as it is"
    what("--change-set", metavar="SPEC", type=Path, help=takes_over)
    add("--stage", help="with --change-set: the stage of the spec")
    add("--yes", action="store_true", help="with --change-set: ask nothing")
    add_region(command, "where the endpoint is, if not where the environment or the profile says")
    command.set_defaults(wrong_usage=command.error)


def run(options: argparse.Namespace) -> int:
    """Write the spec of an endpoint that exists; nothing is changed in AWS. What the spec cannot say is
    listed, in comments at its top and on standard error. With --change-set, make a stack of the spec: the
    first deployment imports the endpoint as it is, the second adds what else the spec has. Each is shown and
    asked for first.
    """
    if options.change_set is None and (options.stage is not None or options.yes):
        options.wrong_usage("--stage and --yes are for --change-set")
    try:
        return _write(options) if options.change_set is None else _take_over(options)
    except AccountError as error:
        raise Refusal(str(error)) from None


def _existing(
    region: str | None, name: str, account: str | None = None
) -> tuple[Connection, str, EndpointAnswers]:
    connection = connect(region)
    where = connection.require_region(account)
    return connection, where, existing_endpoint(connection, where, name)


# ---------------------------------------------------------------- the spec


def _write(options: argparse.Namespace) -> int:
    if str(options.spec) != _STDOUT and options.spec.exists():
        raise Refusal(f"{options.spec}: the file exists, and is not overwritten; name a new one")
    if not options.spec.parent.is_dir():
        raise Refusal(f"{options.spec}: there is no folder {options.spec.parent}; create it first")
    connection, _, answers = _existing(options.region, options.name)
    imported = spec_of(answers, connection.pseudo_parameters)
    remarks = [printable(it) for it in _remarks(imported)]
    text = document_text(imported.data, [f"Imported from the endpoint {options.name}.", *remarks])
    if str(options.spec) == _STDOUT:
        sys.stdout.write(text)
    else:
        with complete_or_absent(options.spec) as file:
            file.write(text.encode())
    for it in remarks:
        tell(f"{options.spec}: {it}")
    found = "resolves to what is there" if imported.resolves_to_it else "does not resolve to what is there"
    tell(f"{options.spec}: {found}; {counted(len(imported.left_out), 'thing')} left out")
    return int(not imported.resolves_to_it)


def _remarks(imported: Imported) -> Iterator[str]:
    """What the spec does not say, and what it says wrong."""
    yield from (f"left out: {it}" for it in imported.left_out)
    yield from (f"error at {dotted(it.path)}: {it.message}; {it.fix}" for it in imported.problems)
    if imported.comparison is not None:
        for it in imported.comparison.drift:
            where = ".".join(map(str, (it.logical_id or it.type, *it.path)))
            yield f"differs: {where} becomes {it.wanted}, and is {it.found}"


# ---------------------------------------------------------------- the stack


def _take_over(options: argparse.Namespace) -> int:
    loaded = load_spec(options.change_set, stage=options.stage, region=options.region)
    spec = loaded.spec
    connection, region, answers = _existing(spec.region, options.name, spec.account)
    if spec.region is None:
        loaded = load_spec(options.change_set, stage=options.stage, region=region)
    if connection.filled(spec.endpoint_name) != options.name:
        raise Refusal(
            f"{options.change_set}: the spec is of the endpoint {spec.endpoint_name}, not {options.name}"
        )
    stacks, stack, whole = Stacks(connection, region), stack_name(spec.endpoint_name), template_of(loaded)
    if whole.keys() & {"Parameters", "Mappings"}:
        raise Refusal(
            f"{options.change_set}: an import takes no stack parameters; write their values into the spec"
        )
    owner = stacks.owner(answers.endpoint["EndpointArn"])
    if owner not in (None, stack):
        raise Refusal(
            f"the endpoint {options.name} belongs to the stack {owner}; retain it there (DeletionPolicy: "
            "Retain), remove it from that stack, and import it then"
        )
    if owner is None:
        tell(f"no stack has {options.name}; what Terraform has in its state has to leave that first")
        try:
            plan = import_plan(whole, compared(template(loaded, connection.pseudo_parameters), answers))
        except UnfitForImportError as error:
            raise Refusal(f"{options.change_set}: {error}") from None
        first = stacks.prepare(stack, plan.template, plan.resources)
        if first is None or not _agreed(stacks, first, options):
            return 1
    second = stacks.prepare(stack, whole)
    if second is not None:
        if second.replaced:
            _show(second)
            stacks.discard(second)
            raise Refusal(
                f"the deployment of the spec would replace {', '.join(second.replaced)}: nothing is deployed"
            )
        if not _agreed(stacks, second, options):
            return 1
        again = stacks.prepare(stack, whole)
        if again is not None:
            _show(again)
            stacks.discard(again)
            raise Refusal("the next deployment would change this again")
    tell(f"{stack}: the next deployment changes nothing; deleting the stack deletes the endpoint")
    return 0


def _agreed(stacks: Stacks, change_set: ChangeSet, options: argparse.Namespace) -> bool:
    """Shows a change set, asks, and deploys it; without a yes, discards it."""
    _show(change_set)
    stack, agreed = change_set.stack, options.yes
    try:
        agreed = agreed or _says_yes(f"{change_set.kind.lower()} this into the stack {stack}?")
    finally:
        if not agreed:
            stacks.discard(change_set)
    if agreed:
        stacks.execute(change_set)
    else:
        left = f"the stack {stack} stays, without any resource; " if change_set.kind == "IMPORT" else ""
        tell(f"nothing is deployed; {left}answer yes, or add --yes")
    return bool(agreed)


def _show(change_set: ChangeSet) -> None:
    rows = [
        (
            it["Action"],
            it["ResourceType"],
            it["LogicalResourceId"],
            "REPLACED" if it["LogicalResourceId"] in change_set.replaced else "",
        )
        for it in change_set.changes
    ]
    for line in table(rows) if rows else ():
        print(printable(line), flush=True)


def _says_yes(question: str) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    tell(f"{question} [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
