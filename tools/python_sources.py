"""Reads Python sources in an archive as data: classes, their fields, and the names for literal types."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from zipfile import ZipFile

Field = tuple[ast.expr, ast.expr | None]
"""Annotation and default."""
_DEEPEST = 8


class Sources:
    """The modules of an archive whose paths a pattern fits."""

    def __init__(self, archive: ZipFile, pattern: str) -> None:
        self.archive = archive
        self.modules = sorted(it for it in archive.namelist() if re.fullmatch(pattern, it))
        if not self.modules:
            raise LookupError(f"{archive.filename} has nothing like {pattern}")
        self._trees: dict[str, ast.Module] = {}

    def text(self, module: str) -> str:
        """The text of a module."""
        return self.archive.read(module).decode()

    def tree(self, module: str) -> ast.Module:
        """The syntax tree of a module, parsed once."""
        if module not in self._trees:
            self._trees[module] = ast.parse(self.text(module))
        return self._trees[module]

    def one(self, pattern: str) -> str:
        """The only module that fits a pattern."""
        found = [it for it in self.modules if re.fullmatch(pattern, it)]
        if len(found) != 1:
            raise LookupError(f"{len(found)} modules like {pattern}")
        return found[0]

    def nodes(self) -> Iterator[ast.AST]:
        """Every node of every module."""
        for module in self.modules:
            yield from ast.walk(self.tree(module))

    @cached_property
    def _names(self) -> Mapping[str, ast.expr]:
        found: dict[str, ast.expr] = {}
        for node in self.nodes():
            match node:
                case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(
                    ast.Name(name), _, ast.expr() as value
                ):
                    found.setdefault(name, value)
        return found

    @cached_property
    def _classes(self) -> Mapping[str, ast.ClassDef]:
        found: dict[str, ast.ClassDef] = {}
        for node in self.nodes():
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, node)
        return found

    def value_of(self, name: str) -> ast.expr | None:
        """What is assigned to a name, at first."""
        return self._names.get(name)

    def fields(self, name: str) -> list[tuple[str, Field]]:
        """The annotated fields of a class, with those of its bases."""
        found = self._classes.get(name)
        if found is None:
            return []
        own = {
            it.target.id: (it.annotation, it.value)
            for it in found.body
            if isinstance(it, ast.AnnAssign)
            and isinstance(it.target, ast.Name)
            and "ClassVar" not in ast.unparse(it.annotation)
        }
        inherited = {key: it for base in found.bases for key, it in self.fields(ast.unparse(base))}
        return list({**inherited, **own}.items())

    def is_dataclass(self, name: str) -> bool:
        """Whether a class is decorated as one."""
        found = self._classes.get(name)
        return found is not None and any(
            "config" in it or "dataclass" in it for it in map(ast.unparse, found.decorator_list)
        )

    def is_dictionary(self, name: str) -> bool:
        """Whether a class is a kind of dictionary."""
        found = self._classes.get(name)
        return found is not None and any(re.match(r"dict\b", ast.unparse(it)) for it in found.bases)

    def hints(self, annotation: ast.expr, depth: int = 0) -> Iterator[str]:
        """The types that an annotation allows, without `Annotated`, `Optional` and names for unions."""
        match annotation:
            case ast.Constant(str(quoted)):
                yield from self.hints(ast.parse(quoted, mode="eval").body, depth)
            case ast.BinOp(left, ast.BitOr(), right):
                yield from (*self.hints(left, depth), *self.hints(right, depth))
            case ast.Subscript(ast.Name("Annotated" | "SkipValidation"), inner):
                yield from self.hints(inner.elts[0] if isinstance(inner, ast.Tuple) else inner, depth)
            case ast.Subscript(ast.Name("Optional"), inner):
                yield from (*self.hints(inner, depth), "None")
            case ast.Subscript(ast.Name("Union"), ast.Tuple(parts)):
                for part in parts:
                    yield from self.hints(part, depth)
            case ast.Name(name) if name in self._names and not name.islower() and depth < _DEEPEST:
                value = self._names[name]
                if isinstance(value, ast.Subscript | ast.BinOp):
                    yield from self.hints(value, depth + 1)
                else:
                    yield name
            case _:
                yield ast.unparse(annotation)

    def words(self, annotation: ast.expr, depth: int = 0) -> list[object] | None:
        """What a `Literal`, or a name for one, allows; None for any other type."""
        match annotation:
            case ast.Name(name) if name in self._names and depth < _DEEPEST:
                return self.words(self._names[name], depth + 1)
            case ast.Subscript(ast.Name("Literal"), inner):
                parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                found = [
                    [it.value] if isinstance(it, ast.Constant) else self.words(it, depth + 1) for it in parts
                ]
                return None if None in found else [word for words in found for word in words or ()]
        return None


def literal(node: ast.expr) -> object:
    """The value of an expression without names; None for any other."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def keywords(call: ast.Call) -> dict[str, ast.expr]:
    """The named arguments of a call."""
    return {it.arg: it.value for it in call.keywords if it.arg is not None}
