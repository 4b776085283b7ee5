"""A spec file as data, with the position of every part in the file.

path -> text (file_text) -> tree (quick, or for files with anything unusual: events, compose) -> Document
"""

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from inferstack.spec.document.scalars import texts_with
from inferstack.spec.document.stage_nulls import NO_NULLS, StageNulls
from inferstack.spec.problem import IN_PYTHON, Problem, SpecError, SpecPath
from inferstack.spec.problem.file_codes import NO_SPEC
from inferstack.spec.reading.file_text import read_text
from inferstack.spec.reading.quick import read_quickly
from inferstack.spec.reading.tree import Entry, Node, Position, mapping_node, tree_of
from inferstack.spec.texts.file_names import LOCK_SUFFIX, name_in_templates

__all__ = ["IN_PYTHON", "Document", "Position", "read_document"]


class Document(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The content of a spec file. ``file`` is its name as given, with forward slashes."""

    file: str
    tree: Node
    may_have_placeholders: bool = True
    """False where the file has no `${` in it, so that no value can have one."""
    may_have_references: bool = True
    """The same for `{{`, which begins a dynamic reference."""
    nulls: StageNulls = NO_NULLS
    """For a spec at a stage: what the stage removes."""

    @classmethod
    def from_data(cls, data: Mapping[str, Any], file: str = IN_PYTHON) -> "Document":
        """A document from data made in Python; everything is at line 0, column 0.

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
        """The file's name in templates: the same wherever the folder of the project lies."""
        # A name may have bytes that are not UTF-8, and no template can hold those.
        return name_in_templates(self.file).encode(errors="backslashreplace").decode()

    @cached_property
    def placeholders(self) -> tuple[tuple[SpecPath, str], ...]:
        """Every text that may hold a placeholder, with its path."""
        return () if not self.may_have_placeholders else tuple(texts_with("${", self.data))

    def rewritten(self, found: str, key: str, text: str) -> "Document":
        """The document with ``key: text`` in the place of the key ``found`` at its top."""
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

    def problem(self, path: SpecPath, code: str, message: str, fix: str, *, key: bool = False) -> Problem:
        """An error at a value of the spec; with ``key`` at its key."""
        return Problem(self.file, *self.position(path, key=key), code, message, fix, path=path)

    def where_to_mend(self, path: SpecPath) -> Position:
        """Where to change what is wrong: at the value itself, or at the stage's `null` that removes it."""
        found = self.nulls.removed_at(path)
        return self.position(path) if found is None else self.nulls.effective[found].node.at

    def absent_by(self, path: SpecPath) -> str:
        """`(the stage … removes …)` where a stage removed what would stand at the path, else nothing."""
        found = self.nulls.removed_at(path)
        return "" if found is None else f" (the stage `{self.nulls.stage}` removes `{found[-1]}`)"


def read_document(path: Path | str) -> Document:
    """Reads a spec file: at most 1 MiB of UTF-8, one document of YAML 1.2 plus merge keys (``<<``).

    Raises:
        SpecError: with all problems of the file; see :data:`inferstack.spec.problem.file_codes.FILE_CODES`.
    """
    file = os.fspath(path).replace(os.sep, "/")
    if file.endswith(LOCK_SUFFIX):
        message, fix = "this is a spec's lock, not a spec", f"name {file.removesuffix(LOCK_SUFFIX)}.yaml"
        raise SpecError([Problem(file, 1, 1, NO_SPEC, message, fix)])
    text = read_text(Path(path), file)
    tree = read_quickly(text)
    # With an escape, a value may have these characters where the text has not.
    has_escapes = "\\" in text
    return Document(
        file,
        _with_care(file, text) if tree is None else tree,
        may_have_placeholders=has_escapes or "${" in text,
        may_have_references=has_escapes or "{{" in text,
    )


def _with_care(file: str, text: str) -> Node:
    from inferstack.spec.reading.compose import compose  # noqa: PLC0415 - few files need it

    return compose(file, text)
