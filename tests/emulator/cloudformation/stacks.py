"""CloudFormation's operations on stacks.

https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
"""

from typing import Any
from urllib.parse import unquote, urlsplit

from emulator.account import Account
from emulator.address import server_url
from emulator.answering import Operation, Refused, Request
from emulator.cloudformation.deletion import delete_stack
from emulator.cloudformation.deployment import deploy
from emulator.cloudformation.exports import refuse_deletion, refuse_unknown
from emulator.cloudformation.handlers.base import Place
from emulator.cloudformation.plan import is_no_change, plan
from emulator.cloudformation.refusals import invalid_template
from emulator.cloudformation.stack import Stack
from emulator.cloudformation.template import Parameter, Template, parameter_values, read_template

_MOST_BYTES = 1024 * 1024
_RETRYABLE = (
    *("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "REVIEW_IN_PROGRESS"),
    "IMPORT_COMPLETE",
)


def find(account: Account, name: str) -> Stack:
    """The stack with that name or id. A deleted one is found only by its id."""
    for stack in reversed(account.stacks):
        if name == stack.id or (name == stack.name and not stack.is_gone):
            return stack  # type: ignore[no-any-return]
    raise invalid_template(f"Stack with id {name} does not exist")


def is_there(account: Account, name: str) -> bool:
    """Whether there is a stack with that name."""
    return any(name == stack.name and not stack.is_gone for stack in account.stacks)


def new_stack(account: Account, request: Request) -> Stack:
    """A stack that is not stored yet."""
    place = Place(server_url(), account.number, account.region)
    return Stack(request["StackName"], account, place, request.get("Tags", []))


def asked_for(stack: Stack, request: Request) -> tuple[Template, dict[str, Parameter]]:
    """The template of a request, and the values of its parameters."""
    template = _template(stack, request)
    _refuse_unacknowledged(template, request)
    given = {}
    for it in request.get("Parameters", ()):
        name = it["ParameterKey"]
        given[name] = stack.parameters[name].given if it.get("UsePreviousValue") else it["ParameterValue"]
    return template, parameter_values(template, given, stack.place.client("ssm"))


def _template(stack: Stack, request: Request) -> Template:
    if request.get("UsePreviousTemplate"):
        return stack.template
    body = request.get("TemplateBody")
    return read_template(_fetched(stack, request["TemplateURL"]) if body is None else body)


def _fetched(stack: Stack, url: str) -> str:
    """A template in a bucket. Its address is on this server and begins with the bucket."""
    bucket, _, key = unquote(urlsplit(url).path).lstrip("/").partition("/")
    body = stack.place.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    if len(body) > _MOST_BYTES:
        raise invalid_template(f"Template may not exceed {_MOST_BYTES} bytes in size.")
    return str(body, "utf-8")


def _refuse_unacknowledged(template: Template, request: Request) -> None:
    """https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/control-access-with-iam.html."""
    iam = [it for it in template.resources.values() if it["Type"].startswith("AWS::IAM::")]
    named = any(f"{it['Type'].split('::')[2]}Name" in it.get("Properties", {}) for it in iam)
    enough = {"CAPABILITY_NAMED_IAM"} if named else {"CAPABILITY_NAMED_IAM", "CAPABILITY_IAM"}
    if iam and not enough.intersection(request.get("Capabilities", ())):
        told = f"Requires capabilities : [{'CAPABILITY_NAMED_IAM' if named else 'CAPABILITY_IAM'}]"
        raise Refused("InsufficientCapabilitiesException", told)


def refuse_busy(stack: Stack) -> None:
    """A stack does one thing at a time, and after a failed creation it can only be deleted."""
    if stack.status not in _RETRYABLE:
        raise invalid_template(f"Stack:{stack.id} is in {stack.status} state and can not be updated.")


def create_stack(account: Account, request: Request) -> dict[str, Any]:
    if is_there(account, request["StackName"]):
        raise Refused("AlreadyExistsException", f"Stack [{request['StackName']}] already exists")
    stack = new_stack(account, request)
    template, parameters = asked_for(stack, request)
    refuse_unknown(stack, template.data)
    account.stacks.append(stack)
    deploy(stack, template, parameters)
    return {"StackId": stack.id}


def update_stack(account: Account, request: Request) -> dict[str, Any]:
    stack = find(account, request["StackName"])
    refuse_busy(stack)
    template, parameters = asked_for(stack, request)
    if is_no_change(stack, template, plan(stack, template, parameters)):
        raise invalid_template("No updates are to be performed.")
    deploy(stack, template, parameters)
    return {"StackId": stack.id}


def remove_stack(account: Account, request: Request) -> None:
    if any(request["StackName"] in (it.id, it.name) for it in account.stacks if not it.is_gone):
        stack = find(account, request["StackName"])
        if stack.protected:
            raise invalid_template(
                f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled"
            )
        if stack.is_busy:
            raise invalid_template(f"Stack:{stack.id} is in {stack.status} state and can not be deleted.")
        refuse_deletion(stack)
        delete_stack(stack)


def protect(account: Account, request: Request) -> dict[str, Any]:
    stack = find(account, request["StackName"])
    stack.protected = request["EnableTerminationProtection"]
    return {"StackId": stack.id}


OPERATIONS: dict[str, Operation] = {
    "CreateStack": create_stack,
    "UpdateStack": update_stack,
    "DeleteStack": remove_stack,
    "UpdateTerminationProtection": protect,
}
