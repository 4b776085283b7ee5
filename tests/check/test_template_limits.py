"""How much one template can hold, which is known before there is a template."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.resolving import BASES, merged

from inferstack.check.load import check_document, load_spec, parse_spec
from inferstack.check.rules.stack import output_count, resource_count
from inferstack.facts.alarms import most_own_alarms, own_alarms
from inferstack.resolve import resolve_template
from inferstack.source.document import Document

ROOT = Path(__file__).parents[2]
SPECS = [
    path
    for folder in ("model_specs", "tests/shapes", "tests/check/wrong_specs/bases")
    for path in sorted((ROOT / folder).glob("*.yaml"))
]


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_resources_and_outputs_are_counted_as_they_are_made(path: Path) -> None:
    spec = load_spec(path).spec
    template = resolve_template(spec, region=None, source_of=str)
    assert sum(resource_count(spec).values()) == len(template["Resources"])
    assert output_count(spec) == len(template["Outputs"])
    assert len(own_alarms(spec)) <= most_own_alarms(spec)


def of_components(count: int, change: Any) -> dict[str, Any]:
    data = yaml.safe_load(BASES["components"])
    (component,) = data["inference_components"].values()
    needs = {"number_of_cpu_cores_required": 0.25, "min_memory_required_in_mb": 128}
    component["specification"]["compute_resource_requirements"] = needs
    both = {"inference_components": {f"chat-{i}": component for i in range(count)}}
    return merged(merged(data, {"inference_components": {"chat": None}}), merged(both, change))


def codes(data: dict[str, Any]) -> set[str]:
    return {problem.code for problem in check_document(Document.from_data(data))[1]} & {"IS208", "IS209"}


@pytest.mark.parametrize(
    ("count", "change", "expected"),
    [
        (140, {}, {"IS208"}),
        (90, {}, set()),
        (198, {"alarms": False}, {"IS209"}),
        (197, {"alarms": False}, set()),
        (300, {}, {"IS208", "IS209"}),
    ],
)
def test_what_is_more_than_a_template_holds_is_refused(count: int, change: Any, expected: set[str]) -> None:
    assert codes(of_components(count, change)) == expected


def test_too_many_outputs_are_reported_at_the_components_that_make_them() -> None:
    problems = check_document(Document.from_data(of_components(198, {"alarms": False})))[1]
    (found,) = [problem for problem in problems if problem.code == "IS209"]
    assert found.path == ("inference_components",)
    assert "at most 200 are allowed" in found.fix


def of_adapters(count: int, change: Any) -> dict[str, Any]:
    data = yaml.safe_load(BASES["components"])
    adapters = {
        f"lora-{i}": {
            "specification": {
                "base_inference_component_name": "chat",
                "container": {"artifact_url": f"s3://models/adapters/{i}/"},
            }
        }
        for i in range(count)
    }
    return merged(merged(data, {"inference_components": adapters}), change)


EVERYWHERE = {
    "alarms": {"rules": [{"metric": name, "threshold": 1} for name in ("Invocations", "Invocation4XXErrors")]}
}


def test_adapters_are_as_many_as_outputs_allow() -> None:
    assert codes(of_adapters(196, {})) == set()
    assert codes(of_adapters(197, {})) == {"IS209"}


def test_whose_adapters_have_too_many_alarms_keeps_those_of_the_base() -> None:
    problems = check_document(Document.from_data(of_adapters(150, EVERYWHERE)))[1]
    (fix,) = [problem.fix for problem in problems if problem.code == "IS208"]
    assert "`alarms: {defaults: false}`" in fix
    assert "`inference_component: chat`" in fix
    one = [{**rule, "inference_component": "chat"} for rule in EVERYWHERE["alarms"]["rules"]]
    assert codes(of_adapters(150, {"alarms": {"defaults": False, "rules": one}})) == set()


def test_the_usual_spec_is_far_from_it() -> None:
    assert sum(resource_count(parse_spec(yaml.safe_load(BASES["single"])).spec).values()) < 20
