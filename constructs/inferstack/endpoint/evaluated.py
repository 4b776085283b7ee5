"""The values of a template once its functions are filled in, as far as that is known before a deployment."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from inferstack.catalog.cloudformation import BEGINNING
from inferstack.texts.placeholders import PLACEHOLDER


class _Unknown:
    """The value of :data:`UNKNOWN`: it equals nothing else."""

    def __repr__(self) -> str:
        return "?"


UNKNOWN: Any = _Unknown()
"""What only the deployment knows."""


class References(msgspec.Struct, frozen=True):
    """What functions of a template refer to."""

    parameters: Mapping[str, Any]
    """Values of pseudo parameters, and of a stack's own: texts, and lists of them."""
    attributes: Mapping[tuple[str, str], str]
    """Attributes of resources, by logical id and name; ``Ref`` has the empty name."""

    def named(self, name: str) -> Any:
        """The value of a name in ``Fn::Sub`` or ``Ref``."""
        if name in self.parameters:
            return self.parameters[name]
        logical_id, _, attribute = name.partition(".")
        return self.attributes.get((logical_id, attribute), UNKNOWN)


def evaluated(value: Any, known: References) -> Any:
    """The value without functions; :data:`UNKNOWN` for what cannot be known."""
    match value:
        case {"Ref": str() as name} if len(value) == 1:
            return known.named(name)
        case {"Fn::GetAtt": [str() as logical_id, str() as attribute]}:
            return known.named(f"{logical_id}.{attribute}")
        case {"Fn::Sub": str() as text}:
            return _substituted(text, {}, known)
        case {"Fn::Sub": [str() as text, dict() as variables]}:
            return _substituted(text, evaluated(variables, known), known)
        case {"Fn::Select": [int() as index, list() as choices]}:
            return evaluated(choices[index], known)
        case dict() if len(value) == 1 and next(iter(value)).startswith("Fn::"):
            return UNKNOWN
        case dict():
            return {key: evaluated(it, known) for key, it in value.items()}
        case str() if re.search(BEGINNING, value):
            return UNKNOWN
        case list():
            return [evaluated(it, known) for it in value]
        case _:
            return value


def _substituted(text: str, variables: Mapping[str, Any], known: References) -> Any:
    values = {
        name: variables[name] if name in variables else known.named(name)
        for name in PLACEHOLDER.findall(text)
        if not name.startswith("!")
    }
    if any(it is UNKNOWN for it in values.values()):
        return UNKNOWN
    # `${!x}` stands for `${x}`.
    return PLACEHOLDER.sub(lambda it: str(values.get(it[1], f"${{{it[1][1:]}}}")), text)
