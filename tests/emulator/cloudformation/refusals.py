"""How CloudFormation says no."""

from emulator.answering import Refused


def invalid_template(message: str) -> Refused:
    """What is wrong with a template, its parameters or the state of its stack."""
    return Refused("ValidationError", message)


class ResourceFailedError(Exception):
    """A resource could not be created, updated or deleted; the message is for the stack's events."""
