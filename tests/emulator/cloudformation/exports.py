"""What stacks export and import, in one account and region.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from emulator.account import Account
from emulator.answering import Operation, Request
from emulator.cloudformation.refusals import ResourceFailedError, invalid_template
from emulator.cloudformation.stack import Stack


def _there(account: Account) -> list[Stack]:
    return [stack for stack in account.stacks if not stack.is_gone]


def _exports(stack: Stack) -> Iterator[dict[str, str]]:
    return (it for it in stack.outputs if "ExportName" in it)


def _imported(written: Any) -> Iterator[str]:
    match written:
        case {"Fn::ImportValue": str() as name}:
            yield name
        case dict():
            for item in written.values():
                yield from _imported(item)
        case list():
            for item in written:
                yield from _imported(item)


def _importers(account: Account, name: str) -> list[str]:
    return [stack.name for stack in _there(account) if name in {*_imported(stack.template.data)}]


def refuse_unknown(stack: Stack, template: Mapping[str, Any]) -> None:
    """A stack can only import what is exported."""
    known = stack.known_exports()
    for name in _imported(template):
        if name not in known:
            raise invalid_template(f"No export named {name} found.")


def refuse_outputs(stack: Stack, outputs: Iterable[Mapping[str, str]]) -> None:
    """No two stacks export the same name, and nothing that is imported changes or goes."""
    after = {it["ExportName"]: it["OutputValue"] for it in outputs if "ExportName" in it}
    others = {
        it["ExportName"]: other
        for other in _there(stack.account)
        if other is not stack
        for it in _exports(other)
    }
    for name in after.keys() & others.keys():
        raise ResourceFailedError(
            f"Export with name {name} is already exported by stack {others[name].name}."
        )
    for it in _exports(stack):
        name = it["ExportName"]
        if after.get(name) != it["OutputValue"] and (users := _importers(stack.account, name)):
            verb = "updated" if name in after else "deleted"
            raise ResourceFailedError(f"Export {name} cannot be {verb} as it is in use by {', '.join(users)}")


def refuse_deletion(stack: Stack) -> None:
    """A stack whose exports are imported stays."""
    for it in _exports(stack):
        if users := _importers(stack.account, it["ExportName"]):
            told = f"Export {it['ExportName']} cannot be deleted as it is in use by {', '.join(users)}"
            raise invalid_template(told)


def list_exports(account: Account, _: Request) -> dict[str, Any]:
    return {
        "Exports": [
            {"ExportingStackId": stack.id, "Name": it["ExportName"], "Value": it["OutputValue"]}
            for stack in _there(account)
            for it in _exports(stack)
        ]
    }


OPERATIONS: dict[str, Operation] = {
    "ListExports": list_exports,
    "ListImports": lambda account, request: {"Imports": _importers(account, request["ExportName"])},
}
