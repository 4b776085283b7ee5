"""What `jsonschema` finds wrong with a spec, in words that help.

`jsonschema` finds it; this module says where it is, which key was meant or where it belongs, and how to fix
it. What is wrong with a single value is said by :mod:`inferstack.check.structure.values`.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, takewhile
from typing import Any

from inferstack.catalog import metrics
from inferstack.catalog.cloudformation import snake
from inferstack.check.structure import (
    EXCLUSIVE_KEYS,
    MISSING_KEY,
    NOT_AN_OPTION,
    OUT_OF_RANGE,
    UNKNOWN_KEY,
    WRONG_FORM,
    WRONG_LENGTH,
    WRONG_TYPE,
)
from inferstack.check.structure.keywords import is_integer
from inferstack.check.structure.misplaced import (
    INSTEAD,
    blocks_without_names,
    homes,
    homes_in_kind,
    how_to_name,
    is_api_only_key,
    kinds_having,
    why_not,
)
from inferstack.check.structure.other_names import belongs_unwrapped, called_here, said_otherwise
from inferstack.check.structure.validator import Error, accepts_type, validator
from inferstack.check.structure.values import INSTEAD_OF_FUNCTIONS, SAYINGS, as_wanted, is_intrinsic, key_of
from inferstack.facts.quantity import INSTEAD_OF_A_TARGET, is_time
from inferstack.format.schema import allowed_at, blocks_at, kind_definitions, resolved
from inferstack.problems import FilePlace, Problem, SpecPath
from inferstack.problems.words import choose, describe, listed, slip_of, type_name
from inferstack.source.document import Document
from inferstack.texts.placeholders import is_opaque

_OF_A_VALUE = (WRONG_TYPE, NOT_AN_OPTION, WRONG_FORM, WRONG_LENGTH, OUT_OF_RANGE)


def reported(document: Document, definition: str) -> list[Problem]:
    """Everything in a document that a definition of the schema forbids; nothing if it fits."""
    errors = list(validator(definition).iter_errors(document.data))
    wrong = {error.absolute_path[0] for error in errors if error.absolute_path}
    nameless = blocks_without_names(document.data, definition, wrong)
    of_blocks = [_without_a_name(document, key, found, definition) for key, found in nameless.items()]
    others = (error for error in errors if next(iter(error.absolute_path), None) not in nameless)
    found = [*of_blocks, *(problem for error in others for problem in _problems(document, error))]
    # The schema may constrain a value twice: in a block, and in the definition that the block refers to. The
    # fix that comes first is the block's.
    once = list({(it.path, it.code, it.message): it for it in reversed(found)}.values())[::-1]
    return _worst_of_each_value(once)


def _worst_of_each_value(problems: list[Problem]) -> list[Problem]:
    """Of each value only the problem that has to be mended first: what is right then changes the others."""
    first: dict[SpecPath, int] = {}
    for it in problems:
        if it.code in _OF_A_VALUE:
            first[it.path] = min(_OF_A_VALUE.index(it.code), first.get(it.path, len(_OF_A_VALUE)))
    return [it for it in problems if it.code not in _OF_A_VALUE or _OF_A_VALUE[first[it.path]] == it.code]


def _without_a_name(document: Document, key: str, found: list[str], definition: str) -> Problem:
    what = key.replace("_", " ")
    keys = listed(found, last="and")
    message = f"`{key}` holds {what} by name, but this has the keys of a single one: {keys}"
    return document.problem((key,), UNKNOWN_KEY, message, how_to_name(key, definition), key=True)


def _problems(document: Document, error: Error) -> Iterable[Problem]:
    path = tuple(error.absolute_path)
    if "propertyNames" in list(error.absolute_schema_path)[-2:-1]:
        return _bad_name(document, path, error)
    if _is_said_of_the_options(error):
        return ()
    match str(error.validator):
        case "additionalProperties" | "required" | "anyOf" | "propertyNames" | "not" as keyword:
            return _SEVERAL[keyword](document, path, error)
        case keyword:
            code, say = SAYINGS[keyword]
            message, fix = say(_name(path), error)
            return [document.problem(path, code, message, _fix_by_neighbours(document, path, error) or fix)]


def _is_said_of_the_options(error: Error) -> bool:
    """Whether the same value is also reported as none of the options, so that its type need not be: quotes
    would not help. A number that stands for a token is not reported so.
    """
    is_option = error.validator_value == "string" and "enum" in error.schema
    return error.validator == "type" and is_option and not is_opaque(error.instance)


def _fix_by_neighbours(document: Document, path: SpecPath, error: Error) -> str:
    """The fix that the keys beside a value suggest, if they do."""
    block = _around(document, path)
    match error.validator, path[-1:]:
        case "type", _ if error.validator_value == "object" and error.instance is None:
            return _indent(document, path, error.schema)
        case "type", _ if path[-2:-1] == ("environment",) and _is_structured(error.instance):
            return """write what the container reads, as one text: '{"key": "value"}'"""
        case "type", ("target_value",):
            found = metrics.find(str(block.get("metric")))
            return INSTEAD_OF_A_TARGET if any(map(is_time, found)) else ""
        case "minimum", (str() as key,) if key.startswith("max_"):
            low_key, found = f"min_{key.removeprefix('max_')}", error.instance
            least = _least(document, (*path[:-1], low_key))
            reversed_ = is_integer(block.get(low_key)) and block[low_key] > found >= least
            return f"swap them: `{low_key}: {found}` and `{key}: {block[low_key]}`" if reversed_ else ""
        case _:
            return ""


def _around(document: Document, path: SpecPath) -> Any:
    """The mapping or list that a value is in."""
    found: Any = document.data
    for part in path[:-1]:
        found = found[part]
    return found


def _indent(document: Document, path: SpecPath, block: dict[str, Any]) -> str:
    """What to do if the keys of an empty block follow it, unindented; empty if they do not."""
    around = _around(document, path)
    if not isinstance(around, dict) or around[path[-1]] is not None:
        return ""
    following = list(around)[list(around).index(path[-1]) + 1 :]
    inside, beside = block.get("properties", {}), _keys_of(document, path[:-1])
    own = list(takewhile(lambda key: snake(key) in inside and snake(key) not in beside, following))
    return f"indent the lines below it: {listed(own, last='and')}" if own else ""


def _keys_of(document: Document, path: SpecPath) -> set[str]:
    """The keys that the format has in the block at a path."""
    definition = kind_definitions().get(str(document.data.get("kind")))
    blocks = () if definition is None else blocks_at(definition, path)
    return {key for it in blocks for key in it.get("properties", {})}


def _is_structured(found: object) -> bool:
    if isinstance(found, dict):
        return not is_intrinsic(*found)
    return isinstance(found, list) and not is_opaque(found)


def _least(document: Document, path: SpecPath) -> int:
    definition = kind_definitions().get(str(document.data.get("kind")))
    allowed = () if definition is None else allowed_at(definition, path)
    return max((it.get("minimum", 0) for it in allowed), default=0)


def _name(path: SpecPath) -> str:
    """The key that a value belongs to, in backticks."""
    keys = [part for part in path if isinstance(part, str)]
    entry = "an entry of " if path and isinstance(path[-1], int) else ""
    return f"{entry}`{keys[-1]}`" if keys else "the spec"


def _unknown_keys(document: Document, path: SpecPath, error: Error) -> Iterator[Problem]:
    for key in error.instance:
        if key not in error.schema["properties"]:
            message, fix = _of_unknown_key(document, path, key, error.schema)
            yield document.problem((*path, key), UNKNOWN_KEY, message, fix, key=True)


def _of_unknown_key(document: Document, path: SpecPath, key: str, block: dict[str, Any]) -> tuple[str, str]:
    message = f"unknown key `{key}` in {_name(path)}"
    if is_api_only_key(block.get("title", ""), snake(key)):
        message = f"`{key}` cannot be deployed: {why_not(snake(key))}"
    return message, _instead_of(document, path, key, block)


def removed_in_vain(document: Document, blocks: dict[SpecPath, dict[str, Any]]) -> Iterator[Problem]:
    """Keys that a stage removes but that the format does not have: what was meant is still there."""
    nulls = document.nulls
    for path, block in blocks.items():
        key = str(path[-1])
        message, fix = _of_unknown_key(document, path[:-1], key, block)
        message = f"{message}, so the stage `{nulls.stage}` removes nothing"
        yield Problem(path, message, fix, UNKNOWN_KEY, at=FilePlace(document.file, *nulls.idle[path].at))


def _instead_of(document: Document, path: SpecPath, key: str, block: dict[str, Any]) -> str:
    known, title = list(block["properties"]), block.get("title", "")
    # Keys in CloudFormation's spelling are converted, so `ProductionVariants` gets the advice for
    # `production_variants`.
    ours = snake(key)
    if is_intrinsic(key):
        return INSTEAD_OF_FUNCTIONS
    if is_api_only_key(title, ours):
        return "remove it"
    return said_otherwise(ours, title, known) or _where_it_belongs(document, path, ours, block)


def _where_it_belongs(document: Document, path: SpecPath, key: str, block: dict[str, Any]) -> str:
    known, kind = list(block["properties"]), str(document.data.get("kind"))
    if key in known:
        return choose(key, known)
    others = () if path else kinds_having(key)
    if others:
        kinds = listed([f"kind: {it}" for it in others])
        return f"it is for {kinds}: change `kind`, or {INSTEAD.get(key, 'remove it')}"
    home = homes(block).get(key) or (homes_in_kind(kind).get(key) if slip_of(key, known) is None else None)
    stands_there = home is not None and home.rpartition(".")[2] == next(iter(path[-1:]), None)
    return choose(key, known) if home is None or stands_there else f"write it under `{home}`"


def _missing_key(document: Document, path: SpecPath, error: Error) -> Iterator[Problem]:
    missing = error.message.split("'")[1]
    if _stands_there_misspelt(document, path, missing, error) or _stands_wrapped(missing, error):
        return
    text = error.schema.get("properties", {}).get(missing, {}).get("description", "")
    fix = f"add `{missing}`" + (f": {text.split('. ')[0].rstrip('.')}" if text else "")
    message = f"{_name(path)} is missing `{missing}`{document.absent_by((*path, missing))}"
    at = document.where_to_mend((*path, missing))
    yield Problem(path, message, fix, MISSING_KEY, at=FilePlace(document.file, *at))


def _stands_there_misspelt(document: Document, path: SpecPath, missing: str, error: Error) -> bool:
    """Whether the report on an unknown key already says that this one was meant: one mistake, one problem."""
    said = (f"did you mean `{missing}`? ", f"it is called `{missing}` here")
    known = error.schema["properties"]
    unknown = (key for key in error.instance if key not in known)
    return any(_instead_of(document, path, key, error.schema).startswith(said) for key in unknown)


def _stands_wrapped(missing: str, error: Error) -> bool:
    """Whether the key is in a block whose contents belong here, as the report on that block says."""
    known, title = error.schema["properties"], error.schema.get("title", "")
    unknown = {key: value for key, value in error.instance.items() if key not in known}
    wrapped = (value for key, value in unknown.items() if belongs_unwrapped(snake(key), title, known))
    return any(
        called_here(ours, title, known) == missing or ours == missing
        for block in wrapped
        if isinstance(block, dict)
        for ours in map(snake, block)
    )


def _no_branch_fits(document: Document, path: SpecPath, error: Error) -> Iterator[Problem]:
    """Reports the problems of the branch that has the value's type; if there is none, of the whole choice."""
    branches = error.validator_value
    fitting = [i for i, branch in enumerate(branches) if accepts_type(branch, error.instance)]
    if not fitting:
        wanted = listed([_branch_type(branch) for branch in branches], quote="")
        message = f"{_name(path)} must be {wanted}, found {describe(error.instance)}"
        blocks = [resolved(branch) for branch in branches]
        ways = chain(
            (_indent(document, path, block) for block in blocks),
            (as_wanted(block, error.instance, key_of(error)) for block in blocks),
        )
        yield document.problem(path, WRONG_TYPE, message, next(filter(None, ways), ""))
    for inner in error.context or ():
        if inner.schema_path[0] == next(iter(fitting), None):
            yield from _problems(document, inner)


def _bad_name(document: Document, path: SpecPath, error: Error) -> Iterator[Problem]:
    for inner in error.context or [error]:
        name = str(error.instance)
        code, say = SAYINGS[str(inner.validator)]
        yield document.problem((*path, name), code, *say(f"the name `{name}`", inner), key=True)


def _exclusive_keys(document: Document, path: SpecPath, error: Error) -> Iterator[Problem]:
    if not isinstance(error.instance, dict):
        return  # JSON Schema's `required` is true of all but mappings; the wrong type is reported anyway.
    pairs = error.validator_value.get("anyOf", [error.validator_value])
    keys = list(dict.fromkeys(key for pair in pairs for key in pair["required"] if key in error.instance))
    message = f"{listed(keys, last='and')} cannot be used together in {_name(path)}"
    yield document.problem(path, EXCLUSIVE_KEYS, message, "keep one of them")


_SEVERAL: dict[str, Callable[[Document, SpecPath, Error], Iterator[Problem]]] = {
    "additionalProperties": _unknown_keys,
    "required": _missing_key,
    "anyOf": _no_branch_fits,
    "propertyNames": _bad_name,
    "not": _exclusive_keys,
}


def _branch_type(branch: dict[str, Any]) -> str:
    return type_name(resolved(branch)["type"])
