"""A spec as data that knows where each of its parts is.

path -> text (spec_file) -> events -> tree (compose) -> Document -> Document at a stage (stages)
"""

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from inferstack.problems import IN_PYTHON, FilePlace, Problem, Severity, SpecError, SpecPath, dotted
from inferstack.problems.file_codes import (
    DIRECTORY,
    FOREIGN,
    NO_FILE,
    NO_SPEC,
    NOT_REGULAR,
    TOO_LARGE,
    UNREADABLE,
)
from inferstack.source.compose import compose
from inferstack.source.spec_file import (
    LOCK_SUFFIX,
    PIPED,
    STANDARD_INPUT,
    is_project_file,
    leads_out,
    name_in_templates,
    read_standard_input,
    read_text,
)
from inferstack.source.tree import Entry, InProject, Node, Position, mapping_node, tree_of

__all__ = ["IN_PYTHON", "Document", "Position", "read_document"]


DEFAULTS, RULES = "defaults", "rules"
"""The parts of a project's file: what a spec gets unless it says otherwise, and what it cannot change."""


class StageNulls(msgspec.Struct, frozen=True, eq=False):
    """The `null`s of a stage, by the path in the spec that each removes."""

    stage: str = ""
    effective: Mapping[SpecPath, Entry] = {}
    """The `null`s that remove something."""
    idle: Mapping[SpecPath, Entry] = {}
    """The `null`s for keys that the spec does not have."""

    def removed_at(self, path: SpecPath) -> SpecPath | None:
        """What the stage removed: this path, or one that it lies in; None where it removed neither."""
        upwards = (path[:length] for length in range(len(path), 0, -1))
        return next((it for it in upwards if it in self.effective), None)


NO_NULLS = StageNulls()


class Document(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The content of a spec file. ``file`` is its name as given, with forward slashes."""

    file: str
    tree: Node
    nulls: StageNulls = NO_NULLS
    """For a spec at a stage: what the stage removes."""
    written_as: Mapping[SpecPath, SpecPath] = {}
    """Places in the spec that the file has under another key, such as the ARN of a pinned model package."""
    project: "Document | None" = None
    """The project's file, if one applies to the spec."""
    defaults: "Document | None" = None
    """What the project's file has for a spec like this one; part of the tree once a stage is chosen."""

    @classmethod
    def from_data(cls, data: Mapping[str, Any] | msgspec.Struct, file: str = IN_PYTHON) -> "Document":
        """A document from data or blocks made in Python; everything is at line 0, column 0.

        Raises:
            SpecError: when the data holds what YAML cannot.
        """
        return cls(file, tree_of(data, file))

    @property
    def data(self) -> dict[str, Any]:
        """Plain dicts, lists and scalars in the file's order. Aliases share objects: do not change them."""
        data: dict[str, Any] = self.tree.data
        return data

    @cached_property
    def shown_file(self) -> str:
        """The file's name in templates: the same wherever the project's folder is."""
        # A name may have bytes that are not UTF-8, and no template can hold those.
        return name_in_templates(self.file).encode(errors="backslashreplace").decode()

    @cached_property
    def scalars(self) -> tuple[tuple[SpecPath, Any], ...]:
        """Everything in the data that is neither a mapping nor a list, with its path."""
        found: list[tuple[SpecPath, Any]] = []
        _collect_scalars(self.data, (), found)
        return tuple(found)

    def texts_with(self, mark: str) -> Iterator[tuple[SpecPath, str]]:
        """Every text in the data that contains the mark, with its path."""
        return ((path, text) for path, text in self.scalars if isinstance(text, str) and mark in text)

    def keys_with(self, mark: str) -> list[tuple[SpecPath, dict[str, Any]]]:
        """Every key in the data that contains the mark: its path, and the mapping that it is in."""
        found: list[tuple[SpecPath, dict[str, Any]]] = []
        _collect_keys(mark, self.data, (), found)
        return found

    def rewritten(self, found: str, key: str, text: str) -> "Document":
        """The document with ``key: text`` in place of the top-level key ``found``."""
        entries = self.tree.by_key
        others = {name: entry for name, entry in entries.items() if name != found}
        at, node = entries[found]
        tree = mapping_node(self.tree.at, {key: Entry(at, Node(node.at, text)), **others})
        return msgspec.structs.replace(self, tree=tree)

    def __repr__(self) -> str:
        return f"Document(file={self.file!r})"

    def position(self, path: SpecPath, *, key: bool = False) -> Position:
        """The position of a value: that of a scalar itself, otherwise of the key or list item that holds it.

        With ``key``, the position of the key. A value that came through an alias or ``<<`` is where its text
        is. For a path that does not exist, the position of its deepest existing ancestor.
        """
        at, node = self.tree.at, self.tree
        for step in path:
            entry = node.entry(step)
            if entry is None:
                break
            at, node = entry
        return node.at if node.is_scalar and not key else at

    def is_inherited(self, path: SpecPath) -> bool:
        """Whether the spec has a value from the project's defaults."""
        return isinstance(self.position(path, key=True), InProject)

    def place(self, path: SpecPath, *, key: bool = False) -> FilePlace:
        """The position of a value, or with ``key`` that of its key, in the file that has it."""
        at = self.position(path, key=key)
        return FilePlace(self.project.file if self.project and isinstance(at, InProject) else self.file, *at)

    def source_of(self, path: SpecPath) -> str:
        """The location of a part of the spec, as `file: path`. A line number would change with every line
        added above.
        """
        if self.project is not None and self.is_inherited(path):
            return f"{self.project.shown_file}: {dotted((DEFAULTS, *path))}"
        return f"{self.shown_file}: {dotted(path)}"

    def problem(self, path: SpecPath, code: str, message: str, fix: str, *, key: bool = False) -> Problem:
        """An error at a value of the spec; with ``key`` at its key."""
        return Problem(path, message, fix, code, at=self.place(path, key=key))

    def located(self, problem: Problem, code: str, severity: Severity) -> Problem:
        """What a rule has found, with the rule's code and severity, at its place in the file."""
        if isinstance(problem.place, FilePlace):
            return msgspec.structs.replace(problem, code=code, severity=severity)
        path = self.written_as.get(problem.path, problem.path)
        about = (*path, problem.lacks) if problem.lacks else path
        at = self.place(about, key=True) if problem.of_key else self.where_to_mend(about)
        message = f"{problem.message}{self.absent_by(about)}"
        return Problem(path, message, problem.fix, code, severity, at)

    def where_to_mend(self, path: SpecPath) -> FilePlace:
        """Where to fix a problem: at the value itself, or at the stage's `null` that removes it."""
        found = self.nulls.removed_at(path)
        at = None if found is None else self.nulls.effective[found].node.at
        return self.place(path) if at is None else FilePlace(self.file, *at)

    def absent_by(self, path: SpecPath) -> str:
        """`(the stage … removes …)` where a stage removed what would stand at the path, else nothing."""
        found = self.nulls.removed_at(path)
        return "" if found is None else f" (the stage `{self.nulls.stage}` removes `{found[-1]}`)"


def read_document(path: Path | str) -> Document:
    """Reads a spec file: at most 1 MiB of UTF-8, one document of YAML 1.2 plus merge keys (``<<``); for `-`,
    standard input.

    Raises:
        SpecError: with all problems of the file; see :data:`inferstack.problems.file_codes.FILE_CODES`.
    """
    file = os.fspath(path).replace(os.sep, "/")
    if file == PIPED:
        return Document(STANDARD_INPUT, compose(STANDARD_INPUT, read_standard_input()))
    if file.endswith(LOCK_SUFFIX):
        message, fix = "this is a spec's lock, not a spec", f"name {file.removesuffix(LOCK_SUFFIX)}.yaml"
        raise SpecError([Problem(FilePlace(file), message, fix, NO_SPEC)])
    if is_project_file(Path(path)):
        message = "this is the project's file, not a spec; it is checked with each spec that it is for"
        raise SpecError([Problem(FilePlace(file), message, "name the specs, or their folder", NO_SPEC)])
    if leads_out(Path(path)):
        return _behind_link(Path(path), file)
    return Document(file, compose(file, read_text(Path(path), file)))


_OF_EVERY_SPEC = frozenset({"kind", "endpoint_name"})
# What says nothing of a file's content.
_OF_THE_FILE = frozenset({NO_FILE, DIRECTORY, NOT_REGULAR, UNREADABLE, TOO_LARGE})


def _behind_link(path: Path, file: str) -> Document:
    """A spec outside of the project. Of any other file nothing is shown: a pull request may bring a link to
    whatever lies on the machine that checks it, and the review would print that.
    """
    try:
        document = Document(file, compose(file, read_text(path, file)))
    except SpecError as error:
        if any(problem.code in _OF_THE_FILE for problem in error.problems):
            raise
    else:
        if document.data.keys() >= _OF_EVERY_SPEC:
            return document
    message = "this link leads out of the project, to something that is not a spec; it is not shown"
    fix = "put the spec itself here, or name the file that the link leads to"
    raise SpecError([Problem(FilePlace(file), message, fix, FOREIGN)])


def _collect_scalars(value: Any, path: SpecPath, found: list[tuple[SpecPath, Any]]) -> None:
    match value:
        case dict():
            for key, item in value.items():
                _collect_scalars(item, (*path, key), found)
        case list():
            for index, item in enumerate(value):
                _collect_scalars(item, (*path, index), found)
        case _:
            found.append((path, value))


def _collect_keys(
    mark: str, value: Any, path: SpecPath, found: list[tuple[SpecPath, dict[str, Any]]]
) -> None:
    match value:
        case dict():
            found.extend(((*path, key), value) for key in value if mark in key)
            for key, item in value.items():
                if isinstance(item, (dict, list)):
                    _collect_keys(mark, item, (*path, key), found)
        case list():
            for index, item in enumerate(value):
                _collect_keys(mark, item, (*path, index), found)
