"""The project's defaults under a spec: its own values win, mappings merge key by key, `null` removes a
default."""

from inferstack.source.tree import Entry, Node, mapping_node

_ONLY_WHERE_WRITTEN = (("model",), ("invokers",), ("invokers", "role"))
"""Blocks that make something: defaults fill them in and never add them."""
MODEL, MODELS = "model", "models"


def with_defaults(spec: Node, defaults: Node, shape: Node) -> Node:
    """A spec with defaults under it. A mapping that both have keeps its position in the spec.

    Args:
        spec: the spec without its stages.
        defaults: in the form of a spec; what they have for ``model`` is for each model.
        shape: the spec with the stage's overrides, which says what is there.
    """
    fit = defaults
    if (of_models := defaults.entry(MODEL)) is not None and (models := shape.entry(MODELS)) is not None:
        each = mapping_node(of_models.at, dict.fromkeys(models.node.by_key, of_models))
        fit = mapping_node(fit.at, {**fit.by_key, MODELS: Entry(of_models.at, each)})
    for path in _ONLY_WHERE_WRITTEN:
        if not _is_written(shape, path):
            fit = without(fit, path)
    return _under(spec, fit)


def without(tree: Node, path: tuple[str | int, ...]) -> Node:
    """A tree without what is at a path of keys; the same tree if nothing is there."""
    first, *below = path
    entry = tree.entry(first)
    if entry is None or not isinstance(first, str):
        return tree
    entries = dict(tree.by_key)
    if below:
        entries[first] = Entry(entry.at, without(entry.node, tuple(below)))
    else:
        del entries[first]
    return mapping_node(tree.at, entries)


def _is_written(tree: Node, path: tuple[str, ...]) -> bool:
    for step in path:
        entry = tree.entry(step)
        if entry is None or entry.node.data is None:
            return False
        tree = entry.node
    return True


def _under(spec: Node, defaults: Node) -> Node:
    entries = dict(spec.by_key)
    for name, default in defaults.by_key.items():
        own = entries.get(name)
        if own is None:
            entries[name] = default
        elif own.node.data is None:
            del entries[name]
        elif isinstance(own.node.data, dict) and isinstance(default.node.data, dict):
            entries[name] = Entry(own.at, _under(own.node, default.node))
    return mapping_node(spec.at, entries)
