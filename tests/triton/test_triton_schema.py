"""The schema of Triton's models has every message, field, enum and bound of Triton's descriptor."""

from typing import Any

import pytest
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto
from jsonschema import Draft202012Validator

from tools import triton_schema
from tools.triton_wheel import DESCRIPTOR as DESCRIPTOR_FILE

DESCRIPTOR = DESCRIPTOR_FILE.read_bytes()
DOCUMENT = triton_schema.document(DESCRIPTOR)
DEFINITIONS: dict[str, dict[str, Any]] = DOCUMENT["$defs"]

POOL = descriptor_pool.DescriptorPool()
POOL.AddSerializedFile(DESCRIPTOR)
ROOT = POOL.FindMessageTypeByName("inference.ModelConfig")


def messages(start: Descriptor) -> dict[str, Descriptor]:
    found: dict[str, Descriptor] = {}
    waiting = [start]
    while waiting:
        message = waiting.pop()
        if message.full_name not in found:
            found[message.full_name] = message
            waiting += [field.message_type for field in message.fields if field.message_type is not None]
    return found


MESSAGES = messages(ROOT)
TYPES = {name: message for name, message in MESSAGES.items() if not message.GetOptions().map_entry}


def definition_of(full_name: str) -> dict[str, Any]:
    return DEFINITIONS["Triton" + full_name.removeprefix("inference").replace(".", "")]


def fields_of(*kinds: int) -> list[Any]:
    return [
        pytest.param(message, field, id=f"{message.name}.{field.name}")
        for message in TYPES.values()
        for field in message.fields
        if field.type in kinds
    ]


def schema_of(message: Descriptor, field: FieldDescriptor) -> dict[str, Any]:
    """What one value of the field must look like, whether single, in a list or in a mapping."""
    found: dict[str, Any] = definition_of(message.full_name)["properties"][field.name]
    for inner in ("items", "additionalProperties"):
        found = found.get(inner, found)
    return found


def definition_behind(found: dict[str, Any]) -> dict[str, Any]:
    return DEFINITIONS[found["$ref"].removeprefix("#/$defs/")]


def shape_in_proto(message: Descriptor, name: str) -> str:
    proto = DescriptorProto()
    message.CopyToProto(proto)
    (field,) = [field for field in proto.field if field.name == name]
    if field.label != FieldDescriptorProto.LABEL_REPEATED:
        return "single"
    entry = message.fields_by_name[name].message_type
    return "mapping" if entry is not None and entry.GetOptions().map_entry else "list"


def shape_in_schema(found: dict[str, Any]) -> str:
    return "list" if "items" in found else "mapping" if found.get("type") == "object" else "single"


def test_the_schema_is_valid_draft_2020_12() -> None:
    assert DOCUMENT["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    Draft202012Validator.check_schema(DOCUMENT)


def test_every_message_and_no_other_has_a_definition() -> None:
    enums = {
        field.enum_type.full_name
        for message in TYPES.values()
        for field in message.fields
        if field.enum_type is not None
    }
    expected = {"Triton" + name.removeprefix("inference").replace(".", "") for name in {*TYPES, *enums}}
    assert set(DEFINITIONS) == expected


@pytest.mark.parametrize("message", TYPES.values(), ids=TYPES.keys())
def test_every_field_of_a_message_can_be_written(message: Descriptor) -> None:
    extra = ["files"] if message is ROOT else []
    assert list(definition_of(message.full_name)["properties"]) == [f.name for f in message.fields] + extra
    assert definition_of(message.full_name)["additionalProperties"] is False


@pytest.mark.parametrize("message", TYPES.values(), ids=TYPES.keys())
def test_lists_are_lists_and_maps_are_mappings(message: Descriptor) -> None:
    properties = definition_of(message.full_name)["properties"]
    shapes = {field.name: shape_in_schema(properties[field.name]) for field in message.fields}
    assert shapes == {field.name: shape_in_proto(message, field.name) for field in message.fields}


@pytest.mark.parametrize(("message", "field"), fields_of(FieldDescriptor.TYPE_MESSAGE))
def test_every_field_leads_to_its_own_message(message: Descriptor, field: FieldDescriptor) -> None:
    found, target = schema_of(message, field), field.message_type
    if target is not None and target.GetOptions().map_entry:
        target = target.fields_by_name["value"].message_type
    if target is None:
        assert "string" in found["type"]
    else:
        assert definition_behind(found) is definition_of(target.full_name)


@pytest.mark.parametrize(("message", "field"), fields_of(FieldDescriptor.TYPE_ENUM))
def test_an_enum_takes_the_names_of_its_proto(message: Descriptor, field: FieldDescriptor) -> None:
    assert field.enum_type is not None
    names = [value.name for value in field.enum_type.values]
    assert definition_behind(schema_of(message, field))["enum"] == names


INTEGERS = fields_of(
    FieldDescriptor.TYPE_INT32,
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_UINT64,
)


@pytest.mark.parametrize(("message", "field"), INTEGERS)
def test_integers_have_the_bounds_that_protobuf_enforces(message: Descriptor, field: FieldDescriptor) -> None:
    found, new = schema_of(message, field), message_factory.GetMessageClass(message)
    repeated = shape_in_proto(message, field.name) == "list"

    def hold(value: int) -> None:
        new(**{field.name: [value] if repeated else value})

    hold(found["minimum"])
    hold(found["maximum"])
    for outside in (found["minimum"] - 1, found["maximum"] + 1):
        with pytest.raises(ValueError, match="out of range"):
            hold(outside)


def test_every_definition_says_what_it_is() -> None:
    assert [name for name, found in DEFINITIONS.items() if not found.get("description")] == []


def test_the_most_used_fields_say_what_they_are() -> None:
    for name in (
        "Config",
        "Input",
        "Output",
        "InstanceGroup",
        "DynamicBatching",
        "Ensembling",
        "EnsemblingStep",
    ):
        fields = DEFINITIONS[f"TritonModel{name}"]["properties"]
        assert [field for field, found in fields.items() if not found.get("description")] == [], name
