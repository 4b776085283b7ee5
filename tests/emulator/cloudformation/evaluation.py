"""Evaluates a template's functions.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
"""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from emulator.cloudformation.references import SUBSTITUTED
from emulator.cloudformation.refusals import invalid_template

_NO_VALUE = object()
"""Stands for what `AWS::NoValue` removes."""

ResourceValue = Callable[[str, str | None], Any]
"""Returns a resource's `Ref` (without an attribute) or attribute."""


def symbol(logical_id: str, attribute: str | None) -> str:
    """Stands for a value of a resource that may not exist yet."""
    return f"${{{logical_id}}}" if attribute is None else f"${{{logical_id}.{attribute}}}"


@dataclass
class Evaluation:
    """Evaluates the values of one template in one stack."""

    template: Mapping[str, Any]
    parameters: Mapping[str, Any]
    """Including pseudo parameters."""
    resource_value: ResourceValue
    exports: Mapping[str, str] = field(default_factory=dict)
    """What other stacks export."""
    _conditions: dict[str, bool] = field(default_factory=dict)

    def value(self, written: Any) -> Any:
        """A value without functions."""
        match written:
            case dict() if len(written) == 1 and (function := next(iter(written))) in _FUNCTIONS:
                return _FUNCTIONS[function](self, written[function])
            case dict():
                items = ((key, self.value(item)) for key, item in written.items())
                return {key: item for key, item in items if item is not _NO_VALUE}
            case list():
                return [item for item in map(self.value, written) if item is not _NO_VALUE]
            case _:
                return written

    def is_there(self, part: Mapping[str, Any]) -> bool:
        """Whether the condition of a resource or output holds, if it has one."""
        return "Condition" not in part or self.holds({"Condition": part["Condition"]})

    def holds(self, written: Mapping[str, Any]) -> bool:
        """Whether a condition holds."""
        match dict(written):
            case {"Condition": str() as name}:
                if name not in self._conditions:
                    self._conditions[name] = self.holds(self.template["Conditions"][name])
                return self._conditions[name]
            case {"Fn::Equals": [one, other]}:
                return str(self.value(one)) == str(self.value(other))
            case {"Fn::Not": [condition]}:
                return not self.holds(condition)
            case {"Fn::And": conditions}:
                return all(map(self.holds, conditions))
            case {"Fn::Or": conditions}:
                return any(map(self.holds, conditions))
        raise invalid_template(f"Template error: {written} is no condition that is emulated")

    def _ref(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return _NO_VALUE
        return self.parameters[name] if name in self.parameters else self.resource_value(name, None)

    def _attribute(self, written: str | list[Any]) -> Any:
        name, attribute = written.split(".", 1) if isinstance(written, str) else written
        return self.resource_value(name, self.value(attribute))

    def _substituted(self, written: str | list[Any]) -> str:
        text, own = (written, {}) if isinstance(written, str) else written

        def filled(name: str) -> str:
            if name in own:
                found = self.value(own[name])
            else:
                found = self._attribute(name) if "." in name else self._ref(name)
            if isinstance(found, list):
                raise invalid_template(f"Template error: variable {name} in Fn::Sub expression is a list")
            return str(found)

        return SUBSTITUTED.sub(lambda found: filled(found[1]), text).replace("${!", "${")

    def _selected(self, written: list[Any]) -> Any:
        index, items = int(self.value(written[0])), self.value(written[1])
        if index < len(items):
            return items[index]
        # A part of something that does not exist yet.
        return f"{items}[{index}]"

    def _joined(self, written: list[Any]) -> str:
        return str(written[0]).join(str(item) for item in self.value(written[1]))

    def _chosen(self, written: list[Any]) -> Any:
        return self.value(written[1] if self.holds({"Condition": written[0]}) else written[2])

    def _imported(self, written: Any) -> str:
        name = str(self.value(written))
        if name not in self.exports:
            raise invalid_template(f"No export named {name} found.")
        return self.exports[name]

    def _zones(self, written: Any) -> list[str]:
        region = self.value(written) or self.parameters["AWS::Region"]
        return [f"{region}{letter}" for letter in "abc"]

    def _looked_up(self, written: list[Any]) -> Any:
        found: Any = self.template.get("Mappings", {})
        for key in map(self.value, written):
            if key not in found:
                raise invalid_template(
                    f"Template error: Unable to get mapping for {'::'.join(map(str, written))}"
                )
            found = found[key]
        return found


_FUNCTIONS: Mapping[str, Callable[[Evaluation, Any], Any]] = {
    "Ref": Evaluation._ref,
    "Fn::GetAtt": Evaluation._attribute,
    "Fn::Sub": Evaluation._substituted,
    "Fn::Select": Evaluation._selected,
    "Fn::Join": Evaluation._joined,
    "Fn::If": Evaluation._chosen,
    "Fn::FindInMap": Evaluation._looked_up,
    "Fn::ImportValue": Evaluation._imported,
    "Fn::GetAZs": Evaluation._zones,
    "Fn::Split": lambda self, written: str(self.value(written[1])).split(written[0]),
    "Fn::Base64": lambda self, written: base64.b64encode(str(self.value(written)).encode()).decode(),
    "Fn::ToJsonString": lambda self, written: json.dumps(self.value(written)),
}
