"""The resource types that the emulator can deploy. It refuses all others, so nothing is silently left out."""

from emulator.cloudformation.handlers import autoscaling, cloudwatch, iam, others, recorded, sagemaker
from emulator.cloudformation.handlers.base import Handler

_HANDLERS: dict[str, Handler] = {
    **sagemaker.HANDLERS,
    **autoscaling.HANDLERS,
    **cloudwatch.HANDLERS,
    **iam.HANDLERS,
    **others.HANDLERS,
    **recorded.HANDLERS,
}


def is_handled(type_name: str) -> bool:
    """Whether resources of the type can be deployed."""
    return type_name in _HANDLERS


def handler_of(type_name: str) -> Handler:
    """What deploys resources of the type."""
    return _HANDLERS[type_name]
