"""Several processes work on many files, and the results do not show it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
import pytest

from inferstack.check.files import CheckedFile, checked_file
from inferstack.cli import main, processes
from inferstack.cli.processes import mapped
from inferstack.cli.render import RenderedFile, rendered

ROOT = Path(__file__).parents[2]
MANY = 6 * processes._FEWEST
SPEC = """
kind: single-model
endpoint_name: {name}
model: {{image: {{framework: sklearn, version: 1.2-1}}, model_data_url: s3://acme/{name}.tar.gz}}
variant: {{instance_type: ml.m5.large, initial_instance_count: {count}}}
"""


def with_process(item: int) -> tuple[int, int]:
    # Long enough for another process to come and take its part.
    time.sleep(0.002)
    return item, os.getpid()


def refuse(item: int) -> int:
    if item == MANY - 2:
        raise ValueError("not this one")
    return item


def die_elsewhere(item: int, here: int, dead: Path) -> int:
    time.sleep(0.002)
    if os.getpid() != here:
        dead.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def wait(item: int) -> bytes:
    """One process has all the slow work, so that the other waits for more. The result is more than a pipe holds."""
    time.sleep(1 if item > MANY - 5 else 0)
    return bytes(1 << 16)


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_cores", lambda: 2)


def test_what_comes_back_is_in_order(two_cores: None) -> None:
    assert [item for item, _ in mapped(with_process, range(MANY), tuple[int, int])] == list(range(MANY))


def test_many_items_go_to_all_processes_and_few_stay(two_cores: None) -> None:
    here = os.getpid()
    processes_of_all = {process for _, process in mapped(with_process, range(MANY), tuple[int, int])}
    assert len(processes_of_all) == 2
    assert here in processes_of_all
    assert {
        process for _, process in mapped(with_process, range(2 * processes._FEWEST - 1), tuple[int, int])
    } == {here}


def test_each_process_has_enough_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_cores", lambda: 64)
    started: list[int] = []

    def count(_: object, items: list[int], count: int, makes: type[int]) -> list[int]:
        started.append(count)
        return items

    monkeypatch.setattr(processes, "_in_processes", count)
    assert mapped(abs, range(MANY), int) == list(range(MANY))
    assert mapped(abs, range(100 * MANY), int) == list(range(100 * MANY))
    assert started == [MANY // processes._FEWEST, processes._MOST]


def test_on_one_core_all_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_cores", lambda: 1)
    assert {process for _, process in mapped(with_process, range(MANY), tuple[int, int])} == {os.getpid()}


def test_where_processes_cannot_be_copied_all_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    assert {process for _, process in mapped(with_process, range(MANY), tuple[int, int])} == {os.getpid()}


def test_an_error_in_another_process_is_the_caller_s(two_cores: None) -> None:
    with pytest.raises(ValueError, match="not this one"):
        mapped(refuse, range(MANY), int)


def test_where_a_process_is_killed_this_one_does_the_work(two_cores: None, tmp_path: Path) -> None:
    dead = tmp_path / "dead"
    assert mapped(partial(die_elsewhere, here=os.getpid(), dead=dead), range(MANY), int) == list(range(MANY))
    assert dead.exists()


def test_what_was_handed_over_in_part_counts_as_nothing() -> None:
    made = {3: [("b", 2), ("", 0)], 7: []}
    whole = msgspec.msgpack.encode(made)
    for length in range(len(whole) + 1):
        source, sink = os.pipe()
        os.write(sink, whole[:length])
        os.close(sink)
        assert processes._handed_over(source, tuple[str, int]) == ({} if length < len(whole) else made)
        os.close(source)


@pytest.mark.parametrize("spec", sorted((ROOT / "model_specs").glob("*.yaml")), ids=lambda it: it.stem)
def test_what_the_commands_make_of_a_spec_comes_back_as_it_was(spec: Path) -> None:
    """Otherwise the first process would do it all again, and the only sign of that would be the time it takes."""
    made = rendered(spec, stage=None, region=None, form="json")
    assert made.taken is not None
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(made), type=RenderedFile) == made
    checked = checked_file(spec)
    assert checked.taken
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(checked), type=CheckedFile) == checked


def test_no_process_and_no_pipe_is_left(two_cores: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def fork(fork: Callable[[], int] = os.fork) -> int:
        made.append(fork())
        return made[-1]

    monkeypatch.setattr(os, "fork", fork)
    before = set(Path("/dev/fd").iterdir())
    mapped(with_process, range(MANY), tuple[int, int])
    with suppress(ValueError):
        mapped(refuse, range(MANY), int)
    assert set(Path("/dev/fd").iterdir()) == before
    assert len(made) == 2
    for process in made:
        with pytest.raises(ChildProcessError):
            os.waitpid(process, os.WNOHANG)


def test_where_no_process_can_be_made_this_one_does_the_work(
    two_cores: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    assert {process for _, process in mapped(with_process, range(MANY), tuple[int, int])} == {os.getpid()}


def test_where_nobody_can_wait_for_a_process_all_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some programs that start others ignore the end of a child, and children inherit that."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert {process for _, process in mapped(with_process, range(MANY), tuple[int, int])} == {os.getpid()}
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.fixture
def waiting() -> Iterator[subprocess.Popen[str]]:
    """A program whose processes wait for work, and that prints what became of it."""
    program = f"""
from inferstack.cli import processes
from tests.cli import test_processes as tests
processes._cores = lambda: 2
print("ready", flush=True)
try:
    processes.mapped(tests.wait, range({MANY}), bytes)
except KeyboardInterrupt:
    print("interrupted")
"""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        time.sleep(1)
        yield run
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)


def test_ctrl_c_ends_all_at_once_and_says_nothing_but_that(waiting: subprocess.Popen[str]) -> None:
    """A terminal sends it to every process."""
    os.killpg(waiting.pid, signal.SIGINT)
    said, errors = waiting.communicate(timeout=20)
    assert (said, errors, waiting.returncode) == ("interrupted\n", "", 0)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_no_process_outlives_the_first(waiting: subprocess.Popen[str], ending: signal.Signals) -> None:
    """As `timeout` sends it. The output ends once no process has it open any more."""
    waiting.send_signal(ending)
    assert waiting.communicate(timeout=10) == ("", "")
    assert waiting.returncode == -ending


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    for number in range(MANY):
        # Every 40th has a mistake, and every 50th has the name of another one.
        name = f"net-{number - 1 if number % 50 == 7 else number}"
        count = 0 if number % 40 == 3 else 2
        Path(f"net-{number:03}.yaml").write_text(SPEC.format(name=name, count=count))
    return sorted(str(file) for file in Path().glob("*.yaml"))


def both_ways(run: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> tuple[object, object]:
    found = []
    for cores in (1, 2):
        monkeypatch.setattr(processes, "_cores", lambda cores=cores: cores)
        found.append(run())
    return found[0], found[1]


def test_validate_says_the_same(
    specs: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run() -> tuple[int, str, str]:
        return main(["validate", *specs]), *capsys.readouterr()

    one, other = both_ways(run, monkeypatch)
    assert one == other
    assert "is taken by net-006.yaml:3" in str(one)
    assert str(one).count("initial_instance_count") == len(range(3, MANY, 40))


def test_render_makes_the_same(
    specs: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = [spec for number, spec in enumerate(specs) if number % 40 != 3 and number % 50 != 7]

    def run() -> tuple[int, str, dict[str, object]]:
        status = main(["render", *good, "--out", "rendered"])
        files = {file.name: json.loads(file.read_text()) for file in Path("rendered").iterdir()}
        return status, capsys.readouterr().out, files

    one, other = both_ways(run, monkeypatch)
    assert one == other
    assert isinstance(one, tuple)
    assert len(one[2]) == len(good)
