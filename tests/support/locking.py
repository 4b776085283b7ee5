"""Specs with weights beside them, and locks as uploading writes them, without any S3."""

from pathlib import Path

from support.archiving import lay_out, locate

from inferstack.spec.check import load_spec
from inferstack.spec.document import read_document
from inferstack.spec.lock.destinations import destination_of
from inferstack.spec.lock.file import lock_path, written
from inferstack.spec.lock.making import EMPTY, locked_archive, upload_of, with_upload
from inferstack.spec.lock.reading import read_lock
from inferstack.spec.stages import stage_names
from inferstack.triton.archive.packing import pack
from inferstack.triton.archive.plan import plan_archives
from inferstack.triton.repository import repositories_of

NET = """\
platform: onnxruntime_onnx
          input: [{name: X, data_type: TYPE_FP32, dims: [1]}]
          output: [{name: Y, data_type: TYPE_FP32, dims: [1]}]
"""
IMAGE = "image: {framework: triton, version: '25.09'}"
ONE = f"""\
kind: single-model
endpoint_name: one
model:
  {IMAGE}
  model_data_url: s3://acme-models/one/model.tar.gz
variant: {{instance_type: ml.m5.large, initial_instance_count: 2}}
triton:
  models:
        net:
          {NET.rstrip()}
          files: {{1/model.onnx: weights/net.onnx, labels: weights/labels}}
"""
MANY = f"""\
kind: multi-model
endpoint_name: many
model:
  {IMAGE}
  model_data_url: s3://acme-models/many/
variant: {{instance_type: ml.m5.large, initial_instance_count: 2}}
triton:
  archives:
    cats.tar.gz:
      models:
        net:
          {NET.rstrip()}
          files: {{1/model.onnx: weights/net.onnx}}
    dogs.tar.gz:
      models:
        net:
          {NET.rstrip()}
          files: {{1/model.onnx: weights/dogs.onnx}}
"""
COMPONENTS = f"""\
kind: inference-components
endpoint_name: parts
variant: {{instance_type: ml.g5.2xlarge, initial_instance_count: 1}}
inference_components:
  base:
    specification:
      container: {{{IMAGE}, artifact_url: s3://acme-models/parts/model.tar.gz}}
      compute_resource_requirements: {{number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 1024}}
  adapter:
    specification:
      base_inference_component_name: base
      container: {{artifact_url: s3://acme-models/adapters/a.tar.gz}}
triton:
  models:
        net:
          {NET.rstrip()}
          files: {{1/model.onnx: weights/net.onnx}}
"""
WEIGHTS = {
    "weights/net.onnx": "cats",
    "weights/dogs.onnx": "dogs",
    "weights/labels/en.txt": "cat",
    "weights/labels/de.txt": "Katze",
    "weights/words/en.txt": "cat",
    "weights/words/de.txt": "Katze",
}


def lay_out_spec(folder: Path, text: str, name: str = "a.yaml") -> Path:
    """A spec file with the weights that specs here name."""
    lay_out(folder, {name: text, **WEIGHTS})
    return folder / name


def write_lock(spec: Path, stage: str | None = None) -> Path:
    """What `inferstack package --upload` leaves beside a spec."""
    loaded = load_spec(spec, stage=stage, locked=False)
    plans = plan_archives(repositories_of(loaded.spec, spec.parent), (spec.parent,), locate)
    packed = {plan.archive: pack(plan, spec.parent / "packages" / plan.archive) for plan in plans}
    archives = {plan.archive: locked_archive(plan, packed[plan.archive], spec.parent) for plan in plans}
    before = read_lock(lock_path(spec))
    upload = upload_of(destination_of(loaded.spec, loaded.document).location, archives)
    now = with_upload(
        EMPTY if before is None else before, upload, stage=stage, stages=stage_names(read_document(spec))
    )
    lock_path(spec).write_text(written(now), "utf-8")
    return lock_path(spec)
