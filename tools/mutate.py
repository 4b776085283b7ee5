"""Changes the code of one package in many small ways, and names each change that no test notices.

``make mutate ROOM=resolve`` takes a sample, since all changes of a package would take hours; the same seed
takes the same sample. The changes are those of mutmut's mutators. Each is tried in a copy of the project,
with the tests of :data:`ROOMS` that run the changed line, or something of the file if the line runs on
import: 20 seconds of them at most, so that a change which lives may be one that a slow test would notice.

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
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import libcst as cst
import yaml
from libcst import matchers
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

from tools.mutant_tests import CANNOT, PASSED, Known, Request, Runner, is_in_functions

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "constructs/inferstack"
ACCEPTED = ROOT / "tools/mutants_that_may_live.yaml"

ROOMS: Mapping[str, tuple[str, ...]] = {
    "resolve": (
        *("tests/resolve", "tests/review"),
        *("tests/constructs/test_tokens.py", "tests/benchmarks/test_by_hand.py"),
    ),
    "check": ("tests/check", "tests/cli", "tests/constructs"),
    "check/rules": ("tests/check", "tests/security/test_secrets.py", "tests/test_examples.py"),
    "check/lock": ("tests/check", "tests/account", "tests/cli"),
    "review": ("tests/review", "tests/cli", "tests/pipelines"),
    "account": ("tests/account",),
    "facts": ("tests/facts", "tests/check", "tests/resolve"),
    "triton": ("tests/triton", "tests/oracle", "tests/rehearsal"),
    "source": ("tests/source", "tests/check"),
}
"""The tests for each package: its own first."""


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
    matchers.Decorator(matchers.Call(matchers.Name("lru_cache"))),
    matchers.Arg(keyword=matchers.Name("frozen")),
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


_SECONDS_OF_QUICK, _SECONDS_OF_BROAD = 5, 15


def _noticing(mutant: Mutant, known: Known, own: str, *, on_import: bool) -> dict[str, float]:
    """The tests that can notice a mutant, and how long each takes.

    First those that run most of the file in little time, which are about what it does; then those that run
    most of the package, however long they take. What its import has made may be looked at by tests that run
    none of it, such as those of a table.
    """
    lines = known.lines.get(mutant.file, {})
    # A line that continues the one before it is not always counted.
    above = max((it for it, tests in lines.items() if tests and it <= mutant.line), default=None)
    chosen = lines.values() if on_import or above is None else [lines[above]]
    tests = {known.tests[it] for it in set().union(*chosen)}
    tests = tests or {it for it in known.seconds if it.startswith(own)}
    reach = Counter(known.tests[it] for those in lines.values() for it in those)
    swift = sorted(tests, key=lambda it: (-reach[it] / (known.seconds[it] + 0.05), it))
    quick = dict(_within(swift, known, _SECONDS_OF_QUICK))
    broad = sorted(tests - quick.keys(), key=lambda it: (-known.reach[it], it))
    if on_import:
        idle = sorted((it for it in known.seconds if not known.reach[it]), key=lambda it: known.seconds[it])
        quick |= dict(_within(idle, known, _SECONDS_OF_QUICK))
    return quick | dict(_within(broad, known, _SECONDS_OF_BROAD))


def _within(tests: Iterable[str], known: Known, seconds: float) -> Iterator[tuple[str, float]]:
    for it in tests:
        yield it, known.seconds[it]
        seconds -= known.seconds[it]
        if seconds < 0:
            return


# ---------------------------------------------------------------- trying them


def project_copy(folder: Path) -> Path:
    """A copy of the files that git knows or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


@contextmanager
def _changed(copy: Path, mutant: Mutant) -> Iterator[None]:
    """The copy with a mutant in place. Its time differs, so that nobody takes what was compiled before."""
    file = copy / mutant.file
    original, times = file.read_text(), file.stat()
    file.write_text(mutant.code)
    os.utime(file, (1, 1))
    try:
        yield
    finally:
        file.write_text(original)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def is_noticed(mutant: Mutant, runner: Runner, known: Known, own: str) -> bool:
    """Whether any test fails with a mutant in place. What seems to live is tried again in a process of its
    own: what was computed while the tests were collected does not know the change.
    """
    within = is_in_functions((runner.copy / mutant.file).read_text(), mutant.code)
    tests = _noticing(mutant, known, own, on_import=not within)
    if within:
        status = runner.status(Request(tests, mutant.file, mutant.code))
        if status not in (PASSED, CANNOT):
            return True
    with _changed(runner.copy, mutant):
        alone = Runner(runner.copy, sorted({it.partition("::")[0] for it in tests}), changed=True)
        try:
            return alone.status(Request(tests)) != PASSED
        finally:
            alone.close()


def survivors(room: str, mutants: Sequence[Mutant], tests: Sequence[str], jobs: int) -> Iterator[Mutant]:
    """The mutants that no test notices, as they are found."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        runners: SimpleQueue[Runner] = SimpleQueue()
        for number in range(jobs):
            runners.put(Runner(project_copy(Path(folder) / str(number)), tests))
        own = ROOMS[room][0]
        first = runners.get()
        known = first.known(f"{SOURCE}/{room}")
        runners.put(first)

        def lives(mutant: Mutant) -> bool:
            runner = runners.get()
            try:
                return not is_noticed(mutant, runner, known, own)
            finally:
                runners.put(runner)

        try:
            tried = zip(mutants, pool.map(lives, mutants), strict=True)
            for number, (mutant, alive) in enumerate(tried, 1):
                print(f"\r{number} of {len(mutants)} tried", end="", file=sys.stderr, flush=True)
                if alive:
                    yield mutant
        finally:
            pool.shutdown(cancel_futures=True)
            for _ in range(jobs):
                runners.get().close()


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
    parser.add_argument("--only", type=Path, metavar="FILE", help="try what this earlier output lists")
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="with these tests only")
    options = parser.parse_args()
    accepted = _accepted()
    found = [it for file in sorted((ROOT / SOURCE / options.room).rglob("*.py")) for it in changes_to(file)]
    sample = random.Random(options.seed).sample(found, min(options.sample, len(found)))
    tried = [it for it in (one.mutant() for one in sample) if (it.file, it.was, it.now) not in accepted]
    if options.only is not None:
        listed = options.only.read_text("utf-8")
        tried = [it for it in tried if str(it) in listed]
    if not tried:
        parser.error(
            "no change is left to try: `--only` goes with the sample and the seed of the earlier run"
        )
    living = 0
    for mutant in survivors(options.room, tried, options.tests or ROOMS[options.room], options.jobs):
        living += 1
        print(mutant, flush=True)
    share = 100 * (1 - living / len(tried))
    print(f"{len(tried) - living} of {len(tried)} changes noticed, {share:.1f} %, of {len(found):,} possible")


if __name__ == "__main__":
    main()
