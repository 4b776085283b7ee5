"""A stand-in computes a batch of requests at once, as the backends do, and gives each request its own rows."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from inferstack.triton.rehearsal.stand_in import TritonPythonModel, _threads

Arrays = Mapping[str, Any]


class Runner:
    """Doubles what it gets, and remembers how many rows came at once."""

    def __init__(self, *, without_batch: bool = False) -> None:
        self.rows: list[int] = []
        self._without_batch = without_batch

    def run(self, given: dict[str, Any]) -> dict[str, Any]:
        self.rows.append(len(given["X"]))
        return {"Y": given["X"].sum(axis=0)} if self._without_batch else {"Y": given["X"] * 2}


def model(runner: Runner, *, batches: bool = True) -> TritonPythonModel:
    found = TritonPythonModel()
    found._triton = SimpleNamespace(InferenceResponse=dict, Tensor=lambda name, values: (name, values))
    found._numpy, found._runner, found._batches, found._decoupled = np, runner, batches, False  # type: ignore[assignment]
    return found


def request(**arrays: Any) -> SimpleNamespace:
    tensors = [SimpleNamespace(name=lambda n=name: n, as_numpy=lambda v=it: v) for name, it in arrays.items()]
    return SimpleNamespace(inputs=lambda: tensors)


def rows(*values: float) -> Any:
    return np.array([[it, it] for it in values], dtype=np.float32)


def test_requests_are_computed_at_once_and_each_gets_its_own_rows() -> None:
    runner = Runner()
    answers = model(runner).execute([request(X=rows(1)), request(X=rows(2, 3)), request(X=rows(4))])
    assert runner.rows == [4]
    assert [it["Y"].tolist() for it in answers or ()] == [[[2, 2]], [[4, 4], [6, 6]], [[8, 8]]]


@pytest.mark.parametrize(
    ("requests", "batches", "wanted"),
    [
        ([request(X=rows(1))], True, [1]),
        ([request(X=rows(1)), request(X=rows(2))], False, [1, 1]),
        ([request(X=rows(1)), request(X=np.ones((1, 3)))], True, [1, 1]),
        ([request(X=rows(1)), request(X=rows(2), Z=rows(3))], True, [1, 1]),
    ],
    ids=["one", "without-batches", "other-shapes", "other-inputs"],
)
def test_what_does_not_fit_together_is_computed_one_by_one(
    requests: list[Any], batches: bool, wanted: list[int]
) -> None:
    runner = Runner()
    model(runner, batches=batches).execute(requests)
    assert runner.rows == wanted


def test_answers_without_rows_for_each_request_are_computed_one_by_one() -> None:
    runner = Runner(without_batch=True)
    model(runner).execute([request(X=rows(1, 2, 3)), request(X=rows(4))])
    assert runner.rows == [4, 3, 1]


@pytest.mark.parametrize(("written", "wanted"), [("2", 2), ("0", 0), ("many", 0), (None, 0)])
def test_the_backend_s_own_parameter_sets_the_threads(written: str | None, wanted: int) -> None:
    parameters = {} if written is None else {"intra_op_thread_count": {"string_value": written}}
    assert _threads({"parameters": parameters}, "intra_op_thread_count") == wanted
