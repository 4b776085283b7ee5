"""Checks requests against the service's own model, for what moto accepts and AWS does not.

botocore checks little of its models before it sends a request, and moto checks nothing afterwards.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from botocore.model import Shape, StructureShape
from botocore.session import get_session
from support.strict_walk import walk


@cache
def request_shape(service: str, operation: str) -> StructureShape:
    """What an operation takes. Services have botocore's names."""
    shape = get_session().get_service_model(service).operation_model(operation).input_shape
    assert isinstance(shape, StructureShape)
    return shape


def request_problems(service: str, operation: str, request: Mapping[str, Any]) -> list[str]:
    """Everything in a request that the service's model does not allow, as ``.path: what``."""
    return list(walk(request_shape(service, operation), request, ""))


def coerced(value: Any, shape: Shape) -> Any:
    """A template's value with the API's type: CloudFormation accepts ``"1"`` for 1 and 1 for ``"1"``.

    What cannot be converted is left for :func:`request_problems` to find.
    """
    match shape.type_name, value:
        case "structure", dict():
            members = shape.members
            return {key: coerced(it, members[key]) if key in members else it for key, it in value.items()}
        case "list", list():
            return [coerced(it, shape.member) for it in value]
        case "map", dict():
            return {key: coerced(it, shape.value) for key, it in value.items()}
        case _:
            return _scalar(value, shape.type_name)


def _scalar(value: Any, wanted: str) -> Any:
    match wanted, value:
        case (("integer" | "long"), str()) if value.lstrip("-").isdigit():
            return int(value)
        case (("integer" | "long"), float()) if value.is_integer():
            return int(value)
        case (("float" | "double"), str()) if value.lstrip("-").replace(".", "", 1).isdigit():
            return float(value)
        case "boolean", ("true" | "false"):
            return value == "true"
        case "string", bool():
            return str(value).lower()
        case "string", int() | float():
            return str(value)
        case _:
            return value
