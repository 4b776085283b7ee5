"""``inferstack render``: templates made without CDK and Node, all of them or none."""

import argparse
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml

from inferstack.check.load import LoadedSpec, load_spec
from inferstack.check.project_file import read_spec
from inferstack.check.stack_names import StackPlace, stack_ids, stack_of, stacks_at_stages
from inferstack.check.unique_names import names_taken_twice, taken_names
from inferstack.cli.arguments import add_paths, add_region, files_of
from inferstack.cli.report import text
from inferstack.cli.terminal import Refusal, tell, termination_interrupts
from inferstack.problems import Problem, SpecError, in_file_order, printable
from inferstack.resolve.template import Template, refuse_too_large, template_of

# ---------------------------------------------------------------- a template as text

# What YAML 1.2, or one of the many readers between 1.1 and 1.2, takes for a number, but PyYAML does not.
_NUMBER = re.compile(
    r"[-+]?(0[xob][0-9a-f_]+|([0-9][0-9_]*\.?[0-9_]*|\.[0-9_]+)(e[-+]?[0-9]+)?)", re.IGNORECASE
)
# True and false in YAML 1.1 itself, if not in PyYAML.
_LETTERS = frozenset("yYnN")
# They end a line in YAML 1.1 only, or nobody sees them, though some turn the text around them: a reviewer
# would read something else than CloudFormation. https://www.unicode.org/reports/tr36/#Bidirectional_Text_Spoofing
_UNSEEN = re.compile(
    "[\x85\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_ESCAPED_IN_JSON = re.compile("[\x7f-\uffff]")


class _TemplateDumper(yaml.SafeDumper):
    """Writes shared parts out, since CloudFormation's YAML has no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _TemplateDumper, text: str) -> yaml.ScalarNode:
    style = None
    if _UNSEEN.search(text):
        style = '"'
    elif text in _LETTERS or _NUMBER.fullmatch(text):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_TemplateDumper.add_representer(str, _text)


def _yaml(template: Template) -> str:
    written: str = yaml.dump(
        template, Dumper=_TemplateDumper, sort_keys=False, allow_unicode=True, width=sys.maxsize
    )
    # Texts with such characters are in double quotes, where the dumper escapes some of them, but not all.
    return _UNSEEN.sub(_escape, written)


def _json(template: Template) -> str:
    written = msgspec.json.encode(template)
    if not written.isascii():
        written = _ESCAPED_IN_JSON.sub(_escape, written.decode()).encode()
    return msgspec.json.format(written, indent=1).decode() + "\n"


def _escape(found: re.Match[str]) -> str:
    """Escapes a character, so that any terminal shows it. Not one that takes a pair of escapes, which
    CloudFormation's linter does not read.
    """
    return f"\\u{ord(found[0]):04x}"


WRITERS: dict[str, Callable[[Template], str]] = {"json": _json, "yaml": _yaml}
"""How a template is written, by the name of the format."""


# ---------------------------------------------------------------- a folder of templates


def write_all(folder: Path, contents: Mapping[str, str]) -> dict[Path, str]:
    """Writes all files or none: each gets its name only when all are complete.

    A file that is up to date is left alone: replacing it takes longer than making its content, and tools that
    look at times would take it for a new one.

    Returns:
        What was written, and the state of each file before.
    """
    new = {name: content for name, content in contents.items() if not _holds(folder / name, content)}
    unfinished = {folder / f".{name}.{os.getpid()}": folder / name for name in new}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        before = {path: "out of date" if path.exists() else "missing" for path in unfinished.values()}
        for path, content in zip(unfinished, new.values(), strict=True):
            path.write_text(content, encoding="utf-8", newline="\n")
        for path, target in unfinished.items():
            path.replace(target)
    except OSError as error:
        raise Refusal(f"{folder}: templates cannot be written here: {error.strerror}") from None
    finally:
        for path in unfinished:
            _forget(path)
    return before


def without_spec(folder: Path, names: Collection[str], form: str) -> Iterator[Path]:
    """The templates in a folder that have none of these names."""
    found = folder.glob(f"*.template.{form}")
    return (path for path in sorted(found) if path.name not in names)


def _holds(path: Path, content: str) -> bool:
    wanted = content.encode()
    try:
        # A pipe, say, is not read: that would wait for a writer.
        found = path.stat()
        return stat.S_ISREG(found.st_mode) and found.st_size == len(wanted) and path.read_bytes() == wanted
    except OSError:
        # Not there, or not ours to read: writing will show whether it can be written.
        return False


def _forget(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        # This is not a folder, or it is not ours: then there is nothing to remove either.
        return


# ---------------------------------------------------------------- the command


class RenderedSpec(msgspec.Struct, frozen=True):
    """A spec, and its template as text."""

    loaded: LoadedSpec
    template: str


class RenderedFile(msgspec.Struct, frozen=True):
    """The result for one file: its warnings and what was made of it, or its errors."""

    problems: tuple[Problem, ...]
    made: RenderedSpec | None = None


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``inferstack render``."""
    add_paths(command)
    command.add_argument("--stage", help="choose this stage of every spec")
    add_region(command)
    command.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="write STACK.template.json (or .yaml) here, STACK being the stack's name",
    )
    command.add_argument("--format", choices=WRITERS, default="json", help="default: json")
    change = "exit with 1 if DIR was out of date; if PATH is a folder, templates without a spec count, too"
    command.add_argument("--fail-on-change", action="store_true", help=change)
    command.set_defaults(wrong_usage=command.error)


def run(options: argparse.Namespace) -> int:
    """Print the CloudFormation template of a spec, or write those of several specs to a folder."""
    if options.fail_on_change and options.out is None:
        options.wrong_usage("--fail-on-change needs --out DIR, the folder to keep up to date")
    files, empty = files_of(options.paths)
    if options.out is None and len(files) > 1:
        options.wrong_usage(f"{len(files)} specs need --out DIR, for one template each")
    results = [rendered(it, stage=options.stage, region=options.region, form=options.format) for it in files]
    made = [it.made for it in results if it.made is not None]
    errors = [*empty, *names_taken_twice(taken_names(it.loaded) for it in made)]
    problems = in_file_order([*(problem for it in results for problem in it.problems), *errors])
    if problems:
        tell(text(problems, sys.stderr).rstrip("\n"))
    if errors or len(made) < len(results):
        return 1
    # What is rendered without a stage is not deployed next to the stages.
    beside = () if None in (options.stage, options.out) else _at_other_stages(files, options)
    names = _file_names([stack_of(it.loaded) for it in made], beside, options.format)
    return _hand_over({name: it.template for name, it in zip(names, made, strict=True)}, files, options)


def rendered(spec: Path, *, stage: str | None, region: str | None, form: str) -> RenderedFile:
    """Reads, checks and renders one spec."""
    try:
        loaded = load_spec(spec, stage=stage, region=region)
        template = template_of(loaded)
        written = WRITERS[form](template)
        refuse_too_large(loaded, template, len(written.encode()))
    except SpecError as error:
        return RenderedFile(error.problems)
    return RenderedFile(loaded.warnings, RenderedSpec(loaded, written))


def _at_other_stages(files: Iterable[Path], options: argparse.Namespace) -> list[StackPlace]:
    """The stacks of these files at stages other than the chosen one, whose templates may share the folder."""
    found = (it for file in files for it in stacks_at_stages(read_spec(file), options.region))
    return [stack for stage, stack in found if stage != options.stage]


def _file_names(stacks: Sequence[StackPlace], beside: Iterable[StackPlace], form: str) -> list[str]:
    names = [f"{it}.template.{form}" for it in stack_ids(stacks, beside)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise Refusal(f"two specs would be written to {twice[0]}; render them into separate folders")
    return names


def _hand_over(written: Mapping[str, str], files: Iterable[Path], options: argparse.Namespace) -> int:
    folder: Path | None = options.out
    if folder is None:
        print(*written.values(), end="")
        return 0
    with termination_interrupts():
        outdated = write_all(folder, written)
    # Flushed at once, so that what failed comes last where both streams end up in one place.
    print(*(folder / name for name in written), sep="\n", flush=True)
    if not options.fail_on_change:
        return 0
    whole = any(path.is_dir() for path in options.paths)
    superfluous = list(without_spec(folder, written, options.format)) if whole else []
    changes = list(_changes(outdated, _without_stage(superfluous, files, options)))
    for change in changes:
        tell(printable(change))
    return int(bool(changes))


def _without_stage(
    templates: list[Path], files: Iterable[Path], options: argparse.Namespace
) -> Iterator[Path]:
    """The templates that these files do not make at any other stage either."""
    stacks = _at_other_stages(files, options) if templates else []
    made = {f"{name}.template.{options.format}" for it in stacks for name in (it.name, it.whole)}
    return (it for it in templates if it.name not in made)


def _changes(outdated: Mapping[Path, str], superfluous: Iterable[Path]) -> Iterator[str]:
    """What to commit or remove so that the folder is up to date for others, too."""
    for path, was in outdated.items():
        yield f"{path}: was {was} and has been written; add it to your commit"
    for path in superfluous:
        yield f"{path}: no spec makes this template; remove it"
