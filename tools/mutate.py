"""Changes the code of one package in many small ways, and names each change that no test notices.

``make mutate ROOM=resolve`` takes a sample, since all changes of a package would take hours; the same seed
takes the same sample. The changes are those of mutmut's mutators. Each is tried in a copy of the project,
with the tests of :data:`ROOMS` that run the changed line, or all tests of the package if it runs on import.

A change that makes no difference, or none worth a test, is listed with the reason in
``tools/mutants_that_may_live.yaml``.
"""

import argparse
import difflib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import libcst as cst
import yaml
from coverage import CoverageData
from libcst import matchers
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "constructs/inferstack"
ACCEPTED = ROOT / "tools/mutants_that_may_live.yaml"

ROOMS: Mapping[str, tuple[str, ...]] = {
    "resolve": ("tests/resolve", "tests/review", "tests/benchmarks/test_by_hand.py"),
    "check": ("tests/check", "tests/cli", "tests/constructs"),
    "check/rules": ("tests/check", "tests/test_examples.py"),
    "check/lock": ("tests/check", "tests/account", "tests/cli"),
    "review": ("tests/review", "tests/cli", "tests/pipelines"),
    "account": ("tests/account",),
    "facts": ("tests/facts", "tests/check", "tests/resolve"),
    "triton": ("tests/triton", "tests/oracle", "tests/rehearsal"),
    "source": ("tests/source", "tests/check"),
}
"""The tests for each package: its own first."""

_SECONDS = 120


class Mutant(NamedTuple):
    """One change to one file. ``was`` and ``now`` are the changed lines."""

    file: str
    line: int
    code: str
    was: str
    now: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}\n  - {self.was}\n  + {self.now}"


# ---------------------------------------------------------------- what can be changed


# Two words of a sentence: a test that repeats them only breaks when somebody words it better.
_SENTENCE = re.compile(r"[a-z,] [a-z`]")
# What is run but decides nothing: names for `import *`, and options that the type checker or speed ask for.
_SILENT = (
    matchers.Annotation(),
    matchers.Assign(targets=[matchers.AssignTarget(matchers.Name("__all__"))]),
    matchers.Decorator(matchers.Call(matchers.Name("dataclass"))),
)


class _Collector(cst.CSTVisitor):
    """Every node that a mutator changes, with what it becomes."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        self.found: list[tuple[int, cst.CSTNode, cst.CSTNode]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if any(matchers.matches(node, it) for it in _SILENT):
            return False
        for of_type, mutate in mutation_operators:
            if isinstance(node, of_type):
                for changed in mutate(node):
                    if _is_wording(node, changed):
                        continue
                    line = self.get_metadata(PositionProvider, node).start.line
                    self.found.append((line, node, changed))
        return super().on_visit(node)


def _is_wording(node: cst.CSTNode, changed: cst.CSTNode) -> bool:
    """Whether a change is one of case in a sentence."""
    match node, changed:
        case cst.SimpleString(value=was), cst.SimpleString(value=now):
            return was.lower() == now.lower() and _SENTENCE.search(was) is not None
    return False


class Change(NamedTuple):
    """A change that has not been written yet: writing one takes as long as reading the file."""

    file: Path
    module: cst.Module
    line: int
    node: cst.CSTNode
    changed: cst.CSTNode

    def mutant(self) -> Mutant:
        """The file with the change."""
        code = cst.ensure_type(self.module.deep_replace(self.node, self.changed), cst.Module).code
        name = self.file.relative_to(ROOT).as_posix()
        return Mutant(name, self.line, code, *_changed_lines(self.module.code, code))


def changes_to(file: Path) -> Iterator[Change]:
    """Every change to a file that the mutators know."""
    wrapper = MetadataWrapper(cst.parse_module(file.read_text()), unsafe_skip_copy=True)
    collector = _Collector()
    wrapper.visit(collector)
    return (Change(file, wrapper.module, *it) for it in collector.found)


def _changed_lines(before: str, after: str) -> tuple[str, str]:
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))[3:]
    was, now = (" ".join(it[1:].strip() for it in lines if it.startswith(mark)) for mark in "-+")
    return was, now


# ---------------------------------------------------------------- which tests can notice it


def tests_by_line(copy: Path, tests: Sequence[str], jobs: int) -> Mapping[str, Mapping[int, Sequence[str]]]:
    """For each file, the tests that run each of its lines."""
    _pytest(copy, [f"-n{jobs}", f"--cov={SOURCE}", "--cov-context=test", "--cov-report=", *tests], None)
    data = CoverageData(str(copy / ".coverage"))
    data.read()
    files = data.measured_files()
    return {Path(it).relative_to(copy).as_posix(): data.contexts_by_lineno(it) for it in files}


def _covering(
    mutant: Mutant, by_line: Mapping[str, Mapping[int, Sequence[str]]], folders: Sequence[str]
) -> list[str]:
    """The tests that run a mutant's line, the package's own first, since they notice most and take the least
    time; none for a line that runs on import, which is everybody's.
    """
    contexts = by_line.get(mutant.file, {}).get(mutant.line, ())
    found = sorted({it.rpartition("|")[0] for it in contexts})
    return [] if "" in contexts else sorted(found, key=lambda it: not it.startswith(folders[0]))


# ---------------------------------------------------------------- trying them


def project_copy(folder: Path) -> Path:
    """A copy of the files that git knows, compiled once: later changes must never meet older bytecode."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    compiled = ["constructs", "stacks", "tests"]
    subprocess.run([sys.executable, "-m", "compileall", "-q", *compiled], cwd=folder, check=True)
    return folder


def _pytest(copy: Path, arguments: Sequence[str], seconds: float | None = _SECONDS) -> int:
    """Runs pytest in a copy; 124 if it takes too long."""
    path = os.pathsep.join(map(str, (copy / "constructs", copy / "stacks", copy)))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments]
    try:
        return subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, timeout=seconds, check=False
        ).returncode
    except subprocess.TimeoutExpired:
        return 124


def is_noticed(mutant: Mutant, copy: Path, tests: Sequence[str]) -> bool:
    """Whether any of the tests fails with a mutant in place."""
    file, listed = copy / mutant.file, copy / "tests.txt"
    original = file.read_text()
    file.write_text(mutant.code)
    listed.write_text("\n".join(tests))
    try:
        return _pytest(copy, ["-n0", f"@{listed}"]) != 0
    finally:
        file.write_text(original)


def survivors(mutants: Sequence[Mutant], tests: Sequence[str], jobs: int) -> Iterator[Mutant]:
    """The mutants that no test notices, as they are found."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            copies.put(project_copy(Path(folder) / str(number)))
        first = copies.get()
        by_line = tests_by_line(first, tests, jobs)
        copies.put(first)

        def lives(mutant: Mutant) -> bool:
            copy = copies.get()
            try:
                return not is_noticed(mutant, copy, _covering(mutant, by_line, tests) or tests[:1])
            finally:
                copies.put(copy)

        for mutant, alive in zip(mutants, pool.map(lives, mutants), strict=True):
            if alive:
                yield mutant


def _accepted() -> set[tuple[str, str, str]]:
    listed: list[dict[str, Any]] = yaml.safe_load(ACCEPTED.read_text()) or []
    return {(it["file"], it["was"], it["now"]) for it in listed}


def main() -> None:
    """Prints every survivor, and the share of noticed changes last."""
    parser = argparse.ArgumentParser(description="Changes that no test notices.")
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--sample", type=int, default=200, help="how many changes to try (200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    accepted = _accepted()
    found = [it for file in sorted((ROOT / SOURCE / options.room).rglob("*.py")) for it in changes_to(file)]
    sample = random.Random(options.seed).sample(found, min(options.sample, len(found)))
    tried = [it for it in (one.mutant() for one in sample) if (it.file, it.was, it.now) not in accepted]
    living = 0
    for mutant in survivors(tried, ROOMS[options.room], options.jobs):
        living += 1
        print(mutant, flush=True)
    share = 100 * (1 - living / len(tried))
    print(f"{len(tried) - living} of {len(tried)} changes noticed, {share:.1f} %, of {len(found):,} possible")


if __name__ == "__main__":
    main()
