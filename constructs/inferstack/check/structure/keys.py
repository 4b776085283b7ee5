"""Unknown and missing keys of a block: which key was meant, where it belongs, what to write.

An unknown key may be misspelt, have another name here, or belong elsewhere: in a block below this one, in
another block of the same kind of spec, in another kind, or in a block under a name. Some exist in SageMaker's
API only.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache
from itertools import islice
from typing import Any

from inferstack.catalog import cloudformation
from inferstack.catalog.cloudformation import snake
from inferstack.check.structure import MISSING_KEY, UNKNOWN_KEY
from inferstack.check.structure.other_names import (
    INSTEAD_OF_FUNCTIONS,
    belongs_unwrapped,
    called_here,
    is_intrinsic,
    said_otherwise,
)
from inferstack.check.structure.validator import Error
from inferstack.format.base import Block, with_subclasses
from inferstack.format.schema import JsonSchema, kind_definitions, resolved, shipped_schema
from inferstack.problems import FilePlace, Fix, Problem, SpecPath
from inferstack.problems.words import MOST_SUGGESTIONS, choose, listed, slip_of
from inferstack.source.document import Document


def named(path: SpecPath) -> str:
    """The key that a value belongs to, in backticks."""
    keys = [part for part in path if isinstance(part, str)]
    entry = "an entry of " if path and isinstance(path[-1], int) else ""
    return f"{entry}`{keys[-1]}`" if keys else "the spec"


# ---------------------------------------------------------------- unknown keys


def unknown_keys(document: Document, path: SpecPath, error: Error) -> Iterator[Problem]:
    """A problem for each key that the block at a path does not have."""
    for key in error.instance:
        if key not in error.schema["properties"]:
            message, fix = _of_unknown_key(document, path, key, error.schema)
            yield document.problem((*path, key), UNKNOWN_KEY, message, fix, key=True)


def _of_unknown_key(document: Document, path: SpecPath, key: str, block: JsonSchema) -> tuple[str, str]:
    message = f"unknown key `{key}` in {named(path)}"
    if _is_api_only_key(block.get("title", ""), snake(key)):
        message = f"`{key}` cannot be deployed: {_DISCONTINUED.get(snake(key), NOT_YET)}"
    return message, _instead_of(document, path, key, block)


def removed_in_vain(document: Document, blocks: dict[SpecPath, JsonSchema]) -> Iterator[Problem]:
    """Keys that a stage removes but that the format does not have: the intended key is still there."""
    nulls = document.nulls
    for path, block in blocks.items():
        key = str(path[-1])
        message, fix = _of_unknown_key(document, path[:-1], key, block)
        message = f"{message}, so the stage `{nulls.stage}` removes nothing"
        yield Problem(path, message, fix, UNKNOWN_KEY, at=FilePlace(document.file, *nulls.idle[path].at))


def _instead_of(document: Document, path: SpecPath, key: str, block: JsonSchema) -> str:
    known, title = list(block["properties"]), block.get("title", "")
    # Keys in CloudFormation's spelling are converted, so `ProductionVariants` gets the advice for
    # `production_variants`.
    ours = snake(key)
    if is_intrinsic(key):
        return INSTEAD_OF_FUNCTIONS
    if _is_api_only_key(title, ours):
        return "remove it"
    fix = said_otherwise(ours, title, known) or _where_it_belongs(document, path, ours, block)
    return Fix(fix, key, fix.instead) if isinstance(fix, Fix) else fix


_OF_PROJECTS = ("Project", "Defaults")
"""Blocks that are not of a spec."""


def _where_it_belongs(document: Document, path: SpecPath, key: str, block: JsonSchema) -> str:
    known, kind = list(block["properties"]), str(document.data.get("kind"))
    if key in known:
        return Fix(choose(key, known), key, key)
    others = _kinds_having(key)
    if block.get("title") in _OF_PROJECTS and others and key not in _homes(block):
        return "remove it: it is not for defaults, each spec has its own"
    if others and not path and block.get("title") not in _OF_PROJECTS:
        kinds = listed([f"kind: {it}" for it in others])
        return f"it is for {kinds}: change `kind`, or {_INSTEAD.get(key, 'remove it')}"
    home = _homes(block).get(key)
    if home is None and slip_of(key, known) is None:
        if path and key in _keys_at_the_top(kind) and key != path[-1]:
            return "write it at the top of the spec, without indentation"
        home = homes_in_kind(kind).get(key)
    stands_there = home is not None and home.rpartition(".")[2] == next(iter(path[-1:]), None)
    return choose(key, known) if home is None or stands_there else f"write it under `{home}`"


# ---------------------------------------------------------------- missing keys


def missing_key(document: Document, path: SpecPath, error: Error) -> Iterator[Problem]:
    """The problem of a key that the block needs, unless the report on an unknown key already names it."""
    missing = error.message.split("'")[1]
    if _stands_there_misspelt(document, path, missing, error) or _stands_wrapped(missing, error):
        return
    schema = error.schema.get("properties", {}).get(missing, {})
    text = schema.get("description", "")
    fix = f"add `{missing}`{_shape(schema)}" + (f": {text.split('. ')[0].rstrip('.')}" if text else "")
    message = f"{named(path)} is missing `{missing}`{document.absent_by((*path, missing))}"
    at = document.where_to_mend((*path, missing))
    yield Problem(path, message, fix, MISSING_KEY, at=at)


def _shape(schema: JsonSchema) -> str:
    """What a list or a block must hold, since its name alone does not say it; empty for another value."""
    block = resolved(schema)
    if "items" in block:
        needed = resolved(block["items"]).get("required", ())
        return f", a list of `{{{', '.join(f'{key}: …' for key in needed)}}}`" if needed else ", a list"
    needed = block.get("required", ())
    return f" with {listed(needed, last='and')}" if needed else ""


def _stands_there_misspelt(document: Document, path: SpecPath, missing: str, error: Error) -> bool:
    """Whether the report on an unknown key already says that this one was meant, as one problem is enough."""
    said = (f"did you mean `{missing}`? ", f"it is called `{missing}` here")
    known = error.schema["properties"]
    # Only for so many unknown keys does the report say which ones were meant.
    unknown = islice((key for key in error.instance if key not in known), MOST_SUGGESTIONS)
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


# ---------------------------------------------------------------- where keys belong

_INSTEAD = {
    "inference_components": "write `model` for it",
    "model": (
        "write it under `models`, and its name there as `specification.model_name` of an inference component"
    ),
}
"""For a key that only some kinds of spec have: what to write instead in the others."""

_BY_NAME = {
    "models": ("model", "`models: {NAME: {image: …}}`"),
    "inference_components": ("component", "`inference_components: {NAME: {specification: …}}`"),
}
"""The mappings from names to blocks: what such a block is called, and how to write one."""

_NESTED = 2
_JOBS = frozenset({"load_test", "ai_workload_config", "ai_benchmark_job", "ai_recommendation_job"})
_JOB_MODULES = frozenset({"load_testing", "ai_workload", "ai_jobs"})
"""Where what no deployment reads is declared, apart from the objective."""


def _homes(block: JsonSchema) -> dict[str, str]:
    title = block.get("title", "")
    return _homes_in(title) if shipped_schema()["$defs"].get(title) is block else _homes_of(block)


@cache
def _homes_in(definition: str) -> dict[str, str]:
    return _homes_of(shipped_schema()["$defs"][definition])


def _homes_of(block: JsonSchema) -> dict[str, str]:
    """Keys of the blocks below this one, each with its block.

    If several blocks have a key, it is the nearest one; if two are equally near, neither. Jobs that measure
    the endpoint count only for keys that nothing else has.
    """
    found_above: dict[str, str] = {}
    level = {"": block}
    for _ in range(_NESTED):
        level = {
            f"{where}.{name}".lstrip("."): resolved(branch)
            for where, each in level.items()
            for name, value in each.get("properties", {}).items()
            for branch in value.get("anyOf", [value])
        }
        found = [
            (key, where)
            for where, each in level.items()
            for key in each.get("properties", {})
            if where.partition(".")[0] not in _JOBS or key in _keys_of_jobs()
        ]
        times = Counter(key for key, _ in found)
        found_above = {key: where for key, where in found if times[key] == 1} | found_above
    return found_above


@cache
def _keys_of_jobs() -> frozenset[str]:
    """Keys that only blocks of jobs have."""
    of_jobs, of_others = set[str](), set[str]()
    for block in with_subclasses(Block):
        home = block.__module__.rpartition(".")[2]
        (of_jobs if home in _JOB_MODULES else of_others).update(block.__struct_fields__)
    return frozenset(of_jobs - of_others)


@cache
def homes_in_kind(kind: str) -> dict[str, str]:
    """Keys of the blocks in a spec of a kind, each with its block; empty if there is no such kind."""
    definition = kind_definitions().get(kind)
    return {} if definition is None else _homes(shipped_schema()["$defs"][definition])


def _keys_at_the_top(kind: str) -> Collection[str]:
    definition = kind_definitions().get(kind)
    return () if definition is None else shipped_schema()["$defs"][definition]["properties"]


def _kinds_having(key: str) -> tuple[str, ...]:
    """The kinds of spec that have the key at the top level."""
    blocks = shipped_schema()["$defs"]
    return tuple(kind for kind, name in kind_definitions().items() if key in blocks[name]["properties"])


# ---------------------------------------------------------------- blocks without a name


def without_a_name(document: Document, key: str, found: list[str], definition: str) -> Problem:
    """The problem of a mapping from names to blocks that holds the keys of a single block instead."""
    what = key.replace("_", " ")
    keys = listed(found, last="and")
    message = f"`{key}` holds {what} by name, but this has the keys of a single one: {keys}"
    return document.problem((key,), UNKNOWN_KEY, message, _how_to_name(key, definition), key=True)


def _how_to_name(key: str, definition: str) -> str:
    """How to write blocks under names in such a spec, or a single block, if there is a shorter way for it."""
    what, written = _BY_NAME[key]
    if what in shipped_schema()["$defs"][definition]["properties"]:
        return f"for one {what} write `{what}:`; for several, write each under its name: {written}"
    return f"write them under the {what}'s name: {written}"


def blocks_without_names(
    data: dict[str, Any], definition: str, wrong: Collection[object]
) -> dict[str, list[str]]:
    """Mappings from names to blocks that contain a single block's keys instead of names, with those keys.

    Only mappings in which something else is wrong count, since a model may be named `image`.
    """
    properties = shipped_schema()["$defs"][definition].get("properties", {})
    mappings = [key for key in _BY_NAME if key in properties and key in wrong]
    found = {key: _keys_of_one(properties[key], data[key]) for key in mappings}
    return {key: keys for key, keys in found.items() if keys}


def _keys_of_one(by_name: JsonSchema, value: object) -> list[str]:
    """The keys of a mapping that are keys of such a block; none if any of its values looks like a block."""
    known = resolved(by_name["additionalProperties"])["properties"].keys()
    if not isinstance(value, dict) or any(
        isinstance(it, dict) and known & it.keys() for it in value.values()
    ):
        return []
    return [key for key in value if key in known]


# ---------------------------------------------------------------- what only the API has

# What the service model of SageMaker's API has and the CloudFormation registry lacks: unknown here, but not
# the user's mistake.
NOT_YET = "SageMaker's API has it, but CloudFormation does not yet"
"""What to say of such a key or value."""
# Keys that CloudFormation will never get: what they configured is gone.
_DISCONTINUED = {
    # https://docs.aws.amazon.com/sagemaker/latest/dg/ei.html
    "accelerator_type": "AWS ended Elastic Inference in 2024",
}


def _is_api_only_key(block: str, key: str) -> bool:
    """Whether only the API has this key of a block; ``block`` is the name of the block's class."""
    return any(key in cloudformation.api_only_properties(*shape) for shape in _shapes().get(block, ()))


def is_api_only_value(key: str, value: object) -> bool:
    """Whether only the API has this value of a key, in any block with that key."""
    for shapes in _shapes().values():
        for type_name, definition in shapes:
            found = cloudformation.shape(type_name, definition).get(key)
            if found and value in cloudformation.api_only_values(type_name, definition, found.name):
                return True
    return False


@cache
def _shapes() -> dict[str, tuple[tuple[str, str], ...]]:
    """SageMaker's CloudFormation shapes of each block, as type and definition."""
    return {block.__name__: tuple(_sagemaker_shapes(block)) for block in with_subclasses(Block)}


def _sagemaker_shapes(block: type[Block]) -> Iterator[tuple[str, str]]:
    for shape in block.shapes:
        type_name, _, definition = shape.partition(".")
        if type_name.startswith("AWS::SageMaker::"):
            yield type_name, definition
