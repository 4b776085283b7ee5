"""One template as the review reads it: its resources, where each part comes from, and where it is deployed.

Both sides of a comparison are read from templates, so that the same functions describe both, whoever made
them. Numbers that only the deployment knows count as their parameter's default, if they have one.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import Properties, PropertyPath, Resources, mapping
from inferstack.endpoint.place import Place

PlaceOf = Callable[[str, PropertyPath], Place]


_MOST = 1e15
"""Beyond it, a number is a mistake, and nothing that follows from it could be shown."""


class Stack(msgspec.Struct, frozen=True):
    """The resources of a template, and what is known about them beside it."""

    resources: Resources
    sections: Mapping[str, Any]
    place_of: PlaceOf
    """Where a property of a resource, given by its logical id, comes from."""
    region: str | None
    digests: tuple[str, ...] = ()
    """Digests of uploaded archives: URLs have only their beginning."""

    def of_type(self, type_name: str) -> dict[str, Properties]:
        """Properties of all resources of one type, by logical id."""
        return deployed.of_type(self.resources, type_name)

    def first(self, type_name: str) -> tuple[str, Properties]:
        """The first resource of a type; an empty one where there is none."""
        return next(iter(self.of_type(type_name).items()), ("", {}))

    def number(self, value: object) -> float | None:
        """A number, or the default of the parameter that stands for it; None if only the deployment knows."""
        match value:
            case bool():
                return None
            case int() | float():
                return value if abs(value) < _MOST else None
            case str():
                return _number(value)
            case {"Ref": str() as name}:
                parameter = mapping(mapping(self.sections.get("Parameters")).get(name))
                return self.number(parameter.get("Default"))
            case _:
                return None

    def readable(self, value: object) -> str:
        """A value as a reader needs it, or where a deployment finds it: `${parameter:Release}`."""
        match value:
            case {"Ref": str() as name} if name in (parameters := mapping(self.sections.get("Parameters"))):
                parameter = mapping(parameters[name])
                is_stored = deployed.shown(parameter.get("Type")).startswith("AWS::SSM::Parameter::Value")
                return (
                    f"${{ssm:{deployed.shown(parameter.get('Default'))}}}"
                    if is_stored
                    else f"${{parameter:{name}}}"
                )
            case _:
                return readable(value)

    def count(self, value: object) -> int | None:
        """A number of things, as far as it is known."""
        found = self.number(value)
        return None if found is None else int(found)


_VARIABLE = re.compile(r"\$\{([A-Za-z0-9]+)\}")


def readable(value: object) -> str:
    """A text, or a function as short as a reader needs it: `…` stands for what only the deployment knows."""
    match value:
        case {"Fn::Sub": [str() as text, dict() as looked_up]}:
            return _VARIABLE.sub(
                lambda found: readable(looked_up[found[1]]) if found[1] in looked_up else found[0], text
            )
        case {"Fn::Join": [str() as between, [*parts]]}:
            return between.join(map(readable, parts))
        case {"Ref": str() as name}:
            return name.removeprefix("AWS::")
        case {"Fn::GetAtt": [str() as logical_id, *_]}:
            return logical_id
        case {"Fn::ImportValue": str() as name}:
            return f"${{import:{name}}}"
        case dict() if "Fn::Sub" not in value:
            return "…"
        case _:
            return deployed.shown(value)


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if abs(found) < _MOST else None


def places_in_template(file: str) -> PlaceOf:
    """For a template whose spec is not known: the file alone."""
    return lambda _, __: Place(file)
