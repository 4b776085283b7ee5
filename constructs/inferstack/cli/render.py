"""``inferstack render``: the templates themselves, made without CDK and Node, all of them or none."""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec

from inferstack.cli.processes import mapped
from inferstack.cli.refusal import Refusal
from inferstack.cli.spec_paths import add_paths, add_region, files_of
from inferstack.cli.streams import tell
from inferstack.cli.template_folder import without_spec, write_all
from inferstack.cli.termination import termination_interrupts
from inferstack.cli.writers import WRITERS
from inferstack.resolve.resolved_spec import template_of
from inferstack.resolve.template_size import refuse_too_large
from inferstack.spec.check import load_spec
from inferstack.spec.names_across_files import TakenNames, names_taken_twice, taken_names
from inferstack.spec.problem import Problem, SpecError, in_file_order, printable
from inferstack.spec.report import text


class RenderedFile(msgspec.Struct, frozen=True):
    """The result for one spec: warnings, the names that it takes and the template as text; or its errors."""

    problems: tuple[Problem, ...]
    taken: TakenNames | None = None
    template: str | None = None


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What can be written after ``inferstack render``."""
    add_paths(command)
    command.add_argument("--stage", help="choose this stage of every spec")
    add_region(command)
    command.add_argument(
        "--out", metavar="DIR", type=Path, help="write NAME.template.json (or .yaml) here, NAME from the spec"
    )
    command.add_argument("--format", choices=WRITERS, default="json", help="default: json")
    change = "status 1 when DIR was not up to date; if PATH is a folder, templates of no spec count, too"
    command.add_argument("--fail-on-change", action="store_true", help=change)
    command.set_defaults(wrong_usage=command.error)


def run(options: argparse.Namespace) -> int:
    """Print the CloudFormation template of a spec, or write those of several specs to a folder."""
    if options.fail_on_change and options.out is None:
        options.wrong_usage("--fail-on-change needs --out DIR, the folder that is to be up to date")
    files, empty = files_of(options.paths)
    names = _file_names(files, options.format)
    if options.out is None and len(names) > 1:
        options.wrong_usage(f"{len(names)} specs need --out DIR, which receives a template each")
    work = partial(rendered, stage=options.stage, region=options.region, form=options.format)
    made = mapped(work, files, RenderedFile)
    errors = [*empty, *names_taken_twice(it.taken for it in made if it.taken is not None)]
    problems = in_file_order([*(problem for it in made for problem in it.problems), *errors])
    if problems:
        tell(text(problems).rstrip("\n"))
    written = {name: it.template for name, it in zip(names, made, strict=True) if it.template is not None}
    if errors or len(written) < len(made):
        return 1
    return _hand_over(written, options)


def rendered(spec: Path, *, stage: str | None, region: str | None, form: str) -> RenderedFile:
    """Reads, checks and renders one spec."""
    try:
        loaded = load_spec(spec, stage=stage, region=region)
        template = template_of(loaded)
        written = WRITERS[form](template)
        refuse_too_large(loaded, template, len(written.encode()))
    except SpecError as error:
        return RenderedFile(error.problems)
    return RenderedFile(loaded.warnings, taken_names(loaded), written)


def _file_names(specs: Iterable[Path], form: str) -> list[str]:
    names = [f"{spec.stem}.template.{form}" for spec in specs]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise Refusal(f"two specs would be written to {twice[0]}; render them into folders of their own")
    return names


def _hand_over(written: Mapping[str, str], options: argparse.Namespace) -> int:
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
    changes = list(_changes(outdated, without_spec(folder, written, options.format) if whole else ()))
    for change in changes:
        tell(printable(change))
    return int(bool(changes))


def _changes(outdated: Mapping[Path, str], superfluous: Iterable[Path]) -> Iterator[str]:
    """What is to be committed or removed, so that the folder is up to date for others, too."""
    for path, was in outdated.items():
        yield f"{path}: was {was}, and is written now; add it to your commit"
    for path in superfluous:
        yield f"{path}: no spec makes this template; remove it"
