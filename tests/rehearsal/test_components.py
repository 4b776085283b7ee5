"""Inference components with Triton models of their own: each is served as its own container would be."""

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


def test_each_component_is_served_with_its_own_models(rehearsed: Rehearse, tmp_path: Path) -> None:
    files = {
        "doubles.py": model("return {'Y': 2 * given['X']}"),
        "triples.py": model("return {'Y': 3 * given['X']}"),
    }
    doubles, triples = rehearsed(tmp_path, SPEC, files)
    assert (doubles.good, triples.good) == (True, True)
    assert [it.archive for it in (doubles, triples)] == ["doubles/model.tar.gz", "triples/model.tar.gz"]
    assert "Y FP32 [2, 2] = 2, 2, 2, 2" in report(doubles)
    assert "Y FP32 [2, 2] = 3, 3, 3, 3" in report(triples)
