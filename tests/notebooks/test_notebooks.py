"""Specs of what notebooks deploy: from recorded objects of the SageMaker SDK, and from real ones where it is installed."""

from importlib import metadata
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from support.notebooks import NAME, SNIPPETS, record, recorded, stand_in

from inferstack.check.load import parse_spec
from inferstack.sagemaker import NotebookSpec, spec_of

EVERY = [(version, name) for version, snippets in SNIPPETS.items() for name in snippets]
UNFIT = {
    "ModelBuilder of version 2": "the model has no image",
    "ModelBuilder that is not built": "the model has no image",
}
"""What cannot be deployed without more, and the first error of the spec."""
LEFT_OUT = {
    "PyTorchModel with its code": "the code of PyTorchModel, `code`: put it into `code/`",
    "JumpStartModel": "what JumpStartModel adds when it deploys: time limits",
    "MultiDataModel of a model": "the code of SKLearnModel, `serve.py`",
    "serverless": "the code of SKLearnModel, `serve.py`",
    "asynchronous": "the code of XGBoostModel, `serve.py`",
    "inference component": "the role notebook: write `execution_role`",
    "files of the notebook": "the files of Model, `file://model.tar.gz`: upload them",
    "ModelBuilder of version 2": "`mode` LOCAL_CONTAINER",
    "ModelBuilder that is not built": "call `build()`, which",
}


def installed() -> int | None:
    """The version of the SDK, if there is one."""
    try:
        return int(metadata.version("sagemaker").partition(".")[0])
    except metadata.PackageNotFoundError:
        return None


@pytest.mark.parametrize(("version", "name"), EVERY)
def test_each_form_gives_a_spec_that_validates_or_says_what_it_lacks(version: int, name: str) -> None:
    found = recorded(version)[name]
    spec = spec_of(stand_in(found["model"]), **{"endpoint_name": NAME, **stand_in(found["arguments"])})
    assert spec.to_yaml() == str(spec) == found["spec"]
    assert bool(spec.problems) == (name in UNFIT)
    if name in UNFIT:
        assert spec.problems[0].message == UNFIT[name]
    else:
        assert parse_spec(yaml.safe_load(str(spec))).spec.endpoint_name == spec.data["endpoint_name"]
    assert bool(spec.left_out) == (name in LEFT_OUT)
    assert any(LEFT_OUT.get(name, "") in it for it in spec.left_out) or name not in LEFT_OUT


@pytest.mark.parametrize(("version", "name"), EVERY)
def test_the_recordings_are_what_the_sdk_says(
    version: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if installed() != version:
        pytest.skip(f"version {version} of the SageMaker SDK is not installed")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    assert record(SNIPPETS[version][name]()) == recorded(version)[name]


class Model(SimpleNamespace):
    """Stands for an object of the SDK."""


def made(model: dict[str, Any] | None = None, **deploy: Any) -> NotebookSpec:
    usual = {
        "image_uri": "123456789012.dkr.ecr.us-east-1.amazonaws.com/churn:1",
        "model_data": "s3://acme/m.tar.gz",
    }
    arguments = {"endpoint_name": NAME, "instance_type": "ml.m5.large", "initial_instance_count": 1, **deploy}
    return spec_of(Model(**{**usual, **(model or {})}), **arguments)


@pytest.mark.parametrize(
    ("model", "deploy", "left_out"),
    [
        (
            {"algorithm_arn": "arn:aws:sagemaker:…"},
            {},
            "`algorithm_arn`: the SDK makes a model package of it",
        ),
        ({"model_kms_key": "arn:aws:kms:…"}, {}, "`model_kms_key`: it is for the archive that the SDK packs"),
        (
            {"model_data": object()},
            {},
            "the files of Model: only a pipeline or the SDK knows the value of object",
        ),
        ({"additional_model_data_sources": [{"ChannelName": "draft"}]}, {}, "AdditionalModelDataSources"),
        ({}, {"inference_config": Model()}, "`inference_config` Model: it is not about an endpoint"),
        (
            {"entry_point": "serve.py", "git_config": {"repo": "x", "token": "secret"}},
            {},
            "the code of Model, `serve.py`",
        ),
    ],
)
def test_what_a_spec_cannot_say_is_listed(
    model: dict[str, Any], deploy: dict[str, Any], left_out: str
) -> None:
    spec = made(model, **deploy)
    assert any(left_out in it for it in spec.left_out), spec.left_out
    assert f"# left out: {spec.left_out[0]}\n" in str(spec)
    assert "secret" not in str(spec)


@pytest.mark.parametrize(
    ("model", "deploy", "error", "message"),
    [
        (Model(endpoint_name="x"), {}, TypeError, "inferstack import NAME --spec FILE"),
        (object(), {}, TypeError, "object is not what the SDK deploys; pass a Model"),
        (Model(image_uri="x"), {"instance_typ": "ml.m5.large"}, TypeError, "did you mean `instance_type`"),
        (Model(image_uri="x"), {}, ValueError, "nothing says the endpoint's name; pass endpoint_name"),
    ],
)
def test_refusals(model: Any, deploy: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        spec_of(model, **deploy)


def test_without_a_region_no_image_is_guessed() -> None:
    it = Model(image_uri=None, serving_image_uri=lambda **_: "never")
    assert "the image of Model: pass region" in spec_of(it, endpoint_name=NAME).left_out[0]
    assert spec_of(it, endpoint_name=NAME, region="us-east-1").data["model"]["image"] == "never"


def test_an_image_that_the_sdk_does_not_know_is_listed() -> None:
    def unknown(**_: Any) -> str:
        raise ValueError("Unsupported pytorch version: 9.9.")

    spec = made({"image_uri": None, "serving_image_uri": unknown}, region="us-east-1")
    assert "the image of Model: the SDK says: Unsupported pytorch version: 9.9." in spec.left_out
    assert [it.message for it in spec.problems] == ["the model has no image"]


def test_names_that_deploy_has_left_on_the_object_are_used() -> None:
    assert made({"endpoint_name": "churn-2024"}, endpoint_name=None).data["endpoint_name"] == "churn-2024"
