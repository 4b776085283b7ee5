"""How our operations get into moto: a table of functions below the service's response class."""

import traceback
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from emulator.account import Account, account
from emulator.strictness import request_problems
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse

Request = dict[str, Any]
Operation = Callable[[Account, Request], Mapping[str, Any] | None]
"""Takes a request that the service's model allows, and returns the answer with the API's own members."""


class Refused(ServiceException):
    """AWS refuses. The code is one that the service's model has."""


def invalid(message: str) -> Refused:
    """What most services answer to requests that they do not accept."""
    return Refused("ValidationException", message)


class Answering(BaseResponse):
    """Answers the operations of its table, and leaves the others to moto."""

    operations: ClassVar[Mapping[str, Operation]] = {}
    checked: ClassVar[frozenset[str]] = frozenset()
    """Operations that moto answers, after the request was checked against the model."""

    def __init__(self) -> None:
        super().__init__()
        self.automated_parameter_parsing = True

    def call_action(self) -> Any:
        """moto's hook: called once for each request."""
        action = self._get_action()
        operation = self.operations.get(action)
        if operation is None and action not in self.checked:
            return self._by_moto(action)
        problems = request_problems(self.boto3_service_name, action, self.params)
        if problems:
            return self._answer(invalid(f"{action}: {'; '.join(problems)}"))
        if operation is None:
            return self._by_moto(action)
        try:
            return self._answer(operation(account(self.current_account, self.region), self.params))
        except ServiceException as refusal:
            return self._answer(refusal)
        except Exception as failure:
            # A 500 would be retried here, too.
            traceback.print_exception(failure)
            return self._answer(Refused("EmulatorFailed", f"{action}: {type(failure).__name__}: {failure}"))

    def _by_moto(self, action: str) -> Any:
        try:
            return super().call_action()
        except NotImplementedError:
            # A 500 would be retried, by the CDK CLI for half a minute.
            return self._answer(Refused("NotImplemented", f"{action} is not emulated"))

    def _answer(self, result: Any) -> Any:
        status, headers, body = self.serialized(ActionResult(result))
        headers["status"] = str(status)
        return status, headers, body
