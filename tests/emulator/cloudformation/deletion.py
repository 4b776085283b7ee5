"""Deletes resources: those that need others come first."""

from collections.abc import Collection, Mapping

from emulator.cloudformation.handlers import handler_of
from emulator.cloudformation.references import creation_order
from emulator.cloudformation.refusals import reason_of
from emulator.cloudformation.stack import Provisioned, Stack


def delete_all(
    stack: Stack,
    doomed: Mapping[str, Provisioned],
    *,
    policy: str = "DeletionPolicy",
    lasting: Collection[str] = (),
    retaining: Collection[str] = ("Retain", "RetainExceptOnCreate"),
) -> list[str]:
    """Deletes resources in the reverse order of their creation; see the belief "cleanup-order".

    Args:
        stack: where they are, and where events are recorded.
        doomed: what to delete, by logical id.
        policy: the attribute that may say to keep a resource.
        lasting: resources for which `DeletionPolicy` decides nonetheless.
        retaining: values of that attribute that keep a resource.

    Returns:
        Logical ids of what could not be deleted.
    """
    failed = []
    for name in reversed(creation_order({name: it.written for name, it in doomed.items()})):
        it = doomed[name]
        word = "DeletionPolicy" if name in lasting else policy
        if it.written.get(word) in retaining:
            stack.event(name, it.type, it.physical_id, "DELETE_SKIPPED")
        elif not delete_one(stack, name, it):
            failed.append(name)
    return failed


def delete_one(stack: Stack, name: str, it: Provisioned) -> bool:
    """Deletes a resource; returns whether that worked."""
    stack.event(name, it.type, it.physical_id, "DELETE_IN_PROGRESS")
    try:
        handler_of(it.type).delete(stack.place, it.made, it.properties)
    except Exception as failure:
        stack.event(name, it.type, it.physical_id, "DELETE_FAILED", reason_of(failure))
        return False
    stack.event(name, it.type, it.physical_id, "DELETE_COMPLETE")
    return True


def delete_stack(stack: Stack) -> None:
    """Deletes all resources, then the stack; ends with DELETE_FAILED if one of them cannot be deleted."""
    stack.become("DELETE_IN_PROGRESS", "User Initiated")
    failed = delete_all(stack, stack.resources)
    stack.resources = {name: it for name, it in stack.resources.items() if name in failed}
    if failed:
        names = ", ".join(failed)
        stack.become("DELETE_FAILED", f"The following resource(s) failed to delete: [{names}].")
    else:
        stack.become("DELETE_COMPLETE")
