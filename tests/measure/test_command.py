"""What the command prints, writes and refuses, without a server: the bench of these tests computes its numbers."""

import argparse
import json
import math
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from inferstack.check.load import load_spec
from inferstack.cli import main
from inferstack.cli.measure.output import loads, show_points, write_measurements
from inferstack.cli.measure.tuning import Tuning, comparison
from inferstack.cli.terminal import Refusal
from inferstack.endpoint.cost import NO_PRICES
from inferstack.facts.triton import triton_blocks
from inferstack.sizing.bench import Point, only_ratios
from inferstack.sizing.closed_loop import LoadRun
from inferstack.sizing.confirming import Confirmation
from inferstack.sizing.measurements import read_measurements
from inferstack.sizing.search import BestOfKind, Goal, Trial
from inferstack.sizing.sizes import Demand, sizes
from inferstack.triton.config import parse_text
from inferstack.triton.measuring.configurations import Configuration
from inferstack.triton.measuring.statistics import Counted
from inferstack.triton.model import Repository, TritonModel
from inferstack.triton.rehearsal.layout import LocalConfig
from inferstack.triton.repositories import repositories_at

HEAD = """\
kind: single-model
endpoint_name: ranker
model: {image: {framework: triton, version: "24.09"}, model_data_url: s3://acme-models/r/model.tar.gz}
variant: {instance_type: ml.m5.large, initial_instance_count: 2}
"""
DECLARED = """\
triton:
  models:
    net:
      backend: python
      max_batch_size: 8  # as the network was traced
      input: [{name: X, data_type: TYPE_FP32, dims: [2]}]
      output: [{name: Y, data_type: TYPE_FP32, dims: [2]}]
"""
CONFIG = """\
backend: "python"
max_batch_size: 8  # as the network was traced
input [ { name: "X" data_type: TYPE_FP32 dims: [ 2 ] } ]
output [ { name: "Y" data_type: TYPE_FP32 dims: [ 2 ] } ]
"""


def a_run(users: int, rate: float, milliseconds: float = 10.0, **more: object) -> LoadRun:
    latencies = dict.fromkeys((50, 90, 95, 99), milliseconds)
    return LoadRun(users=users, seconds=10.0, answers=int(rate * 10), latencies=latencies, sent=100, **more)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ranker.yaml").write_text(HEAD + DECLARED)


# ---------------------------------------------------------------- wrong usage


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--body x", "--body and --content-type go together"),
        ("--body x --content-type y --rows 2", "--rows is for a body that is made from the declared inputs"),
        ("--write", "--write, --tune and --picture need --try"),
        ("--tune net", "--write, --tune and --picture need --try"),
        ("--picture rates.svg", "--write, --tune and --picture need --try"),
        ("--try instance_group --endpoint e", "an endpoint is measured as it is"),
        ("--budget 2", "--budget is for an --endpoint"),
        ("--requests 9 --prices p.json", "--requests and --prices are for an --endpoint"),
        ("--endpoint e --log l.txt", "--log is for a server on this machine, not an --endpoint"),
        ("--endpoint e --python p --allow d", "--python and --allow are for a server on this machine"),
        (
            "--endpoint e --body x --content-type y --model m",
            "--model is for a body that is made from the declared inputs, not --body",
        ),
        ("--concurrency 0", "'0' is not a whole number from 1 to 1000000000"),
        ("--concurrency 1,,4", "'' is not a whole number from 1 to 1000000000"),
        ("--concurrency 5000", "5000 users at once are too many: at most 1024"),
        ("--try instance_groups", "did you mean `instance_group`?"),
        ("--window 0", "0 is not a positive number"),
        ("--picture rates.gif", "rates.gif: the name must end in .svg, .png or .html"),
    ],
)
def test_wrong_usage_is_said(more: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["measure", "ranker.yaml", *more.split()])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_picture_that_could_not_be_drawn_is_refused_before_the_load(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert main(["measure", "nothing.yaml", "--try", "dynamic_batching", "--picture", "rates.svg"]) == 1
    assert "pip install 'inferstack[pictures]'" in capsys.readouterr().err


def test_a_spec_without_a_repository_has_nothing_to_measure(capsys: pytest.CaptureFixture[str]) -> None:
    Path("plain.yaml").write_text(
        HEAD.replace("framework: triton", "framework: sklearn").replace("24.09", "1.2-1")
    )
    assert main(["measure", "plain.yaml"]) == 1
    assert "nothing to measure: the spec has no `triton` block" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "add --target-model: `a.tar.gz` or `b.tar.gz`"),
        (["--target-model", "c.tar.gz"], "--target-model: no `c.tar.gz`"),
    ],
)
def test_one_of_several_archives_has_to_be_named(
    more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    models = DECLARED.removeprefix("triton:\n").replace("\n", "\n    ").rstrip()
    archives = "".join(f"    {name}.tar.gz:\n    {models}\n" for name in "ab")
    head = HEAD.replace("single-model", "multi-model").replace("model.tar.gz", "")
    Path("several.yaml").write_text(f"{head}triton:\n  archives:\n{archives}")
    assert main(["measure", "several.yaml", *more]) == 1
    assert said in capsys.readouterr().err


# ---------------------------------------------------------------- a search


class Served:
    """A repository that is served, without a server."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository

    def model(self, name: str) -> TritonModel:
        found = self.repository.model(name)
        assert found is not None
        return found


class Bench:
    """A row takes as long as a batch, and instances share nothing."""

    def configured(self, model: str, wanted: Configuration, users: int) -> Point:
        rows = max(1, min(wanted.batch, users // wanted.instances)) * min(wanted.instances, users)
        return Point(wanted.name, a_run(users, 10.0 * rows, 1000 * users / (10.0 * rows)), {}, wanted)


class LuckyBench(Bench):
    """No configuration is faster, but the first run of one with batches was."""

    def __init__(self) -> None:
        self.seen: set[Configuration] = set()

    def configured(self, model: str, wanted: Configuration, users: int) -> Point:
        lucky = wanted.batch and wanted not in self.seen
        self.seen.add(wanted)
        return Point(wanted.name, a_run(users, 178.0 if lucky else 100.0), {}, wanted)


def tuned(file: Path, goal: Goal | None = None, bench: Bench | None = None) -> Tuning:
    loaded = load_spec(file)
    [placed] = triton_blocks(loaded.spec)
    [repository] = repositories_at(placed, file.parent)
    options = argparse.Namespace(
        spec=file,
        stage=None,
        region=None,
        rows=1,
        tune=None,
        tried=("dynamic_batching", "instance_group"),
        concurrency=(1, 16, 64),
    )
    found = Tuning(bench or Bench(), Served(repository), Goal() if goal is None else goal, [], options)  # type: ignore[arg-type]
    found.search(lambda _: None)
    found.confirm(lambda _: None)
    return found


def test_what_was_lucky_once_is_no_advice_and_is_not_written() -> None:
    file = Path("ranker.yaml")
    found = tuned(file, bench=LuckyBench())
    lines = list(found.lines())
    again = "measured again in turns with no batching, 1 instance: no clear difference"
    assert lines[-1].startswith(again)
    with pytest.raises(Refusal, match="nothing is written: batch 16, 1 instance is not clearly faster"):
        found.write()
    assert file.read_text() == HEAD + DECLARED


@pytest.mark.parametrize(("bench", "is_faster"), [(Bench(), True), (LuckyBench(), False)])
def test_programs_get_the_verdict_with_the_best(
    bench: Bench, is_faster: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    found = tuned(Path("ranker.yaml"), bench=bench)
    show_points(found._points, [], "json", found.verdict_on)
    points = json.loads(capsys.readouterr().out)
    [best] = [it for it in points if it["verdict"] is not None]
    assert best["requests_per_minute"] == max(it["requests_per_minute"] for it in points)
    said = best["verdict"]
    assert (said["against"], said["clearly_faster"]) == ("no batching, 1 instance", is_faster)
    assert said["low"] <= min(said["ratios"]) <= said["high"]


def test_a_pair_in_which_only_one_meets_the_limit_is_still_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = tuned(Path("ranker.yaml"))
    found._verdict = Confirmation((math.inf,) * 6, math.inf, math.inf)
    show_points(found._points, [], "json", found.verdict_on)
    out = capsys.readouterr().out
    assert "Infinity" not in out
    [said] = [it["verdict"] for it in json.loads(out) if it["verdict"] is not None]
    assert (said["clearly_faster"], said["ratios"]) == (True, [None] * 6)


def test_the_runs_of_the_confirmation_are_written_too_and_the_lowest_counts() -> None:
    found = tuned(Path("ranker.yaml"), bench=LuckyBench())
    assert len(found.repeated) == 12
    write_measurements(Path("m.csv"), [*found._points, *found.repeated], "ml.m5.large")
    rows = sizes(read_measurements(Path("m.csv")), Demand(peak=Decimal(1)), NO_PRICES)
    assert {it.measurement.requests_per_minute for it in rows if not it.objections} >= {Decimal(6000)}
    lucky = "another measurement of the same load shows 6000 requests a minute, not 10680"
    assert any(lucky in it.objections for it in rows)


def test_a_search_that_was_interrupted_says_that_nothing_was_confirmed() -> None:
    found = tuned(Path("ranker.yaml"))
    found._verdict = None
    assert "each was measured once only, so the difference may be chance" in list(found.lines())


def test_without_a_run_that_could_be_used_no_file_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    crashed = LoadRun(users=4, seconds=1.0, answers=0, latencies={}, errors={"no answer": 20}, sent=20)
    failing = replace(a_run(8, 10.0), errors={"status 500": 30})
    write_measurements(Path("m.csv"), [Point("net", crashed), Point("net", failing)], "ml.m5.large")
    assert not Path("m.csv").exists()
    assert capsys.readouterr().err.splitlines() == [
        "net, 8 users: left out of m.csv: 30 of 100 requests failed",
        "m.csv: not written: no run could be used",
    ]
    write_measurements(Path("m.csv"), [Point("net", failing), Point("net", a_run(4, 10.0))], "ml.m5.large")
    assert [it.users for it in read_measurements(Path("m.csv"))] == [4]


def test_the_best_goes_into_the_spec_and_leaves_its_comments(capsys: pytest.CaptureFixture[str]) -> None:
    file = Path("ranker.yaml")
    found = tuned(file)
    lines = list(found.lines())
    assert "in the spec, at triton.models.net:" in lines
    assert "  max_batch_size: 32" in lines
    found.write()
    text = file.read_text("utf-8")
    assert "max_batch_size: 32  # as the network was traced" in text
    assert load_spec(file).spec.triton is not None
    assert "+      dynamic_batching: {}" in capsys.readouterr().out
    assert "`net` has this configuration already" in list(tuned(file).lines())
    points = found.picture()["data"]["values"]
    assert {it["measured"] for it in points} == {"base", "batching", "instances", "both"}


def test_the_best_goes_into_the_file_of_a_model_in_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path("models/net/1")
    folder.mkdir(parents=True)
    (folder / "model.py").touch()
    config = folder.parent / "config.pbtxt"
    config.write_text(CONFIG)
    file = Path("folder.yaml")
    file.write_text(f"{HEAD}triton: {{repository: models}}\n")
    tuned(file).write()
    text = config.read_text("ascii")
    assert "max_batch_size: 32  # as the network was traced" in text
    made = parse_text(text)
    assert (made.max_batch_size, made.instance_group[0].count) == (32, 2)
    assert made.HasField("dynamic_batching")
    assert "+max_batch_size: 32  # as the network was traced\n" in capsys.readouterr().out


def test_nothing_is_written_where_nothing_is_fast_enough() -> None:
    found = tuned(Path("ranker.yaml"), Goal(95.0, 1.0))
    assert any("none within 1 ms at P95" in line for line in found.lines())
    with pytest.raises(Exception, match="nothing is written: no configuration is within"):
        found.write()


# ---------------------------------------------------------------- what is printed


def test_no_line_of_the_tables_is_wider_than_a_terminal() -> None:
    run = LoadRun(
        users=1024, seconds=1.0, answers=999_999, latencies=dict.fromkeys((50, 90, 95, 99), 99_999.0)
    )
    counted = Counted(9, 99, 9, 10**12, 10**12, {1: 3, 2: 3, 4: 3, 8: 1})
    for line in loads([Point("net", run, {"sentence-transformer": counted})]):
        assert len(line) <= 80
    trial = Trial(Configuration(128, 2000, 16, 16), 1024, 99_999.0, 99_999.0)
    rows = [BestOfKind(name, trial, within=False) for name in ("base", "batching", "instances", "both")]
    for line in comparison(rows, Goal(99.5, 100.0)):
        assert len(line) <= 80


def test_the_sizes_of_batches_are_shown_with_their_share() -> None:
    counted = Counted(20, 40, 20, 0, 0, {1: 10, 2: 4, 3: 1, 8: 5})
    *_, last = loads([Point("net", a_run(4, 10.0), {"net": counted})])
    assert last.endswith("1 (50 %), 8 (25 %), …")


def test_what_is_doubtful_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    rough = [Point("net", a_run(users, 10.0, steady=False, busy=users > 1)) for users in (1, 2, 4)]
    failed = Point("net", a_run(8, 10.0, errors={"status 500: no": 3, "other": 1}))
    nothing = LoadRun(users=1, seconds=0.0, answers=0, latencies={})
    unloaded = [Point("batch 4", nothing, trouble="Triton does not load it: why")] * 2
    show_points([*rough, failed, *unloaded], [], "text")
    assert capsys.readouterr().err.splitlines() == [
        "net, 8 users: 4 of 100 requests failed, 3 of them with status 500: no",
        "batch 4: Triton does not load it: why",
        "3 of 4 runs have not become steady, so the numbers are rough; --longest S gives more time",
        "2 of 4 runs have used a whole processor for the users, so the server might do more",
    ]


def test_programs_get_all_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    point = Point(
        "net", a_run(4, 10.0), {"net": Counted(4, 8, 2, 4_000_000, 8_000_000, {4: 2})}, Configuration(8)
    )
    show_points([point], [], "json")
    [found] = json.loads(capsys.readouterr().out)
    assert (found["configuration"], found["batch"], found["requests_per_minute"]) == ("net", 8, 600.0)
    assert found["milliseconds"]["p95"] == 10.0
    assert found["triton"]["net"] == {
        "queue_ms": 1.0,
        "compute_ms": 2.0,
        "batch": 4.0,
        "batch_sizes": {"4": 2},
    }


def test_size_reads_what_is_written_and_doubts_only_what_more_users_may_raise() -> None:
    rates = {1: 10.0, 4: 45.0, 16: 39.0}
    points = [Point("net", a_run(users, rate, 60_000 * users / 60 / rate)) for users, rate in rates.items()]
    write_measurements(Path("m.csv"), [*points, Point("other", a_run(4, 10.0, 400.0))], "ml.m5.large")
    found = read_measurements(Path("m.csv"))
    assert [(it.configuration, it.users) for it in found] == [
        ("net", 1),
        ("net", 4),
        ("net", 16),
        ("other", 4),
    ]
    assert found[1].requests_per_minute == Decimal(2700)
    assert round(found[1].latencies[Decimal(99)]) == 89
    doubted = {it.title: bool(it.doubts) for it in sizes(found, Demand(peak=Decimal(1)), NO_PRICES)}
    assert doubted == {"net, 1 user": True, "net, 4 users": False, "net, 16 users": False, "other": True}
    write_measurements(Path("m.csv"), points[:2], "ml.m5.large", instances=2)
    halved = read_measurements(Path("m.csv"))
    assert [(it.requests_per_minute, it.users) for it in halved] == [(300, 1), (1350, 2)]


# ---------------------------------------------------------------- what the numbers are worth


def local(**more: object) -> LocalConfig:
    fields = {"config": None, "changes": (), "changed": False, "stand_in": None, "run_by": None, **more}
    return LocalConfig(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("types", "model", "said"),
    [
        (["ml.m5.large"], local(), None),
        (["ml.m5.large", "ml.m5.large"], local(), None),
        (["ml.m5.xlarge"], local(), "ml.m5.xlarge has 4 processors, but this machine 2"),
        (["ml.g5.xlarge"], local(), "ml.g5.xlarge has accelerators, but this machine used its CPU"),
        (["ml.inf2.xlarge"], local(), "ml.inf2.xlarge has accelerators"),
        (["ml.zz9.large"], local(), "nothing is known about ml.zz9.large"),
        ([], local(), "does not name exactly one instance type"),
        (["ml.m5.large", "ml.c5.large"], local(), "does not name exactly one instance type"),
        (["ml.m5.large"], local(stand_in="pytorch", run_by="torch 2.13"), "run by torch 2.13 instead of"),
        (["ml.m5.large"], local(changes=("its instances run on the CPU",)), "asks for a GPU"),
    ],
)
def test_numbers_that_are_none_of_the_instances_are_ratios_only(
    types: list[str], model: LocalConfig, said: str | None
) -> None:
    reasons = list(only_ratios(types, [("net", model)], 2))
    assert [it for it in reasons if said is None or said not in it] == []
    assert bool(reasons) == (said is not None)


def test_a_goal_is_that_of_the_objective() -> None:
    Path("slow.yaml").write_text(
        HEAD
        + "objective: {requests_per_minute: 100, latency: {percentile: P99.9, value_in_milliseconds: 80}}\n"
        + DECLARED
    )
    goal = Goal.of(load_spec(Path("slow.yaml")).spec.objective)
    assert (goal.percentile, goal.limit) == (99.9, 80.0)
    assert goal.percentiles == (50, 90, 95, 99, 99.9)
    assert Goal.of(None) == Goal(95.0, math.inf)
