"""Requests to AWS in one account and region, each made once, however many specs need the answer."""

from collections.abc import Callable
from typing import Any

from inferstack.account.connection import AccountError, Connection, explained
from inferstack.account.preflight.calls import Call

_Key = tuple[object, ...]


class Asking:
    """Puts questions. After the credentials have expired, none is put any more."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._known: dict[_Key, Any] = {}
        self._refused: dict[_Key, AccountError] = {}
        self._expired: AccountError | None = None

    @property
    def region(self) -> str:
        """The region that is asked about."""
        assert self.connection.region is not None
        return self.connection.region

    def ask(self, call: Call, *, region: str | None = None, **parameters: Any) -> Any | None:
        """The answer; None if AWS says that there is no such thing.

        Raises:
            AccountError: when AWS refuses to answer, or cannot be reached.
        """
        where = self.region if region is None else region
        return self.once(
            (call.service, call.method, where, repr(parameters)),
            lambda: self._answer(call, where, lambda client: getattr(client, call.method)(**parameters)),
        )

    def every(self, call: Call, entries: str, **parameters: Any) -> list[Any]:
        """The entries of all pages of an answer.

        Raises:
            AccountError: as for :meth:`ask`.
        """

        def read(client: Any) -> list[Any]:
            pages = client.get_paginator(call.method).paginate(**parameters)
            return [entry for page in pages for entry in page[entries]]

        key = (call.service, call.method, entries, repr(parameters))
        found: list[Any] = self.once(key, lambda: self._answer(call, self.region, read))
        return found

    def once(self, key: _Key, answer: Callable[[], Any]) -> Any:
        """What ``answer`` gives, which is called at most once; and so is one that fails.

        Raises:
            AccountError: what ``answer`` raises.
        """
        if self._expired is not None:
            raise self._expired
        if key in self._refused:
            raise self._refused[key]
        if key not in self._known:
            try:
                self._known[key] = answer()
            except AccountError as error:
                self._refused[key] = error
                if error.is_about_credentials:
                    self._expired = error
                raise
        return self._known[key]

    def _answer(self, call: Call, region: str, put: Callable[[Any], Any]) -> Any | None:
        rights = f"allow {call.action} (`--print-policy` prints all that is needed)"
        try:
            with explained(f"{call.action} is not answered", rights=rights):
                return put(self.connection.client(call.service, region))
        except AccountError as error:
            if any(error.code == code and part in str(error).lower() for code, part in call.absent):
                return None
            raise
