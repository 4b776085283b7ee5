"""Archives of a multi-model endpoint on a real Triton: loaded, invoked, listed, unloaded."""

from pathlib import Path

import pytest
from support.rehearsal import Rehearse, model, spec

from inferstack.triton.rehearsal import ArchiveOutcome

SPEC = spec(
    "multi-model",
    """
    archives:
      double.tar.gz:
        models:
          net: &net
            backend: python
            input: [{name: A, data_type: TYPE_INT64, dims: [-1]}]
            output: [{name: B, data_type: TYPE_INT64, dims: [-1]}]
            files: {1/model.py: double.py}
      chain.tar.gz:
        models:
          net: *net
          chain:
            platform: ensemble
            input: [{name: A, data_type: TYPE_INT64, dims: [-1]}]
            output: [{name: C, data_type: TYPE_INT64, dims: [-1]}]
            ensemble_scheduling:
              step:
                - {model_name: net, model_version: -1, input_map: {A: A}, output_map: {B: once}}
                - {model_name: net, model_version: -1, input_map: {A: once}, output_map: {B: C}}
      corrupt.tar.gz:
        models:
          net: {<<: *net, files: {1/model.py: corrupt.py}}
      played.tar.gz:
        models:
          net:
            platform: tensorrt_plan
            max_batch_size: 16
            input: [{name: A, data_type: TYPE_FP32, dims: [3, 8, 8]}]
            output: [{name: B, data_type: TYPE_FP32, dims: [10]}]
            files: {1/model.plan: nowhere/model.plan}
    """,
)
FILES = {
    "double.py": model('return {"B": given["A"] * 2}'),
    "corrupt.py": "import a_module_that_is_nowhere\n",
}


@pytest.fixture(scope="module")
def outcomes(rehearsed: Rehearse, tmp_path_factory: pytest.TempPathFactory) -> dict[str, ArchiveOutcome]:
    folder: Path = tmp_path_factory.mktemp("multi-model")
    return {one.archive.removesuffix(".tar.gz"): one for one in rehearsed(folder, SPEC, FILES)}


def test_each_archive_is_loaded_invoked_listed_and_unloaded(outcomes: dict[str, ArchiveOutcome]) -> None:
    for name in ("double", "chain", "played"):
        assert outcomes[name].good, outcomes[name]
        assert outcomes[name].steps == (
            "loaded (200)",
            "invoked",
            "listed (200)",
            "looked up (200)",
            "unloaded (200)",
            "gone (404)",
        )


def test_archives_that_compute_answer_with_the_right_numbers(outcomes: dict[str, ArchiveOutcome]) -> None:
    found = {
        (archive, one.name, answer.form): [tensor.first for tensor in answer.outputs]
        for archive in ("double", "chain")
        for one in outcomes[archive].models
        for answer in one.answers
    }
    assert found == {
        ("double", "net", "JSON"): [(2, 2)],
        ("double", "net", "binary"): [(2, 2)],
        ("chain", "net", "JSON"): [(2, 2)],
        ("chain", "chain", "JSON"): [(4, 4)],
        ("chain", "chain", "binary"): [(4, 4)],
    }


def test_an_archive_that_does_not_load_shows_tritons_error_and_keeps_no_other_from_loading(
    outcomes: dict[str, ArchiveOutcome],
) -> None:
    failure = outcomes["corrupt"].failure
    assert failure is not None
    assert "No module named 'a_module_that_is_nowhere'" in "\n".join(failure.words)
    assert failure.meaning is not None
    assert "--python" in failure.meaning
    assert list(outcomes).index("corrupt") < list(outcomes).index("played")


def test_a_backend_that_the_server_lacks_is_played_with_the_declared_shapes(
    outcomes: dict[str, ArchiveOutcome],
) -> None:
    [net] = outcomes["played"].models
    assert net.stand_in == "tensorrt"
    assert net.notes == ("1/model.plan is not on this machine",)
    shapes = [[(tensor.data_type, tensor.shape) for tensor in answer.outputs] for answer in net.answers]
    assert shapes == [[("FP32", (1, 10))], [("FP32", (2, 10))]]
