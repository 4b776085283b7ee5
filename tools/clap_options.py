"""Reads the options of a program in Rust out of its source: a struct that clap makes a parser of.

Only options that may also be set by an environment variable (`env`) are of interest.
"""

import re
from collections.abc import Iterator

Row = dict[str, object]

_STRUCT = re.compile(r"^(?:pub )?struct Args \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_ENUM = re.compile(
    r"((?:^#[^\n]*\n)+)(?:pub(?:\(crate\))? )?enum (\w+) \{(.*?)\n\}", re.DOTALL | re.MULTILINE
)
_FIELD = re.compile(
    r"#\[clap\((?P<attributes>.*?)\)\]\s+(?:pub )?(?P<name>\w+): (?P<type>[^\n]+),\n", re.DOTALL
)
_VARIANT = re.compile(r'(?:#\[clap\(name = "(?P<name>[^"]+)"\)\]\s*)?^\s*(?P<word>[A-Z]\w*)\b', re.MULTILINE)
_COMMENT = re.compile(r"^\s*//[^\n]*\n|^\s*#\[(?:cfg|serde|default)[^\n]*\n", re.MULTILINE)
_KINDS = {"bool": "true-or-false", "f32": "float", "f64": "float"}
_LARGEST = {"u8": 2**8 - 1, "u16": 2**16 - 1, "u32": 2**32 - 1, "usize": 2**64 - 1}


def clap_options(*sources: str) -> dict[str, Row]:
    """What the variables accept by their names; enumerations may be in any of the sources, the struct in the
    first.
    """
    enums = dict(enum for source in sources for enum in _enums(source))
    struct = _STRUCT.search(sources[0])
    if struct is None:
        raise LookupError("the source has no `struct Args`")
    return dict(_options(_COMMENT.sub("", struct[1]), enums))


def _options(body: str, enums: dict[str, list[str]]) -> Iterator[tuple[str, Row]]:
    for found in _FIELD.finditer(body):
        variable = re.search(r'\benv\b(?: = "(\w+)")?', found["attributes"])
        if variable is not None:
            inner = found["type"].removeprefix("Option<").rstrip(">").split("::")[-1]
            yield variable[1] or found["name"].upper(), _row(inner, enums)


def _row(name: str, enums: dict[str, list[str]]) -> Row:
    if name in enums:
        return {"kind": "text", "choices": sorted(enums[name])}
    if name in _KINDS:
        return {"kind": _KINDS[name]}
    if name in _LARGEST:
        return {"kind": "count", "most": _LARGEST[name]}
    return {"kind": "text"}


def _enums(source: str) -> Iterator[tuple[str, list[str]]]:
    for derived, name, body in _ENUM.findall(source):
        if "ValueEnum" in derived:
            variants = _VARIANT.finditer(_COMMENT.sub("", f"{body}\n"))
            yield name, [it["name"] or _kebab(it["word"]) for it in variants]


def _kebab(word: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", word).lower()
