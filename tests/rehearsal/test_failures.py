"""Models that are declared correctly and work badly: what only a real server shows."""

from pathlib import Path

import pytest
from support.rehearsal import Rehearse, model, spec

from inferstack.problems import SpecError
from inferstack.triton.archive.entries import MISSING
from inferstack.triton.rehearsal import ArchiveOutcome, report

_NET = """
    models:
      net:
        backend: python
        max_batch_size: 4
        input: [{name: A, data_type: TYPE_FP32, dims: [2]}]
        output: [{name: B, data_type: TYPE_FP32, dims: [2]}]
        files: {1/model.py: net.py}
"""
SPEC = spec("single-model", _NET)


def _initializing(body: str) -> str:
    """A model that does something while it is loaded."""
    lines = f"    def initialize(self, args):\n        {body}\n\n    def execute"
    return model('return {"B": given["A"]}').replace("    def execute", lines)


def _only(outcomes: list[ArchiveOutcome]) -> ArchiveOutcome:
    [outcome] = outcomes
    return outcome


def test_an_error_while_loading_is_shown_in_tritons_words(rehearsed: Rehearse, tmp_path: Path) -> None:
    files = {"net.py": _initializing('raise RuntimeError("the weights are corrupt")')}
    outcome = _only(rehearsed(tmp_path, SPEC, files))
    assert not outcome.good
    shown = report(outcome)
    assert "NOT SERVED" in shown
    assert "RuntimeError: the weights are corrupt" in shown
    assert "/opt/ml/model/net/1/model.py" in shown


def test_a_model_that_uses_the_network_is_told_that_there_is_none(
    rehearsed: Rehearse, tmp_path: Path
) -> None:
    files = {"net.py": _initializing('__import__("urllib.request").request.urlopen("https://example.org")')}
    failure = _only(rehearsed(tmp_path, SPEC, files)).failure
    assert failure is not None
    assert failure.meaning is not None
    assert "uses the network" in failure.meaning


def test_an_answer_of_another_shape_than_declared_is_wrong(rehearsed: Rehearse, tmp_path: Path) -> None:
    outcome = _only(rehearsed(tmp_path, SPEC, {"net.py": model('return {"B": given["A"][:, :1]}')}))
    [net] = outcome.models
    assert [answer.deviations for answer in net.answers] == [
        ("`B` is declared [1, 2], but the answer has [1, 1]",),
        ("`B` is declared [2, 2], but the answer has [2, 1]",),
    ]
    assert not outcome.good
    assert "WRONG: `B` is declared" in report(outcome)


def test_a_model_that_only_works_for_a_batch_of_one_is_found(rehearsed: Rehearse, tmp_path: Path) -> None:
    files = {"net.py": model('return {"B": given["A"].reshape(1, 2)}')}
    [net] = _only(rehearsed(tmp_path, SPEC, files)).models
    assert [answer.good for answer in net.answers] == [True, False]
    failure = net.answers[1].failure
    assert failure is not None
    assert "cannot reshape array" in "\n".join(failure.words)


def test_a_model_that_never_gets_ready_is_given_up_in_time(rehearsed: Rehearse, tmp_path: Path) -> None:
    files = {"net.py": _initializing('__import__("time").sleep(1000)')}
    outcome = _only(rehearsed(tmp_path, SPEC, files, seconds=3.0))
    assert outcome.failure is not None
    assert outcome.failure.what == "`/ping` did not answer 200 within 3 s"
    assert "container_startup_health_check_timeout_in_seconds" in (outcome.failure.meaning or "")


def test_an_answer_that_never_comes_is_given_up_in_time(rehearsed: Rehearse, tmp_path: Path) -> None:
    files = {"net.py": model('__import__("time").sleep(1000)')}
    [net] = _only(rehearsed(tmp_path, SPEC, files, seconds=5.0)).models
    assert [answer.failure is not None and answer.failure.what for answer in net.answers] == [
        "no answer within 5 s",
        "no answer within 5 s",
    ]


def test_code_that_is_missing_is_a_problem_of_the_spec_and_starts_no_server(
    rehearsed: Rehearse, tmp_path: Path
) -> None:
    with pytest.raises(SpecError) as raised:
        rehearsed(tmp_path, SPEC, {})
    [problem] = raised.value.problems
    assert (problem.code, problem.line) == (MISSING, SPEC[: SPEC.index("net.py")].count("\n") + 1)
