"""``inferstack init``: a new project; and later, how its files differ from what would be written today."""

import argparse
import difflib
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec

from inferstack.catalog import regions
from inferstack.check.files import check_files
from inferstack.cli.arguments import add_region
from inferstack.cli.report import text
from inferstack.cli.terminal import Refusal, tell, termination_interrupts
from inferstack.problems import Severity, printable
from inferstack.problems.words import choose, counted, did_you_mean
from inferstack.project.answers import CI_SYSTEMS, FORMS, NO_CI, STARTS, Answers, has_form, usual
from inferstack.project.files import REQUIREMENTS, SCHEMA, SPECS, files_of
from inferstack.project.state import RECORD, WRITABLE, FileState, Record, read_record, record_of, states
from inferstack.project.writing import write_all

_WIDTH = 80
_IN_WORDS = {
    FileState.NEW: "would be written",
    FileState.OUTDATED: "outdated, and not changed by you",
    FileState.OWN: "yours: left as it is",
    FileState.BOTH: "yours, and init would write something new",
    FileState.REMOVED: "removed by you: left out",
    FileState.DROPPED: "no longer part of the project: remove it if you do not need it",
}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack init``."""
    add = command.add_argument
    folder = "folder of the project (default: .)"
    add("folder", metavar="DIR", nargs="?", type=Path, default=Path(), help=folder)
    add("--kind", metavar="KIND", choices=tuple(STARTS), help=f"kind of the first spec: {', '.join(STARTS)}")
    add_region(command, "where to deploy")
    add("--ci", choices=CI_SYSTEMS, help="what reviews and deploys")
    add("--name", help="name of the first spec and of its endpoint")
    add("--account", help="where to deploy, for roles and policies")
    add("--bucket", help="where model archives are")
    add("--repository", metavar="OWNER/NAME", help="where the project is, for the pipeline's role")
    add("--yes", action="store_true", help="ask nothing, and use the defaults for what is not given")
    add = command.add_mutually_exclusive_group().add_argument
    add("--diff", action="store_true", help="write nothing, show how files differ")
    update = "in a project: write new and outdated files that you have not changed"
    add("--update", action="store_true", help=update)
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
    answers = _answers(options, None if record is None else record.answers)
    contents = files_of(answers)
    state_of = states(folder, contents, record)
    if options.diff:
        print(*_differences(folder, contents, state_of), sep="", end="")
        return 0
    if record is not None and not options.update:
        return _report(state_of, options)
    _write(folder, contents, state_of, record_of(answers, contents, () if record is None else record.files))
    _tell_of_files(folder, state_of)
    status = _problems(folder, state_of)
    if record is None:
        for line in _left_to_say(answers, contents):
            tell(line)
        steps = ["inferstack validate", "npm ci", "npx cdk synth --quiet"]
        if folder != Path():
            steps.insert(0, f"cd {_quoted(folder)}")
        tell(printable(f"next: {' && '.join(steps)}"))
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


# ---------------------------------------------------------------- asking


def _answers(options: argparse.Namespace, before: Answers | None) -> Answers:
    """The answers: given by options, else as before, else asked for; or the usual ones with ``--yes``."""
    default = usual() if before is None else before
    given = {key: getattr(options, key) for key in ("kind", "region", "ci")}
    others = {key: value for key in FORMS if (value := getattr(options, key)) is not None}
    for key, value in others.items():
        if not has_form(key, value):
            options.wrong_usage(f"--{key} {shlex.quote(value)}: this is no {key}; write {FORMS[key][1]}")
    if given["region"] is not None and not regions.is_region(given["region"]):
        options.wrong_usage(_no_region(given["region"]))
    if before is None and not options.yes and None in given.values():
        if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
            missing = " ".join(f"--{key}" for key, value in given.items() if value is None)
            options.wrong_usage(f"there is no terminal to ask on: give {missing}, or --yes for the defaults")
        asks: dict[str, Callable[[str], str]] = {
            "kind": partial(_one_of, "What does the endpoint host?", STARTS),
            "region": _region,
            "ci": partial(_one_of, "What reviews and deploys?", CI_SYSTEMS),
        }
        given = {
            key: ask(getattr(default, key)) if given[key] is None else given[key] for key, ask in asks.items()
        }
    return msgspec.structs.replace(
        default, **others, **{key: it for key, it in given.items() if it is not None}
    )


def _region(default: str) -> str:
    while not regions.is_region(answer := _ask("Region", default)):
        tell(printable(_no_region(answer)))
    return answer


def _no_region(name: str) -> str:
    """A newer one than those known would do, but then the files are easily changed; a slip is likelier."""
    return f"there is no region {name}; " + did_you_mean(name, regions.names(), "write one like us-east-1")


def _one_of(question: str, options: Mapping[str, str], default: str) -> str:
    """One of some options, by its name or number."""
    tell(question)
    for number, (name, means) in enumerate(options.items(), 1):
        tell(textwrap.fill(f"  {number}  {name}: {means}", _WIDTH, subsequent_indent=" " * 5))
    numbers = dict(zip(map(str, range(1, len(options) + 1)), options, strict=True))
    while True:
        answer = _ask("Name or number", default)
        answer = numbers.get(answer, answer)
        if answer in options:
            return answer
        tell(printable(f"there is no {answer}; {choose(answer, list(options))}"))


def _ask(what: str, default: str) -> str:
    """One line; the default if it is empty."""
    sys.stderr.write(f"{what} [{default}]: ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        tell("")
        raise Refusal("no answer; nothing was written")
    return line.strip() or default


# ---------------------------------------------------------------- writing


def _write(
    folder: Path, contents: Mapping[str, str], state_of: Mapping[str, FileState], record: Record
) -> None:
    written = {path: content for path, content in contents.items() if state_of.get(path) in WRITABLE}
    replacing = {path for path in written if state_of[path] is FileState.OUTDATED}
    if (folder / RECORD).exists():
        replacing.add(RECORD)
    try:
        with termination_interrupts():
            write_all(folder, {**written, RECORD: record.text()}, replacing)
    except OSError as error:
        where = folder if error.filename is None else error.filename
        raise Refusal(f"{where}: cannot be written: {error.strerror}; nothing was written") from None


def _tell_of_files(folder: Path, state_of: Mapping[str, FileState]) -> None:
    """The files that were written, and those that were there."""
    for path, state in state_of.items():
        if state in WRITABLE:
            print(printable(str(folder / path)))
    sys.stdout.flush()
    others = [path for path, state in state_of.items() if state in (FileState.OWN, FileState.BOTH)]
    for path in others:
        tell(printable(f"{path}: {_IN_WORDS[state_of[path]]}"))
    if others:
        tell("`inferstack init --diff` shows what init would write there")


def _left_to_say(answers: Answers, contents: Mapping[str, str]) -> Iterator[str]:
    """What nobody has answered, and so stands in the files for what the user has to write."""
    for key in FORMS:
        value = getattr(answers, key)
        files = [path for path, content in contents.items() if path != SCHEMA and value and value in content]
        if files and value == getattr(usual(), key):
            yield f"yours to replace: {value} (--{key}), in {counted(len(files), 'file')}"
    if answers.ci != NO_CI and "file://" in contents[REQUIREMENTS]:
        yield f"yours to replace: in {REQUIREMENTS}, for CI, where inferstack comes from"


def _problems(folder: Path, state_of: Mapping[str, FileState]) -> int:
    """Reports what is wrong with a spec that was written: a region may lack its image."""
    specs = [folder / path for path in state_of if path.startswith(f"{SPECS}/") and path.endswith(".yaml")]
    problems = check_files(it for it in specs if it.is_file())
    if problems:
        tell(text(problems, sys.stderr).rstrip("\n"))
    return int(any(it.severity is Severity.ERROR for it in problems))


# ---------------------------------------------------------------- comparing


def _quoted(folder: Path) -> str:
    """A folder as a shell needs it, and as no program takes it for an option."""
    return shlex.quote(f"./{folder}" if str(folder).startswith("-") else str(folder))


def _report(state_of: Mapping[str, FileState], options: argparse.Namespace) -> int:
    for path, state in state_of.items():
        if state is not FileState.SAME:
            print(printable(f"{path}: {_IN_WORDS[state]}"))
    sys.stdout.flush()
    writable = [path for path, state in state_of.items() if state in WRITABLE]
    if not writable:
        tell("up to date: there is nothing to write")
        return 0
    folder = [] if options.folder == Path() else [_quoted(options.folder)]
    names = (it.name for it in msgspec.structs.fields(Answers))
    chosen = (f"--{name} {value}" for name in names if (value := getattr(options, name)))
    again = " ".join(("inferstack init", *folder, *chosen))
    tell(printable(f"{counted(len(writable), 'file')} to write: `{again} --update`; `--diff` shows them"))
    return 1


def _differences(
    folder: Path, contents: Mapping[str, str], state_of: Mapping[str, FileState]
) -> Iterator[str]:
    """Unified diffs, from the files as they are to those that would be written."""
    for path, content in contents.items():
        if state_of.get(path, FileState.SAME) in (FileState.SAME, FileState.REMOVED):
            continue
        if path == SCHEMA:
            yield f"{path} differs: it is the schema of another version\n"
            continue
        before, after = _text_of(folder / path).splitlines(), content.splitlines()
        for line in difflib.unified_diff(before, after, path, path, lineterm=""):
            yield f"{printable(line)}\n"


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8", errors="replace") if file.is_file() else ""
    except OSError:
        return ""
