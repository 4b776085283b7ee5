"""What no other finding is about: settings, dashboards, buckets, log groups, topics and tags."""

from collections.abc import Iterator
from typing import Any

from inferstack.catalog.resource_types import (
    BUCKET_TYPE,
    COMPONENT_TYPE,
    CONFIG_TYPE,
    DASHBOARD_TYPE,
    LOG_GROUP_TYPE,
    MODEL_TYPE,
    TOPIC_TYPE,
)
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import PropertyPath
from inferstack.endpoint.stack import Stack, readable
from inferstack.problems.words import listed
from inferstack.review.data import Finding
from inferstack.review.pair import Pair, difference, information
from inferstack.updates.update import Change, Fate, bracketed

_OTHERS = frozenset({DASHBOARD_TYPE, BUCKET_TYPE, LOG_GROUP_TYPE, TOPIC_TYPE})
_WITH_SETTINGS = frozenset({MODEL_TYPE, CONFIG_TYPE, COMPONENT_TYPE})
_REPORTED = frozenset({
    *("Environment", "Image", "ModelDataUrl", "ModelDataSource", "ArtifactUrl", "ModelPackageName"),
    *("InstanceType", "InitialInstanceCount", "InitialVariantWeight", "InstancePools"),
    *("ServerlessConfig", "ManagedInstanceScaling", "ComputeResourceRequirements", "RuntimeConfig"),
    *("EnableCapture", "InitialSamplingPercentage", "DestinationS3Uri", "CaptureOptions"),
    *("VpcConfig", "EnableNetworkIsolation", "KmsKeyId", "ExecutionRoleArn", "EnableSSMAccess"),
    *("BaseInferenceComponentName", "InferenceComponentName", "EndpointName", "VariantName"),
    *("ModelName", "OutputConfig", "DeploymentConfig", "Tags"),
})  # fmt: skip
"""Properties that other findings are about."""
_WHOLE = frozenset({"ProductionVariants", "ShadowProductionVariants", "Containers", "PrimaryContainer"})
"""Blocks that come or go as a whole, which other findings report, too."""
_LONGEST = 60
_FEW = 3


def remaining_findings(pair: Pair) -> Iterator[Finding]:
    """What no other finding is about."""
    yield from _settings(pair)
    yield from _others(pair)
    yield from _tags(pair)


def _settings(pair: Pair) -> Iterator[Finding]:
    """Settings of models, the configuration and components that stay, from and to."""
    for change in pair.update.changes.values():
        if change.type in _WITH_SETTINGS and change.fate in (Fate.UPDATED, Fate.REPLACED):
            leaves = [leaf for path in change.paths for leaf in _leaves(pair, change.logical_id, path)]
            for path in dict.fromkeys(leaves):
                if _REPORTED.isdisjoint(path) and _WHOLE.isdisjoint(path[-1:]):
                    yield _setting(pair, change, path)


def _leaves(pair: Pair, logical_id: str, path: PropertyPath) -> Iterator[PropertyPath]:
    """The path, or those of all settings in a block that comes or goes as a whole."""
    blocks = [_at(stack, logical_id, path) for stack in (pair.old, pair.new)]
    keys = dict.fromkeys(key for it in blocks if isinstance(it, dict) for key in it)
    if path[-1] in _WHOLE or not keys or any(str(key).startswith(("Ref", "Fn::")) for key in keys):
        yield path
    else:
        for key in keys:
            yield from _leaves(pair, logical_id, (*path, key))


def _setting(pair: Pair, change: Change, path: PropertyPath) -> Finding:
    values = [_at(stack, change.logical_id, path) for stack in (pair.old, pair.new)]
    texts = ["not set" if it is None else pair.new.readable(it) for it in values]
    name = f"`{bracketed(pair.update.place(change.logical_id, path)) or path[-1]}`"
    place = pair.new.place_of(change.logical_id, path)
    if max(map(len, texts)) > _LONGEST:
        return information(pair, "changed", name, place)
    return difference(pair, "changed", name, (texts[0], texts[1]), place)


def _at(stack: Stack, logical_id: str, path: PropertyPath) -> Any:
    return deployed.value_at(deployed.properties_of(stack.resources[logical_id]), path)


def _others(pair: Pair) -> Iterator[Finding]:
    """What no other finding is about: dashboards, buckets, log groups and topics."""
    for it in pair.update.changes.values():
        place = pair.new.place_of(it.logical_id, ())
        keys = [str(path[0]) for path in it.paths if path[0] != "Tags"]
        if it.type not in _OTHERS or not pair.update.same_endpoint:
            continue
        if it.fate is Fate.ADDED:
            yield information(pair, "added", f"`{it.logical_id}` ({it.type})", place)
        elif it.fate is Fate.REMOVED and it.type == LOG_GROUP_TYPE:
            yield information(pair, "changed", f"`{it.logical_id}` stays, but no longer in the stack", place)
        elif it.fate is Fate.REPLACED and it.type == DASHBOARD_TYPE:
            names = [
                readable(stack.of_type(it.type)[it.logical_id].get("DashboardName"))
                for stack in (pair.old, pair.new)
            ]
            yield difference(pair, "changed", "the name of the dashboard", (names[0], names[1]), place)
        elif it.fate is Fate.UPDATED and keys and it.type != DASHBOARD_TYPE:
            yield information(pair, "changed", f"{listed(keys, last='and')} of `{it.logical_id}`", place)


def _tags(pair: Pair) -> Iterator[Finding]:
    """Tags that change, with the resources that have them."""
    tagged: dict[tuple[str, str], list[str]] = {}
    for it in pair.update.changes.values():
        if it.fate is not Fate.ADDED and any(path[0] == "Tags" for path in it.paths):
            old, new = (_tags_of(stack, it.logical_id) for stack in (pair.old, pair.new))
            keys = [key for key in dict.fromkeys((*old, *new)) if old.get(key) != new.get(key)]
            sides = [", ".join(f"{key}={tags[key]}" for key in keys if key in tags) for tags in (old, new)]
            tagged.setdefault((sides[0] or "none", sides[1] or "none"), []).append(it.logical_id)
    for told, names in tagged.items():
        place = pair.new.place_of(names[0], ("Tags",))
        of = listed(names, last="and") if len(names) <= _FEW else f"{len(names)} resources"
        yield difference(pair, "changed", f"the tags of {of}", told, place)


def _tags_of(stack: Stack, logical_id: str) -> dict[str, str]:
    tags = deployed.properties_of(stack.resources[logical_id]).get("Tags")
    return {
        deployed.shown(it.get("Key")): readable(it.get("Value"))
        for it in map(deployed.mapping, deployed.entries(tags))
    }
