"""How an endpoint that exists differs from its template, resource by resource.

Only what the template says, and AWS shows, is compared. Counts that scaling changes are no drift.
CloudFormation's own drift detection does not see the copies, the image and the data cache of a component, nor
counts and weights that an update has kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from inferstack.catalog.resource_types import (
    ALARM_TYPE,
    COMPONENT_TYPE,
    CONFIG_TYPE,
    ENDPOINT_TYPE,
    MODEL_TYPE,
    SCALING_POLICY_TYPE,
    TARGET_TYPE,
)
from inferstack.endpoint.deployed import (
    Properties,
    PropertyPath,
    Resources,
    entries,
    mapping,
    properties_of,
    scheduled_limits,
    shown,
    type_of,
)
from inferstack.endpoint.evaluated import UNKNOWN, References, evaluated
from inferstack.endpoint.of_answers import EndpointAnswers, Existing, resources_of
from inferstack.updates.update import as_read

COMPARED = (
    *(MODEL_TYPE, CONFIG_TYPE, ENDPOINT_TYPE, COMPONENT_TYPE),
    *(TARGET_TYPE, SCALING_POLICY_TYPE, ALARM_TYPE),
)
"""Types of resources that describe operations of SageMaker, Application Auto Scaling and CloudWatch show."""
_NAMES_IN_LISTS = {
    "ProductionVariants": "VariantName",
    "ShadowProductionVariants": "VariantName",
    "ScheduledActions": "ScheduledActionName",
    "Alarms": "AlarmName",
    "Dimensions": "Name",
    "Metrics": "Id",
    "Tags": "Key",
}
"""Lists of which the order means nothing, and what tells their items apart."""
_FREE_KEYS = frozenset({"Environment"})
"""Mappings with the user's own keys, each of which counts."""
_NAMES = frozenset({"EndpointConfigName", "ModelName", "ModelNameOverride"})
"""What a template knows by the ARN, in which SageMaker writes names in lower case."""
_ONLY_GIVEN = {
    ENDPOINT_TYPE: frozenset(
        {"RetainAllVariantProperties", "ExcludeRetainedVariantProperties", "RetainDeploymentConfig"}
    )
}
"""What a request takes and no answer shows."""
NOTHING = "nothing"


class Drift(msgspec.Struct, frozen=True):
    """One difference between a template and what exists."""

    logical_id: str
    """The resource of the template; empty for one that no template has."""
    type: str
    path: PropertyPath
    """Where in its properties; empty for a resource as a whole."""
    wanted: str
    found: str


class Drifts(msgspec.Struct, frozen=True):
    """All differences, and what could not be compared."""

    drift: tuple[Drift, ...]
    not_compared: tuple[str, ...]
    matched: Mapping[str, Existing]
    """What exists, by the logical id that stands for it."""


class Template(msgspec.Struct, frozen=True):
    """A template, and what the deployment knows about it."""

    resources: Resources
    parameters: Mapping[str, Any]
    """Values of pseudo parameters, and of the stack's own."""
    ids: Mapping[str, str] | None = None
    """Physical ids by logical id; None if there is no stack."""


def compared(template: Template, answers: EndpointAnswers) -> Drifts:
    """How an endpoint differs from its template."""
    existing = [*resources_of(answers)]
    wanted = {it: one for it, one in template.resources.items() if type_of(one) in COMPARED}
    matched, open_ = _matched(template, wanted, existing)
    known = _known(template, matched)
    found: list[Drift] = []
    unknown: list[str] = [f"{it}: {why}" for it, why in open_.items()]
    for logical_id, resource in wanted.items():
        if logical_id in open_:
            continue
        there = matched.get(logical_id)
        if there is None:
            title = _title(resource, known)
            found.append(Drift(logical_id, type_of(resource), (), title, NOTHING))
            continue
        properties = evaluated(properties_of(resource), known)
        for path, left, right in _differences(_comparable(properties, there), there.properties, ()):
            if left is UNKNOWN:
                unknown.append(f"{logical_id}: {_dotted(path)} is only known to the deployment")
            elif not _is_scaled(wanted, existing, logical_id, there, path):
                found.append(Drift(logical_id, there.type, path, said(left), said(right)))
    found += _superfluous(existing, matched, open_)
    found += _counts(wanted, known, answers, existing)
    found += _digests(wanted, matched, answers)
    return Drifts(tuple(found), tuple(dict.fromkeys(unknown)), matched)


def said(value: Any) -> str:
    """A value in a table."""
    return NOTHING if value is None else shown(value)


def _dotted(path: PropertyPath) -> str:
    return ".".join(map(str, path))


# ---------------------------------------------------------------- which resource is which


def _matched(
    template: Template, wanted: Resources, existing: Sequence[Existing]
) -> tuple[dict[str, Existing], dict[str, str]]:
    """What exists, by logical id, and the resources of which that cannot be known, with the reason."""
    by_key = {(it.type, it.key): it for it in existing}
    by_name = {(it.type, it.name): it for it in existing}
    pseudo = References(template.parameters, {})
    matched: dict[str, Existing] = {}
    unknown: dict[str, str] = {}
    found: Existing | None
    for logical_id, resource in wanted.items():
        type_name, properties = type_of(resource), evaluated(properties_of(resource), pseudo)
        match type_name:
            case "AWS::SageMaker::Endpoint" | "AWS::SageMaker::EndpointConfig":
                # The endpoint is the one that was read, with the configuration that it runs.
                found = next(it for it in existing if it.type == type_name)
            case "AWS::SageMaker::InferenceComponent":
                found = by_name.get((type_name, properties["InferenceComponentName"]))
            case "AWS::ApplicationAutoScaling::ScalableTarget":
                keys = ("ResourceId", "ScalableDimension", "ServiceNamespace")
                found = by_key.get((type_name, "|".join(str(properties[key]) for key in keys)))
            case "AWS::CloudWatch::Alarm":
                name = properties.get("AlarmName", (template.ids or {}).get(logical_id))
                if name is None and not (template.ids or {}):
                    unknown[logical_id] = "only a stack knows the name of this alarm, and there is none"
                    continue
                found = by_name.get((type_name, str(name)))
            case _:
                continue
        if found is not None:
            matched[logical_id] = found
    matched |= dict(_models(wanted, matched, by_name))
    matched |= dict(_policies(wanted, matched, existing))
    for logical_id in [*unknown]:
        alarm = _by_policy(evaluated(properties_of(wanted[logical_id]), _known(template, matched)), existing)
        if alarm is not None:
            matched[logical_id] = alarm
            del unknown[logical_id]
    return matched, unknown


def _by_policy(alarm: Properties, existing: Sequence[Existing]) -> Existing | None:
    """The alarm on the same part of the endpoint that sets off the same policy, if that is one alarm."""
    policies = {it.key for it in existing if it.type == SCALING_POLICY_TYPE}
    its = policies.intersection(it for it in entries(alarm.get("AlarmActions")) if it is not UNKNOWN)
    found = [
        it
        for it in existing
        if it.type == ALARM_TYPE
        and its.intersection(entries(it.properties.get("AlarmActions")))
        and it.properties.get("Dimensions") == alarm.get("Dimensions")
    ]
    return found[0] if len(found) == 1 else None


def _models(
    wanted: Resources, matched: Mapping[str, Existing], by_name: Mapping[tuple[str, str], Existing]
) -> Iterator[tuple[str, Existing]]:
    """The models that run where the template names its own."""
    for logical_id, there in matched.items():
        if there.type in (CONFIG_TYPE, COMPONENT_TYPE):
            pairs = _pairs(properties_of(wanted[logical_id]), there.properties)
            for reference, name in pairs:
                match reference, by_name.get((MODEL_TYPE, str(name))):
                    case {"Fn::GetAtt": [str() as model, "ModelName"]}, Existing() as found:
                        yield model, found
                    case _:
                        pass


def _pairs(wanted: Any, found: Any, key: str = "") -> Iterator[tuple[Any, Any]]:
    """What a template and what exists have as names of models, side by side."""
    match wanted, found:
        case _ if key in _NAMES:
            yield wanted, found
        case dict(), dict():
            for name in wanted.keys() & found.keys():
                yield from _pairs(wanted[name], found[name], name)
        case list(), list():
            for left, right in _aligned(wanted, found, _NAMES_IN_LISTS.get(key)):
                yield from _pairs(left, right)


def _policies(
    wanted: Resources, matched: Mapping[str, Existing], existing: Sequence[Existing]
) -> Iterator[tuple[str, Existing]]:
    """The policies by their names, which are unique for each target."""
    for logical_id, resource in wanted.items():
        if type_of(resource) != SCALING_POLICY_TYPE:
            continue
        properties = properties_of(resource)
        target = matched.get(str(mapping(properties.get("ScalingTargetId")).get("Ref")))
        for it in existing:
            same = target is not None and it.properties.get("ScalingTargetId") == target.key
            if (
                it.type == SCALING_POLICY_TYPE
                and same
                and it.properties["PolicyName"] == properties["PolicyName"]
            ):
                yield logical_id, it


def _known(template: Template, matched: Mapping[str, Existing]) -> References:
    """What references to the template's resources stand for. Of models and the configuration, that is what
    the stack has made, whatever the endpoint runs.
    """
    by_arn, given = {it.key.lower(): it.name for it in matched.values()}, template.parameters
    values: dict[tuple[str, str], str] = {}
    for logical_id, it in matched.items():
        values[logical_id, ""] = it.key
        if it.type in (ENDPOINT_TYPE, *(() if template.ids else (MODEL_TYPE, CONFIG_TYPE))):
            values[logical_id, f"{it.type.rpartition('::')[2]}Name"] = it.name
    for logical_id, key in (template.ids or {}).items():
        resource = template.resources.get(logical_id, {})
        values[logical_id, ""] = key
        match type_of(resource):
            case "AWS::SageMaker::Model" | "AWS::SageMaker::EndpointConfig" as type_name:
                kind = type_name.rpartition("::")[2]
                values[logical_id, f"{kind}Name"] = by_arn.get(key.lower(), key.rpartition("/")[2])
            case "AWS::IAM::Role":
                account = f"arn:{given['AWS::Partition']}:iam::{given['AWS::AccountId']}"
                values[logical_id, "Arn"] = f"{account}:role{properties_of(resource).get('Path', '/')}{key}"
            case _:
                pass
    return References(template.parameters, values)


def _title(resource: Mapping[str, Any], known: References) -> str:
    properties = evaluated(properties_of(resource), known)
    keys = ("InferenceComponentName", "PolicyName", "ResourceId", "AlarmName")
    return next((str(properties[key]) for key in keys if key in properties), type_of(resource))


# ---------------------------------------------------------------- properties


def _comparable(properties: Properties, there: Existing) -> Properties:
    """The properties of a template without those that AWS does not show of this resource."""
    left_out = set(_ONLY_GIVEN.get(there.type, frozenset()))
    if "DeploymentConfig" not in there.properties:
        # Shown once an update was rolled out by it.
        left_out.add("DeploymentConfig")
    return {key: value for key, value in properties.items() if key not in left_out}


def _differences(wanted: Any, found: Any, path: PropertyPath) -> Iterator[tuple[PropertyPath, Any, Any]]:
    """Where what is wanted is not there, with both values. What is not wanted does not count, except for
    items of lists and the user's own keys.
    """
    key = next((it for it in reversed(path) if isinstance(it, str)), "")
    match wanted, found:
        case (False | {} | [], None):
            # AWS shows no property that is off or empty.
            return
        case dict(), dict():
            for name in {**wanted, **(found if key in _FREE_KEYS else {})}:
                yield from _differences(wanted.get(name), found.get(name), (*path, name))
        case list(), list() if all(isinstance(it, dict) for it in (*wanted, *found)):
            for index, (left, right) in enumerate(_aligned(wanted, found, _NAMES_IN_LISTS.get(key))):
                if left is not None or key != "Tags":
                    yield from _differences(left, right, (*path, index))
        case list(), list() if UNKNOWN not in wanted and sorted(map(as_text, wanted)) == sorted(
            map(as_text, found)
        ):
            return
        case _ if wanted is UNKNOWN or (isinstance(wanted, list) and UNKNOWN in wanted):
            yield path, UNKNOWN, found
        case _ if as_text(wanted, key) != as_text(found, key):
            yield path, wanted, found


def as_text(value: Any, key: str = "") -> str:
    """A value as CloudFormation reads it."""
    plain = shown(as_read(value))
    return plain.lower() if key in _NAMES else plain


def _aligned(wanted: Sequence[Any], found: Sequence[Any], name: str | None) -> Iterator[tuple[Any, Any]]:
    """The items of two lists side by side, None where one list has no such item."""
    if name is None or any(it.get(name) is UNKNOWN for it in wanted):
        longest = max(len(wanted), len(found))
        padded = ([*items, *[None] * (longest - len(items))] for items in (wanted, found))
        yield from zip(*padded, strict=True)
        return
    theirs = {as_text(it.get(name)): it for it in found}
    for it in wanted:
        yield it, theirs.pop(as_text(it.get(name)), None)
    for it in theirs.values():
        yield None, it


# ---------------------------------------------------------------- counts


def _scaled_resources(wanted: Resources, existing: Sequence[Existing]) -> set[str]:
    """The resource ids of all that scaling changes, by the template or by hand."""
    ids = [str(properties_of(it).get("ResourceId")) for it in wanted.values() if type_of(it) == TARGET_TYPE]
    return {*ids, *(it.name for it in existing if it.type == TARGET_TYPE)}


def _is_scaled(
    wanted: Resources, existing: Sequence[Existing], logical_id: str, there: Existing, path: PropertyPath
) -> bool:
    """Whether scaling, or one of its scheduled actions, has set the number at a path."""
    match there.type, path:
        case "AWS::SageMaker::InferenceComponent", ("RuntimeConfig", "CopyCount"):
            return f"inference-component/{there.name}" in _scaled_resources(wanted, existing)
        case "AWS::ApplicationAutoScaling::ScalableTarget", ("MinCapacity" | "MaxCapacity" as key,):
            limits = scheduled_limits(properties_of(wanted[logical_id]))
            return there.properties.get(key) in [it.get(key) for it in limits]
        case _:
            return False


_COUNTED = {"InitialInstanceCount": "DesiredInstanceCount", "InitialVariantWeight": "DesiredWeight"}
"""What a configuration starts with, and where an endpoint shows what it has been set to since."""


def _counts(
    wanted: Resources, known: References, answers: EndpointAnswers, existing: Sequence[Existing]
) -> Iterator[Drift]:
    """Counts and weights that an update keeps, although the template has others."""
    scaled = _scaled_resources(wanted, existing)
    for logical_id, resource in wanted.items():
        if type_of(resource) != CONFIG_TYPE:
            continue
        variants = evaluated(properties_of(resource), known)["ProductionVariants"]
        for index, variant in enumerate(variants):
            fleet = answers.fleets.get(variant["VariantName"], {})
            is_scaled = (
                f"endpoint/{answers.endpoint['EndpointName']}/variant/{variant['VariantName']}" in scaled
            )
            managed = mapping(variant.get("ManagedInstanceScaling")).get("Status", "DISABLED") != "DISABLED"
            for key, now in _COUNTED.items():
                start, there = variant.get(key), fleet.get(now)
                counts_itself = key == "InitialInstanceCount" and (is_scaled or managed)
                if start is None or there is None or start is UNKNOWN or counts_itself:
                    continue
                if float(start) != float(there):
                    path = ("ProductionVariants", index, key)
                    yield Drift(logical_id, CONFIG_TYPE, path, said(start), f"{as_read(there)} now")


# ---------------------------------------------------------------- images


def _digests(wanted: Resources, matched: Mapping[str, Existing], answers: EndpointAnswers) -> Iterator[Drift]:
    """Images that run with other bytes than the spec or another part of the endpoint has: one tag, two
    digests.
    """
    first: dict[str, str] = {}
    configs = [it for it, one in wanted.items() if type_of(one) == CONFIG_TYPE]
    for logical_id, images in _deployed_images(configs, matched, answers):
        for image in images:
            written, resolved = image.get("SpecifiedImage"), image.get("ResolvedImage")
            if written is None or resolved is None:
                continue
            digest = resolved.partition("@")[2]
            pinned = written.partition("@")[2] or first.setdefault(written, digest)
            if digest and digest != pinned:
                type_name = type_of(wanted[logical_id])
                yield Drift(logical_id, type_name, ("Image",), f"{written} as {pinned}", resolved)


def _deployed_images(
    configs: Sequence[str], matched: Mapping[str, Existing], answers: EndpointAnswers
) -> Iterator[tuple[str, list[Mapping[str, str]]]]:
    for config in configs:
        for fleet in answers.fleets.values():
            yield config, entries(fleet.get("DeployedImages"))
    ids = {it.key: logical_id for logical_id, it in matched.items()}
    for component in answers.components:
        logical_id = ids.get(component["InferenceComponentArn"])
        said_of = (component.get("Specification"), *entries(component.get("Specifications")))
        images = [mapping(mapping(it).get("Container")).get("DeployedImage") for it in said_of]
        if logical_id is not None:
            yield logical_id, [it for it in images if it is not None]


# ---------------------------------------------------------------- what no template has


def _superfluous(
    existing: Sequence[Existing], matched: Mapping[str, Existing], unknown: Mapping[str, str]
) -> Iterator[Drift]:
    """Components, targets and policies of the endpoint that the template lacks. Alarms may be anybody's."""
    ours = {it.key for it in matched.values()}
    for it in existing:
        if it.type in (COMPONENT_TYPE, TARGET_TYPE, SCALING_POLICY_TYPE) and it.key not in ours:
            yield Drift("", it.type, (), NOTHING, it.name)
