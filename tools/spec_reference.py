"""Writes the reference manual of the spec format from its JSON Schema: a section a block, with an example."""

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from inferstack.check.structure.patterns import WHAT_A_PATTERN_MEANS
from inferstack.problems.words import chosen, span
from inferstack.texts.elsewhere import WHOLE_LIST
from inferstack.texts.placeholders import OR_PLACEHOLDER
from tools.generated_files import ROOT, generated_by
from tools.markdown import cell, table
from tools.spec_places import PREFIX, Examples

Schema = Mapping[str, Any]
LONGEST_LIST = 12
WIDTH = 110
SHORTEST = ROOT / "docs" / "examples" / "kinds"
"""A folder with the shortest spec of each kind that can be deployed, `KIND.yaml`."""
KIND = "kind"
PROJECT = "Project"
"""What is in a project's file."""
# What readers look for, before what most specs leave out.
FIRST = (
    *(KIND, "endpoint_name", "model", "inference_components", "models"),
    *("variant", "variants", "shadow_variants"),
)
# What a reader looks for among the kinds, and where a spec of a single model has it.
SHAPES = {
    "asynchronous requests": "endpoint_config.async_inference_config",
    "serverless capacity": "variant.serverless_config",
    "a shadow": "shadow_variants",
    "an A/B test, by `initial_variant_weight`": "variants",
    "several instance types": "variant.instance_pools",
    "captured requests": "endpoint_config.data_capture_config",
    "guardrails for updates": "endpoint.deployment_config",
    "a VPC": "model.vpc_config",
}
HEADS = ("Key", "Type", "Allowed", "Default", "Meaning")
TYPES = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "`true` or `false`",
    "object": "mapping",
    "array": "list",
}
BOUNDS = (
    ("", "minimum", "maximum"),
    (" in length", "minLength", "maxLength"),
    (" in number", "minItems", "maxItems"),
    (" in number", "minProperties", "maxProperties"),
)

_TOP = (
    f"# The spec format\n\n{generated_by('schema')}\n"
    + """
A spec is one YAML file (YAML 1.2, with `<<` to merge mappings) that describes one endpoint. A key is
CloudFormation's property, or the field of Triton's model configuration, in snake_case; a value is AWS's own
word. Keys in **bold** are required. Unknown and duplicate keys are errors.

In any text, `${stage}` stands for the chosen stage, and `${AWS::AccountId}`, `${AWS::Region}`,
`${AWS::Partition}` and `${AWS::URLSuffix}` for values that CloudFormation fills in at deployment. What exists
in other stacks or in the Parameter Store, `${import:…}`, `${ssm:…}` and `${parameter:…}` name: see
[elsewhere.md](elsewhere.md).

`inferstack schema > inferstack.schema.json` writes the JSON Schema for an editor. With the line
`# yaml-language-server: $schema=inferstack.schema.json` at the top of a spec, editors with the YAML language
server complete and check it.

[model_specs](../model_specs) has a spec of each kind, and [tests/shapes](../tests/shapes) one of each shape
(serverless, asynchronous, shadows, instance pools, a VPC …). [images.md](images.md) lists the images
that have a short name, [metrics.md](metrics.md) the metrics that each kind of endpoint publishes.

`kind` decides which blocks a spec has:

"""
)
_SHAPES = """
These are not kinds of their own, but keys:

"""
_LONG_LISTS = "Long lists of values"
_CONTENTS = """\
## Contents

A section for each kind, then for each block: those at the top of a spec first, then those inside them.
*Example* is the place in [model_specs](../model_specs) or [tests/shapes](../tests/shapes) that has most of
the block's keys.

"""


def reference(schema: Schema, examples: Examples) -> str:
    """The whole page: kinds first, then every block in the order in which a reader meets it."""
    kinds = [branch["then"]["$ref"].removeprefix(PREFIX) for branch in schema["allOf"]]
    definitions = {**schema["$defs"], **{kind: _in_reading_order(schema["$defs"][kind]) for kind in kinds}}
    tags = schema["properties"][KIND]["enum"]
    rows = [
        (f"[`{tag}`](#{name.lower()})", cell(definitions[name]["description"]))
        for tag, name in zip(tags, kinds, strict=True)
    ]
    blocks = _reading_order(kinds, definitions)[len(kinds) :]
    sections = [*_kinds(dict(zip(kinds, tags, strict=True)), definitions, examples)]
    blocks += [it for it in _reading_order([PROJECT], definitions) if it not in (*kinds, *blocks)]
    sections += [_section(name, definitions, _example(name, examples)) for name in blocks]
    first = _TOP + table(("Kind", "Endpoint"), rows) + _shapes(examples)
    top = [first, _contents(kinds, definitions)]
    return "\n".join([*top, *sections, *_long_lists(definitions)])


def _in_reading_order(definition: Schema) -> Schema:
    properties = definition["properties"]
    order = sorted(properties, key=lambda key: FIRST.index(key) if key in FIRST else len(FIRST))
    return {**definition, "properties": {key: properties[key] for key in order}}


def _shapes(examples: Examples) -> str:
    rows = [
        (what, f"`{way}`", examples.shortest_with("SingleModelSpec", way).link())
        for what, way in SHAPES.items()
    ]
    return _SHAPES + table(("An endpoint with", "Write", "Example"), rows)


def _example(name: str, examples: Examples) -> str:
    """Where to see a block, as a line; empty if no spec has it."""
    best = examples.best(name)
    return "" if best is None else f"Example: `{'.'.join(best.way)}` in {best.link()}\n"


def _contents(kinds: list[str], definitions: Schema) -> str:
    """Every block, beside the nearest top-level block that leads to it."""
    of_kinds = (target for kind in kinds for target in _references(definitions[kind]))
    tops = dict.fromkeys((*of_kinds, PROJECT))
    below: dict[str, list[str]] = {top: [] for top in tops}
    above = {top: top for top in tops}
    met = [*tops]
    for name in met:
        for target in _references(definitions[name]):
            if target not in above:
                above[target] = above[name]
                below[above[name]].append(_link(target))
                # The loop reaches it later.
                met.append(target)
    rows = [(_link(top), ", ".join(names)) for top, names in below.items()]
    return _CONTENTS + table(("In a spec", "Below it"), [*rows, (_link(_LONG_LISTS), "")])


def _link(name: str) -> str:
    return f"[{name}](#{name.lower().replace(' ', '-')})"


def _kinds(tags: Mapping[str, str], definitions: Schema, examples: Examples) -> Iterator[str]:
    """The keys of the kinds, and their specs; kinds that differ in nothing but their name share a section."""
    alike: dict[str, list[str]] = {}
    for name in tags:
        alike.setdefault(_keys(name, _of_kinds(definitions[name], [])), []).append(name)
    for names in alike.values():
        anchors = "".join(f'<a id="{name.lower()}"></a>' for name in names)
        own = [tags[name] for name in names]
        keys = _keys(names[0], _of_kinds(definitions[names[0]], own))
        specs = "".join(_specs_of(tags[name], name, examples) for name in names)
        shortest = "\n".join(_shortest(tag) for tag in own)
        yield f"## {anchors}{_values(own)}\n\n{shortest}\nMore specs:\n\n{specs}\n{keys}"


def _shortest(tag: str) -> str:
    """A whole spec of a kind, to begin with."""
    file = SHORTEST / f"{tag}.yaml"
    link = f"[{file.name}](examples/kinds/{file.name})"
    return f"A whole spec, {link}:\n\n```yaml\n{file.read_text('utf-8')}```\n"


def _specs_of(tag: str, name: str, examples: Examples) -> str:
    """An item of a list: the specs of a kind."""
    text = f"- `{tag}`: {', '.join(place.link() for place in examples.all_of(name))}"
    return "\n".join(textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)) + "\n"


def _of_kinds(definition: Schema, tags: list[str]) -> Schema:
    """One block for several kinds, whose `kind` is one of them."""
    properties = definition["properties"]
    kind = {**properties[KIND], "enum": tags}
    return {**definition, "properties": {**properties, KIND: kind}}


def _keys(name: str, definition: Schema) -> str:
    """The table of a block's keys; empty if it has none."""
    required = definition.get("required", ())
    rows = [_row(name, key, it, key in required) for key, it in definition["properties"].items()]
    return table(HEADS, rows) if rows else ""


def _reading_order(kinds: list[str], definitions: Schema) -> list[str]:
    """Definitions in the order in which they are first referred to, breadth first."""
    order = list(kinds)
    for name in order:
        # The loop reaches what is appended here.
        order += dict.fromkeys(target for target in _references(definitions[name]) if target not in order)
    return order


def _references(schema: Any) -> Iterator[str]:
    match schema:
        case {"$ref": target}:
            yield target.removeprefix(PREFIX)
        case dict():
            for value in schema.values():
                yield from _references(value)
        case list():
            for value in schema:
                yield from _references(value)


def _section(name: str, definitions: Schema, example: str) -> str:
    definition = definitions[name]
    text = f"## {name}\n\n{definition.get('description', '')}\n"
    if "properties" not in definition:
        return f"{text}\nOne of {_values(definition['enum'])}.\n" if "enum" in definition else text
    if example:
        text += f"\n{example}"
    keys = _keys(name, definition)
    return f"{text}\n{keys}" if keys else f"{text}\nNo keys: write an empty mapping, `{{}}`.\n"


def _row(block: str, key: str, schema: Schema, required: bool) -> tuple[str, ...]:
    named = f"**`{key}`**" if required else f"`{key}`"
    default = f"`{json.dumps(schema['default'])}`" if "default" in schema else ""
    allowed = _allowed(schema, f"{block}-{key}".lower())
    return (named, _type(schema), cell(allowed), default, cell(schema.get("description", "")))


def _type(schema: Schema) -> str:
    match schema:
        case {"$ref": target}:
            return _link(target.removeprefix(PREFIX))
        case {"anyOf": branches}:
            return " or ".join(dict.fromkeys(_type(branch) for branch in branches))
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
        case {"type": ["array", "string"], "items": items}:
            return f"list of {_type(items)}, or [one `${{…}}` for all](elsewhere.md)"
        case {"type": "object", "additionalProperties": {} as values}:
            return f"mapping of names to {_type(values)}" if values else "mapping"
        case {"type": [*types]}:
            return " or ".join(TYPES[each] for each in types)
        case {"type": kind}:
            return TYPES[kind]
        case _:
            return "text" if "enum" in schema else "anything"


def _allowed(schema: Schema, anchor: str) -> str:
    """What constrains a value, its items, or its entries' names and values, in words."""
    parts = list(_constraints(schema, anchor))
    for label, word in (("each", "items"), ("names", "propertyNames"), ("values", "additionalProperties")):
        inner = schema.get(word)
        found = _allowed(inner, anchor) if isinstance(inner, Mapping) else ""
        if found:
            parts.append(f"{label}: {found}")
    parts += filter(None, (_allowed(branch, anchor) for branch in schema.get("anyOf", ())))
    return "; ".join(parts)


def _constraints(schema: Schema, anchor: str) -> Iterator[str]:
    if "enum" in schema:
        long = len(schema["enum"]) > LONGEST_LIST
        yield f"one of [{len(schema['enum'])} values](#{anchor})" if long else _values(schema["enum"])
    if "pattern" in schema and schema["pattern"] != WHOLE_LIST:
        pattern = schema["pattern"].removesuffix(OR_PLACEHOLDER)
        yield WHAT_A_PATTERN_MEANS.get(pattern, f"`` {pattern} ``")
    for what, low, high in BOUNDS:
        least, most = chosen(schema.get(low)), chosen(schema.get(high))
        if (least, most) != (None, None):
            yield span(least, most) + what
    if schema.get("uniqueItems"):
        yield "none twice"


def _values(options: Iterable[object]) -> str:
    return ", ".join(f"`{option}`" for option in options)


def _long_lists(definitions: Schema) -> Iterator[str]:
    """Enums that would make a table too long, each written once for all keys that have it."""
    anchors: dict[tuple[object, ...], list[str]] = {}
    for block, definition in definitions.items():
        for key, schema in definition.get("properties", {}).items():
            for options in _enums(schema):
                if len(options) > LONGEST_LIST:
                    anchors.setdefault(tuple(options), []).append(f"{block}.{key}")
    if anchors:
        yield f"## {_LONG_LISTS}\n"
    for values, places in anchors.items():
        links = "".join(f'<a id="{place.replace(".", "-").lower()}"></a>' for place in places)
        names = ", ".join(f"`{place}`" for place in places)
        yield f"{links}{names}:\n\n{_values(values)}\n"


def _enums(schema: Any) -> Iterator[list[object]]:
    match schema:
        case {"enum": options}:
            yield options
        case dict():
            for value in schema.values():
                yield from _enums(value)
        case list():
            for value in schema:
                yield from _enums(value)
