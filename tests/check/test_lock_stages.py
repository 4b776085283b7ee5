"""A stage has its own uploads, or uses those of the spec."""

import json
from pathlib import Path

import pytest
from support.locked_specs import edit, found, locked_spec, urls
from support.locking import AT_CATS, MODELLED, ONE, SEVERAL, lay_out_spec, write_lock

from inferstack.check.load import load_spec
from inferstack.problems import SpecError


def test_a_stage_without_an_upload_of_its_own_has_that_of_the_spec(tmp_path: Path) -> None:
    file = locked_spec(tmp_path, ONE + "stages: {prod: {variant: {initial_instance_count: 4}}}\n")
    assert urls(file, "prod") == urls(file)
    assert found(file) == []


def test_a_stage_with_another_bucket_needs_an_upload_of_its_own(tmp_path: Path) -> None:
    file = locked_spec(
        tmp_path, ONE + "stages: {prod: {model: {model_data_url: s3://acme-prod/model.tar.gz}}}\n"
    )
    (problem,) = found(file)
    assert "for the stage `prod`" in problem.message
    assert "--stage prod --upload" in problem.fix
    write_lock(file, "prod")
    assert found(file) == []
    assert urls(file, "prod").pop().startswith("s3://acme-prod/model-sha256-")
    assert urls(file).pop().startswith("s3://acme-models/one/model-sha256-")


def test_the_stage_that_lacks_an_upload_is_named_once(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE + "stages: {dev: {}, prod: {}}\n")
    write_lock(file, "dev")
    (problem,) = found(file)
    assert problem.message.count("stage `prod`") == 1


def test_a_stage_with_other_weights_keeps_them_apart(tmp_path: Path) -> None:
    prod = "stages: {prod: {triton: {models: {net: {files: {1/model.onnx: weights/dogs.onnx}}}}}}\n"
    file = locked_spec(tmp_path, ONE + prod)
    assert "from weights/net.onnx, not from weights/dogs.onnx" in found(file)[0].message
    write_lock(file, "prod")
    assert urls(file, "prod") != urls(file)


def test_a_stage_with_other_weights_of_one_model_has_uploads_of_its_own(tmp_path: Path) -> None:
    other = "{triton: {models: {net: {files: {1/model.onnx: weights/net.onnx}}}}}"
    file = locked_spec(tmp_path, f"{MODELLED}stages: {{prod: {{models: {{dogs: {other}}}}}}}\n")
    assert "from weights/dogs.onnx, not from weights/net.onnx" in found(file)[0].message
    write_lock(file, "prod")
    assert found(file) == []
    assert len(urls(file, "prod") & urls(file)) == 1


def test_a_spec_that_is_uploaded_for_stages_only_is_deployed_for_stages_only(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE + "stages: {dev: {}, prod: {}}\n")
    write_lock(file, "dev")
    write_lock(file, "prod")
    assert found(file) == []
    with pytest.raises(SpecError, match="nothing was uploaded for"):
        load_spec(file)


def test_what_a_stage_no_longer_has_is_said_where_the_lock_has_it_for_the_stage(tmp_path: Path) -> None:
    stages = "stages: {prod: {inference_components: {}}}\n"
    file = locked_spec(tmp_path, SEVERAL + stages)
    lock = write_lock(file, "prod")
    edit("{inference_components: {}}", "{inference_components: {cats: null}}")(file)
    (problem,) = found(file)
    before = lock.read_text().splitlines()[: problem.line]
    assert AT_CATS in before[-1]
    assert ' "stages": {' in before
    assert "--stage prod --upload" in problem.fix
    write_lock(file, "prod")
    assert found(file) == []


def test_uploads_of_stages_that_are_gone_leave_the_lock(tmp_path: Path) -> None:
    file = lay_out_spec(tmp_path, ONE + "stages: {dev: {}, prod: {}}\n")
    write_lock(file, "dev")
    lock = write_lock(file, "prod")
    edit("dev: {}, ", "")(file)
    write_lock(file, "prod")
    assert list(json.loads(lock.read_text())["stages"]) == ["prod"]
