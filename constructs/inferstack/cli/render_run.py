"""``inferstack render`` at work: from specs to files that are all there or none."""

import argparse
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from inferstack.cli.refusal import Refusal
from inferstack.cli.streams import tell
from inferstack.cli.writers import WRITERS, Template
from inferstack.resolve import resolve_template
from inferstack.spec.check import LoadedSpec, load_spec
from inferstack.spec.check_files import cross_file_problems
from inferstack.spec.problem import Problem, SpecError, SpecPath
from inferstack.spec.report import here, text


def run(options: argparse.Namespace) -> int:
    """Renders all specs or, when one has an error, none."""
    names = _file_names(options.specs, options.format)
    if options.out is None and len(names) > 1:
        raise Refusal("several specs need --out DIR, which receives a template each")
    loaded, problems = _loaded(options.specs, options.stage, options.region)
    if problems:
        tell(text(problems).rstrip("\n"))
    if loaded is None:
        return 1
    written = [WRITERS[options.format](_template(one)) for one in loaded]
    if options.out is None:
        print(written[0], end="")
    else:
        _write_all(options.out, dict(zip(names, written, strict=True)))
        print(*(options.out / name for name in names), sep="\n")
    return 0


def _file_names(specs: Iterable[Path], form: str) -> list[str]:
    names = [f"{spec.stem}.template.{form}" for spec in specs]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise Refusal(f"two specs would be written to {twice[0]}; render them into folders of their own")
    return names


def _loaded(
    specs: Iterable[Path], stage: str | None, region: str | None
) -> tuple[list[LoadedSpec] | None, list[Problem]]:
    """All specs and their warnings, or None and every problem when one has an error."""
    loaded: list[LoadedSpec] = []
    errors: list[Problem] = []
    for spec in specs:
        try:
            loaded.append(load_spec(spec, stage=stage, region=region))
        except SpecError as error:
            errors += error.problems
    errors += cross_file_problems(loaded)
    warnings = [warning for one in loaded for warning in one.warnings]
    return (None if errors else loaded), list(SpecError([*errors, *warnings]).problems)


def _template(loaded: LoadedSpec) -> Template:
    document = loaded.document

    def source_of(path: SpecPath) -> str:
        return f"{here(document.file)}:{document.position(path).line}"

    env = loaded.spec.env
    return resolve_template(loaded.spec, region=None if env is None else env.region, source_of=source_of)


def _write_all(folder: Path, contents: dict[str, str]) -> None:
    """Writes all files or none: each gets its name only when all are complete."""
    unfinished = {folder / f".{name}.{os.getpid()}": folder / name for name in contents}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in zip(unfinished, contents.values(), strict=True):
            path.write_text(content, encoding="utf-8", newline="\n")
        for path, target in unfinished.items():
            path.replace(target)
    except OSError as error:
        raise Refusal(f"{folder}: templates cannot be written here: {error.strerror}") from None
    finally:
        for path in unfinished:
            _forget(path)


def _forget(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        # The folder is none, or not ours: then there is nothing to remove either.
        return
