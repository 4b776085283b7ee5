"""A response cache is part of a rehearsal, as it is part of the container."""

from pathlib import Path

from support.rehearsal import Rehearse, model, spec

from inferstack.triton.rehearsal import report

SPEC = spec(
    "single-model",
    """
    models:
      net:
        backend: python
        max_batch_size: 4
        response_cache: {enable: true}
        input: [{name: A, data_type: TYPE_FP32, dims: [1]}]
        output: [{name: B, data_type: TYPE_FP32, dims: [1]}]
        files: {1/model.py: net.py}
    """,
    environment="{SAGEMAKER_TRITON_ADDITIONAL_ARGS: '--cache-config=local,size=1048576'}",
)


def test_a_model_with_a_response_cache_is_served(rehearsed: Rehearse, tmp_path: Path) -> None:
    [outcome] = rehearsed(tmp_path, SPEC, {"net.py": model('return {"B": given["A"] * 2}')})
    assert outcome.good, report(outcome)
    assert [answer.outputs[0].first for answer in outcome.models[0].answers] == [(2.0,), (2.0, 2.0)]
