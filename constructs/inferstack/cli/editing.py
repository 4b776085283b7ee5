"""Edits of specs and locks by commands, written whole or not at all. Those of specs are checked and shown."""

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from inferstack.check.load import check_document
from inferstack.check.lock.file import Lock, lock_path
from inferstack.check.lock.update import update_lock
from inferstack.check.project_file import read_spec, spec_of_text
from inferstack.cli.terminal import Refusal, painted, tell
from inferstack.problems import Problem, Severity, SpecError, printable
from inferstack.problems.words import listed
from inferstack.source.edit import Changes, Edit, edit_of
from inferstack.source.spec_file import PIPED
from inferstack.source.stages import at_stage, stage_names
from inferstack.source.whole_files import complete_or_absent

_MARK = b"\xef\xbb\xbf"
_STYLES = {"+": "green", "-": "red"}


def edit_spec(spec: Path, changes: Changes, *, stage: str | None = None, region: str | None = None) -> None:
    """Gives a spec other values where they are written at a stage, and shows the diff.

    A spec that would break a rule after that is not written. ``region`` is for specs that name none.

    Raises:
        SpecError: when the spec cannot be edited without changing more than this.
    """
    if os.fspath(spec) == PIPED:
        raise Refusal("standard input cannot be edited; name the file of the spec")
    edit = edit_of(spec, changes, stage=stage)
    if edit.before == edit.after:
        tell(printable(f"{spec}: unchanged"))
        return
    warnings = _required_to_be_right(edit, region)
    print("".join(shown(edit, sys.stdout)), end="", flush=True)
    write(spec, edit)
    for warning in warnings:
        tell(str(warning))
    others = [] if stage is None else list(_others_changed(edit, stage))
    shared = f"; {listed(others, last='and')} changed, too, since the stages share it" if others else ""
    tell(printable(f"{spec}: written{shared}"))


def _others_changed(edit: Edit, stage: str) -> Iterator[str]:
    """The stages other than the edited one whose values change, too."""
    before, after = (spec_of_text(edit.file, it) for it in (edit.before, edit.after))
    for name in stage_names(after):
        if name != stage and at_stage(before, name).data != at_stage(after, name).data:
            yield name


def _required_to_be_right(edit: Edit, region: str | None) -> list[Problem]:
    """The warnings that the edited spec has and the spec had not; more errors than before are a refusal."""
    before = {(it.code, it.place) for it in _problems(edit.file, edit.before, region)}
    added = [it for it in _problems(edit.file, edit.after, region) if (it.code, it.place) not in before]
    errors = [it for it in added if it.severity is Severity.ERROR]
    if errors:
        wrong = "; ".join(f"{it.code}: {it.message}; {it.fix}" for it in errors)
        raise Refusal(f"{edit.file}: not written, because the edited spec would be wrong: {wrong}")
    return added


def _problems(file: str, text: str, region: str | None) -> list[Problem]:
    try:
        return check_document(spec_of_text(file, text), region=region)[1]
    except SpecError as error:
        return list(error.problems)


def shown(edit: Edit, stream: TextIO) -> Iterator[str]:
    """The lines of an edit's diff, colored if the stream that they are for is a terminal."""
    for line in edit.diff.split("\n")[:-1]:
        style, text = _STYLES.get(line[:1]), printable(line)
        yield f"{text if style is None else painted(text, style, stream)}\n"


def write(spec: Path, edit: Edit) -> None:
    """Replaces the file that the name leads to, with its byte order mark and its permissions."""
    target = spec.resolve()
    content = target.read_bytes()
    if content.removeprefix(_MARK).decode("utf-8", "replace") != edit.before:
        raise Refusal(f"{spec}: the file has changed since it was read; run the command again")
    with complete_or_absent(target) as file:
        file.write((_MARK if content.startswith(_MARK) else b"") + edit.after.encode())
        if hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))


# ---------------------------------------------------------------- locks


def edit_lock(spec: Path, change: Callable[[Lock, Sequence[str]], Lock]) -> None:
    """Changes the lock next to a spec; ``change`` gets it and the stages that the spec has.

    It is read again, since somebody may have changed it for another stage in the meantime.
    """
    path = lock_path(spec)
    stages = stage_names(read_spec(spec))
    if update_lock(spec, lambda lock: change(lock, stages)):
        tell(f"{path}: written; commit it with {spec.name}")
    else:
        tell(f"{path}: unchanged")
