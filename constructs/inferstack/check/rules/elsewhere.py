"""What a stack takes from elsewhere and gives to others: its parameters and its exports."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from inferstack.check.rules.base import AWS, error, warning
from inferstack.facts.walk import models
from inferstack.format.elsewhere import StackParameter, is_list_type
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.codes import OWN_FORMAT
from inferstack.problems.words import did_you_mean_then, listed
from inferstack.texts.elsewhere import Elsewhere, elsewhere_in
from inferstack.texts.placeholders import is_list_token

_PARAMETERS = f"{AWS}/AWSCloudFormation/latest/UserGuide/parameters-section-structure.html"
_OUTPUTS = f"{AWS}/AWSCloudFormation/latest/UserGuide/outputs-section-structure.html"
_TYPES = f"{AWS}/AWSCloudFormation/latest/UserGuide/cloudformation-supplied-parameter-types.html"

# ---------------------------------------------------------------- parameters

# Ids of all other resources end in a hash.
_IDS = frozenset(
    {
        *("ExecutionRole", "Model", "EndpointConfig", "Endpoint", "Dashboard"),
        *("InvokerPolicy", "InvokerRole"),
    }
)
_MOST = 200
_OF_TEXTS = ("min_length", "max_length", "allowed_pattern")
_OF_NUMBERS = ("min_value", "max_value")


@error("IS142", _PARAMETERS)
def parameters_are_declared(spec: ModelSpec) -> Iterator[Problem]:
    """A text can only use parameters of the stack that `parameters` declares.

    CloudFormation refuses a template that refers to anything else.
    """
    declared = list(spec.parameters or ())
    for path, used in _parameters_used(spec):
        if used.name not in declared:
            fix = did_you_mean_then(used.name, declared, f"declare it: `parameters: {{{used.name}: {{}}}}`")
            yield Problem(path, f"the stack has no parameter `{used.name}`", fix)


@error("IS152", _TYPES)
def lists_are_lists(spec: ModelSpec) -> Iterator[Problem]:
    """A parameter with a list must stand for a whole list, and any other for a text.

    CloudFormation takes no list apart to put it into a text, and makes none of a text.
    """
    declared = spec.parameters or {}
    for path, used in _parameters_used(spec):
        parameter = declared.get(used.name)
        if parameter is None or is_list_type(parameter.type) == used.is_list:
            continue
        if used.is_list:
            message = f"`{used.written}` is a single value, of the type {parameter.type}, in place of a list"
            fix = f"write it as an entry, `[{used.written}]`, or declare it as a list: CommaDelimitedList"
        else:
            message = f"`{used.written}` is a list, of the type {parameter.type}, in place of a text"
            fix = "write it in place of a whole list, or declare it as a single value"
        yield Problem(path, message, fix)


def _parameters_used(spec: ModelSpec) -> Iterator[tuple[SpecPath, Elsewhere]]:
    if _may_use_some(spec):
        for path, text in _texts(msgspec.to_builtins(spec), ()):
            yield from ((path, it) for it in elsewhere_in(text) if it.source == "parameter")


def _may_use_some(spec: ModelSpec) -> bool:
    """Nearly all specs use none, which is found out in C, unless a text is none in UTF-8."""
    try:
        return b"{parameter:" in msgspec.json.encode(spec)
    except UnicodeEncodeError:
        return True


def _texts(value: Any, path: SpecPath) -> Iterator[tuple[SpecPath, str]]:
    match value:
        case dict():
            for key, item in value.items():
                yield from _texts(item, (*path, key))
        case list() | tuple():
            for index, item in enumerate(value):
                # A text in place of a list has the list's own place.
                whole = isinstance(item, str) and is_list_token(item)
                yield from _texts(item, path if whole else (*path, index))
        case str():
            yield path, value


@warning("IS162", OWN_FORMAT)
def parameters_are_used(spec: ModelSpec) -> Iterator[Problem]:
    """A parameter of the stack should be used.

    The person who deploys the stack would give it a value that changes nothing.
    """
    used = {it.name for _, it in _parameters_used(spec)}
    for name in spec.parameters or ():
        if name not in used:
            fix = f"use it: `${{parameter:{name}}}`, or remove it"
            yield Problem(("parameters", name), f"nothing uses the parameter `{name}`", fix, of_key=True)


@error("IS172", _PARAMETERS)
def parameters_are_declared_right(spec: ModelSpec) -> Iterator[Problem]:
    """A parameter of the stack must be declared as CloudFormation accepts it.

    Its default must keep its own constraints, which must be ones of its type, and no resource of the stack
    may have its name.
    """
    taken = _IDS | {f"Model{_pascal(name)}" for _, name, _ in models(spec) if name is not None}
    declared = spec.parameters or {}
    if len(declared) > _MOST:
        message = f"the stack has {len(declared)} parameters"
        fix = f"at most {_MOST} are allowed: write values that no deployment changes into the spec"
        yield Problem(("parameters",), message, fix)
    for name, parameter in declared.items():
        path: SpecPath = ("parameters", name)
        if name in taken:
            message = f"`{name}` is the logical id of a resource of the stack"
            yield Problem(path, message, f"choose another name: `Given{name}`", of_key=True)
        for key, message, fix in (*_of_another_type(parameter), *_default_refused(parameter)):
            yield Problem((*path, key), message, fix)


def _pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("-"))


def _of_another_type(parameter: StackParameter) -> Iterator[tuple[str, str, str]]:
    for key in (*_OF_TEXTS, *_OF_NUMBERS):
        fitting = _types_with(key)
        if getattr(parameter, key) is not None and parameter.type not in fitting:
            message = (
                f"`{key}` is for parameters of the type {listed(fitting, quote='')}, not {parameter.type}"
            )
            yield key, message, f"remove `{key}`"


def _types_with(key: str) -> tuple[str, ...]:
    if key in _OF_NUMBERS:
        return ("Number",)
    return ("String", "CommaDelimitedList") if key == "allowed_pattern" else ("String",)


def _default_refused(parameter: StackParameter) -> Iterator[tuple[str, str, str]]:
    # The default of such a type is the name of what holds the value.
    if parameter.default is None or parameter.type.startswith("AWS::SSM"):
        return
    text = str(parameter.default)
    values = [part.strip() for part in text.split(",")] if is_list_type(parameter.type) else [text]
    for value in values:
        reason = _refused(parameter, value)
        if reason is not None:
            yield "default", f'the default "{value[:60]}" {reason}', "change it, or the constraint"


def _refused(parameter: StackParameter, value: str) -> str | None:
    """Why CloudFormation would refuse a value; None if it would not."""
    if parameter.allowed_values is not None and value not in map(str, parameter.allowed_values):
        return f"is not one of `allowed_values`: {listed(parameter.allowed_values, quote='')}"
    if parameter.type == "Number":
        return _number_refused(parameter, value)
    if parameter.type == "String" and not _between(len(value), parameter.min_length, parameter.max_length):
        return "is too short or too long"
    if parameter.allowed_pattern is not None and not _matches(parameter.allowed_pattern, value):
        return "does not match `allowed_pattern`"
    return None


def _number_refused(parameter: StackParameter, value: str) -> str | None:
    try:
        number = float(value)
    except ValueError:
        return "is not a number"
    between = _between(number, parameter.min_value, parameter.max_value)
    return None if between else "is below `min_value` or above `max_value`"


def _between(number: float, least: float | None, most: float | None) -> bool:
    return (least is None or number >= least) and (most is None or number <= most)


def _matches(pattern: str, value: str) -> bool:
    """CloudFormation's patterns are Java's: one that Python cannot read is left to it."""
    try:
        return re.fullmatch(pattern, value) is not None
    except re.error:
        return True


# ---------------------------------------------------------------- exports


@error("IS292", _OUTPUTS)
def exports_have_names_of_their_own(spec: ModelSpec) -> Iterator[Problem]:
    """Two exports cannot have the same name.

    Names are unique in an account and region.
    """
    first: dict[str, str] = {}
    for key, name in _exported(spec):
        if name in first:
            message = f"`{first[name]}` is exported under the same name: {name}"
            yield Problem(("exports", key), message, "choose another name")
        first.setdefault(name, key)


@error("IS642", _OUTPUTS)
def what_is_exported_exists(spec: ModelSpec) -> Iterator[Problem]:
    """A stack can export only what it makes.

    The policy is made for `invokers`, and the role for `invokers.role`.
    """
    block = spec.invokers
    made = {
        "invoker_policy_arn": ("invokers", block),
        "invoker_role_arn": ("invokers.role", None if block is None else block.role),
    }
    for key, _ in _exported(spec):
        maker, found = made.get(key, ("", spec))
        if found is None:
            message = f"the stack has nothing to export as `{key}`"
            yield Problem(("exports", key), message, f"add `{maker}`, or remove it")


def _exported(spec: ModelSpec) -> Iterator[tuple[str, str]]:
    return iter(() if spec.exports is None else spec.exports.chosen.items())
