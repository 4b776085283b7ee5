"""Specs with weights beside them, and locks like those that an upload writes, without any S3."""

from pathlib import Path

from support.archiving import lay_out, locate

from inferstack.check.load import load_spec
from inferstack.check.lock.destinations import destinations_of
from inferstack.check.lock.differences import locked_archive, repositories_for
from inferstack.check.lock.file import EMPTY, lock_path, read_lock, upload_of, with_uploads, written
from inferstack.source.document import read_document
from inferstack.source.stages import stage_names
from inferstack.triton.archive.packing import pack
from inferstack.triton.archive.plan import plan_archives
from inferstack.triton.repositories import repositories_of

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
_NEEDS = "compute_resource_requirements: {min_memory_required_in_mb: 1024}"


def own(name: str, weights: str, url: str = "", more: str = "") -> str:
    """An inference component with its own repository, for the end of a spec."""
    return f"""\
  {name}:
    specification:
      {_NEEDS}
      container:
        {IMAGE}
        artifact_url: {url or f"s3://acme-models/{name}/model.tar.gz"}
        triton:
          {more or "default_model: net"}
          models:
            net:
              platform: onnxruntime_onnx
              input: [{{name: X, data_type: TYPE_FP32, dims: [1]}}]
              output: [{{name: Y, data_type: TYPE_FP32, dims: [1]}}]
              files: {{1/model.onnx: weights/{weights}.onnx}}
"""


def own_of_model(name: str, weights: str) -> str:
    """A model with its own repository, for inference components to name."""
    return f"""\
  {name}:
    {IMAGE}
    model_data_url: s3://acme-models/{name}/model.tar.gz
    triton:
      models:
        net:
          {NET.rstrip()}
          files: {{1/model.onnx: weights/{weights}.onnx}}
"""


SEVERAL = f"""\
kind: inference-components
endpoint_name: several
variant: {{instance_type: ml.c5.4xlarge, initial_instance_count: 1}}
inference_components:
{own("cats", "net")}{own("dogs", "dogs")}"""
MODELLED = f"""\
kind: inference-components
endpoint_name: modelled
variant: {{instance_type: ml.c5.4xlarge, initial_instance_count: 1}}
models:
{own_of_model("cats", "net")}{own_of_model("dogs", "dogs")}\
inference_components:
  meow: {{specification: {{model_name: cats, {_NEEDS}}}}}
  purr: {{specification: {{model_name: cats, {_NEEDS}}}}}
  bark: {{specification: {{model_name: dogs, {_NEEDS}}}}}
"""
AT_CATS = "s3://acme-models/cats/model.tar.gz"
"""The archive that the first of them loads, as does the first of the models."""
WEIGHTS = {
    "weights/net.onnx": "cats",
    "weights/dogs.onnx": "dogs",
    "weights/labels/en.txt": "cat",
    "weights/labels/de.txt": "Katze",
    "weights/words/en.txt": "cat",
    "weights/words/de.txt": "Katze",
}


def lay_out_spec(folder: Path, text: str, name: str = "a.yaml") -> Path:
    """A spec file with the weights that the specs here name."""
    lay_out(folder, {name: text, **WEIGHTS})
    return folder / name


def write_lock(spec: Path, stage: str | None = None) -> Path:
    """What `inferstack package --upload` leaves beside a spec."""
    loaded = load_spec(spec, stage=stage, locked=False)
    plans = plan_archives(repositories_of(loaded.spec, spec.parent), (spec.parent,), locate)
    packed = {plan.archive: pack(plan, spec.parent / "packages" / plan.archive) for plan in plans}
    plans_by_name = {plan.archive: plan for plan in plans}
    uploads = {}
    for destination in destinations_of(loaded.spec, loaded.document):
        archives = {name: it.archive for name, it in repositories_for(destination, spec.parent).items()}
        locked = {
            name: locked_archive(plans_by_name[it], packed[it], spec.parent) for name, it in archives.items()
        }
        uploads[destination.location] = upload_of(destination.location, locked)
    before = read_lock(lock_path(spec))
    now = with_uploads(
        EMPTY if before is None else before, uploads, stage=stage, stages=stage_names(read_document(spec))
    )
    lock_path(spec).write_text(written(now), "utf-8")
    return lock_path(spec)
