"""The template: every resource with its tags and where it came from, and the outputs; and parts of it."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Set as AbstractSet
from typing import Any

import msgspec

from inferstack.catalog import cloudformation
from inferstack.catalog.resource_types import ALARM_TYPE
from inferstack.check.load import LoadedSpec
from inferstack.check.rules.stack import LARGEST_TEMPLATE, TEMPLATE_TOO_LARGE
from inferstack.check.structure import MISSING_KEY
from inferstack.facts.walk import components, containers
from inferstack.format.kinds import NAMELESS, ModelSpec
from inferstack.format.logical_ids import ENDPOINT, SOURCE_METADATA
from inferstack.problems import Problem, SpecError, SpecPath
from inferstack.resolve.alarms import ALARM_ARN, resolve_alarms
from inferstack.resolve.async_inference import async_outputs, resolve_async_resources
from inferstack.resolve.autoscaling import resolve_autoscaling
from inferstack.resolve.composite_alarms import resolve_composite_alarms
from inferstack.resolve.dashboard import DASHBOARD, dashboard_url, resolve_dashboard
from inferstack.resolve.elsewhere import resolve_parameters, with_exports
from inferstack.resolve.endpoint import endpoint_name, resolve_endpoint
from inferstack.resolve.endpoint_config import resolve_endpoint_config
from inferstack.resolve.execution_role import after_policies, resolve_execution_role
from inferstack.resolve.images import placed_image
from inferstack.resolve.inference_component import component_id, name_once_there, resolve_inference_components
from inferstack.resolve.invokers import invoker_outputs, resolve_invokers
from inferstack.resolve.log_groups import after_log_groups, resolve_log_groups
from inferstack.resolve.model import resolve_models
from inferstack.resolve.needs import gather_needs
from inferstack.resolve.resource import Resource, Resources, Value, at_deployment, pascal, ref, short_hash
from inferstack.texts.placeholders import is_settled

Template = dict[str, Any]
SourceOf = Callable[[SpecPath], str]
"""Where a part of the spec is written, as ``file: path``."""


def template_of(loaded: LoadedSpec) -> Template:
    """The template of a spec for the region that it names, or for any."""
    return resolve_template(loaded.spec, region=loaded.spec.region, source_of=loaded.source_of)


def resolve_template(spec: ModelSpec, *, region: str | None, source_of: SourceOf) -> Template:
    """The CloudFormation template of one endpoint.

    Args:
        spec: a spec without errors.
        region: region of the stack, or None for a template that works in any.
        source_of: says where a path of the spec is written.

    Raises:
        SpecError: when the spec leaves the endpoint's name to a construct.
    """
    if spec.endpoint_name == NAMELESS:
        message, fix = (
            "the spec is missing `endpoint_name`",
            "add it: only a construct can find a name itself",
        )
        raise SpecError([Problem((), message, fix, MISSING_KEY)])
    resources = resolve_resources(spec, region)
    template: Template = {"AWSTemplateFormatVersion": "2010-09-09", "Description": description(spec)}
    template |= _present(Parameters=resolve_parameters(spec), Mappings=_mappings(spec, region))
    # Looked up once each: alarms, and what scales, have places in common.
    places = {path: source_of(path) for path in {it.source for it in resources.values()}}
    template["Resources"] = {
        logical_id: _rendered(resource, spec.tags, places[resource.source])
        for logical_id, resource in resources.items()
    }
    template["Outputs"] = {name: at_deployment(output) for name, output in _outputs(spec, region).items()}
    return template


def resolve_resources(spec: ModelSpec, region: str | None) -> Resources:
    """Every resource by logical id, in an order that suits a reader."""
    made: Resources = {}
    alarms, composites = resolve_alarms(spec), resolve_composite_alarms(spec)
    for part in (
        resolve_async_resources(spec),
        resolve_execution_role(spec, gather_needs(spec, region)),
        resolve_models(spec, region),
        resolve_endpoint_config(spec),
        resolve_endpoint(spec),
        resolve_inference_components(spec, region),
        resolve_autoscaling(spec),
        alarms,
        composites,
        resolve_dashboard(spec, [*composites, *alarms]),
        resolve_log_groups(spec),
        resolve_invokers(spec),
    ):
        # The rules refuse names that would make one logical id; but no resource may ever be lost in silence.
        if twice := made.keys() & part.keys():
            raise ValueError(f"two resources have the logical id {min(twice)}")
        made |= part
    return after_log_groups(spec, after_policies(made))


def description(spec: ModelSpec) -> str:
    """The stack's description, for the list of stacks."""
    if spec.description is not None:
        return spec.description
    # CloudFormation allows no function here.
    name = f" {spec.endpoint_name}" if is_settled(spec.endpoint_name) else ""
    return f"SageMaker endpoint{name} ({spec.kind}), made by inferstack"


def _rendered(resource: Resource, tags: dict[str, str] | None, place: str) -> Template:
    properties = dict(resource.properties)
    if resource.tags:
        tags = {**(tags or {}), **resource.tags}
    # Sorted by name, as CDK does, so that a preview differs little from what is deployed.
    if tags and cloudformation.is_taggable(resource.type):
        properties["Tags"] = [{"Key": key, "Value": tags[key]} for key in sorted(tags, key=str.casefold)]
    rendered: Template = {"Type": resource.type, "Properties": at_deployment(properties)}
    if resource.depends_on:
        rendered["DependsOn"] = list(resource.depends_on)
    if resource.stays:
        # If the stack cannot even be made, it is empty, and its name has to be free for the next try.
        rendered |= {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
    rendered["Metadata"] = {SOURCE_METADATA: place}
    return rendered


def _present(**sections: Template) -> Template:
    return {name: section for name, section in sections.items() if section}


def _mappings(spec: ModelSpec, region: str | None) -> Template:
    images = (placed_image(placed, region) for placed in containers(spec))
    return dict(image.mapping for image in images if image is not None and image.mapping is not None)


def _outputs(spec: ModelSpec, region: str | None) -> dict[str, Value]:
    outputs: dict[str, Value] = {
        "EndpointName": {"Description": "Name to invoke", "Value": endpoint_name()},
        "EndpointArn": {"Description": "ARN of the endpoint", "Value": ref(ENDPOINT)},
    }
    for _, name, component in components(spec):
        text = "Name of an inference component to invoke"
        value = name_once_there(name, ref(component_id(spec, name, component)))
        outputs[f"InferenceComponent{pascal(name)}{short_hash(name)}"] = {"Description": text, "Value": value}
    outputs |= async_outputs(spec)
    if spec.dashboard is not False:
        outputs[f"{DASHBOARD}Url"] = {
            "Description": "Dashboard of the endpoint",
            "Value": dashboard_url(region),
        }
    return with_exports(spec, outputs | invoker_outputs(spec))


# ---------------------------------------------------------------- its size

_FIX = "move long values of `environment` into the model's files, or split the endpoint in two"


def refuse_too_large(loaded: LoadedSpec, template: Template, size: int) -> None:
    """Refuses a template with too many bytes.

    Raises:
        SpecError: when no stack can be made of it, with the spec's warnings.
    """
    if size <= LARGEST_TEMPLATE:
        return
    key, share = _most(loaded, template)
    message = f"the template has {size:,} bytes, {share} % of them for `{key}`"
    fix = f"at most {LARGEST_TEMPLATE:,} are possible: {_FIX}"
    problem = loaded.document.problem((key,), TEMPLATE_TOO_LARGE, message, fix, key=True)
    raise SpecError([*loaded.warnings, problem])


def _most(loaded: LoadedSpec, template: Template) -> tuple[str, int]:
    """The key of the spec that most of the template is made for, and its share in percent."""
    sizes: Counter[str] = Counter()
    for logical_id, resource in resolve_resources(loaded.spec, loaded.spec.region).items():
        if logical_id in template["Resources"]:
            sizes[str(resource.source[0])] += len(msgspec.json.encode(template["Resources"][logical_id]))
    [(key, most)] = sizes.most_common(1)
    return key, round(100 * most / sizes.total())


# ---------------------------------------------------------------- a part of an endpoint made elsewhere

_ENDPOINT_NAME = json.dumps(endpoint_name())
_ANY_ALARM = f"{ALARM_ARN}*"


def part_of(template: Template, logical_ids: AbstractSet[str], name: str) -> Template:
    """The template with these resources only. Their references to the endpoint become its plain ``name``."""
    whole = template["Resources"]
    alarms = {it for it, resource in whole.items() if resource["Type"] == ALARM_TYPE} - logical_ids
    resources = {
        logical_id: _detached(resource, logical_ids, name, alarms)
        for logical_id, resource in whole.items()
        if logical_id in logical_ids
    }
    # Parameters, and mappings, which look up the account of an image: only those that are still used stay.
    used = json.dumps(resources)
    sections = {name: _used(template.get(name, {}), used) for name in ("Parameters", "Mappings")}
    return {**_present(**sections), "Resources": resources}


def _used(section: Template, used: str) -> Template:
    return {key: it for key, it in section.items() if f'"{key}"' in used or f"${{{key}}}" in used}


def waits_for(template: Template, logical_ids: AbstractSet[str]) -> Iterator[tuple[str, str]]:
    """Pairs of logical ids: a resource, and one made elsewhere that it waits for."""
    for logical_id, resource in template["Resources"].items():
        if logical_id in logical_ids:
            named = (ENDPOINT,) if _ENDPOINT_NAME in json.dumps(resource) else ()
            before = dict.fromkeys((*resource.get("DependsOn", ()), *named))
            yield from ((logical_id, it) for it in before if it not in logical_ids)


def _detached(
    resource: Template, logical_ids: AbstractSet[str], name: str, alarms: AbstractSet[str]
) -> Template:
    """The resource without references to what is made elsewhere."""
    kept = [before for before in resource.get("DependsOn", ()) if before in logical_ids]
    detached: Template = _without_references(resource, name, alarms)
    detached.pop("DependsOn", None)
    return detached | ({"DependsOn": kept} if kept else {})


def _without_references(value: Any, name: str, alarms: AbstractSet[str]) -> Any:
    """The endpoint's name becomes plain text. ARNs of these alarms, whose names are unknown here, become one
    that fits any alarm.
    """
    match value:
        case dict() if value == endpoint_name():
            return name
        case {"Fn::GetAtt": [str() as logical_id, "Arn"]} if logical_id in alarms:
            return {"Fn::Sub": _ANY_ALARM}
        case dict():
            return {key: _without_references(item, name, alarms) for key, item in value.items()}
        case list():
            return [_without_references(item, name, alarms) for item in value]
        case _:
            return value
