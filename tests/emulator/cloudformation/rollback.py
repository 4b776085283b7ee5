"""Rolls a failed deployment back: first updates, then what it created; see the belief "revert-order"."""

from emulator.cloudformation.deletion import delete_all
from emulator.cloudformation.handlers import handler_of
from emulator.cloudformation.references import creation_order
from emulator.cloudformation.refusals import reason_of
from emulator.cloudformation.stack import Provisioned, Stack


def roll_back(stack: Stack, before: dict[str, Provisioned], verb: str, reason: str) -> None:
    """Makes the stack what it was before; replaced and removed resources still exist at this point."""
    word = "ROLLBACK" if verb == "CREATE" else "UPDATE_ROLLBACK"
    stack.become(f"{word}_IN_PROGRESS", reason)
    new = {name: it for name, it in stack.resources.items() if _is_new(it, before.get(name))}
    reverted = [_revert(stack, name, before[name]) for name in _updated(stack, before, new)]
    if not all(reverted):
        stack.become(f"{word}_FAILED", "A resource could not be brought back to what it was.")
        return
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-deletionpolicy.html
    failed = delete_all(stack, new, retaining=("Retain",))
    kept = {} if verb == "UPDATE" else {name: new[name] for name in failed}
    stack.resources = before | kept
    stack.become(f"{word}_FAILED" if kept else f"{word}_COMPLETE")


def _is_new(it: Provisioned, was: Provisioned | None) -> bool:
    return was is None or was.physical_id != it.physical_id


def _updated(stack: Stack, before: dict[str, Provisioned], new: dict[str, Provisioned]) -> list[str]:
    changed = {
        name: it.written
        for name, it in before.items()
        if name not in new and stack.resources[name].properties != it.properties
    }
    return creation_order(changed)


def _revert(stack: Stack, name: str, was: Provisioned) -> bool:
    now = stack.resources[name]
    stack.event(name, was.type, was.physical_id, "UPDATE_IN_PROGRESS")
    try:
        handler_of(was.type).update(stack.place, was.made, now.properties, was.properties)
    except Exception as failure:
        stack.event(name, was.type, was.physical_id, "UPDATE_FAILED", reason_of(failure))
        return False
    stack.event(name, was.type, was.physical_id, "UPDATE_COMPLETE")
    return True
