"""No form of a previous template ends in a traceback: templates of real specs, with anything anywhere in them."""

import copy
import datetime
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings, strategies as st
from support.template_pairs import CHANGES
from support.updating import resources_of, spec_of

from inferstack.check.load import LoadedSpec
from inferstack.cli.review import as_json
from inferstack.cli.review.markdown import markdown
from inferstack.cli.review.text import text
from inferstack.problems import SpecError
from inferstack.review import (
    PreviousTemplate,
    Update,
    compare_with,
    read_template,
    update_of,
    update_problems,
)
from inferstack.review.base import BaseStack, Question
from inferstack.review.matching import Match
from inferstack.review.reviewing import _Reviewer
from inferstack.sizing.prices import PriceFile
from inferstack.updates.role import changed_rights

SPECS = [
    spec_of("single", CHANGES["scaled"], CHANGES["rolling"], {"dashboard": {"dashboard_name": "ml"}}),
    spec_of("single", CHANGES["pools"], CHANGES["many_policies"]),
    spec_of("multi"),
    spec_of("components", CHANGES["two_fleets"], CHANGES["copies"]),
    spec_of(
        "components",
        CHANGES["own_model"],
        {
            "inference_components": {
                "chat": {
                    "autoscaling": {
                        "min_capacity": 0,
                        "max_capacity": 2,
                        "policies": [
                            {"metric": "SageMakerInferenceComponentInvocationsPerCopy", "target_value": 5}
                        ],
                    }
                }
            }
        },
    ),
]
TEMPLATES = [resources_of(it) for it in SPECS]
PREVIOUS = [*TEMPLATES, resources_of(spec_of("components", CHANGES["renamed"]))]

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        ["\ud800", "${Endpoint}", "${", "endpoint/x/variant/y", "inference-component/chat", 10**400]
    )
    | st.just(datetime.date(2012, 10, 17))
)
FUNCTIONS = st.sampled_from(
    [
        {"Ref": "Name"},
        {"Ref": {"Ref": "Name"}},
        {"Ref": []},
        {"Fn::GetAtt": "Endpoint.EndpointName"},
        {"Fn::GetAtt": ["Endpoint"]},
        {"Fn::GetAtt": []},
        {"Fn::GetAtt": [1, 2]},
        {"Fn::Sub": "${Name}"},
        {"Fn::Sub": ["${Name}", {"Name": {"Ref": "X"}}]},
        {"Fn::Sub": [1]},
        {"Fn::If": ["IsProd", "a", {"Ref": "AWS::NoValue"}]},
        {"Fn::ImportValue": {"Fn::Sub": "${Stack}-name"}},
        {"Fn::FindInMap": ["A", {"Ref": "AWS::Region"}, "B"]},
        {"Fn::Transform": {"Name": "N", "Parameters": {}}},
    ]
)
KEYS = st.text(max_size=4) | st.integers() | st.none() | st.booleans() | st.just(datetime.date(2012, 10, 17))
JUNK = st.recursive(
    SCALARS | FUNCTIONS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a value, the deepest ones, too."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(it for key, item in below for it in places(item, (*path, key)))]


PLACES = [
    [path for path in places(it) if path[1:2] in (("Properties",), ("Metadata",)) and len(path) > 2]
    for it in PREVIOUS
]


def put(resources: Any, path: tuple[Any, ...], value: Any) -> None:
    """Puts a value there, unless another has been put above it."""
    around = resources
    for step in path[:-1]:
        if not isinstance(around, dict | list) or (isinstance(around, dict) and step not in around):
            return
        if isinstance(around, list) and not (isinstance(step, int) and step < len(around)):
            return
        around = around[step]
    if isinstance(around, dict) or (
        isinstance(around, list) and isinstance(path[-1], int) and path[-1] < len(around)
    ):
        around[path[-1]] = copy.deepcopy(value)


EVERYWHERE = places({"Resources": TEMPLATES[0]})[1:]


@st.composite
def spoilt(draw: st.DrawFn) -> tuple[Any, dict[str, Any]]:
    """A spec, and the resources of a previous template of it, or of another one, with junk in some places."""
    which = draw(st.integers(0, len(PREVIOUS) - 1))
    spec = draw(st.sampled_from(SPECS))
    resources = copy.deepcopy(PREVIOUS[which])
    for _ in range(draw(st.integers(1, 4))):
        put(resources, draw(st.sampled_from(PLACES[which])), draw(JUNK))
    return spec, resources


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spoilt())
def test_anything_may_be_the_value_of_any_property(drawn: tuple[Any, dict[str, Any]]) -> None:
    spec, resources = drawn
    update = update_of(spec, resources)
    for problem in update_problems(spec, update):
        assert problem.fix
        assert update.written(problem.path) == problem.path
    assert isinstance(changed_rights(update.before, update.after), str)
    template = PreviousTemplate("old.json", resources, {})
    assert_shown(spec, update, template)
    assert template.spec_files is not None
    assert template.image_region is None or isinstance(template.image_region, str)


def assert_shown(spec: LoadedSpec, update: Update, template: PreviousTemplate) -> None:
    """Every format shows a review of the update."""
    reviewer = _Reviewer(Question(paths=()), None, PriceFile({}))
    reviewer.keys[id(spec)] = "one"
    reviewer._compared(Match(spec), spec, update, BaseStack(template))
    found = reviewer._made()
    for show in (text, markdown, as_json):
        assert show(found).encode()


def test_a_component_may_be_on_a_variant_of_a_parameters_name() -> None:
    """The name of the variant was hashed."""
    spec, resources = SPECS[3], copy.deepcopy(TEMPLATES[3])
    for resource in resources.values():
        if resource["Type"] == "AWS::SageMaker::InferenceComponent":
            resource["Properties"]["VariantName"] = {"Ref": "Variant"}
    assert isinstance(update_problems(spec, update_of(spec, resources)), list)


SPEC = """\
kind: single-model
endpoint_name: net
model:
  image: 123456789012.dkr.ecr.us-east-1.amazonaws.com/net:1
  model_data_url: s3://models/net.tar.gz
variant: {instance_type: ml.g5.12xlarge, initial_instance_count: 2}
"""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5) | FUNCTIONS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("any")
    (folder / "net.yaml").write_text(SPEC, "utf-8")
    return folder / "net.yaml", folder / "old.template.json"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_anything_may_be_a_resource_or_any_part_of_one(files: tuple[Path, Path], data: st.DataObject) -> None:
    spec, old = files
    template = {"Resources": copy.deepcopy(TEMPLATES[0])}
    for _ in range(data.draw(st.integers(1, 3))):
        put(template, data.draw(st.sampled_from(EVERYWHERE)), data.draw(JSON))
    old.write_text(json.dumps(template), "utf-8")
    for foreign in (False, True):
        found = compare_with(old, [spec], stage=None, region=None, paths=[], foreign=foreign)
        assert found.problems or found.notes


@settings(max_examples=40, deadline=None)
@given(JUNK)
@example({datetime.date(2012, 10, 17): 1, 2: 3, "x": 4})
def test_anything_that_yaml_has_is_read(tmp_path_factory: pytest.TempPathFactory, junk: Any) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    resources = {
        "Endpoint": {"Type": "AWS::SageMaker::Endpoint", "Properties": {"EndpointName": "net", "X": junk}}
    }
    try:
        text = yaml.safe_dump({"Resources": resources}, allow_unicode=True)
        file.write_text(text, "utf-8")
    except (yaml.YAMLError, UnicodeError, ValueError):
        return
    try:
        template = read_template(file)
    except SpecError:
        return
    update = update_of(SPECS[0], template.resources)
    assert isinstance(update_problems(SPECS[0], update), list)
