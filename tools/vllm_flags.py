"""Reads what ``vllm serve`` accepts out of a wheel of vLLM: flags, environment variables, names of parsers.

Nothing of it is imported or run. The types of most flags are the annotations of vLLM's configuration classes,
from which `get_kwargs` in `vllm/engine/arg_utils.py` makes arguments; the functions here follow it step by
step.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from zipfile import ZipFile

from tools.python_sources import Sources, keywords, literal

Row = dict[str, object]

_ARGUMENTS = "vllm/engine/arg_utils.py"
_SERVE = "vllm/entrypoints/cli/serve.py"
_COMMAND_LINE = r"vllm/entrypoints/(openai|common|launchers)/cli_args\.py"
_MODULES = "|".join(
    (
        r"vllm/(config|renderers|utils)/\w+\.py",
        r"vllm/entrypoints/\w+/protocol\.py",
        r"vllm/(entrypoints|renderers)/chat_utils(/\w+)?\.py",
        "vllm/logger.py",
        _COMMAND_LINE,
        _ARGUMENTS,
        _SERVE,
    )
)
_FRONT_END = "FrontendArgs"
_BOUNDS = {"ge": "least", "gt": "above", "le": "most", "lt": "below"}
_OF_TYPES = {
    "int": "int",
    "float": "float",
    "str": "text",
    "json.loads": "json",
    "union_dict_and_str": "json-or-text",
    "human_readable_int": "size",
    "human_readable_int_or_auto": "size-or-auto",
    "parse_reasoning_parser": "text",
}


def vllm_table(wheel: ZipFile) -> tuple[dict[str, Row], set[str]]:
    """The flags with what they accept, and the environment variables that vLLM knows."""
    sources = Sources(wheel, _MODULES)
    flags = dict(_Flags(sources).all())
    for flag, names in _registered(wheel).items():
        if flag in flags and names:
            flags[flag]["choices"] = sorted(names)
    if "attention-backend" in flags:
        flags["attention-backend"] |= {"choices": _backends(wheel), "folded": True}
    if "def parse_reasoning_parser" in sources.text(_ARGUMENTS):
        flags["reasoning-parser"]["choices"] = sorted({*_registered(wheel)["reasoning-parser"], "none"})
    fields = {name for name, _ in sources.fields("EngineArgs")}
    for flag, row in flags.items():
        if flag.replace("-", "_") not in fields:
            row["server"] = True
    return flags, _environment(wheel)


class _Flags:
    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.sizes = set(_sizes(sources.tree(_ARGUMENTS)))
        self.pairs = any("class EnableDisableAction" in sources.text(it) for it in sources.modules)
        self.changed: dict[tuple[str, str], dict[str, ast.expr | None]] = {}
        self.groups: dict[str, str] = {}

    def all(self) -> Iterator[tuple[str, Row]]:
        found = dict(self._fields_of_front_end())
        for module in (_ARGUMENTS, self.sources.one(_COMMAND_LINE), _SERVE):
            found |= dict(self._added(self.sources.tree(module)))
        for flag, row in found.items():
            yield flag, row
            if self.pairs and row["kind"] == "flag":
                yield from ((it, Row(kind="switch")) for it in _inverses(flag) if it not in found)

    def _fields_of_front_end(self) -> Iterator[tuple[str, Row]]:
        self._note_changes(self.sources.tree(self.sources.one(_COMMAND_LINE)))
        for name, field in self.sources.fields(_FRONT_END):
            row = self._of_field(name, field)
            yield (
                name.replace("_", "-"),
                self._with_changes(row, self.changed.get(("frontend_kwargs", name), {})),
            )

    def _note_changes(self, tree: ast.AST) -> None:
        """Remembers `GROUP["field"]["type"] = …`, and which class a group of arguments is made from."""
        for node in ast.walk(tree):
            match node:
                case ast.Assign([ast.Name(group)], ast.Call(ast.Name("get_kwargs"), [ast.Name(owner), *_])):
                    self.groups[group] = owner
                case ast.Assign([ast.Name(group)], ast.Subscript(ast.Name(known), ast.Constant(str(field)))):
                    self.groups[group] = f"{known}.{field}"
                case ast.Assign(
                    [
                        ast.Subscript(
                            ast.Subscript(ast.Name(group), ast.Constant(str(field))), ast.Constant(str(key))
                        )
                    ],
                    value,
                ):
                    self.changed.setdefault((group, field), {})[key] = value
                case ast.AugAssign(
                    ast.Subscript(
                        ast.Subscript(ast.Name(group), ast.Constant(str(field))), ast.Constant("choices")
                    )
                ):
                    self.changed.setdefault((group, field), {})["choices"] = ast.Constant(None)
                case ast.Assign([ast.Subscript(ast.Name(group), ast.Constant(str(key)))], value):
                    self.changed.setdefault((group, ""), {})[key] = value
                case ast.Delete(
                    [
                        ast.Subscript(
                            ast.Subscript(ast.Name(group), ast.Constant(str(field))), ast.Constant(str(key))
                        )
                    ]
                ):
                    self.changed.setdefault((group, field), {})[key] = None

    def _added(self, tree: ast.AST) -> Iterator[tuple[str, Row]]:
        self._note_changes(tree)
        for node in ast.walk(tree):
            match node:
                case ast.Call(ast.Attribute(attr="add_argument"), args):
                    names = [
                        it.value
                        for it in args
                        if isinstance(it, ast.Constant) and str(it.value).startswith("--")
                    ]
                    if names:
                        row = self._of_call(node)
                        yield from ((str(name).removeprefix("--"), dict(row)) for name in names)

    def _of_call(self, call: ast.Call) -> Row:
        row, written = self._bounds_by_name(call), keywords(call)
        for group, field in _unpacked(call):
            known, _, below = self.groups.get(group, "").partition(".")
            owner = self.groups.get(known, known)
            found = dict(self.sources.fields(owner)).get(field or below)
            if found is not None:
                row = self._with_changes(
                    self._of_field(field or below, found), self._changes(group, field, known, below)
                )
        return self._with_changes(row, written)

    def _bounds_by_name(self, call: ast.Call) -> Row:
        """The bounds of the field that an argument is for although it is not made from it."""
        row, names = Row(kind="text"), [it.value for it in call.args if isinstance(it, ast.Constant)]
        for owner in {} if [*_unpacked(call)] else dict.fromkeys(self.groups.values()):
            for name, (annotation, default) in self.sources.fields(owner):
                if f"--{name.replace('_', '-')}" in names:
                    row |= _bounds(default) | _bounds(_metadata(annotation))
        return row

    def _changes(self, group: str, field: str, known: str, below: str) -> Mapping[str, ast.expr | None]:
        return {**self.changed.get((known, below), {}), **self.changed.get((group, field), {})}

    def _with_changes(self, row: Row, changes: Mapping[str, ast.expr | None]) -> Row:
        """A row after `type=…`, `choices=…`, `action=…` and `nargs=…` were set for it."""
        row = dict(row)
        for key, value in changes.items():
            match key, value:
                case "type", ast.Call(ast.Name("optional_type"), [inner]):
                    row |= {"kind": _of_type(inner, row), "optional": True}
                case "type", ast.Lambda() if "choices" in row:
                    row |= {"folded": True}
                case "type", ast.expr():
                    row = {name: it for name, it in row.items() if name != "optional"}
                    row["kind"] = _of_type(value, row)
                case "choices", ast.expr():
                    row["choices"] = self._choices(value)
                case "action", ast.expr():
                    row["kind"] = _of_action(ast.unparse(value), str(row["kind"]))
                case "nargs", None if row.get("many"):
                    del row["many"]
                case "nargs", ast.Constant("+" | "*"):
                    row["many"] = True
                case "nargs", ast.Constant("?"):
                    row["kind"] = "flag-or-text"
        return {name: it for name, it in row.items() if it is not None}

    def _choices(self, value: ast.expr) -> list[str] | None:
        match value:
            case ast.Call(ast.Name("get_args"), [hint]):
                return sorted(map(str, self.sources.words(hint) or ())) or None
            case ast.List(parts):
                words = [literal(it) for it in parts]
                return None if None in words else sorted(map(str, words))
        return None

    def _of_field(self, name: str, field: tuple[ast.expr, ast.expr | None]) -> Row:
        annotation, default = field
        hints = list(self.sources.hints(annotation))
        row = self._of_hints(name, hints) | _bounds(default) | _bounds(_metadata(annotation))
        if row["kind"] == "flag":
            return {**row, "on": True} if _may_be_on(default) else row
        # Of words, its parser compares `None` with the text, so that none of them stands for no value.
        return {**row, "optional": True} if "None" in hints and "choices" not in row else row

    def _of_hints(self, name: str, hints: list[str]) -> Row:
        """What `get_kwargs` makes of the types that a field may have, the first that fits."""
        words = [
            word for hint in hints for word in self.sources.words(ast.parse(hint, mode="eval").body) or ()
        ]
        if any(self.sources.is_dataclass(hint) for hint in hints):
            return {"kind": "object"}
        if {*hints} == {"bool", "str", "None"}:
            return {"kind": "flag-or-text"}
        if "bool" in hints:
            return {"kind": "flag"}
        if words:
            kind = "int" if isinstance(words[0], int) else "text"
            return {"kind": kind} if "str" in hints else {"kind": kind, "choices": sorted(map(str, words))}
        for hint in hints:
            many = re.match(r"(?:typing\.)?(tuple|list|set|List|Tuple|Set)\b(?:\[(.*)\])?", hint, re.DOTALL)
            if many is not None:
                return self._of_collection(many[2] or "str")
        if "int" in hints:
            kind = "size-or-auto" if name == "max_model_len" else "size" if name in self.sizes else "int"
            return {"kind": kind}
        if "float" in hints:
            return {"kind": "float"}
        if any(re.match(r"(dict|Dict)\b", hint) or self.sources.is_dictionary(hint) for hint in hints):
            others = [it for it in hints if it != "None" and re.match(r"(dict|Dict)\b", it) is None]
            plain = not any(not self.sources.is_dictionary(it) for it in others)
            return {"kind": "json" if plain else "json-or-text"}
        return {"kind": "text"}

    def _of_collection(self, inside: str) -> Row:
        first = ast.parse(f"({inside},)", mode="eval").body
        element = first.elts[0] if isinstance(first, ast.Tuple) else first
        hints = list(self.sources.hints(element))
        words = self.sources.words(element)
        row: Row = {
            "kind": {"int": "int", "float": "float"}.get(hints[0], "text") if len(hints) == 1 else "text",
            "many": True,
        }
        return {**row, "choices": sorted(map(str, words))} if words else row


def _inverses(flag: str) -> Iterator[str]:
    for here, there in (("enable-", "disable-"), ("disable-", "enable-")):
        if flag.startswith(here):
            yield there + flag.removeprefix(here)


def _unpacked(call: ast.Call) -> Iterator[tuple[str, str]]:
    """The groups and fields whose arguments a call unpacks: `**GROUP["field"]`, also in a dictionary."""
    for keyword in call.keywords:
        if keyword.arg is None:
            yield from _groups(keyword.value)


def _groups(value: ast.expr) -> Iterator[tuple[str, str]]:
    match value:
        case ast.Subscript(ast.Name(group), ast.Constant(str(field))):
            yield group, field
        case ast.Name(group):
            yield group, ""
        case ast.Dict(keys, values):
            for key, inner in zip(keys, values, strict=True):
                if key is None:
                    yield from _groups(inner)


def _of_type(value: ast.expr, row: Row) -> str:
    match value:
        case ast.Call(_, [inner]):
            return _of_type(inner, row)
    return _OF_TYPES.get(ast.unparse(value), "text")


def _of_action(action: str, kind: str) -> str:
    if "store_true" in action or "store_false" in action:
        return "switch"
    return "flag" if "BooleanOptionalAction" in action else kind if kind != "flag" else "text"


def _bounds(value: ast.expr | None) -> Row:
    found = Row()
    for name, expression in keywords(value).items() if isinstance(value, ast.Call) else ():
        number = literal(expression)
        if name in _BOUNDS and isinstance(number, int | float):
            found[_BOUNDS[name]] = number
    return found


def _may_be_on(default: ast.expr | None) -> bool:
    """Whether a flag is on unless it is switched off, or vLLM decides."""
    match default:
        case ast.Constant(value):
            return value is not False
        case ast.Call():
            return _may_be_on(keywords(default).get("default"))
    return False


def _metadata(annotation: ast.expr) -> ast.expr | None:
    """The `Field(…)` of an `Annotated[…, Field(…)]`."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Field"):
            return node
    return None


def _sizes(tree: ast.AST) -> Iterator[str]:
    """The fields that are read as `8k` or `2M`, too: compared one by one, or in a set with a name."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name("human_readable_int_args" | "human_readable_ints")], value):
                yield from _texts(value)
            case ast.If(test, [ast.Assign(_, ast.Name("human_readable_int")), *_]):
                yield from _texts(test)


def _texts(node: ast.AST) -> Iterator[str]:
    for it in ast.walk(node):
        if isinstance(it, ast.Constant) and isinstance(it.value, str):
            yield it.value


def _registered(wheel: ZipFile) -> Mapping[str, set[str]]:
    """The names of parsers and of quantizations, which are registered elsewhere."""
    tools = _keys(wheel, r"vllm/tool_parsers/__init__\.py", "PARSERS")
    return {
        "tool-call-parser": tools,
        "reasoning-parser": _keys(wheel, r"vllm/reasoning/__init__\.py", "PARSERS"),
        "quantization": _quantizations(wheel),
    }


def _keys(wheel: ZipFile, module: str, name: str) -> set[str]:
    sources = Sources(wheel, module)
    found = set[str]()
    for node in ast.walk(sources.tree(sources.one(module))):
        match node:
            case ast.Assign([ast.Name(target)], ast.Dict(keys)) | ast.AnnAssign(
                ast.Name(target), _, ast.Dict(keys)
            ):
                if name in target:
                    found |= {str(key.value) for key in keys if isinstance(key, ast.Constant)}
    return found


def _quantizations(wheel: ZipFile) -> set[str]:
    module = r"vllm/model_executor/layers/quantization/__init__\.py"
    sources = Sources(wheel, module)
    return set(map(str, sources.words(ast.Name("QuantizationMethods")) or ()))


def _backends(wheel: ZipFile) -> list[str]:
    """The members of vLLM's enumeration, which it looks for in capitals."""
    sources = Sources(wheel, r"vllm/(v1/)?attention/backends/registry\.py")
    found = [
        str(name).lower()
        for node in sources.nodes()
        if isinstance(node, ast.ClassDef) and node.name == "AttentionBackendEnum"
        for it in node.body
        if isinstance(it, ast.Assign)
        for name in map(ast.unparse, it.targets)
    ]
    return sorted([*found, "auto"])


def _environment(wheel: ZipFile) -> set[str]:
    """The names in the table of `vllm/envs.py`, and what other modules read."""
    found = set[str]()
    for name in wheel.namelist():
        if name.startswith("vllm/") and name.endswith(".py"):
            found |= set(re.findall(r"""["'](VLLM_[A-Z0-9_]{2,})["']""", wheel.read(name).decode()))
    return {it for it in found if not it.endswith("_")}
