"""The template's side of what exists elsewhere: the parameters that it takes, the outputs that it exports."""

import msgspec

from inferstack.format.elsewhere import StackParameter
from inferstack.format.kinds import ModelSpec
from inferstack.resolve.resource import Value, parameter_id
from inferstack.texts.elsewhere import elsewhere_in

_VALUES = frozenset({"Default", "AllowedValues"})


def resolve_parameters(spec: ModelSpec) -> dict[str, Value]:
    """The parameters of the spec, then one for each value that it takes from the Parameter Store."""
    declared = {name: _declared(it) for name, it in (spec.parameters or {}).items()}
    return declared | _stored(spec)


def _declared(parameter: StackParameter) -> dict[str, Value]:
    written = ((field, getattr(parameter, field)) for field in parameter.__struct_fields__)
    made = {_property(field): value for field, value in written if value is not None}
    return {key: _plain(value) if key in _VALUES else value for key, value in made.items()}


def _property(field: str) -> str:
    return field.title().replace("_", "")


def _plain(value: Value) -> Value:
    """CloudFormation takes the values of parameters as texts, whatever their type."""
    if isinstance(value, tuple):
        return [_plain(it) for it in value]
    return str(value) if isinstance(value, int | float) else value


def _stored(spec: ModelSpec) -> dict[str, Value]:
    written = msgspec.json.encode(spec).decode()
    used = (it for it in elsewhere_in(written) if it.source == "ssm") if "{ssm:" in written else ()
    return {
        parameter_id(it): {
            "Type": f"AWS::SSM::Parameter::Value<{'List<String>' if it.is_list else 'String'}>",
            "Default": it.name,
        }
        for it in used
    }


def with_exports(spec: ModelSpec, outputs: dict[str, Value]) -> dict[str, Value]:
    """The outputs, of which those in `exports` have the name that other stacks import them by."""
    if spec.exports is None:
        return outputs
    names = {_property(field): name for field, name in spec.exports.chosen.items()}
    return {
        key: {**output, "Export": {"Name": names[key]}} if key in names else output
        for key, output in outputs.items()
    }
