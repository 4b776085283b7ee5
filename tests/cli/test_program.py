"""The console script is `main`, and wastes no time at its end."""

import gc

import pytest

from inferstack import cli


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    calls: list[str] = []
    monkeypatch.setattr(gc, "freeze", lambda: calls.append("freeze"))
    return calls


@pytest.mark.parametrize(("words", "status"), [(["explain", "IS101"], 0), (["validate", "nowhere.yaml"], 1)])
def test_it_ends_as_main_does(
    words: list[str], status: int, frozen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["inferstack", *words])
    assert cli.program() == status
    assert frozen == ["freeze"]


def test_wrong_usage_ends_it_as_well(frozen: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["inferstack", "nonsense"])
    with pytest.raises(SystemExit) as ending:
        cli.program()
    assert ending.value.code == 2
    assert frozen == ["freeze"]


def test_main_by_itself_leaves_the_collector_alone(frozen: list[str]) -> None:
    """Whoever calls it from Python goes on afterwards."""
    assert cli.main(["explain", "IS101"]) == 0
    assert not frozen
