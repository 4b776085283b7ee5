"""``inferstack render`` at work: from specs to files that are all there or none."""

import argparse
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

import msgspec

from inferstack.cli.processes import mapped
from inferstack.cli.refusal import Refusal
from inferstack.cli.streams import tell
from inferstack.cli.termination import termination_interrupts
from inferstack.cli.writers import WRITERS
from inferstack.resolve import resolve_template
from inferstack.resolve.template import Template
from inferstack.resolve.template_size import refuse_too_large
from inferstack.spec.check import LoadedSpec, load_spec
from inferstack.spec.names_across_files import TakenNames, names_taken_twice, taken_names
from inferstack.spec.problem import Problem, SpecError, SpecPath
from inferstack.spec.report import here, text


class Rendered(msgspec.Struct, frozen=True):
    """What comes of one spec: warnings, the names that it takes and the template as text; or its errors."""

    problems: tuple[Problem, ...]
    taken: TakenNames | None = None
    template: str | None = None


def run(options: argparse.Namespace) -> int:
    """Renders all specs or, when one has an error, none."""
    names = _file_names(options.specs, options.format)
    if options.out is None and len(names) > 1:
        raise Refusal("several specs need --out DIR, which receives a template each")
    work = partial(rendered, stage=options.stage, region=options.region, form=options.format)
    made = mapped(work, options.specs)
    clashes = names_taken_twice(it.taken for it in made if it.taken is not None)
    problems = SpecError([*(problem for it in made for problem in it.problems), *clashes]).problems
    if problems:
        tell(text(problems).rstrip("\n"))
    written = {name: it.template for name, it in zip(names, made, strict=True) if it.template is not None}
    if clashes or len(written) < len(made):
        return 1
    _hand_over(written, options.out)
    return 0


def rendered(spec: Path, *, stage: str | None, region: str | None, form: str) -> Rendered:
    """Reads, checks and renders one spec."""
    try:
        loaded = load_spec(spec, stage=stage, region=region)
        template = _template(loaded)
        written = WRITERS[form](template)
        refuse_too_large(loaded, template, len(written.encode()))
    except SpecError as error:
        return Rendered(error.problems)
    return Rendered(loaded.warnings, taken_names(loaded), written)


def _file_names(specs: Iterable[Path], form: str) -> list[str]:
    names = [f"{spec.stem}.template.{form}" for spec in specs]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise Refusal(f"two specs would be written to {twice[0]}; render them into folders of their own")
    return names


def _template(loaded: LoadedSpec) -> Template:
    document = loaded.document
    file = here(document.file)

    def source_of(path: SpecPath) -> str:
        return f"{file}:{document.position(path).line}"

    env = loaded.spec.env
    return resolve_template(loaded.spec, region=None if env is None else env.region, source_of=source_of)


def _hand_over(written: Mapping[str, str], folder: Path | None) -> None:
    if folder is None:
        print(*written.values(), end="")
    else:
        with termination_interrupts():
            _write_all(folder, written)
        print(*(folder / name for name in written), sep="\n")


def _write_all(folder: Path, contents: Mapping[str, str]) -> None:
    """Writes all files or none: each gets its name only when all are complete.

    A file that is as it should be is left alone: to replace it takes longer than to make its content, and
    whoever looks at times would take it for a new one.
    """
    new = {name: content for name, content in contents.items() if not _holds(folder / name, content)}
    unfinished = {folder / f".{name}.{os.getpid()}": folder / name for name in new}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in zip(unfinished, new.values(), strict=True):
            path.write_text(content, encoding="utf-8", newline="\n")
        for path, target in unfinished.items():
            path.replace(target)
    except OSError as error:
        raise Refusal(f"{folder}: templates cannot be written here: {error.strerror}") from None
    finally:
        for path in unfinished:
            _forget(path)


def _holds(path: Path, content: str) -> bool:
    wanted = content.encode()
    try:
        # Nor is a pipe read, which would wait for a writer.
        return path.is_file() and path.stat().st_size == len(wanted) and path.read_bytes() == wanted
    except OSError:
        # Not there, or not ours to read: whether it can be written is seen when it is.
        return False


def _forget(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        # The folder is none, or not ours: then there is nothing to remove either.
        return
