"""``inferstack init``: a new project; and later, how its files differ from what would be written today."""

import argparse
import difflib
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from inferstack.check.files import check_files
from inferstack.cli.arguments import add_region
from inferstack.cli.init_questions import answers_to
from inferstack.cli.report import counted, text
from inferstack.cli.terminal import Refusal, tell, termination_interrupts
from inferstack.problems import Severity, printable
from inferstack.project.answers import CI_SYSTEMS, KIND_NAMES
from inferstack.project.files import REQUIREMENTS, SCHEMA, files_of, is_start
from inferstack.project.state import RECORD, WRITABLE, FileState, Record, read_record, record_of, states
from inferstack.project.writing import write_all

_SAYS = {
    FileState.NEW: "would be written",
    FileState.OUTDATED: "outdated, and not changed by you",
    FileState.OWN: "yours: left as it is",
    FileState.BOTH: "yours, and init would write something new",
    FileState.REMOVED: "removed by you: left out",
    FileState.DROPPED: "no longer part of the project: remove it if you do not need it",
}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack init``."""
    command.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        type=Path,
        default=Path(),
        help="folder of the project (default: .)",
    )
    kinds = f"kind of the first spec: {', '.join(KIND_NAMES)}"
    command.add_argument("--kind", metavar="KIND", choices=KIND_NAMES, help=kinds)
    add_region(command, "where to deploy")
    command.add_argument("--ci", choices=CI_SYSTEMS, help="what reviews and deploys")
    command.add_argument(
        "--yes", action="store_true", help="ask nothing, and use the defaults for what is not given"
    )
    later = command.add_mutually_exclusive_group()
    later.add_argument("--diff", action="store_true", help="write nothing, show how files differ")
    later.add_argument(
        "--update",
        action="store_true",
        help="in a project: write new and outdated files that you have not changed",
    )
    command.set_defaults(wrong_usage=command.error)


def run(options: argparse.Namespace) -> int:
    """Write a project that passes its checks at once: spec, CDK app, test, pipeline. Files that exist are
    never overwritten. In a project, show what init would write differently today, with status 1 if --update
    would write anything.
    """
    folder: Path = options.folder
    if folder.exists() and not folder.is_dir():
        raise Refusal(f"{folder}: this is not a folder; name a folder, or leave it out for the current one")
    record = _record(folder)
    answers = answers_to(options, None if record is None else record.answers)
    wanted = files_of(answers)
    found = states(folder, wanted, record)
    if options.diff:
        print(*_differences(folder, wanted, found), sep="", end="")
        return 0
    if record is not None and not options.update:
        return _report(found, options)
    _write(folder, wanted, found, record_of(answers, wanted, () if record is None else record.files))
    _say(folder, found)
    status = _problems(folder, found)
    if record is None:
        _tell_what_is_next(folder)
    return status


def _record(folder: Path) -> Record | None:
    try:
        return read_record(folder)
    except OSError as error:
        message = f"{folder / RECORD}: the record cannot be read: {error.strerror}; check the permissions"
        raise Refusal(message) from None
    except ValueError as error:
        fix = "restore it from git, or remove it: then all files count as yours"
        raise Refusal(f"{folder / RECORD}: this is not a record of init: {error}; {fix}") from None


# ---------------------------------------------------------------- writing


def _write(folder: Path, wanted: Mapping[str, str], found: Mapping[str, FileState], record: Record) -> None:
    contents = {path: content for path, content in wanted.items() if found.get(path) in WRITABLE}
    replacing = {path for path in contents if found[path] is FileState.OUTDATED}
    if (folder / RECORD).exists():
        replacing.add(RECORD)
    try:
        with termination_interrupts():
            write_all(folder, {**contents, RECORD: record.text()}, replacing)
    except OSError as error:
        where = folder if error.filename is None else error.filename
        raise Refusal(f"{where}: cannot be written: {error.strerror}; nothing was written") from None


def _say(folder: Path, found: Mapping[str, FileState]) -> None:
    """The files that were written, and those that were there."""
    for path, state in found.items():
        if state in WRITABLE:
            print(printable(str(folder / path)))
    sys.stdout.flush()
    others = [path for path, state in found.items() if state in (FileState.OWN, FileState.BOTH)]
    for path in others:
        tell(printable(f"{path}: {_SAYS[found[path]]}"))
    if others:
        tell("`inferstack init --diff` shows what init would write there")


def _problems(folder: Path, found: Mapping[str, FileState]) -> int:
    """Reports what is wrong with a spec that was written: a region may lack its image."""
    specs = [folder / path for path in found if is_start(path) and path != REQUIREMENTS]
    problems = check_files(it for it in specs if it.is_file())
    if problems:
        tell(text(problems, sys.stderr).rstrip("\n"))
    return int(any(it.severity is Severity.ERROR for it in problems))


def _tell_what_is_next(folder: Path) -> None:
    steps = ["inferstack validate", "npm ci", "npx cdk synth --quiet"]
    if folder != Path():
        steps.insert(0, f"cd {shlex.quote(str(folder))}")
    tell(printable(f"next: {' && '.join(steps)}"))


# ---------------------------------------------------------------- comparing


def _report(found: Mapping[str, FileState], options: argparse.Namespace) -> int:
    for path, state in found.items():
        if state is not FileState.SAME:
            print(printable(f"{path}: {_SAYS[state]}"))
    sys.stdout.flush()
    writable = [path for path, state in found.items() if state in WRITABLE]
    if not writable:
        tell("up to date: there is nothing to write")
        return 0
    folder = [] if options.folder == Path() else [shlex.quote(str(options.folder))]
    chosen = (f"--{name} {value}" for name in ("kind", "region", "ci") if (value := getattr(options, name)))
    again = " ".join(("inferstack init", *folder, *chosen))
    tell(printable(f"{counted(len(writable), 'file')} to write: `{again} --update`; `--diff` shows them"))
    return 1


def _differences(folder: Path, wanted: Mapping[str, str], found: Mapping[str, FileState]) -> Iterator[str]:
    """Unified diffs, from the files as they are to those that would be written."""
    for path, content in wanted.items():
        if found.get(path, FileState.SAME) in (FileState.SAME, FileState.REMOVED):
            continue
        if path == SCHEMA:
            yield f"{path} differs: it is the schema of another version\n"
        else:
            yield from _difference(path, _text_of(folder / path), content)


def _difference(path: str, before: str, after: str) -> Iterator[str]:
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), path, path, lineterm=""):
        yield f"{printable(line)}\n"


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8", errors="replace") if file.is_file() else ""
    except OSError:
        return ""
