"""Lists what the templates of the examples, of the shapes and of the rules' bases consist of, so that a
review shows each new or lost property.

Each line is there once, whichever templates have it: what a stack has by logical id, and what the resources
of a type have by property. Whole templates would be far longer, and nobody would read them.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inferstack.check.files import spec_files
from inferstack.check.load import load_spec
from inferstack.resolve import resolve_template
from inferstack.source.document import read_document
from inferstack.source.stages import stage_names
from tools.generated_files import ROOT, Contents

TEMPLATES_FILE = ROOT / "tests" / "resolve" / "templates.txt"
FOLDERS = ("model_specs", "tests/shapes", "tests/check/wrong_specs/bases")


def generate() -> Contents:
    """The lines of all templates, sorted."""
    files = [file for folder in FOLDERS for file in spec_files(ROOT / folder)]
    lines = {line for file in files for template in _templates(file) for line in _of_template(template)}
    return {TEMPLATES_FILE: "".join(f"{it}\n" for it in sorted(lines))}


def _templates(file: Path) -> Iterator[dict[str, Any]]:
    """A template for each stage, in its region; of the first one also that for any region."""
    stages = stage_names(read_document(file)) or (None,)
    for number, stage in enumerate(stages):
        spec = load_spec(file, stage=stage).spec
        for region in dict.fromkeys((spec.region, None) if number == 0 else (spec.region,)):
            yield resolve_template(
                spec, region=region, source_of=lambda path: ".".join(map(str, path)) or "the spec"
            )


def _of_template(template: dict[str, Any]) -> Iterator[str]:
    for section, content in template.items():
        if section == "Mappings":
            # The accounts of all regions are the catalog's.
            first = {name: dict([min(regions.items())]) for name, regions in content.items()}
            yield from _lines(section, first)
        elif section != "Resources":
            yield from _lines(section, content)
    for logical_id, resource in template["Resources"].items():
        kind = resource["Type"]
        yield f"{logical_id}: {kind}"
        yield from (f"{kind} {line}" for line in _of_resource(resource))


def _of_resource(resource: dict[str, Any]) -> Iterator[str]:
    for attribute, content in resource.items():
        if attribute == "Properties":
            for name, value in content.items():
                yield from _graphs(value) if name == "DashboardBody" else _lines(name, value)
        elif attribute != "Type":
            yield from _lines(f"({attribute})", content)


def _graphs(body: Any) -> Iterator[str]:
    """The widgets of a dashboard, and of each metric what no alarm has."""
    for widget in json.loads(body["Fn::Sub"])["widgets"]:
        for namespace, name, *dimensions, drawn in widget["properties"].pop("metrics", ()):
            yield from _lines("DashboardBody.metrics", f"{namespace} {name} by {', '.join(dimensions[::2])}")
            yield from _lines("DashboardBody.metrics", drawn)
        yield from _lines("DashboardBody", widget)


def _lines(path: str, value: Any) -> Iterator[str]:
    match value:
        case dict() if value and not _is_function(value):
            for key, item in value.items():
                yield from _lines(f"{path}.{key}", item)
        case [_, *_]:
            for item in value:
                yield from _lines(f"{path}[]", item)
        case _:
            yield f"{path}: {json.dumps(value, ensure_ascii=False)}"


def _is_function(value: dict[str, Any]) -> bool:
    return len(value) == 1 and next(iter(value)).startswith(("Ref", "Fn::"))
