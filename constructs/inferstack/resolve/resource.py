"""What the modules of this folder make, and how CloudFormation says a few things."""

import hashlib
import re
from functools import lru_cache
from typing import Any

import msgspec

from inferstack.spec.placeholders import PLACEHOLDER, PSEUDO_PARAMETERS, has_pseudo_parameter, is_opaque
from inferstack.spec.problem import SpecPath

Value = Any
"""A CloudFormation value: a scalar, a list, a mapping, or an intrinsic function."""


class Resource(msgspec.Struct, frozen=True):
    """One resource of the stack, and the part of the spec that it comes from."""

    type: str
    properties: dict[str, Value]
    source: SpecPath
    depends_on: tuple[str, ...] = ()


Resources = dict[str, Resource]


def ref(logical_id: str) -> Value:
    """``Ref``: an ARN or a name, whichever the type gives."""
    return {"Ref": logical_id}


def get_att(logical_id: str, attribute: str) -> Value:
    """``Fn::GetAtt``."""
    return {"Fn::GetAtt": [logical_id, attribute]}


def present(**properties: Value) -> dict[str, Value]:
    """The properties that are there: ``None`` is absent, zero and false are values."""
    return {name: value for name, value in properties.items() if value is not None}


# Names of metrics stand in the ids of all specs.
@lru_cache(maxsize=1024)
def pascal(name: str) -> str:
    """A name as part of a logical id: ``llama2-europe`` is ``Llama2Europe``."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


LONGEST_ID = 255


def logical_id(text: str) -> str:
    """A logical id that has names of metrics or policies in it: of one too long, the end is a hash.

    Names may be as long as an id alone, and no id that was ever deployed is longer.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
    """
    return text if len(text) <= LONGEST_ID else f"{text[: LONGEST_ID - 8]}{short_hash(text)}"


# All alarms on one part of an endpoint have the part's.
@lru_cache(maxsize=64)
def short_hash(*parts: str) -> str:
    """Eight hexadecimal digits that tell one identity from another."""
    return hashlib.sha256("/".join(parts).encode()).hexdigest()[:8].upper()


def at_deployment(value: Value) -> Value:
    """The value with every text that holds ``${AWS::…}`` wrapped in ``Fn::Sub``, at any depth."""
    # Most resources have no such text, which C knows in a tenth of the time of a walk.
    return _walked(value) if b"${" in msgspec.json.encode(value) else value


def _walked(value: Value) -> Value:
    """The same, of what holds such a text somewhere. `match` would take twice as long."""
    if isinstance(value, str):
        return _substituted(value) if has_pseudo_parameter(value) else value
    if isinstance(value, dict):
        return value if "Fn::Sub" in value else {key: _walked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_walked(item) for item in value]
    return value


def _substituted(text: str) -> Value:
    tokens: dict[str, str] = {}

    def replaced(found: re.Match[str]) -> str:
        if found[1] in PSEUDO_PARAMETERS:
            return found[0]
        if is_opaque(found[0]):
            # What CDK puts there may be a function, which only a variable of Fn::Sub can hold.
            name = f"Token{len(tokens) + 1}"
            tokens[name] = found[0]
            return f"${{{name}}}"
        # `${!x}` is how Fn::Sub is told to leave `${x}` alone.
        return f"${{!{found[1]}}}"

    template = PLACEHOLDER.sub(replaced, text)
    return {"Fn::Sub": [template, tokens] if tokens else template}
