"""ModelConfig messages of every kind that Triton's definition allows."""

from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from hypothesis import strategies as st

from inferstack.triton.config import model_config_class

_BOUNDS = {
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
}


def _scalar(field: Any) -> st.SearchStrategy[Any]:
    if field.type in _BOUNDS:
        return st.integers(*_BOUNDS[field.type])
    if field.type == FieldDescriptor.TYPE_ENUM:
        return st.sampled_from([value.number for value in field.enum_type.values])
    if field.type == FieldDescriptor.TYPE_BOOL:
        return st.booleans()
    if field.type == FieldDescriptor.TYPE_STRING:
        return st.text(max_size=8)
    width = 32 if field.type == FieldDescriptor.TYPE_FLOAT else 64
    return st.floats(allow_nan=False, width=width)


def _is_map(field: Any) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _fill(draw: Any, message: Any) -> None:
    for field in message.DESCRIPTOR.fields:
        if not draw(st.integers(0, 3)):
            _fill_field(draw, message, field)


def _fill_field(draw: Any, message: Any, field: Any) -> None:
    value = getattr(message, field.name)
    if _is_map(field):
        entry = field.message_type.fields_by_name
        for key in draw(st.lists(_scalar(entry["key"]), max_size=2)):
            if entry["value"].message_type is None:
                value[key] = draw(_scalar(entry["value"]))
            else:
                _fill(draw, value[key])
    elif hasattr(value, "add"):
        for _ in range(draw(st.integers(0, 2))):
            _fill(draw, value.add())
    elif hasattr(value, "extend"):
        value.extend(draw(st.lists(_scalar(field), max_size=3)))
    elif field.message_type is not None:
        value.SetInParent()
        _fill(draw, value)
    else:
        setattr(message, field.name, draw(_scalar(field)))


@st.composite
def model_configs(draw: Any) -> Any:
    """A message in which some of all fields are set; of fields that exclude each other, the last one stays."""
    message = model_config_class()()
    _fill(draw, message)
    return message


def set_fields(message: Any, path: tuple[Any, ...] = ()) -> Any:
    """Paths of everything that is set in a message, in the form that `TritonModel.where` takes."""
    for field, value in message.ListFields():
        here = (*path, field.name)
        yield here
        if _is_map(field):
            for key in value:
                yield (*here, str(key))
                if field.message_type.fields_by_name["value"].message_type is not None:
                    yield from set_fields(value[key], (*here, str(key)))
        elif hasattr(value, "ListFields"):
            yield from set_fields(value, here)
        elif not isinstance(value, str | int | float | bool):
            for index, item in enumerate(value):
                yield (*here, index)
                if hasattr(item, "ListFields"):
                    yield from set_fields(item, (*here, index))
