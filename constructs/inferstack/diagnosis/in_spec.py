"""A clue beside a spec: the line that it leads to, and whether `validate` says the same."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from inferstack.catalog import instances
from inferstack.diagnosis.clues import Clue
from inferstack.problems import FilePlace, Problem, SpecPath
from inferstack.source.document import Document


class SpecBeside(msgspec.Struct, frozen=True):
    """The spec that was deployed, as a document, and what `validate` says of it."""

    document: Document
    problems: tuple[Problem, ...] = ()

    def has(self, need: str) -> bool:
        """Whether the spec has what a signature needs. What is not known counts as there."""
        paths = [*_paths(self.document.data)]
        keys = {path[-1] for path, _ in paths}
        if need == "serverless":
            return "serverless_config" in keys
        if need == "triton":
            return "triton" in keys or any(isinstance(it, str) and "triton" in it for _, it in paths)
        types = [it for path, it in paths if path[-1] == "instance_type" and isinstance(it, str)]
        known = [instances.find(it) for it in types]
        return not types or any(it is None or it.gpus for it in known)

    def place(self, clue: Clue) -> FilePlace | None:
        """The line that the clue leads to, if only one can be meant."""
        paths = [*_paths(self.document.data)]
        for key in clue.keys:
            found = [path for path, _ in paths if path[-1] == key]
            if len(found) > 1:
                named = [path for path in found if _is_named(path, clue)]
                valued = [path for path, it in paths if path in found and _quotes(clue, it)]
                found = valued or named
            if len(found) == 1:
                return self.document.place(found[0])
            if found:
                return None
        return None

    def agreeing(self, clue: Clue) -> Problem | None:
        """The problem of the spec that means the same as the line."""
        rules = clue.signature.rules
        return next((it for it in self.problems if it.code in rules), None)


def _is_named(path: SpecPath, clue: Clue) -> bool:
    """Whether the line has the name of a model or another block that the key is in."""
    return any(isinstance(it, str) and it in clue.line.text for it in path[:-1])


def _quotes(clue: Clue, value: Any) -> bool:
    """Whether the line has the value of a key, such as a URL or an image."""
    return isinstance(value, str) and len(value) > len("ml.x") and value in clue.line.text


def _paths(value: Any, path: SpecPath = ()) -> Iterator[tuple[SpecPath, Any]]:
    if path:
        yield path, value
    if isinstance(value, Mapping):
        for key, it in value.items():
            yield from _paths(it, (*path, key))
    elif isinstance(value, list):
        for index, it in enumerate(value):
            yield from _paths(it, (*path, index))
