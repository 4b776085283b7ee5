"""An ensemble of two Python models that compute, and what is left beside it, on a real Triton."""

from pathlib import Path

import pytest
from support.rehearsal import Rehearse, model, spec

from inferstack.triton.rehearsal import ArchiveOutcome, report

SPEC = spec(
    "ensemble",
    """
    default_model: pipe
    models:
      split:
        backend: python
        max_batch_size: 8
        input:
          - {name: TEXT, data_type: TYPE_STRING, dims: [1]}
          - {name: SCALE, data_type: TYPE_INT32, dims: [3]}
        output: [{name: LENGTHS, data_type: TYPE_FP32, dims: [3]}]
        files: {1/model.py: split.py}
      total:
        backend: python
        max_batch_size: 8
        input: [{name: VALUES, data_type: TYPE_FP32, dims: [3]}]
        output:
          - {name: SUM, data_type: TYPE_FP64, dims: [1]}
          - {name: WORD, data_type: TYPE_STRING, dims: [1]}
        dynamic_batching: {}
        instance_group: [{count: 1, kind: KIND_GPU}]
        files: {1/model.py: total.py}
      alone:
        backend: dali
        max_batch_size: 8
        input: [{name: A, data_type: TYPE_UINT8, dims: [-1]}]
        output: [{name: B, data_type: TYPE_FP32, dims: [1]}]
        files: {1/model.dali: nowhere/model.dali}
      pipe:
        platform: ensemble
        max_batch_size: 8
        input:
          - {name: TEXT, data_type: TYPE_STRING, dims: [1]}
          - {name: SCALE, data_type: TYPE_INT32, dims: [3]}
        output:
          - {name: SUM, data_type: TYPE_FP64, dims: [1]}
          - {name: WORD, data_type: TYPE_STRING, dims: [1]}
        ensemble_scheduling:
          step:
            - model_name: split
              model_version: -1
              input_map: {TEXT: TEXT, SCALE: SCALE}
              output_map: {LENGTHS: lengths}
            - model_name: total
              model_version: -1
              input_map: {VALUES: lengths}
              output_map: {SUM: SUM, WORD: WORD}
    """,
)
# The request is the text "rehearsal", with 9 characters, and ones: so each length is 9, and their sum is 27.
FILES = {
    "split.py": model(
        """
        lengths = np.array([[len(text[0])] for text in given["TEXT"]], dtype=np.float32)
        return {"LENGTHS": lengths * given["SCALE"].astype(np.float32)}
        """
    ),
    "total.py": model(
        """
        sums = given["VALUES"].astype(np.float64).sum(axis=1, keepdims=True)
        return {"SUM": sums, "WORD": np.array([[f"{int(one[0])}!"] for one in sums], dtype=object)}
        """
    ),
}


@pytest.fixture(scope="module")
def outcome(rehearsed: Rehearse, tmp_path_factory: pytest.TempPathFactory) -> ArchiveOutcome:
    folder: Path = tmp_path_factory.mktemp("ensemble")
    [found] = rehearsed(folder, SPEC, FILES)
    assert found.failure is None, found.failure
    return found


def test_an_ensemble_answers_with_the_right_numbers_in_json_and_in_binary(outcome: ArchiveOutcome) -> None:
    pipe = next(one for one in outcome.models if one.name == "pipe")
    assert [(answer.form, answer.batch) for answer in pipe.answers] == [("JSON", 1), ("binary", 2)]
    for answer in pipe.answers:
        found = {tensor.name: (tensor.data_type, tensor.shape, tensor.first) for tensor in answer.outputs}
        rows = answer.batch
        assert found == {
            "SUM": ("FP64", (rows, 1), (27.0,) * rows),
            "WORD": ("BYTES", (rows, 1), ("27!",) * rows),
        }


def test_the_default_model_is_asked_by_invocations_and_its_steps_on_tritons_port(
    outcome: ArchiveOutcome,
) -> None:
    ways = {one.name: one.way for one in outcome.models}
    assert ways["pipe"] == "POST /invocations"
    assert ways["split"] == ways["total"] == "Triton's own port"
    split = next(one for one in outcome.models if one.name == "split")
    assert [tensor.first for tensor in split.answers[0].outputs] == [(9.0, 9.0, 9.0)]


def test_a_model_that_nothing_needs_is_not_loaded_and_the_report_says_so(outcome: ArchiveOutcome) -> None:
    alone = next(one for one in outcome.models if one.name == "alone")
    assert (alone.way, alone.answers) == ("not loaded", ())
    assert "which does not include this one" in report(outcome)


def test_models_of_the_python_backend_are_not_played(outcome: ArchiveOutcome) -> None:
    assert {one.name: one.stand_in for one in outcome.models} == {
        "split": None,
        "total": None,
        "alone": "dali",
        "pipe": None,
    }


def test_the_report_says_that_gpu_instances_ran_on_the_cpu(outcome: ArchiveOutcome) -> None:
    total = next(one for one in outcome.models if one.name == "total")
    assert total.notes == ("its instances run on the CPU",)
    assert outcome.good
