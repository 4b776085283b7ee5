"""A spec's Triton model is checked against everything that Triton's own ModelConfig can hold, and no more."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.protobuf import descriptor_pool, json_format, message_factory
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from tools import triton_schema
from tools.triton_wheel import DESCRIPTOR as DESCRIPTOR_FILE

SPECS = Path(__file__).parents[2] / "model_specs"
DESCRIPTOR = DESCRIPTOR_FILE.read_bytes()
DOCUMENT = triton_schema.document(DESCRIPTOR)
VALIDATOR = Draft202012Validator({"$ref": "#/$defs/TritonModelConfig", **DOCUMENT})

POOL = descriptor_pool.DescriptorPool()
POOL.AddSerializedFile(DESCRIPTOR)
MODEL_CONFIG = message_factory.GetMessageClass(POOL.FindMessageTypeByName("inference.ModelConfig"))


def errors(model: Any) -> list[ValidationError]:
    return list(VALIDATOR.iter_errors(model))


def models_of(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The models of all `triton` blocks, anywhere in a spec."""
    for key, value in spec.items():
        if key == "triton":
            yield from value.get("models", {}).values()
            yield from (model for it in value.get("archives", {}).values() for model in it["models"].values())
        elif isinstance(value, Mapping):
            yield from models_of(value)


def example_models() -> list[Any]:
    return [
        pytest.param(model, id=f"{path.stem}-{number}")
        for path in sorted(SPECS.glob("*.yaml"))
        for number, model in enumerate(models_of(yaml.safe_load(path.read_text())))
    ]


def as_triton_says_it(model: Mapping[str, Any]) -> dict[str, Any]:
    """The model in protobuf's JSON form, without the shortcuts of `files` and of plain parameters."""
    plain = {key: value for key, value in model.items() if key != "files"}
    parameters = plain.pop("parameters", {})
    texts = {key: v if isinstance(v, Mapping) else {"string_value": str(v)} for key, v in parameters.items()}
    return {**plain, "parameters": texts}


def as_message(model: Mapping[str, Any]) -> Any:
    return json_format.ParseDict(as_triton_says_it(model), MODEL_CONFIG())


def test_the_examples_hold_triton_models() -> None:
    assert len(example_models()) >= 6


@pytest.mark.parametrize("model", example_models())
def test_the_models_of_the_examples_fit_the_schema_and_triton(model: Mapping[str, Any]) -> None:
    assert [error.message for error in errors(model)] == []
    assert as_message(model).ListFields()


ACCEPTED: dict[str, dict[str, Any]] = {
    "nothing at all, since the name is the mapping's key": {},
    "a name": {"name": "bert"},
    "parameters as text, number, truth value": {"parameters": {"a": "b", "c": 12, "d": 0.5, "e": False}},
    "parameters as Triton writes them": {"parameters": {"a": {"string_value": "b"}}},
    "files": {"files": {"1/model.plan": "artifacts/model.plan"}},
    "dimensions of any size": {"input": [{"name": "x", "data_type": "TYPE_BF16", "dims": [-1, 3]}]},
    "an empty batcher": {"dynamic_batching": {}},
    "zero as a value": {"max_batch_size": 0, "dynamic_batching": {"max_queue_delay_microseconds": 0}},
    "a policy without fields": {"version_policy": {"all": {}}},
    "queues by priority": {"dynamic_batching": {"priority_queue_policy": {"1": {"timeout_action": "DELAY"}}}},
    "the largest number": {"dynamic_batching": {"priority_levels": 2**64 - 1}},
    "warm-up by input": {"model_warmup": [{"inputs": {"x": {"random_data": True, "dims": [3]}}}]},
    "maps of an ensemble's step": {
        "ensemble_scheduling": {"step": [{"input_map": {"a": "b"}, "output_map": {"c": "d"}}]}
    },
    "a device": {"instance_group": [{"secondary_devices": [{"kind": "KIND_NVDLA", "device_id": 0}]}]},
    "fractions": {"sequence_batching": {"direct": {"minimum_slot_utilization": 0.5}}},
}


@pytest.mark.parametrize("model", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_what_triton_can_hold_is_accepted(model: Mapping[str, Any]) -> None:
    assert [error.message for error in errors(model)] == []
    as_message(model)


def test_settings_of_an_accelerator_are_plain_values_like_all_parameters() -> None:
    accelerator = {"name": "tensorrt", "parameters": {"precision_mode": "FP16", "max_cached_engines": 10}}
    policy = {"execution_accelerators": {"gpu_execution_accelerator": [accelerator]}}
    assert errors({"optimization": policy}) == []


# Model, the schema's keyword that refuses it, and the place.
REFUSED: dict[str, tuple[Any, str, str]] = {
    "an unknown field": ({"max_batchsize": 8}, "additionalProperties", "$"),
    "an unknown nested field": (
        {"dynamic_batching": {"max_queue_delay": 1}},
        "additionalProperties",
        "$.dynamic_batching",
    ),
    "an unknown data type": (
        {"input": [{"data_type": "TYPE_FLOAT32"}]},
        "enum",
        "$.input[0].data_type",
    ),
    "CamelCase": ({"maxBatchSize": 8}, "additionalProperties", "$"),
    "an enum's number": ({"input": [{"data_type": 11}]}, "enum", "$.input[0].data_type"),
    "a kind of another enum": (
        {"instance_group": [{"kind": "KIND_NVDLA"}]},
        "enum",
        "$.instance_group[0].kind",
    ),
    "a string for an integer": ({"max_batch_size": "8"}, "type", "$.max_batch_size"),
    "a string for a boolean": ({"response_cache": {"enable": "true"}}, "type", "$.response_cache.enable"),
    "a truth value for an integer": ({"max_batch_size": True}, "type", "$.max_batch_size"),
    "a fraction for an integer": ({"max_batch_size": 1.5}, "type", "$.max_batch_size"),
    "a number for a string": ({"platform": 1}, "type", "$.platform"),
    "one item where a list is due": ({"input": {"name": "x"}}, "type", "$.input"),
    "strings among dimensions": ({"input": [{"dims": ["3"]}]}, "type", "$.input[0].dims[0]"),
    "null": ({"dynamic_batching": None}, "type", "$.dynamic_batching"),
    "a list of parameters": ({"parameters": {"a": [1]}}, "type", "$.parameters.a"),
    "a misspelt parameter": ({"parameters": {"a": {"value": "b"}}}, "additionalProperties", "$.parameters.a"),
    "an empty parameter": ({"parameters": {"a": {}}}, "required", "$.parameters.a"),
    "a number in an input map": (
        {"ensemble_scheduling": {"step": [{"input_map": {"a": 1}}]}},
        "type",
        "$.ensemble_scheduling.step[0].input_map.a",
    ),
    "a priority that is no number": (
        {"dynamic_batching": {"priority_queue_policy": {"high": {}}}},
        "pattern",
        "$.dynamic_batching.priority_queue_policy",
    ),
    "a file without a path": ({"files": {"": "model.pt"}}, "minLength", "$.files"),
    "a file without a source": ({"files": {"1/model.pt": ""}}, "minLength", "$.files['1/model.pt']"),
}


@pytest.mark.parametrize(("model", "word", "where"), REFUSED.values(), ids=REFUSED.keys())
def test_what_triton_cannot_hold_is_refused_where_it_stands(model: Any, word: str, where: str) -> None:
    assert (word, where) in {(str(error.validator), error.json_path) for error in errors(model)}


CHOICES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "schedulers": (
        {"dynamic_batching": {}, "ensemble_scheduling": {}},
        ("dynamic_batching", "sequence_batching", "ensemble_scheduling"),
    ),
    "all schedulers": (
        {"dynamic_batching": {}, "ensemble_scheduling": {}, "sequence_batching": {}},
        ("dynamic_batching", "sequence_batching", "ensemble_scheduling"),
    ),
    "version policies": ({"version_policy": {"all": {}, "latest": {}}}, ("latest", "all", "specific")),
    "warm-up data": (
        {"model_warmup": [{"inputs": {"x": {"zero_data": True, "input_data_file": "x"}}}]},
        ("zero_data", "random_data", "input_data_file"),
    ),
}


@pytest.mark.parametrize(("model", "members"), CHOICES.values(), ids=CHOICES.keys())
def test_two_members_of_a_oneof_are_one_error_that_names_the_choice(
    model: dict[str, Any], members: tuple[str, ...]
) -> None:
    (error,) = errors(model)
    assert isinstance(error.schema, Mapping)
    assert error.schema["description"] == f"At most one of {', '.join(members)} can be set."
    with pytest.raises(json_format.ParseError, match="oneof"):
        as_message(model)
