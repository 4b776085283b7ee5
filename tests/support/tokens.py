"""Specs with CDK tokens in them, and what their templates become once the tokens are filled in."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import aws_cdk as cdk
from aws_cdk import aws_ssm as ssm
from emulator.cloudformation.evaluation import Evaluation
from support.resolving import Template

from inferstack.texts.placeholders import PLACEHOLDER, PSEUDO_PARAMETERS

Path = tuple[str | int, ...]


class Leaf(NamedTuple):
    """A value of a spec, and whether it is a `text`, a `number` or a `list` of texts."""

    path: Path
    value: Any
    kind: str


def leaves(value: Any, path: Path = ()) -> Iterator[Leaf]:
    """Every text, number and list of texts in the data of a spec."""
    match value:
        case dict():
            for key, item in value.items():
                yield from leaves(item, (*path, key))
        case [str(), *_]:
            yield Leaf(path, value, "list")
            yield from (Leaf((*path, index), item, "text") for index, item in enumerate(value))
        case list():
            for index, item in enumerate(value):
                yield from leaves(item, (*path, index))
        case bool() | None:
            return
        case str():
            yield Leaf(path, value, "text")
        case _:
            yield Leaf(path, value, "number")


def changed(data: Any, values: Mapping[Path, Any]) -> Any:
    """The data with other values at these paths."""
    made = copy.deepcopy(data)
    for path, value in values.items():
        at = made
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
    return made


class Given:
    """Tokens of a stack, and the values that they have after the deployment."""

    def __init__(self, stack: cdk.Stack, region: str) -> None:
        self.stack = stack
        self.pseudo = PSEUDO_PARAMETERS | {"AWS::Region": region}
        self.values: dict[str, Any] = {}
        self._numbers: dict[float, float] = {}

    def _keep(self, name: str, value: Any) -> None:
        """A deployment would fill in parameters in the text itself, but not in the text behind a token."""
        match value:
            case str():
                self.values[name] = PLACEHOLDER.sub(lambda it: self.pseudo.get(it[1], it[0]), value)
            case list():
                self.values[name] = [
                    PLACEHOLDER.sub(lambda it: self.pseudo.get(it[1], it[0]), one) for one in value
                ]
            case _:
                self.values[name] = value

    def parameter(self, value: Any, kind: str = "String") -> cdk.CfnParameter:
        name = f"P{len(self.values)}"
        self._keep(name, value)
        return cdk.CfnParameter(self.stack, name, type=kind)

    def whole(self, value: str) -> str:
        return self.parameter(value).value_as_string

    def part(self, value: str) -> str:
        """The last part between slashes, or the second half of a text without slashes."""
        at = value.rfind("/") + 1 or len(value) // 2
        return value[:at] + self.whole(value[at:])

    def function(self, value: str) -> str:
        name = f"P{len(self.values)}"
        self.parameter(value)
        return cdk.Fn.sub(f"${{{name}}}")

    def imported(self, value: str) -> str:
        name = f"I{len(self.values)}"
        self._keep(name, value)
        return cdk.Fn.import_value(name)

    def in_ssm(self, value: str) -> str:
        name = f"/s{len(self.values)}"
        self._keep(name, value)
        return ssm.StringParameter.value_for_string_parameter(self.stack, name)

    def attribute(self, value: str) -> str:
        name = f"A{len(self.values)}"
        self._keep(name, value)
        return cdk.CfnResource(self.stack, name, type="Custom::It").get_att("Value").to_string()

    def number(self, value: float) -> float:
        """The same token for equal numbers: only of one token is it known that it equals itself."""
        if value not in self._numbers:
            self._numbers[value] = self.parameter(value, "Number").value_as_number
        return self._numbers[value]

    def listed(self, value: list[str]) -> list[str]:
        return self.parameter(value, "CommaDelimitedList").value_as_list

    def split(self, value: list[str]) -> list[str]:
        return cdk.Fn.split(",", self.imported(",".join(value)))


_OTHERS = (Given.function, Given.imported, Given.in_ssm, Given.attribute)
TEXTS: Mapping[str, Callable[[Given, str], str]] = {
    "whole": Given.whole,
    "part": Given.part,
    # One after the other in turn.
    "others": lambda given, value: _OTHERS[len(given.values) % len(_OTHERS)](given, value),
}
LISTS: Mapping[str, Callable[[Given, list[str]], list[str]]] = {
    "parameter": Given.listed,
    "split": Given.split,
}


def deployed(template: Template, by: Given, prefix: str) -> list[tuple[str, Any]]:
    """Types and properties of the resources whose ids begin with the prefix, without functions and without ids."""
    resources, given = template["Resources"], by.values
    order = {
        logical_id: index for index, logical_id in enumerate(it for it in resources if it.startswith(prefix))
    }

    def value_of(logical_id: str, attribute: str | None) -> Any:
        return given[logical_id] if attribute == "Value" else f"<{order[logical_id]}.{attribute}>"

    parameters = {
        name: given[name] if name in given else given.get(it.get("Default"))
        for name, it in template.get("Parameters", {}).items()
    }
    evaluation = Evaluation(template, by.pseudo | parameters, value_of)
    written = json.dumps({it: resources[it] for it in order})
    plain = json.loads(written, object_hook=lambda it: _imported(it, given))
    return [(plain[it]["Type"], evaluation.value(plain[it]["Properties"])) for it in order]


def _imported(written: Any, given: Mapping[str, Any]) -> Any:
    return given[written["Fn::ImportValue"]] if written.keys() == {"Fn::ImportValue"} else written
