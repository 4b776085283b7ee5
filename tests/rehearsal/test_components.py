"""Inference components with their own Triton models, or whose models have them: each is served as if alone."""

from pathlib import Path

from support.rehearsal import Rehearse, model

from inferstack.triton.rehearsal import report

SPEC = """\
kind: inference-components
endpoint_name: rehearsed
variant: {instance_type: ml.c5.4xlarge, initial_instance_count: 1}
inference_components:
  doubles:
    specification:
      container: &container
        image: {framework: triton, version: "24.09"}
        artifact_url: s3://acme-models/doubles/model.tar.gz
        triton:
          models:
            net: &net
              backend: python
              max_batch_size: 4
              input: [{name: X, data_type: TYPE_FP32, dims: [2]}]
              output: [{name: Y, data_type: TYPE_FP32, dims: [2]}]
              files: {1/model.py: doubles.py}
      compute_resource_requirements: {min_memory_required_in_mb: 1024}
  triples:
    specification:
      container:
        <<: *container
        artifact_url: s3://acme-models/triples/model.tar.gz
        triton: {models: {net: {<<: *net, files: {1/model.py: triples.py}}}}
      compute_resource_requirements: {min_memory_required_in_mb: 1024}
"""


MODELS = """\
kind: inference-components
endpoint_name: rehearsed
variant: {instance_type: ml.c5.4xlarge, initial_instance_count: 1}
models:
  doubling: &model
    image: {framework: triton, version: "24.09"}
    model_data_url: s3://acme-models/doubles/model.tar.gz
    triton:
      models:
        net: &net
          backend: python
          max_batch_size: 4
          input: [{name: X, data_type: TYPE_FP32, dims: [2]}]
          output: [{name: Y, data_type: TYPE_FP32, dims: [2]}]
          files: {1/model.py: doubles.py}
  tripling:
    <<: *model
    model_data_url: s3://acme-models/triples/model.tar.gz
    triton: {models: {net: {<<: *net, files: {1/model.py: triples.py}}}}
inference_components:
  doubles: {specification: {model_name: doubling, compute_resource_requirements: {min_memory_required_in_mb: 1024}}}
  again: {specification: {model_name: doubling, compute_resource_requirements: {min_memory_required_in_mb: 1024}}}
  triples: {specification: {model_name: tripling, compute_resource_requirements: {min_memory_required_in_mb: 1024}}}
"""
FILES = {
    "doubles.py": model("return {'Y': 2 * given['X']}"),
    "triples.py": model("return {'Y': 3 * given['X']}"),
}


def test_each_component_is_served_with_its_own_models(rehearsed: Rehearse, tmp_path: Path) -> None:
    doubles, triples = rehearsed(tmp_path, SPEC, FILES)
    assert (doubles.good, triples.good) == (True, True)
    assert [it.archive for it in (doubles, triples)] == ["doubles/model.tar.gz", "triples/model.tar.gz"]
    assert "Y FP32 [2, 2] = 2, 2, 2, 2" in report(doubles)
    assert "Y FP32 [2, 2] = 3, 3, 3, 3" in report(triples)


def test_each_model_that_components_name_is_served_once_with_its_own_models(
    rehearsed: Rehearse, tmp_path: Path
) -> None:
    doubling, tripling = rehearsed(tmp_path, MODELS, FILES)
    assert (doubling.good, tripling.good) == (True, True)
    assert [it.archive for it in (doubling, tripling)] == [
        f"models/{name}/model.tar.gz" for name in ("doubling", "tripling")
    ]
    assert "Y FP32 [2, 2] = 2, 2, 2, 2" in report(doubling)
    assert "Y FP32 [2, 2] = 3, 3, 3, 3" in report(tripling)


def test_the_model_is_served_that_the_named_component_runs(rehearsed: Rehearse, tmp_path: Path) -> None:
    (only,) = rehearsed(tmp_path, MODELS, FILES, component="triples")
    assert only.archive == "models/tripling/model.tar.gz"
