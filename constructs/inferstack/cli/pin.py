"""``inferstack pin``: writes into a spec's lock which versions of the model registry it is deployed with.

Versions are promoted by commits: pins for a stage are copied from another stage, and the lock is reviewed
and committed like any other change. Only approved versions are pinned; ``--check`` finds those that no longer
are.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from inferstack.account.connection import AccountError, Connection, connect
from inferstack.account.registry import APPROVED, client_of, described, latest_approved, pinned
from inferstack.check.load import LoadedSpec, deployable_stages, load_spec
from inferstack.check.lock.file import Pin, Pins, lock_of, with_pins
from inferstack.check.lock.pins import LATEST, WantedPackage, wanted_packages
from inferstack.check.project_file import read_spec
from inferstack.cli.editing import edit_lock
from inferstack.cli.terminal import Refusal, tell
from inferstack.problems.words import counted, listed


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack pin``."""
    add = command.add_argument
    add("spec", metavar="SPEC", type=Path, help="spec file")
    add("--stage", help="pin for this stage of the spec")
    source = "with --stage: take the pins of this other stage, without asking AWS"
    add("--from", metavar="STAGE", dest="source", help=source)
    check = "write nothing, report pinned versions that are no longer approved, or that have changed"
    add("--check", action="store_true", help=check)
    command.set_defaults(wrong_usage=command.error)


def run(options: argparse.Namespace) -> int:
    """Pin the model packages of a spec to approved versions, in its lock."""
    if options.source is not None and (options.stage is None or options.check):
        options.wrong_usage("--from needs --stage, and cannot be used with --check")
    try:
        return _check(options) if options.check else _pin(options)
    except AccountError as error:
        raise Refusal(str(error)) from None


def _pin(options: argparse.Namespace) -> int:
    loaded = load_spec(options.spec, stage=options.stage, locked=False)
    wanted = {it.key: it for it in wanted_packages(loaded.spec)}
    if not wanted:
        tell(f"{options.spec}: nothing to pin: no container has a `model_package`")
        return 0
    if options.source is None:
        connection = connect(loaded.spec.region)
        pins = {key: pinned(it.package, connection, loaded.spec.account) for key, it in wanted.items()}
    else:
        pins = _promoted(options, loaded, wanted)
    for key, pin in pins.items():
        print(f"{key}\n  {pin.arn}")
    edit_lock(options.spec, lambda lock, stages: with_pins(lock, pins, stage=options.stage, stages=stages))
    return 0


# ---------------------------------------------------------------- Promotion


def _promoted(options: argparse.Namespace, loaded: LoadedSpec, wanted: dict[str, WantedPackage]) -> Pins:
    """The pins of another stage, which has to name the same groups in the same account."""
    other = load_spec(options.spec, stage=options.source, locked=False).spec
    pins = lock_of(options.spec).pins_of(options.source)
    missing = [key for key in wanted if key not in pins]
    if missing:
        has = f"it has {listed(list(pins), last='and')}" if pins else "it has none"
        message = f"the stage `{options.source}` has no pin for {listed(missing, last='and')}; {has}"
        raise Refusal(f"{message}: run `inferstack pin {options.spec} --stage {options.source}` first")
    accounts = {it for it in (other.account, loaded.spec.account) if it is not None}
    by_name = [it.package.group for it in wanted.values() if not it.package.group.startswith("arn:")]
    if len(accounts) > 1 and by_name:
        message = f"the stages are in different accounts, and {by_name[0]} is a different group in each"
        raise Refusal(f"{message}; name one group for both, by its ARN")
    return {key: pins[key] for key in wanted}


# ---------------------------------------------------------------- Whether pins still hold


def _check(options: argparse.Namespace) -> int:
    document, lock = read_spec(options.spec), lock_of(options.spec)
    stages = deployable_stages(document, lock) if options.stage is None else (options.stage,)
    checked: dict[str, list[str]] = {}
    for stage in stages:
        loaded = load_spec(options.spec, stage=stage, locked=False)
        for wanted in wanted_packages(loaded.spec):
            pin = lock.pins_of(stage).get(wanted.key)
            name = f"{wanted.key} (stage {stage})" if pin is None and stage is not None else wanted.key
            about = name if pin is None else pin.arn
            if about not in checked:
                checked[about] = list(_faults(wanted, pin, loaded))
    for about, faults in checked.items():
        print(f"{about}: {'; '.join(faults) if faults else APPROVED}")
    wrong = sum(map(bool, checked.values()))
    summary = (
        f"{wrong} of {counted(len(checked), 'model package')} must not be deployed"
        if wrong
        else "no problems"
    )
    tell(f"{options.spec}: {summary}")
    return int(wrong > 0)


def _faults(wanted: WantedPackage, pin: Pin | None, loaded: LoadedSpec) -> Iterator[str]:
    spec = loaded.spec
    if pin is None and wanted.package.version == LATEST:
        yield "not pinned"
        return
    connection = connect(spec.region)
    try:
        if pin is None:
            pinned(wanted.package, connection, spec.account)
        else:
            changes = list(_changes(pin, connection))
            if not changes and wanted.package.version == LATEST:
                newest = latest_approved(wanted.package, connection, spec.account)
                if newest != pin.arn:
                    tell(f"note: {newest} is approved now")
            yield from changes
    except AccountError as error:
        yield str(error)


def _changes(pin: Pin, connection: Connection) -> Iterator[str]:
    now = described(pin.arn, client_of(pin.arn, connection))
    if now.approval != APPROVED:
        yield f"{now.approval}, but it was {pin.approval} when it was pinned, {pin.pinned}"
    if replace(now, pinned=pin.pinned, approval=pin.approval) != pin:
        yield "its image or files are not those that were pinned"
