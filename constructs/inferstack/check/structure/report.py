"""The problems with the structure of a spec: what `jsonschema` finds, in helpful words.

`jsonschema` finds it; this module says where it is and hands it to the module that phrases it:
:mod:`inferstack.check.structure.keys` or :mod:`inferstack.check.structure.values`.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, takewhile
from typing import Any

from inferstack.catalog import cloudformation, metrics
from inferstack.catalog.cloudformation import snake
from inferstack.check.structure import (
    EXCLUSIVE_KEYS,
    MISSING_KEY,
    NOT_AN_OPTION,
    OUT_OF_RANGE,
    WRONG_FORM,
    WRONG_LENGTH,
    WRONG_TYPE,
)
from inferstack.check.structure.keys import (
    blocks_without_names,
    missing_key,
    named,
    removed_in_vain,
    unknown_keys,
    without_a_name,
)
from inferstack.check.structure.other_names import OTHER_KINDS, is_intrinsic
from inferstack.check.structure.validator import Error, accepts_type, is_integer, validator
from inferstack.check.structure.values import SAYINGS
from inferstack.check.structure.wrong_types import as_wanted, key_of
from inferstack.facts.quantity import INSTEAD_OF_A_TARGET, is_time
from inferstack.format.schema import (
    JsonSchema,
    allowed_at,
    blocks_at,
    kind_definitions,
    names_no_key,
    resolved,
)
from inferstack.problems import MANY, MOST_FOUND, MOST_SHOWN, Fix, Problem, SpecPath
from inferstack.problems.words import choose, describe, listed, slip_of, type_name
from inferstack.source.document import Document
from inferstack.texts.placeholders import is_opaque

_OF_A_VALUE = (WRONG_TYPE, NOT_AN_OPTION, WRONG_FORM, WRONG_LENGTH, OUT_OF_RANGE)


def structure_problems(document: Document) -> list[Problem]:
    """Everything in a document (at one stage) that the schema forbids.

    After very many problems, the last one says that no more were looked for.
    """
    kind = document.data.get(_KIND)
    definition = kind_definitions().get(kind) if isinstance(kind, str) else None
    if definition is None:
        return [_kind_problem(document)]
    idle = names_no_key(definition, document.nulls.idle)
    return [*forbidden_by(definition, document), *removed_in_vain(document, idle)]


def forbidden_by(definition: str, document: Document) -> list[Problem]:
    """Everything in a document that a definition of the schema forbids."""
    errors = list(islice(validator(definition).iter_errors(document.data), MOST_FOUND + 1))
    wrong = {error.absolute_path[0] for error in errors if error.absolute_path}
    nameless = blocks_without_names(document.data, definition, wrong)
    of_blocks = [without_a_name(document, key, found, definition) for key, found in nameless.items()]
    others = [error for error in errors if next(iter(error.absolute_path), None) not in nameless]
    if len(others) > MOST_SHOWN:
        # The first ones are shown, so they are worded first: suggestions are limited.
        others.sort(key=lambda error: document.position(tuple(error.absolute_path)))
    of_values = (problem for error in others for problem in _problems(document, error))
    found = list(islice(chain(of_blocks, of_values), MOST_FOUND + 1))
    if max(len(errors), len(found)) > MOST_FOUND:
        found[MOST_FOUND:] = [_no_more(document, found[-1].path)]
    # The schema may constrain a value twice: in a block, and in the definition that the block refers to. The
    # fix that comes first is the block's.
    once = list({(it.path, it.code, it.message): it for it in reversed(found)}.values())[::-1]
    return _worst_of_each_value(once)


def _no_more(document: Document, path: SpecPath) -> Problem:
    message = f"there are more than {MOST_FOUND:,} problems like those above: the others were not looked for"
    return document.problem(path, MANY, message, "fix those above first")


def _worst_of_each_value(problems: list[Problem]) -> list[Problem]:
    """For each value, only the problem to fix first: fixing it changes the others."""
    first: dict[SpecPath, int] = {}
    for it in problems:
        if it.code in _OF_A_VALUE:
            first[it.path] = min(_OF_A_VALUE.index(it.code), first.get(it.path, len(_OF_A_VALUE)))
    return [it for it in problems if it.code not in _OF_A_VALUE or _OF_A_VALUE[first[it.path]] == it.code]


def _problems(document: Document, error: Error) -> Iterable[Problem]:
    path = tuple(error.absolute_path)
    if "propertyNames" in list(error.absolute_schema_path)[-2:-1]:
        return _bad_name(document, path, error)
    if _is_said_of_the_options(error):
        return ()
    keyword = str(error.validator)
    if keyword in OF_BLOCKS:
        return OF_BLOCKS[keyword](document, path, error)
    code, say = SAYINGS[keyword]
    message, fix = say(named(path), error)
    return [document.problem(path, code, message, _fix_by_neighbours(document, path, error) or fix)]


def _is_said_of_the_options(error: Error) -> bool:
    """Whether the value is also reported as not one of the options: then its type need not be, since quotes
    would not help. A number that stands for a token is not reported that way.
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


def _indent(document: Document, path: SpecPath, block: JsonSchema) -> str:
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


def _no_branch_fits(document: Document, path: SpecPath, error: Error) -> Iterator[Problem]:
    """Reports the problems of the branch that has the value's type; if there is none, of the whole choice."""
    branches = error.validator_value
    fitting = [i for i, branch in enumerate(branches) if accepts_type(branch, error.instance)]
    if not fitting:
        wanted = listed([type_name(resolved(branch)["type"]) for branch in branches], quote="")
        message = f"{named(path)} must be {wanted}, found {describe(error.instance)}"
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
    message = f"{listed(keys, last='and')} cannot be used together in {named(path)}"
    yield document.problem(path, EXCLUSIVE_KEYS, message, "keep one of them")


OF_BLOCKS: dict[str, Callable[[Document, SpecPath, Error], Iterator[Problem]]] = {
    "additionalProperties": unknown_keys,
    "required": missing_key,
    "anyOf": _no_branch_fits,
    "propertyNames": _bad_name,
    "not": _exclusive_keys,
}
"""By the JSON Schema keyword that a block, or a choice of forms, breaks: what makes its problems."""


# ---------------------------------------------------------------- the kind, which names the definition

_KIND = "kind"
_FROM_A_TEMPLATE = (
    "write a spec, from which `inferstack render` makes such a template; docs/migrating.md lists its keys"
)


def of_meant_kind(document: Document) -> Document | None:
    """The document with a typo in the value of `kind`, or in the key itself, corrected; None without a typo.

    Mere similarity to a kind is not enough: problems reported for the wrong kind would mislead.
    """
    found, kinds = document.data, list(kind_definitions())
    key = _KIND if _KIND in found else slip_of(_KIND, list(found))
    meant = None if key is None else slip_of(str(found[key]), kinds)
    if key is None or meant is None or found.get(_KIND) == meant:
        return None
    return document.rewritten(key, _KIND, meant)


def _kind_to_write(found: object, kinds: list[str]) -> str:
    chosen = choose(found, kinds)
    word = str(found).lower().replace("_", "-").replace(" ", "-").removesuffix("-endpoint")
    said = OTHER_KINDS.get(word, chosen)
    return Fix(said, found, chosen.instead) if isinstance(chosen, Fix) else said


def _kind_problem(document: Document) -> Problem:
    kinds = list(kind_definitions())
    if _KIND in document.data:
        found = document.data[_KIND]
        message = f"{describe(found)} is not a valid kind"
        return document.problem((_KIND,), NOT_AN_OPTION, message, _kind_to_write(found, kinds))
    if cloudformation.is_template(document.data):
        message = "this is a CloudFormation template, not a spec"
        return document.problem((), MISSING_KEY, message, _FROM_A_TEMPLATE)
    slip = slip_of(_KIND, list(document.data))
    message = "the spec is missing `kind`"
    if slip is None:
        return document.problem((), MISSING_KEY, message, f"add `kind:` with {listed(kinds)}")
    meant = slip_of(str(document.data[slip]), kinds)
    written = f"`kind:` with {listed(kinds)}" if meant is None else f"`kind: {meant}`"
    fix = f"instead of `{slip}` write {written}"
    return document.problem((slip,), MISSING_KEY, message, fix, key=True)
