"""The resources that the modules of this folder make, and how to write CloudFormation's ids and functions."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import msgspec

from inferstack.problems import SpecPath
from inferstack.texts.elsewhere import Elsewhere, elsewhere_in, only_elsewhere
from inferstack.texts.placeholders import PLACEHOLDER, PSEUDO_PARAMETERS, is_opaque, without_tokens

Value = Any
"""A CloudFormation value: a scalar, a list, a mapping, or an intrinsic function."""

# ---------------------------------------------------------------- CDK's tokens in ids

# CDK renumbers its tokens in every run: an id with a token's text in it would change as soon as anything
# else in the app does. What a token stands for stays. So a construct replaces each token by a lasting one,
# which is named after that, has the template made, and puts CDK's tokens back into it.
# No token of CDK's own has an equals sign.
_LASTING = re.compile(r"[$#]\{Token\[=(Arn|Function)\.([0-9A-F]{8})\]\}")
_DIGITS = 8


def lasting_token(token: str, meaning: Value) -> str:
    """What takes the place of a token while a template is made; ``meaning`` is what CDK writes for it."""
    match meaning:
        case {"Fn::GetAtt": [_, str() as attribute]} if attribute.endswith("Arn"):
            kind = "Arn"
        case _:
            kind = "Function"
    return f"{token[0]}{{Token[={kind}.{short_digest(json.dumps(meaning, sort_keys=True))}]}}"


def is_arn(text: str) -> bool:
    """Whether a text is the lasting token of an ARN, in contrast to one that may be an ARN or a name."""
    found = _LASTING.fullmatch(text)
    return found is not None and found[1] == "Arn"


def lasting(text: str) -> str:
    """The text with each token replaced by something that is the same in every run, and differs by token.

    A token of which nothing is known has nothing stable, and is left out.
    """
    return without_tokens(text, _name)


def _name(token: str) -> str:
    found = _LASTING.fullmatch(token)
    return "" if found is None else found[2]


def short_digest(text: str) -> str:
    """Eight hexadecimal digits that distinguish one text from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS].upper()


# ---------------------------------------------------------------- resources, ids and functions


class Resource(msgspec.Struct, frozen=True):
    """One resource of the stack, and the part of the spec that it comes from."""

    type: str
    properties: dict[str, Value]
    source: SpecPath
    depends_on: tuple[str, ...] = ()
    tags: Mapping[str, str] | None = None
    """Its own, besides those of the spec; for the same key, these count."""
    stays: bool = False
    """Whether it is left alone when it is replaced or its stack deleted."""


Resources = dict[str, Resource]


def ref(logical_id: str) -> Value:
    """``Ref``: an ARN or a name, whichever the type gives."""
    return {"Ref": logical_id}


def get_att(logical_id: str, attribute: str) -> Value:
    """``Fn::GetAtt``."""
    return {"Fn::GetAtt": [logical_id, attribute]}


def present(**properties: Value) -> dict[str, Value]:
    """The properties without absent ones: ``None`` is absent, zero and false are values."""
    return {name: value for name, value in properties.items() if value is not None}


def pascal(name: str) -> str:
    """A name as part of a logical id: ``llama2-europe`` is ``Llama2Europe``."""
    return _pascal(lasting(name))


# Cached, as the ids of all specs contain the names of the same metrics.
@lru_cache(maxsize=1024)
def _pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


LONGEST_ID = 255


def logical_id(text: str) -> str:
    """A logical id that has names of metrics or policies in it. If it is too long, it ends in a hash.

    Such a name alone may be as long as an id. An id that was ever deployed is short enough to stay as it is.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
    """
    return text if len(text) <= LONGEST_ID else f"{text[: LONGEST_ID - 8]}{short_hash(text)}"


def short_hash(*parts: str) -> str:
    """Eight hexadecimal digits that distinguish one identity from another."""
    return _short_hash("/".join(map(lasting, parts)))


# Cached, as all alarms on one part of an endpoint have the part's hash.
@lru_cache(maxsize=64)
def _short_hash(identity: str) -> str:
    return short_digest(identity)


def at_deployment(value: Value) -> Value:
    """The value with every text that the deployment fills in wrapped in a function, at any depth: ``Fn::Sub``
    for ``${AWS::…}``, and what stands for a value from elsewhere.
    """
    # Most resources have no such text, which is found out in C in a tenth of the time of a walk.
    written = msgspec.json.encode(value)
    return _walked(value) if b"${" in written or b"#{" in written else value


def _walked(value: Value) -> Value:
    """The work of :func:`at_deployment`, on a value with such a text. `match` would take twice as long."""
    if isinstance(value, str):
        return _with_sub(value) if "${" in value else value
    if isinstance(value, dict):
        if "Fn::Sub" in value:
            return {"Fn::Sub": _with_variables(value["Fn::Sub"])}
        return {key: _walked(item) for key, item in value.items()}
    if isinstance(value, list):
        whole = _whole_list(value)
        return [_walked(item) for item in value] if whole is None else value_of(whole)
    return value


def _with_variables(written: Value) -> Value:
    """The argument of a ``Fn::Sub`` that is there already: only its variables are filled in."""
    return written if isinstance(written, str) else [written[0], _walked(written[1])]


def _whole_list(value: list[Value]) -> Elsewhere | None:
    found = only_elsewhere(value[0]) if len(value) == 1 and isinstance(value[0], str) else None
    return found if found is not None and found.is_list else None


def _with_sub(text: str) -> Value:
    whole = only_elsewhere(text)
    if whole is not None:
        return value_of(whole)
    names = PLACEHOLDER.findall(text)
    if PSEUDO_PARAMETERS.keys().isdisjoint(names) and not any(elsewhere_in(text)):
        return text
    return substituted(text)


def substituted(
    text: str, variables: Mapping[str, Value] = MappingProxyType({}), attributes: Iterable[str] = ()
) -> Value:
    """``Fn::Sub`` of a text, which fills in pseudo parameters, values from elsewhere, tokens, ``variables``
    and ``attributes``, such as `Model.Arn`, and nothing else.
    """
    known = {*PSEUDO_PARAMETERS, *variables, *attributes}
    if known.issuperset(PLACEHOLDER.findall(text)):
        return {"Fn::Sub": [text, dict(variables)] if variables else text}
    held: dict[str, Value] = {}

    def replaced(found: re.Match[str]) -> str:
        if found[1] in known:
            return found[0]
        elsewhere = only_elsewhere(found[0])
        if elsewhere is not None and elsewhere.source != "import":
            return f"${{{parameter_id(elsewhere)}}}"
        if is_opaque(found[0]):
            # What CDK puts there may be a function, which only a variable of Fn::Sub can hold.
            name = f"{'Token' if elsewhere is None else 'Import'}{len(held) + 1}"
            held[name] = found[0]
            return f"${{{name}}}"
        # `${!x}` makes Fn::Sub leave `${x}` alone.
        return f"${{!{found[1]}}}"

    template = PLACEHOLDER.sub(replaced, text)
    filled = {**variables, **{name: _walked(token) for name, token in held.items()}}
    return {"Fn::Sub": [template, filled] if filled else template}


# ---------------------------------------------------------------- values from elsewhere


def value_of(elsewhere: Elsewhere) -> Value:
    """The function that stands for a value from elsewhere. An exported list is a text with commas."""
    if elsewhere.source != "import":
        return ref(parameter_id(elsewhere))
    imported = {"Fn::ImportValue": elsewhere.name}
    return {"Fn::Split": [",", imported]} if elsewhere.is_list else imported


def parameter_id(elsewhere: Elsewhere) -> str:
    """Logical id of the parameter that holds a value. A parameter of the spec has the name that it has there,
    by which the person who deploys sets it.
    """
    if elsewhere.source == "parameter":
        return elsewhere.name
    kind = "List" if elsewhere.is_list else ""
    return logical_id(f"Ssm{pascal(elsewhere.name)}{kind}{short_hash(elsewhere.name, kind)}")
