"""One spec for several stages.

``stages: {prod: {…}}`` says what is different in a stage. Choosing a stage merges it into the spec:
mappings key by key, anything else as a whole; ``null`` removes a key. ``${stage}`` in a text or
in a key becomes the stage's name, in both before they are merged.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from inferstack.problems import Problem, SpecError, SpecPath, file_codes as codes
from inferstack.problems.words import describe, did_you_mean_then, listed
from inferstack.source.defaults import with_defaults, without
from inferstack.source.document import NO_NULLS, Document, StageNulls
from inferstack.source.tree import Entry, Node, list_node, mapping_node

STAGES = "stages"
PLACEHOLDER = "${stage}"
MOST_STAGES = 50
"""Every stage of a file is checked as a separate spec; no person writes a file with more stages than this."""

_NAME = re.compile("[A-Za-z0-9-]+")
_NAME_FIX = "use letters, digits and hyphens"
_FORM_FIX = "write `stages: {prod: {variant: {…}}}`"
_SAME_IN_ALL = {
    STAGES: "stages cannot be nested: list them all under the one `stages`",
    "kind": "`kind` is the same in all stages: for another kind, write a separate spec",
}


def stage_names(document: Document) -> tuple[str, ...]:
    """The stages of a spec, in order: those that it lists, and those of the project's defaults; none from a
    ``stages`` that is unusable.
    """
    stages = document.data.get(STAGES)
    own = tuple(stages) if isinstance(stages, dict) and len(stages) <= MOST_STAGES else ()
    shared = () if document.defaults is None else stage_names(document.defaults)
    return tuple(dict.fromkeys((*own, *shared)))


def uses_stage(document: Document) -> bool:
    """Whether the spec uses ``${stage}`` outside of ``stages``, so that it needs a stage to be deployed."""
    if next(_placeholders(document), None) is not None:
        return True
    return document.defaults is not None and uses_stage(document.defaults)


def at_stage(document: Document, stage: str | None) -> Document:
    """The spec at a stage, or without one, with the project's defaults for that stage under it. The result
    has no ``stages``; overrides keep their positions.

    A mapping that both the base and the stage have keeps its position in the base.

    Raises:
        SpecError: when ``stages`` is malformed or too long, the stage unknown, ``${stage}`` left without a
            stage, or two keys of a mapping the same at this stage.
    """
    too_many = _too_many(document)
    if too_many is not None:
        raise SpecError([too_many])
    problems = [*_form_problems(document), *_choice_problems(document, stage)]
    if problems:
        raise SpecError(problems)
    if stage is None and STAGES not in document.data and document.defaults is None:
        return document
    base, override = without(document.tree, (STAGES,)), mapping_node(document.tree.at, {})
    if stage is not None:
        base, override = _with_name(base, stage), _with_name(_override(document, stage), stage)
    if document.defaults is not None:
        defaults = at_stage(_listing(document.defaults, stage), stage)
        base = with_defaults(base, defaults.tree, _merged(base, override))
    nulls = NO_NULLS if stage is None else _nulls_of(stage, base, override)
    return replace(document, tree=_merged(base, override), nulls=nulls)


def overridden(document: Document, overrides: Mapping[str, Any], stage: str | None) -> Document:
    """A spec at its stage, with values from Python merged in like those of a stage.

    Raises:
        SpecError: when the overrides hold what YAML cannot or what no stage can set, or ``${stage}`` without
            a stage.
    """
    over = Document.from_data(overrides, document.file)
    problems = [
        *_same_in_all(over, (), over.data, "the overrides"),
        *(_leftovers(over) if stage is None else _named_twice(over, stage)),
    ]
    if problems:
        raise SpecError(problems)
    override = over.tree if stage is None else _with_name(over.tree, stage)
    return replace(document, tree=_merged(document.tree, override))


def _listing(defaults: Document, stage: str | None) -> Document:
    """The defaults, without ``stages`` if the stage is one of the spec alone."""
    if stage is None or stage in stage_names(defaults):
        return defaults
    return replace(defaults, tree=without(defaults.tree, (STAGES,)))


def _override(document: Document, stage: str) -> Node:
    stages = document.tree.entry(STAGES)
    entry = None if stages is None else stages.node.entry(stage)
    return mapping_node(document.tree.at, {}) if entry is None else entry.node


def _merged(base: Node, override: Node) -> Node:
    entries = dict(base.by_key)
    for name, entry in override.by_key.items():
        if entry.node.data is None:
            entries.pop(name, None)
        else:
            entries[name] = _merged_entry(entries.get(name), entry)
    return mapping_node(base.at, entries)


def _merged_entry(base: Entry | None, override: Entry) -> Entry:
    if not isinstance(override.node.data, dict):
        return override
    if base is None or not isinstance(base.node.data, dict):
        # Merging into an empty mapping drops the nulls, which have nothing to remove.
        return Entry(override.at, _merged(mapping_node(override.node.at, {}), override.node))
    return Entry(base.at, _merged(base.node, override.node))


# ---------------------------------------------------------------- what `null` removes


def _nulls_of(stage: str, base: Node, override: Node) -> StageNulls:
    """The `null`s in a stage's overrides.

    A `null` in a list is a value like any other, since a list is replaced as a whole.
    """
    found = list(_removals(base, override, ()))
    effective = {path: entry for path, entry, removes in found if removes}
    return StageNulls(stage, effective, {path: entry for path, entry, removes in found if not removes})


def _removals(base: Node | None, override: Node, at: SpecPath) -> Iterator[tuple[SpecPath, Entry, bool]]:
    for name, entry in override.by_key.items():
        there = None if base is None else base.entry(name)
        if entry.node.data is None:
            yield (*at, name), entry, there is not None
        elif isinstance(entry.node.data, dict):
            yield from _removals(None if there is None else there.node, entry.node, (*at, name))


# ---------------------------------------------------------------- ${stage}


def _with_name(tree: Node, stage: str) -> Node:
    """The tree with ``${stage}`` replaced by the stage's name. Nodes that aliases share stay shared."""
    done: dict[int, Node] = {}

    def named(node: Node) -> Node:
        if id(node) not in done:
            done[id(node)] = _rebuilt(node, named, stage)
        return done[id(node)]

    return named(tree)


def _rebuilt(node: Node, named: Callable[[Node], Node], stage: str) -> Node:
    match node.entries:
        case dict() as entries:
            named_entries = {
                name.replace(PLACEHOLDER, stage): Entry(at, named(below))
                for name, (at, below) in entries.items()
            }
            return mapping_node(node.at, named_entries)
        case list() as entries:
            return list_node(node.at, [Entry(at, named(below)) for at, below in entries])
        case _ if isinstance(node.data, str) and PLACEHOLDER in node.data:
            return Node(node.at, node.data.replace(PLACEHOLDER, stage))
        case _:
            return node


def _placeholders(document: Document) -> Iterator[tuple[SpecPath, bool]]:
    """The paths of texts with `${stage}` outside of ``stages``, and whether the text is the last key."""
    yield from ((path, False) for path, _ in document.texts_with(PLACEHOLDER) if path[0] != STAGES)
    yield from ((path, True) for path, _ in document.keys_with(PLACEHOLDER) if path[0] != STAGES)


# ---------------------------------------------------------------- problems


def _too_many(document: Document) -> Problem | None:
    stages = document.data.get(STAGES)
    if not isinstance(stages, dict) or len(stages) <= MOST_STAGES:
        return None
    message = f"the file lists {len(stages):,} stages, but at most {MOST_STAGES} are allowed"
    fix = "move some to a file of their own"
    return document.problem((STAGES,), codes.TOO_MANY_STAGES, message, fix)


def _form_problems(document: Document) -> Iterator[Problem]:
    stages = document.data.get(STAGES, {})
    if not isinstance(stages, dict):
        message = f"`stages` must be a mapping from stage names to overrides, found {describe(stages)}"
        yield document.problem((STAGES,), codes.STAGES_FORM, message, _FORM_FIX)
        return
    for name, override in stages.items():
        yield from _stage_problems(document, name, override)


def _stage_problems(document: Document, name: str, override: object) -> Iterator[Problem]:
    path = (STAGES, name)
    if not _NAME.fullmatch(name):
        message = f"{describe(name)} is not a valid stage name"
        yield document.problem(path, codes.STAGE_NAME, message, _NAME_FIX, key=True)
    if not isinstance(override, dict):
        message = f"a stage must be a mapping, but `{name}` is {describe(override)}"
        yield document.problem(path, codes.STAGES_FORM, message, f"write `{name}: {{}}` if nothing differs")
        return
    yield from _same_in_all(document, path, override, f"the stage `{name}`")


def _same_in_all(
    document: Document, path: SpecPath, override: Mapping[str, Any], who: str
) -> Iterator[Problem]:
    for key in (it for it in override if it in _SAME_IN_ALL):
        message = f"{who} cannot set `{key}`"
        yield document.problem((*path, key), codes.STAGE_KEY, message, _SAME_IN_ALL[key], key=True)


def _choice_problems(document: Document, stage: str | None) -> Iterator[Problem]:
    if stage is None:
        yield from _leftovers(document)
        return
    yield from _named_twice(document, stage)
    names = stage_names(document)
    if STAGES not in document.data and not names:
        if not _NAME.fullmatch(stage):
            message = f"{describe(stage)} is not a valid stage name"
            yield document.problem((), codes.STAGE_NAME, message, _NAME_FIX)
    elif isinstance(document.data.get(STAGES, {}), dict) and stage not in names:
        message = f"the spec has no stage {describe(stage)}"
        yield document.problem((STAGES,), codes.UNKNOWN_STAGE, message, _known(stage, names))


def _known(stage: str, names: tuple[str, ...]) -> str:
    if not names:
        return f"add `{stage}: {{}}` under `stages`"
    return did_you_mean_then(stage, names, f"listed: {listed(names, last='and')}")


def _leftovers(document: Document) -> Iterator[Problem]:
    # Those of the defaults are found when the defaults are merged.
    found = list(_placeholders(document))
    if found:
        path, key = min(found, key=lambda it: document.position(it[0], key=it[1]))
        more = len(found) - 1
        others = f", as {more} more {'do' if more > 1 else 'does'}" if more else ""
        message = f"this text uses `${{stage}}`{others}, but no stage was chosen"
        fix = f"choose {listed(stage_names(document)) or 'one'}"
        yield document.problem(path, codes.STAGE_NEEDED, message, fix, key=key)


def _named_twice(document: Document, stage: str) -> Iterator[Problem]:
    """Keys of one mapping that are the same once `${stage}` is the stage's name.

    A key of the stage and one of the spec that become the same are merged, and so not reported.
    """
    for path, around in document.keys_with(PLACEHOLDER):
        if path[0] == STAGES and path[1:2] != (stage,):
            continue
        key = path[-1]
        named = str(key).replace(PLACEHOLDER, stage)
        for other in around:
            if other != key and other.replace(PLACEHOLDER, stage) == named:
                message = f"`{key}` and `{other}` are the same key at the stage `{stage}`"
                yield document.problem(path, codes.DUPLICATE_KEY, message, "keep one of them", key=True)
