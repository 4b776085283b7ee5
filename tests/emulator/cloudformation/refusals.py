"""How CloudFormation refuses."""

import traceback

from botocore.exceptions import ClientError, ParamValidationError
from emulator.answering import Refused
from moto.core.exceptions import ServiceException


def invalid_template(message: str) -> Refused:
    """For what is wrong with a template, its parameters or the state of its stack."""
    return Refused("ValidationError", message)


class ResourceFailedError(Exception):
    """A resource could not be created, updated or deleted; the message is for the stack's events."""


_EXPECTED = (ClientError, ParamValidationError, ResourceFailedError, ServiceException)


def reason_of(failure: Exception) -> str:
    """Why a resource failed, for its stack's events.

    Events also show mistakes of the emulator itself, since otherwise whoever waits for the stack would wait forever.
    """
    if isinstance(failure, _EXPECTED):
        return f"Resource handler returned: {failure}"
    traceback.print_exception(failure)
    return f"The emulator failed with {type(failure).__name__}: {failure}"
