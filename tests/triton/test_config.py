"""A model's configuration goes from YAML to Triton's message to config.pbtxt and back without loss."""

from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import HealthCheck, given, settings
from support.triton_messages import model_configs, set_fields

from inferstack.triton.config import (
    ConfigError,
    config_from_spec,
    field_positions,
    model_config_class,
    parse_mapping,
    parse_text,
    print_text,
)
from inferstack.triton.model import enum_name

slow_to_draw = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def rendered(model: dict[str, Any]) -> str:
    return print_text(config_from_spec(model))


@slow_to_draw
@given(model_configs())
def test_what_is_rendered_is_read_as_the_same_message(config: Any) -> None:
    text = print_text(config)
    assert parse_text(text) == config
    assert print_text(parse_text(text)) == text


@slow_to_draw
@given(model_configs())
def test_every_field_of_a_text_has_its_place(config: Any) -> None:
    text = print_text(config)
    lines, positions = text.split("\n"), field_positions(text)
    for path in set_fields(config):
        line, column = positions[path]
        # The name of the field itself, or of the list or map that contains the item.
        names = [step for step in path[-2:] if isinstance(step, str)]
        assert lines[line - 1][column - 1 :].startswith(tuple(names)), (path, lines[line - 1])


def test_rendered_text_is_ascii_and_stable() -> None:
    model = {"parameters": {"b": "grün", "a": 1}, "metric_tags": {"z": "1", "y": "2"}, "max_batch_size": 8}
    text = rendered(model)
    assert text.isascii()
    assert text == rendered(dict(reversed(model.items())))
    assert [text.index(f'key: "{key}"') for key in "yzab"] == sorted(
        text.index(f'key: "{key}"') for key in "yzab"
    )


def test_an_ensemble_is_written_as_the_container_looks_for_it() -> None:
    assert 'platform: "ensemble"' in rendered({"platform": "ensemble"})


# What the spec says, and what Triton reads.
SUGAR: dict[str, tuple[dict[str, Any], str]] = {
    "a true parameter": (
        {"parameters": {"A": True}},
        'parameters { key: "A" value { string_value: "true" } }',
    ),
    "a false parameter": (
        {"parameters": {"A": False}},
        'parameters { key: "A" value { string_value: "false" } }',
    ),
    "a number": ({"parameters": {"A": 12}}, 'parameters { key: "A" value { string_value: "12" } }'),
    "zero": ({"parameters": {"A": 0}}, 'parameters { key: "A" value { string_value: "0" } }'),
    "a fraction": ({"parameters": {"A": 0.5}}, 'parameters { key: "A" value { string_value: "0.5" } }'),
    "a text": ({"parameters": {"A": "x"}}, 'parameters { key: "A" value { string_value: "x" } }'),
    "an empty text": ({"parameters": {"A": ""}}, 'parameters { key: "A" value { } }'),
    "as Triton writes it": (
        {"parameters": {"A": {"string_value": True}}},
        'parameters { key: "A" value { string_value: "true" } }',
    ),
    "files are not Triton's": ({"files": {"1/model.pt": "m.pt"}, "backend": "x"}, 'backend: "x"'),
    "no name": ({"backend": "x"}, 'backend: "x"'),
    "a name": ({"name": "n"}, 'name: "n"'),
    "maps of a step": (
        {"ensemble_scheduling": {"step": [{"input_map": {"a": "b"}, "output_map": {"c": "d"}}]}},
        'ensemble_scheduling { step { input_map { key: "a" value: "b" } output_map { key: "c" value: "d" } } }',
    ),
    "samples for warm-up": (
        {"model_warmup": [{"batch_size": 1, "inputs": {"x": {"zero_data": True, "dims": [3]}}}]},
        'model_warmup { batch_size: 1 inputs { key: "x" value { dims: 3 zero_data: true } } }',
    ),
    "an empty batcher": ({"dynamic_batching": {}}, "dynamic_batching { }"),
    "a policy without fields": ({"version_policy": {"all": {}}}, "version_policy { all { } }"),
    "queues by priority": (
        {"dynamic_batching": {"priority_queue_policy": {"2": {"timeout_action": "DELAY"}}}},
        "dynamic_batching { priority_queue_policy { key: 2 value { timeout_action: DELAY } } }",
    ),
    "settings of an accelerator": (
        {
            "optimization": {
                "execution_accelerators": {
                    "gpu_execution_accelerator": [{"name": "tensorrt", "parameters": {"a": 10, "b": True}}]
                },
                "eager_batching": True,
            }
        },
        'optimization { execution_accelerators { gpu_execution_accelerator { name: "tensorrt" parameters { '
        'key: "a" value: "10" } parameters { key: "b" value: "true" } } } eager_batching: true }',
    ),
    "settings of an agent": (
        {"model_repository_agents": {"agents": [{"name": "checksum", "parameters": {"MD5:x": 1}}]}},
        'model_repository_agents { agents { name: "checksum" parameters { key: "MD5:x" value: "1" } } }',
    ),
}


@pytest.mark.parametrize(("model", "text"), SUGAR.values(), ids=SUGAR.keys())
def test_what_a_spec_says_shorter_is_what_triton_reads(model: dict[str, Any], text: str) -> None:
    assert config_from_spec(model) == parse_text(text)


def test_a_spec_is_not_changed_by_making_a_message_of_it() -> None:
    model = {"parameters": {"a": True}, "optimization": {"execution_accelerators": {}}}
    config_from_spec(model)
    assert model == {"parameters": {"a": True}, "optimization": {"execution_accelerators": {}}}


def as_written(data: Any) -> Any:
    """What protobuf writes as JSON, but with integers as in a spec instead of texts."""
    match data:
        case dict():
            return {key: as_written(item) for key, item in data.items()}
        case list():
            return [as_written(item) for item in data]
        case str() if data.removeprefix("-").isdecimal():
            return int(data)
        case _:
            return data


@slow_to_draw
@given(model_configs())
def test_data_of_the_schema_is_read_as_the_json_parser_reads_it(config: Any) -> None:
    data = as_written(json_format.MessageToDict(config, preserving_proto_field_name=True))
    try:
        expected = json_format.ParseDict(data, model_config_class()())
    except json_format.ParseError:
        with pytest.raises(ConfigError):
            parse_mapping(data)
    else:
        assert parse_mapping(data) == expected


def test_a_number_that_its_field_cannot_hold_is_an_error() -> None:
    with pytest.raises(ConfigError):
        config_from_spec({"dynamic_batching": {"priority_queue_policy": {"9" * 30: {}}}})


# A text that Triton refuses, and the position.
REFUSED = {
    "an unknown field": ('name: "x"\n  max_batchsize: 1', 2, 3),
    "two schedulers": ("dynamic_batching { }\nsequence_batching { }", 2, 1),
    "an unknown type": ("input { data_type: TYPE_FLOAT }", 1, 20),
    "a number of no type": ("input {\n  data_type: 99999999999 }", 2, 14),
    "a number of no type below a comment on it": ("# 99999999999\ninput { data_type: 99999999999 }", 2, 20),
    "a number below all types": ("input { data_type: -99999999999 }", 1, 20),
    "a number of no type, in another notation": ("input { data_type: 0xFFFFFFFFF }", 1, 1),
    "a byte order mark": ('\ufeffname: "x"', 1, 1),
    "a template": ("{% for x in y %}", 1, 1),
}


@pytest.mark.parametrize(("text", "line", "column"), REFUSED.values(), ids=REFUSED.keys())
def test_what_triton_refuses_is_an_error_at_its_place(text: str, line: int, column: int) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_text(text)
    assert caught.value.line == line
    assert caught.value.column == column
    assert not caught.value.message[:1].isdigit()


TEXT = """# a comment with platform: "ensemble" {
name: 'x'
platform : "ensemble";
input [
  { name: "a", dims: [ 1, -1 ] },
  {
    name: "b"
    reshape: { shape: [ ] }
  }
]
output < name: "o" dims: 3
         dims: 4 >
parameters { key: "A" value { string_value: "tr" "ue" } }
parameters: [ { value: { string_value: "}" } key: "B\\"1" } ]
ensemble_scheduling { step [ { model_name: "m" input_map { key: "i" value: "t" } } ] }
"""
PLACES = {
    ("name",): (2, 1),
    ("platform",): (3, 1),
    ("input",): (4, 1),
    ("input", 0): (5, 3),
    ("input", 0, "dims"): (5, 16),
    ("input", 0, "dims", 1): (5, 27),
    ("input", 1): (6, 3),
    ("input", 1, "name"): (7, 5),
    ("input", 1, "reshape"): (8, 5),
    ("output", 0): (11, 1),
    ("output", 0, "name"): (11, 10),
    ("output", 0, "dims", 1): (12, 10),
    ("parameters", "A"): (13, 1),
    ("parameters", "A", "string_value"): (13, 31),
    ("parameters", 'B"1'): (14, 15),
    ("ensemble_scheduling", "step", 0, "input_map", "i"): (15, 48),
}


@pytest.mark.parametrize(("path", "place"), PLACES.items(), ids=str)
def test_fields_are_found_however_the_text_is_written(path: tuple[Any, ...], place: tuple[int, int]) -> None:
    parse_text(TEXT)
    assert field_positions(TEXT)[path] == place


def test_keys_that_are_numbers_or_missing_are_found() -> None:
    text = "dynamic_batching { priority_queue_policy { key: 7 } priority_queue_policy { value { } } }"
    parse_text(text)
    policies = ("dynamic_batching", "priority_queue_policy")
    assert [field_positions(text)[(*policies, key)] for key in ("7", "0")] == [(1, 20), (1, 53)]


def test_enums_have_names_and_unknown_numbers_stay_numbers() -> None:
    config = model_config_class()()
    config.input.add().data_type = 11
    assert enum_name(config.input[0], "data_type") == "TYPE_FP32"
    config.input[0].data_type = 999
    assert enum_name(config.input[0], "data_type") == "999"
