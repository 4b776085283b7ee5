"""Runs tests with a change in place.

A process per copy of the project collects the tests once. It forks for each change within functions, and the
child gives them the changed code: neither imports nor collection are paid for again. A change of what runs on
import (constants, defaults, decorators) gets a process of its own.

``python -m tools.mutant_tests PATH …`` is that process: a line of JSON in is a :class:`Request`, a line out
the child's exit status.
"""

import gc
import inspect
import json
import os
import select
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import process_time
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TextIO

import pytest
from coverage import Coverage

PASSED, FAILED, CANNOT = 0, 1, 99
"""Exit statuses; the last one if a change cannot be made in a process that has imported the file."""
_PATIENCE = 30
"""How many times as long a test may take as it needs without a change, and how many seconds beyond that: the
machine may be busy.
"""
_START = 300
"""Seconds in which a process must have collected the tests."""


class Request(NamedTuple):
    """Which tests to run, in this order, and how many seconds each takes; all tests if there are none.

    ``file`` is to be changed to the text ``now``. ``report`` is where to write which lines of a folder
    (``source``) each test runs.
    """

    tests: Mapping[str, float] = {}
    file: str = ""
    now: str = ""
    report: str = ""
    source: str = ""


# ---------------------------------------------------------------- changing functions


def _is_function(code: CodeType) -> bool:
    named = code.co_name == "<lambda>" or not code.co_name.startswith("<")
    return named and bool(code.co_flags & inspect.CO_OPTIMIZED)


def _inner(code: CodeType) -> Iterator[CodeType]:
    return (it for it in code.co_consts if isinstance(it, CodeType))


def _functions(code: CodeType) -> list[CodeType]:
    """The functions of a module and of its classes, without those within functions."""
    return [found for it in _inner(code) for found in ([it] if _is_function(it) else _functions(it))]


def _on_import(code: CodeType) -> Any:
    """All of a module that runs on import."""
    constants = [
        repr(it) if not isinstance(it, CodeType) else it.co_name if _is_function(it) else _on_import(it)
        for it in code.co_consts
    ]
    return code.co_code, code.co_names, constants


def is_in_functions(was: str, now: str) -> bool:
    """Whether two texts of a module differ in their functions only."""
    try:
        return _on_import(compile(was, "was", "exec")) == _on_import(compile(now, "now", "exec"))
    except SyntaxError:
        return False


def _replace_functions(file: str, now: str) -> int:
    """Gives the functions of an imported file other code, and says how many it were."""
    was = Path(file).read_text("utf-8")
    both = zip(*(_functions(compile(it, file, "exec")) for it in (was, now)), strict=True)
    changed = {old: new for old, new in both if old != new}
    loaded = [
        it
        for it in gc.get_objects()
        if type(it) is FunctionType and it.__code__.co_filename.endswith(file) and it.__code__ in changed
    ]
    for it in loaded:
        it.__code__ = changed[it.__code__]
    return len(loaded)


# ---------------------------------------------------------------- the process that forks


class _Forks:
    """A plugin of pytest that runs the collected tests once for each request, each time in a child."""

    def __init__(self, requests: TextIO, answers: TextIO) -> None:
        self.requests, self.answers = requests, answers
        self.coverage: Coverage | None = None
        self.request = Request()
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        if session.testsfailed:
            os._exit(FAILED)
        for line in self.requests:
            child = os.fork()
            if not child:
                self.request = Request(**json.loads(line))
                self._prepare(session)
                return
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            print(status, file=self.answers, flush=True)
        os._exit(PASSED)

    def _prepare(self, session: pytest.Session) -> None:
        request = self.request
        if request.file and not _replaced(request):
            os._exit(CANNOT)
        if request.tests:
            place = {it: number for number, it in enumerate(request.tests)}
            session.items = sorted(
                (it for it in session.items if it.nodeid in place), key=lambda it: place[it.nodeid]
            )
        if request.report:
            self.coverage = Coverage(data_file=None, source=[request.source])
            self.coverage.start()
        else:
            session.config.option.maxfail = 1

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        if self.coverage:
            self.coverage.switch_context(item.nodeid)
        else:
            # Ends the process, unless the test ends before.
            signal.alarm(int(_PATIENCE * (1 + self.request.tests.get(item.nodeid, 1))))
        start = process_time()
        result = yield
        self.seconds[item.nodeid] = process_time() - start
        signal.alarm(0)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        if self.coverage:
            self.coverage.stop()
            data = self.coverage.get_data()
            # Thousands of tests run most lines: their names would fill the memory.
            number = {test: at for at, test in enumerate(self.seconds)}
            lines = {
                os.path.relpath(it): {line: [number[test] for test in tests if test] for line, tests in found}
                for it in data.measured_files()
                for found in [data.contexts_by_lineno(it).items()]
            }
            written = {"seconds": self.seconds, "failed": [*self.failed], "lines": lines}
            Path(self.request.report).write_text(json.dumps(written))


def _replaced(request: Request) -> bool:
    try:
        return _replace_functions(request.file, request.now) > 0
    except ValueError:
        # Other free variables, or another number of functions.
        return False


def main() -> None:
    """Collects the tests of the paths, and answers requests."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *sys.argv[1:]]
    os._exit(pytest.main(arguments, plugins=[_Forks(requests, answers)]))


# ---------------------------------------------------------------- its client


class Known(NamedTuple):
    """What is known of the tests without a change: how long each takes, how many lines it runs, and the
    numbers of those that run each line of a file.
    """

    tests: Mapping[int, str]
    seconds: Mapping[str, float]
    reach: Mapping[str, int]
    lines: Mapping[str, Mapping[int, Collection[int]]]


class Runner:
    """A process that runs tests in a copy of the project. What it compiles is kept, unless the copy is
    ``changed``: a later process would take the change for the original.
    """

    def __init__(self, copy: Path, paths: Iterable[str], *, changed: bool = False) -> None:
        self.copy, self.paths, self.changed = copy, tuple(paths), changed
        self.process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        roots = os.pathsep.join(map(str, (self.copy / "constructs", self.copy / "stacks", self.copy)))
        kept = {"PYTHONDONTWRITEBYTECODE": "1"} if self.changed else {}
        return subprocess.Popen(
            [sys.executable, "-m", "tools.mutant_tests", *self.paths],
            cwd=self.copy,
            env={**os.environ, "PYTHONPATH": roots, **kept},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def status(self, request: Request) -> int:
        """The exit status of the tests; :data:`FAILED` if the process ends or takes too long by itself."""
        status = self._answer(request)
        if status < 0:
            # A child that was killed may have left a question to Node, which all of them share, unanswered.
            self.close()
            self.process = self._started()
        return status

    def _answer(self, request: Request) -> int:
        assert self.process.stdin
        assert self.process.stdout
        try:
            print(json.dumps(request._asdict()), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            return FAILED
        expected = len(request.tests) + sum(request.tests.values())
        seconds = None if request.report else _START + _PATIENCE * expected
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return int(self.process.stdout.readline() or FAILED) if ready else FAILED

    def known(self, source: str) -> Known:
        """Runs all tests without a change. Those that fail in a copy are left out."""
        report = self.copy.with_suffix(".json")
        self.status(Request(report=str(report), source=source))
        found = json.loads(report.read_text())
        for it in found["failed"]:
            print(f"left out, since it fails without a change: {it}", file=sys.stderr)
        names, failed = list(found["seconds"]), set(found["failed"])
        fine = {number: it for number, it in enumerate(names) if it not in failed}
        lines = {
            file: {int(line): [it for it in tests if it in fine] for line, tests in those.items()}
            for file, those in found["lines"].items()
        }
        reach = Counter(fine[it] for those in lines.values() for tests in those.values() for it in tests)
        return Known(fine, {it: found["seconds"][it] for it in fine.values()}, reach, lines)

    def close(self) -> None:
        """Ends the process, and Node if it has started that."""
        # It leads the session of all that it starts.
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with self.process:
            pass


if __name__ == "__main__":
    main()
