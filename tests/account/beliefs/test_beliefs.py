"""The experiments themselves, tried on the emulated AWS: what they find there, what they cost, and what they leave."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from account.beliefs import __main__ as program, lab as labs, on_stacks
from account.beliefs.__main__ import function_of, main
from account.beliefs.lab import PREFIX, TAG, Answer, Lab
from account.beliefs.page import page
from account.beliefs.table import Result, experiments, results, tried, write
from emulator import beliefs as emulated
from emulator.clients import EmulatedAws
from emulator.inventory import inventory

from inferstack.check.every_code import every_code

ROOT = Path(__file__).parents[3]
EXPERIMENTS = experiments()
WRITTEN = [name for name, it in EXPERIMENTS.items() if not it.missing]
BUDGET = ("--usd", "9", "--minutes", "999")
NOT_EMULATED = {
    *(
        "silent-rollback",
        "variants-without-traffic",
        "written-once",
        "package-and-image",
        "type-without-a-quota",
    ),
    *("alarm-imported-without-its-name", "expression-of-an-unknown-id", "size-of-another-type"),
    *("update-to-the-same-configuration", "scaled-variant-removed"),
}
"""What the emulator does otherwise, or not at all."""


@pytest.fixture(autouse=True)
def _handler() -> Iterator[None]:
    """A run leaves its handler of signals behind."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def account(aws: EmulatedAws, monkeypatch: pytest.MonkeyPatch) -> EmulatedAws:
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    for name in ("BUDGET_USD", "BUDGET_MINUTES", "ONLY", "INSTANCE_TYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(labs, "sleep", lambda _: None)
    monkeypatch.setattr("account.beliefs.cleaning.sleep", lambda _: None)
    return aws


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "results.toml"


# ---------------------------------------------------------------- the table


def test_each_belief_of_the_emulator_has_an_experiment() -> None:
    assert emulated.BELIEFS.keys() <= EXPERIMENTS.keys()
    assert all(EXPERIMENTS[name].believed == said for name, said in emulated.BELIEFS.items())


def test_each_experiment_is_written_or_says_what_it_takes() -> None:
    assert {name for name in EXPERIMENTS if function_of(name)} == {*WRITTEN}


def test_what_rests_on_a_belief_is_there() -> None:
    rests = {one for it in EXPERIMENTS.values() for one in it.rests}
    codes = {one for it in EXPERIMENTS.values() for one in it.codes}
    assert codes <= every_code().keys()
    assert [it for it in rests - codes if not (ROOT / it).is_file()] == []


def test_each_rule_that_admits_a_doubt_has_an_experiment() -> None:
    package = ROOT / "constructs" / "inferstack"
    code = "\n".join(
        it.read_text("utf-8") for folder in ("check", "updates") for it in (package / folder).rglob("*.py")
    )
    rules = re.findall(r'^@\w+\(\s*"(IS\d{3})"[^@]*?"""(.*?)"""', code, re.DOTALL | re.MULTILINE)
    doubtful = {
        it for it, said in rules if re.search(r"not\s+(confirmed|documented)|AWS\s+does\s+not\s+say", said)
    }
    assert len(doubtful) > 10
    assert doubtful - {one for it in EXPERIMENTS.values() for one in it.codes} == set()


def test_the_readme_counts_what_was_tried() -> None:
    counted = f"[{tried(results())} of {len(EXPERIMENTS)} beliefs](docs/beliefs.md)"
    assert counted in (ROOT / "README.md").read_text("utf-8")


def test_results_are_kept_without_the_account_and_shown(file: Path) -> None:
    write([Result("silent-rollback", "holds", "2026-11-28", "us-east-1", 'in 999988887777: "a | b"\n')], file)
    found = results(file)
    assert "999988887777" not in file.read_text("utf-8")
    assert found["silent-rollback"].evidence == 'in 123456789012: "a | b"\n'
    shown = page(EXPERIMENTS, found)
    assert f"tried on AWS: 1 of {len(EXPERIMENTS)}." in shown
    assert 'holds | 2026-11-28, us-east-1 | in 123456789012: "a \\| b" |' in shown
    assert tried({"a": Result("a", "cannot tell", "", "", "")}) == 0


# ---------------------------------------------------------------- runs


def test_each_experiment_finds_what_the_emulator_does_and_leaves_nothing(
    account: EmulatedAws, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = inventory(account)
    assert main([*BUDGET, "--results", str(file)]) == 0, capsys.readouterr()
    found = {name: it.finding for name, it in results(file).items()}
    assert found.keys() == {*WRITTEN}
    assert {name for name, it in found.items() if it != "holds"} == NOT_EMULATED, results(file)
    assert inventory(account) == before
    assert account.client("s3").list_buckets()["Buckets"] == []
    assert [
        it for it in account.client("iam").list_roles()["Roles"] if it["RoleName"].startswith(PREFIX)
    ] == []


def test_an_experiment_finds_what_is_not_as_believed(
    account: EmulatedAws, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("emulator.cloudwatch._children", lambda _: [])
    assert main(["composite-children-exist", *BUDGET, "--results", str(file)]) == 0
    assert results(file)["composite-children-exist"].finding == "wrong"


REFUSALS: dict[str, tuple[list[str], int, str]] = {
    "without a budget": ([], 2, "nothing is done without a budget: BUDGET_USD="),
    "with half a budget": (["--usd", "9"], 2, "nothing is done without a budget"),
    "above the money": (["--usd", "0.1", "--minutes", "999"], 1, "more than the budget of 0.10 USD"),
    "above the minutes": (["--usd", "9", "--minutes", "1"], 1, "and 1 minutes"),
    "of no experiment": (["nothing", *BUDGET], 2, "no experiment: nothing; there are: "),
    "of one that is not written": (["driver-by-label", *BUDGET], 2, "no experiment: driver-by-label"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_run_is_refused_before_anything_is_asked(
    account: EmulatedAws, case: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words, status, said = REFUSALS[case]
    monkeypatch.setattr(program, "Lab", None)
    assert main(words) == status
    assert said in capsys.readouterr().err


def _ended(kill: Callable[[], None]) -> Callable[[Lab], Answer]:
    def experiment(lab: Lab) -> Answer:
        assert lab.shared
        kill()
        return Answer("holds", "never")

    return experiment


def _terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_what_is_there_is_removed_when_a_run_is_terminated(
    account: EmulatedAws, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = inventory(account)
    monkeypatch.setattr(on_stacks, "cleanup_order", _ended(_terminate))
    with pytest.raises(SystemExit, match="terminated"):
        main(["cleanup-order", *BUDGET, "--results", str(file)])
    assert inventory(account) == before
    assert results(file) == {}


def test_what_a_killed_run_has_left_is_removed_and_nothing_else(
    account: EmulatedAws, capsys: pytest.CaptureFixture[str]
) -> None:
    sagemaker = account.client("sagemaker")
    container = {"Image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/a:1"}
    sagemaker.create_model(ModelName=f"{PREFIX}by-hand", PrimaryContainer=container)
    sagemaker.create_model(ModelName="tagged", PrimaryContainer=container, Tags=[TAG])
    before = inventory(account)
    lab = Lab(account.region, "ml.m5.large")
    assert lab.shared
    lab.deploy({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})
    assert inventory(account) != before
    assert main(["--clean"]) == 0
    assert inventory(account) == before
    assert f"removed: Endpoint {lab.shared}" in capsys.readouterr().out


def test_an_experiment_that_takes_too_long_is_no_answer_and_is_not_written_over_one(
    account: EmulatedAws, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["cleanup-order", *BUDGET, "--results", str(file)]) == 0
    before = results(file)
    monkeypatch.setattr(
        on_stacks, "cleanup_order", lambda lab: Answer("holds", str(lab.seen(lambda: "Creating")))
    )
    monkeypatch.setattr(program, "_TOO_LONG", -1)
    assert main(["cleanup-order", "revert-order", *BUDGET, "--results", str(file)]) == 0
    after = results(file)
    assert before["cleanup-order"] == after["cleanup-order"]
    monkeypatch.setattr(
        on_stacks, "revert_order", lambda lab: Answer("holds", str(lab.seen(lambda: "Creating")))
    )
    file.unlink()
    assert main(["revert-order", *BUDGET, "--results", str(file)]) == 0
    found = results(file)["revert-order"]
    assert (found.finding, found.evidence) == ("cannot tell", "OutOfTimeError: it was Creating for too long")
