"""Reads what SGLang's server accepts out of a wheel: its flags.

Nothing of it is imported or run. Newer versions annotate the fields of their configuration, as in `A[int,
Arg(…)]`; older ones call `add_argument`, and some do both.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from zipfile import ZipFile

from tools.python_sources import Sources, keywords, literal

Row = dict[str, object]

_MODULES = r"sglang/srt/(server_args|arg_groups/.+)\.py"
_FROM_ELSEWHERE = r"sglang/srt/(function_call/function_call_parser|parser/reasoning_parser)\.py"
_OF_TYPES = {"int": "int", "float": "float", "json.loads": "json", "json_list_type": "json"}
_REGISTRIES = {
    "FunctionCallParser.ToolCallParserEnum.keys()": "ToolCallParserEnum",
    "ReasoningParser.DetectorMap.keys()": "DetectorMap",
}
_IS_FLAG = re.compile(r"--[a-z]")


def sglang_flags(wheel: ZipFile) -> dict[str, Row]:
    """The flags with what they accept."""
    return dict(_Flags(wheel).all())


class _Flags:
    def __init__(self, wheel: ZipFile) -> None:
        self.sources = Sources(wheel, _MODULES)
        self.registries = Sources(wheel, _FROM_ELSEWHERE)

    def all(self) -> Iterator[tuple[str, Row]]:
        for node in self.sources.nodes():
            match node:
                case ast.AnnAssign(
                    ast.Name(field), ast.Subscript(ast.Name("A"), ast.Tuple([hint, *metadata]))
                ):
                    yield from self._of_field(field, hint, metadata)
        for node in self.sources.nodes():
            match node:
                case ast.Call(ast.Attribute(attr="add_argument"), args):
                    names = [
                        it.value
                        for it in args
                        if isinstance(it, ast.Constant) and _IS_FLAG.match(str(it.value))
                    ]
                    row = self._of_argument(keywords(node))
                    yield from ((str(name).removeprefix("--"), dict(row)) for name in names)

    def _of_field(self, field: str, hint: ast.expr, metadata: list[ast.expr]) -> Iterator[tuple[str, Row]]:
        written: Mapping[str, ast.expr] = {}
        for it in metadata:
            match it:
                case ast.Call(ast.Name("Derived")):
                    return
                case ast.Call(ast.Name("Arg")):
                    written = keywords(it)
        if "no_cli" in written:
            return
        name = literal(written["cli_name"]) if "cli_name" in written else f"--{field.replace('_', '-')}"
        aliases = literal(written["aliases"]) if "aliases" in written else []
        row = self._with_choices(self._of_hint(hint, written), written.get("choices"))
        for flag in (name, *(aliases if isinstance(aliases, list) else ())):
            yield str(flag).removeprefix("--"), dict(row)

    def _of_hint(self, hint: ast.expr, written: Mapping[str, ast.expr]) -> Row:
        hints = [it for it in self.sources.hints(hint) if it != "None"]
        if "action" in written:
            action = ast.unparse(written["action"])
            # Those with a class of SGLang's own print a warning, or take a list.
            return {"kind": "flag" if "BooleanOptional" in action else "any"}
        words = self.sources.words(ast.parse(hints[0], mode="eval").body)
        parsed = written.get("type_parser")
        many = re.match(r"(?:List|list)(?:\[(.*)\])?$", hints[0])
        if parsed is not None:
            row: Row = {"kind": _OF_TYPES.get(ast.unparse(parsed), "text")}
        elif many is not None:
            return {"kind": _OF_TYPES.get(str(many[1]), "text"), "many": True}
        elif hints == ["bool"]:
            return {"kind": "switch"}
        else:
            row = {"kind": _OF_TYPES.get(hints[0], "text") if len(hints) == 1 else "text"}
        if literal(written.get("nargs", ast.Constant(None))) in ("+", "*"):
            row["many"] = True
        elif "nargs" in written:
            row = {"kind": "any"}
        return {**row, "choices": sorted(map(str, words))} if words else row

    def _of_argument(self, written: Mapping[str, ast.expr]) -> Row:
        action = ast.unparse(written["action"]) if "action" in written else ""
        if "store_true" in action or "store_false" in action or "Deprecated" in action:
            return {"kind": "any" if "Deprecated" in action else "switch"}
        if "BooleanOptional" in action:
            return {"kind": "flag"}
        row: Row = {
            "kind": _OF_TYPES.get(ast.unparse(written["type"]), "text") if "type" in written else "text"
        }
        nargs = literal(written["nargs"]) if "nargs" in written else None
        if nargs in ("+", "*"):
            row["many"] = True
        elif nargs is not None:
            row = {"kind": "any"}
        return self._with_choices(row, written.get("choices"))

    def _with_choices(self, row: Row, choices: ast.expr | None) -> Row:
        words = None if choices is None else self._words(choices)
        return {**row, "choices": sorted(map(str, words))} if words else row

    def _words(self, value: ast.expr) -> list[object] | None:
        """A list of words, a name for one, or the keys of a registry of parsers."""
        match value:
            case ast.List(parts) | ast.Tuple(parts):
                found = [
                    self._words(it.value) if isinstance(it, ast.Starred) else [literal(it)] for it in parts
                ]
                return None if None in found else [word for words in found for word in words or ()]
            case ast.BinOp(left, ast.Add(), right):
                both = self._words(left), self._words(right)
                return None if None in both else [*(both[0] or ()), *(both[1] or ())]
            case ast.Call(ast.Name("list" | "sorted"), [inner]):
                return self._words(inner)
            case ast.Call(ast.Name("get_args"), [hint]):
                return self.sources.words(hint)
            case ast.Name(name):
                assigned = self.sources.value_of(name)
                return None if assigned is None else self._words(assigned)
        registry = _REGISTRIES.get(ast.unparse(value))
        return None if registry is None else self._keys(registry)

    def _keys(self, name: str) -> list[object] | None:
        for node in self.registries.nodes():
            match node:
                case ast.AnnAssign(ast.Name(found), _, ast.Dict(keys)) | ast.Assign(
                    [ast.Name(found)], ast.Dict(keys)
                ):
                    if found == name:
                        return [literal(key) for key in keys if key is not None]
        return None
