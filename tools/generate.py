"""Generates what is made from other files of the repository, or from libraries, and committed.

    python -m tools.generate                       everything, in the order of TABLE
    python -m tools.generate codes skill           only these
    python -m tools.generate --check [WHAT ...]    writes nothing, exits 1 and says what is out of date

Each is made by a process of its own, since modules read what others generate when they are imported.
"""

import argparse
import difflib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import NamedTuple

from tools.generated_files import COMMAND, ROOT, Contents

LINES_SHOWN = 20


class Maker(NamedTuple):
    """Makes some of the files."""

    writes: str
    function: str
    is_usual: bool = True
    """Whether it runs without being named, and can be checked."""

    def make(self) -> Contents:
        """The files with the content that they should have."""
        contents: Contents = resolve_name(self.function)()
        return contents


TABLE = {
    "descriptor": Maker(
        "the fields that Triton's models have, and their license, from a tritonclient wheel in build/",
        "tools.triton_wheel:generate",
        is_usual=False,
    ),
    "engines": Maker(
        "what engines of language models accept, from wheels and clones in build/",
        "tools.engine_tables:generate",
        is_usual=False,
    ),
    "architectures": Maker(
        "the models that each version of vLLM runs, from wheels in build/",
        "tools.vllm_architectures:generate",
        is_usual=False,
    ),
    "parsers": Maker(
        "what the parsers of vLLM and LMI accept, for tests, from wheels and a clone in build/",
        "tools.lmi_properties:generate",
        is_usual=False,
    ),
    "triton": Maker("the schema of Triton's models", "tools.triton_schema:generate"),
    "catalog": Maker("the data of the catalog", "tools.catalog_data:generate"),
    "schema": Maker("the JSON Schemas of specs and reviews, and docs/spec.md", "tools.schemas:generate"),
    "examples": Maker("what `inferstack explain` shows, from wrong specs", "tools.code_examples:generate"),
    "messages": Maker("what each rule says about wrong specs", "tools.rule_messages:generate"),
    "codes": Maker("docs/codes.md", "tools.code_list:generate"),
    "templates": Maker("which properties templates have", "tools.template_properties:generate"),
    "reviews": Maker("what `inferstack review` says about the examples", "tests.support.reviews:golden"),
    "lists": Maker("docs/metrics.md and docs/images.md", "tools.catalog_pages:generate"),
    "beliefs": Maker("docs/beliefs.md, what was found on AWS", "tests.account.beliefs.page:generate"),
    "project": Maker("what new projects share with docs/ and tests", "tools.project_files:generate"),
    "skill": Maker("the skill for coding agents, with the words of tools/skill.md", "tools.skill:generate"),
    "graph": Maker("the ONNX graph of docs/examples/spam", "tools.example_graph:generate"),
    "grids": Maker(
        "the grids of tests/measure, in half an hour, on a machine that does nothing else",
        "tools.measured_grids:generate",
        is_usual=False,
    ),
}
"""What is made later may be made from what is made earlier."""
USUAL = [name for name, maker in TABLE.items() if maker.is_usual]


def main(words: Sequence[str] | None = None) -> int:
    """The command line; returns its exit status."""
    parser = _parser()
    options = parser.parse_args(words)
    names = options.what or USUAL
    if unknown := {*names} - {*(USUAL if options.check else TABLE)}:
        parser.error(f"no WHAT that can be {'checked' if options.check else 'made'}: {', '.join(unknown)}")
    if len(names) == 1:
        return one(names[0], check=options.check)
    flags = ["--check"] if options.check else []
    failed = (_process(name, *flags) for name in TABLE if name in names)
    # A failure ends the writing, as the rest would be made from what is out of date.
    return int(any([*failed] if options.check else failed))


def one(name: str, *, check: bool) -> int:
    """Writes or checks what a name stands for; returns the exit status."""
    contents = TABLE[name].make()
    if not check:
        write(contents)
        return 0
    found = [*differences(contents)]
    if found:
        print("\n".join([*found, f"To take this over, run: {COMMAND} {name}"]))
    return 1 if found else 0


def write(contents: Contents) -> None:
    """Writes the files that are stale."""
    for path in stale(contents):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_bytes(contents[path]))
        print(f"wrote {path.relative_to(ROOT)}")


def stale(contents: Contents) -> list[Path]:
    """Files that are missing or have another content."""
    return [path for path in contents if not path.is_file() or path.read_bytes() != _bytes(contents[path])]


def differences(contents: Contents) -> Iterator[str]:
    """A paragraph for each stale file, with some of the lines that differ."""
    for path in stale(contents):
        text = contents[path]
        lines = [] if isinstance(text, bytes) else _changed(path, text)
        rest = len(lines) - LINES_SHOWN
        more = [f"... and {rest} more lines"] if rest > 0 else []
        yield "\n  ".join([f"{path.relative_to(ROOT)} is out of date:", *lines[:LINES_SHOWN], *more])


def _changed(path: Path, text: str) -> list[str]:
    committed = path.read_text("utf-8") if path.is_file() else ""
    lines = difflib.unified_diff(committed.splitlines(), text.splitlines(), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _parser() -> argparse.ArgumentParser:
    listed = (f"  {name:11} {maker.writes}" for name, maker in TABLE.items())
    parser = argparse.ArgumentParser(
        prog=COMMAND,
        description="Generate files that are made from others.",
        epilog="\n".join(["Each WHAT writes:", *listed]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    without = ", ".join(name for name in TABLE if name not in USUAL)
    parser.add_argument("what", nargs="*", metavar="WHAT", help=f"default: all but {without}")
    parser.add_argument("--check", action="store_true", help="write nothing, say what is out of date")
    return parser


def _process(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", "tools.generate", *words], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
