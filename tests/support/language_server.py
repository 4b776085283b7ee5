"""The language server that editors run for YAML, asked as an editor asks it: JSON-RPC on its standard streams.

https://github.com/redhat-developer/yaml-language-server is what VS Code's YAML extension, Neovim and most
others use. ``make test-editor`` installs the version that package.json pins.
"""

import itertools
import json
import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tools.npm import node

PROGRAM = Path(__file__).parents[2] / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"
_SECONDS = 60
# The schema is the one that the file itself names; nothing is fetched from the net.
_SETTINGS = {
    "yaml": {
        "validate": True,
        "completion": True,
        "hover": True,
        "schemaStore": {"enable": False},
        "kubernetesCRDStore": {"enable": False},
    }
}


class Marked(NamedTuple):
    """A problem as an editor marks it: line and column of its beginning, counted from 1, and its text."""

    line: int
    column: int
    text: str


class LanguageServer:
    """A running server; files are opened by :meth:`open`, then asked about."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._numbers = itertools.count(1)
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._problems: dict[str, queue.Queue[list[dict[str, Any]]]] = {}
        threading.Thread(target=self._listen, daemon=True).start()
        self._ask("initialize", {"processId": None, "rootUri": None, "capabilities": _CAPABILITIES})
        self._tell("initialized", {})
        self._tell("workspace/didChangeConfiguration", {"settings": _SETTINGS})

    def open(self, path: Path, text: str) -> list[Marked]:
        """Opens a text as the file of a path, which need not exist, and returns its problems from the top.

        Only once for each path: the server would publish the problems of both texts.
        """
        uri = path.as_uri()
        assert uri not in self._problems
        waiting = self._problems[uri] = queue.Queue()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self._tell("textDocument/didOpen", {"textDocument": document})
        return sorted(
            Marked(it["range"]["start"]["line"] + 1, it["range"]["start"]["character"] + 1, it["message"])
            for it in waiting.get(timeout=_SECONDS)
        )

    def offered(self, path: Path, line: int, column: int) -> list[str]:
        """What the server completes at a position of an open file, both counted from 1."""
        answer = self._ask("textDocument/completion", _position(path, line, column))
        return [item["label"] for item in answer["items"]]

    def hover(self, path: Path, line: int, column: int) -> str:
        """What the server says about a position of an open file, both counted from 1; empty if nothing."""
        answer = self._ask("textDocument/hover", _position(path, line, column))
        return "" if answer is None else str(answer["contents"]["value"])

    def _ask(self, method: str, parameters: Any) -> Any:
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": parameters})
        while (answer := self._answers.get(timeout=_SECONDS))["id"] != number:
            pass
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def _tell(self, method: str, parameters: Any) -> None:
        self._send({"method": method, "params": parameters})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._process.stdin.flush()

    def _listen(self) -> None:
        for message in _messages(self._process):
            match message:
                case {"id": number, "method": "workspace/configuration", "params": {"items": items}}:
                    found = [_SETTINGS.get(item.get("section"), {}) for item in items]
                    self._send({"id": number, "result": found})
                case {"id": number, "method": _}:
                    self._send({"id": number, "result": None})
                case {"method": "textDocument/publishDiagnostics", "params": {"uri": uri, **rest}}:
                    self._problems.setdefault(uri, queue.Queue()).put(rest["diagnostics"])
                case {"id": _}:
                    self._answers.put(message)


_CAPABILITIES = {
    "workspace": {"configuration": True},
    "textDocument": {
        "completion": {"completionItem": {"snippetSupport": True}},
        "hover": {"contentFormat": ["markdown"]},
        "publishDiagnostics": {},
    },
}


def _position(path: Path, line: int, column: int) -> dict[str, Any]:
    place = {"line": line - 1, "character": column - 1}
    return {"textDocument": {"uri": path.as_uri()}, "position": place}


def _messages(process: "subprocess.Popen[bytes]") -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    while True:
        length = 0
        while (header := process.stdout.readline().strip()) != b"":
            name, _, value = header.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        if not length:
            return
        yield json.loads(process.stdout.read(length))


@contextmanager
def running() -> Iterator[LanguageServer]:
    """A language server, for as long as the block lasts."""
    command = [node(), str(PROGRAM), "--stdio"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield LanguageServer(process)
        finally:
            process.terminate()
