"""From resources to a spec: the way back through this package, for an endpoint that exists.

    resources that exist -> a draft of a spec, as plain data -> resolve -> the same resources

What a spec has no key for is listed. Metrics have several forms in a spec; each draft tries the shortest that
is left, until the resources are the same.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, get_args, get_type_hints

import msgspec

from inferstack.catalog.metrics import COMPONENT_NAME, VARIANT_NAME
from inferstack.catalog.resource_types import (
    ALARM_TYPE,
    COMPONENT_TYPE,
    CONFIG_TYPE,
    ENDPOINT_TYPE,
    MODEL_TYPE,
    SCALING_POLICY_TYPE,
    TARGET_TYPE,
)
from inferstack.endpoint.deployed import Properties, entries, mapping
from inferstack.endpoint.of_answers import Existing
from inferstack.facts.quantity import as_counted, is_time
from inferstack.format.alarms import AlarmRule
from inferstack.format.autoscaling import Autoscaling, ScalingPolicy, StepPolicy
from inferstack.format.base import Block
from inferstack.format.defaults import FIELD_DEFAULTS
from inferstack.format.endpoint import Endpoint, EndpointConfig
from inferstack.format.inference_component import InferenceComponent
from inferstack.format.model import NamedModel, PipelineContainer
from inferstack.format.variant import DEFAULT_VARIANT, Variant
from inferstack.problems import SpecPath
from inferstack.resolve.convert import property_names
from inferstack.resolve.draft_alarms import (
    ACTIONS,
    actions_of,
    dimensions_of,
    published_by_sagemaker,
    time_of,
    with_rollback_alarms,
    with_unit,
)

Data = dict[str, Any]
_LINKED_ROLE = "AWSServiceRoleForApplicationAutoScaling"
_AS_LEFT_OUT: Mapping[str, Any] = {
    "EnableNetworkIsolation": False,
    "Mode": "SingleModel",
    "ActionsEnabled": True,
    "DisableScaleIn": False,
    "DynamicScalingInSuspended": False,
    "DynamicScalingOutSuspended": False,
    "ScheduledScalingSuspended": False,
}
"""What AWS shows where a request left a property out."""


class Part(msgspec.Struct, frozen=True):
    """A part of the spec that has several forms: an alarm, or a policy."""

    name: str
    type: str
    forms: tuple[Data, ...]
    """The shortest first."""


class Draft(msgspec.Struct, frozen=True):
    """A spec, and what it does not say."""

    data: Data
    left_out: tuple[str, ...]
    parts: Mapping[SpecPath, str]
    """The parts with several forms, by their paths in the data."""


class Importing:
    """Drafts of a spec for what exists. A part whose form does not do gets its next one, and none at last."""

    def __init__(self, existing: Iterable[Existing], account: str, region: str) -> None:
        self._all = [*existing]
        self._where = {"account": account, "region": region}
        self._tries: Counter[str] = Counter()

    def try_next(self, part: str) -> None:
        """Gives a part its next form."""
        self._tries[part] += 1

    def draft(self) -> Draft:
        """The spec with the present form of each part."""
        return _Draft(self._all, self._where, self._tries).made()


class _Draft:
    """Makes one draft."""

    def __init__(
        self, existing: Sequence[Existing], where: Mapping[str, str], tries: Mapping[str, int]
    ) -> None:
        self._existing, self._where, self._tries = existing, where, tries
        self._left_out = [f"{it.name}: `{member}` of {it.type}" for it in existing for member in it.unsaid]
        self._parts: dict[SpecPath, str] = {}
        [self._config] = self._of(CONFIG_TYPE)
        [self._endpoint] = self._of(ENDPOINT_TYPE)
        self._components = self._of(COMPONENT_TYPE)
        self._production = entries(self._config.properties.get("ProductionVariants"))
        self._role = self._most_common_role()
        own = [it for it in self._of(MODEL_TYPE) if it.properties.get("ExecutionRoleArn") == self._role]
        # A spec has one role; a model with another one is named as it is, and stays outside.
        self._models = {it.name: it for it in own if self._role is not None}
        self._left_out += [
            f"the model {it.name}, which has another role or none: the spec only names it"
            for it in self._of(MODEL_TYPE)
            if it.name not in self._models
        ]
        self._shared_tags = _shared_tags(it for it in existing if it.type != SCALING_POLICY_TYPE)

    def _of(self, type_name: str) -> list[Existing]:
        return [it for it in self._existing if it.type == type_name]

    def made(self) -> Draft:
        """The data, in the order of the reference."""
        data: Data = {"kind": self._kind(), "endpoint_name": self._endpoint.name, "env": dict(self._where)}
        if self._role is not None:
            data["execution_role"] = self._role
        data |= self._model_blocks()
        data |= self._variant_blocks()
        config = self._block(
            EndpointConfig,
            self._config,
            but={"ProductionVariants", "ShadowProductionVariants", "ExecutionRoleArn"},
        )
        endpoint = self._block(Endpoint, self._endpoint, but={"EndpointName", "EndpointConfigName"})
        data |= {key: it for key, it in (("endpoint_config", config), ("endpoint", endpoint)) if it}
        if self._components:
            data["inference_components"] = dict(map(self._component, self._components))
        rules = [*self._rules()]
        data["alarms"] = {"defaults": False, **({"rules": rules} if rules else {})}
        data["dashboard"] = False
        if self._shared_tags:
            data["tags"] = dict(self._shared_tags)
        return Draft(
            with_rollback_alarms(data, self._left_out), tuple(dict.fromkeys(self._left_out)), self._parts
        )

    # ------------------------------------------------------------ what the endpoint hosts

    def _kind(self) -> str:
        if self._components or not any("ModelName" in it for it in self._production):
            return "inference-components"
        models = [it.properties for it in self._of(MODEL_TYPE)]
        if any("Containers" in it for it in models):
            return "pipeline"
        modes = [mapping(it.get("PrimaryContainer")).get("Mode") for it in models]
        return "multi-model" if "MultiModel" in modes else "single-model"

    def _most_common_role(self) -> str | None:
        """The role of the configuration, else of most models."""
        roles = Counter(
            it.properties["ExecutionRoleArn"]
            for it in (self._config, *self._of(MODEL_TYPE))
            if "ExecutionRoleArn" in it.properties
        )
        # Components run under that of the configuration, whatever models have.
        if "ExecutionRoleArn" in self._config.properties:
            return str(self._config.properties["ExecutionRoleArn"])
        return roles.most_common(1)[0][0] if roles else None

    @property
    def _is_only_model(self) -> bool:
        """Whether the spec needs no name for its model."""
        return len(self._models) == 1 and len(self._production) == 1 and not self._named_elsewhere

    @property
    def _named_elsewhere(self) -> bool:
        shadows = self._config.properties.get("ShadowProductionVariants")
        return bool(shadows or self._components or self._production[0].get("InstancePools"))

    def _model_blocks(self) -> Data:
        made = {name: self._model(it) for name, it in self._models.items()}
        if not made:
            return {}
        return {"model": next(iter(made.values()))} if self._is_only_model else {"models": made}

    def _model(self, model: Existing) -> Data:
        containers = model.properties.get("Containers")
        container = mapping(model.properties.get("PrimaryContainer"))
        own = {
            key: value
            for key, value in model.properties.items()
            if key not in ("Containers", "PrimaryContainer", "ExecutionRoleArn")
        }
        merged = {**{key: it for key, it in _once(container).items() if key != "Mode"}, **own}
        made = self._block(NamedModel, msgspec.structs.replace(model, properties=merged))
        if containers is not None:
            steps = [self._said(PipelineContainer, _once(it), f"the model {model.name}") for it in containers]
            made = {"containers": steps, **made}
        return made

    # ------------------------------------------------------------ variants

    def _variant_blocks(self) -> Data:
        made = [self._variant(it, ("variants", index)) for index, it in enumerate(self._production)]
        shadows = entries(self._config.properties.get("ShadowProductionVariants"))
        found = [self._variant(it, ("shadow_variants", index)) for index, it in enumerate(shadows)]
        return {
            **({"variant": made[0]} if len(made) == 1 else {"variants": made}),
            **({"shadow_variants": found} if found else {}),
        }

    def _variant(self, variant: Properties, path: SpecPath) -> Data:
        made = self._said(Variant, variant, f"the variant {variant['VariantName']}")
        if made.get("variant_name") == DEFAULT_VARIANT:
            del made["variant_name"]
        if self._is_only_model:
            del made["model_name"]
        at = ("variant",) if path[0] == "variants" and len(self._production) == 1 else path
        resource_id = f"endpoint/{self._endpoint.name}/variant/{variant['VariantName']}"
        return made | self._autoscaling(resource_id, at)

    def _component(self, component: Existing) -> tuple[str, Data]:
        made = self._block(InferenceComponent, component, but={"InferenceComponentName", "EndpointName"})
        is_adapter = "base_inference_component_name" in made.get("specification", {})
        # Copies that scaling has removed cannot be asked for, and an adapter has those of its base.
        if is_adapter or made.get("runtime_config", {}).get("copy_count") == 0:
            made.pop("runtime_config", None)
        if is_adapter or len(self._production) == 1:
            made.pop("variant_name", None)
        at = ("inference_components", component.name)
        return component.name, made | self._autoscaling(f"inference-component/{component.name}", at)

    # ------------------------------------------------------------ scaling

    def _autoscaling(self, resource_id: str, at: SpecPath) -> Data:
        target = next((it for it in self._of(TARGET_TYPE) if it.name == resource_id), None)
        if target is None:
            return {}
        own = {"ResourceId", "ScalableDimension", "ServiceNamespace"}
        if _LINKED_ROLE in str(target.properties.get("RoleARN")):
            own.add("RoleARN")
        made = self._block(Autoscaling, target, but=own)
        path = (*at, "autoscaling")
        ours = [it for it in self._of(SCALING_POLICY_TYPE) if it.properties["ScalingTargetId"] == target.key]
        tracking = [
            self._tracking(it) for it in ours if it.properties["PolicyType"] == "TargetTrackingScaling"
        ]
        steps = [self._step(it) for it in ours if it.properties["PolicyType"] == "StepScaling"]
        others = [
            it for it in ours if it.properties["PolicyType"] not in ("TargetTrackingScaling", "StepScaling")
        ]
        self._left_out += [f"the policy {it.name}: {it.properties['PolicyType']}" for it in others]
        for key, parts in (("policies", tracking), ("step_policies", steps)):
            written = [*self._written(parts, (*path, key))]
            made |= {key: written} if written else {}
        if made["min_capacity"] == 0 and not steps:
            made["wake_up"] = False
        return {"autoscaling": made}

    def _written(self, parts: Iterable[Part], at: SpecPath) -> Iterator[Data]:
        """The present form of each part."""
        index = 0
        for part in parts:
            tried = self._tries.get(part.name, 0)
            if tried >= len(part.forms):
                self._left_out.append(part.name)
                continue
            self._parts[(*at, index)] = part.name
            index += 1
            yield part.forms[tried]

    def _tracking(self, policy: Existing) -> Part:
        config = dict(policy.properties["TargetTrackingScalingPolicyConfiguration"])
        predefined = mapping(config.pop("PredefinedMetricSpecification", None)).get("PredefinedMetricType")
        name, title = policy.properties["PolicyName"], f"the policy {policy.name}"
        said = self._said(ScalingPolicy, config, title)
        custom = mapping(config.get("CustomizedMetricSpecification"))
        metric = predefined if predefined is not None else custom.get("MetricName")
        short = {
            "metric": metric,
            **{k: it for k, it in said.items() if k != "customized_metric_specification"},
        }
        named = {} if name == metric else {"policy_name": name}
        forms = [{**short, **named}] if metric is not None else []
        return Part(title, policy.type, (*forms, *([] if predefined else [{**said, "policy_name": name}])))

    def _step(self, policy: Existing) -> Part:
        title = f"the policy {policy.name}"
        alarms = [
            it for it in self._of(ALARM_TYPE) if policy.key in entries(it.properties.get("AlarmActions"))
        ]
        resource = str(policy.properties["ScalingTargetId"]).partition("|")[0].rpartition("/")[2]
        # One policy may have alarms on adapters, too.
        own = [it for it in alarms if resource in dimensions_of(it.properties).values()] or alarms
        if not own:
            return Part(f"{title}, which has no alarm", policy.type, ())
        config = self._said(StepPolicy, policy.properties["StepScalingPolicyConfiguration"], title)
        watched = self._watching(StepPolicy, own[0], but={"AlarmName", "AlarmDescription", "ActionsEnabled"})
        actions = {key: [it for it in value if it != policy.key] for key, value in actions_of(own[0]).items()}
        rest = {key: it for key, it in actions.items() if it}
        forms = []
        for unit, form in watched:
            steps = [with_unit(it, unit) for it in config.get("step_adjustments", ())]
            named = {"policy_name": policy.properties["PolicyName"]}
            forms.append({**named, **form, **config, "step_adjustments": steps, **rest})
        return Part(title, policy.type, tuple(forms))

    # ------------------------------------------------------------ alarms

    def _rules(self) -> Iterator[Data]:
        policies = {it.key for it in self._of(SCALING_POLICY_TYPE)}
        parts = []
        for alarm in self._of(ALARM_TYPE):
            self._leave_out_tags(alarm)
            if policies.isdisjoint(entries(alarm.properties.get("AlarmActions"))):
                actions = {key: it for key, it in actions_of(alarm).items() if it}
                forms = [{**form, **actions} for _, form in self._watching(AlarmRule, alarm)]
                parts.append(Part(f"the alarm {alarm.name}", ALARM_TYPE, tuple(forms)))
        yield from self._written(parts, ("alarms", "rules"))

    def _watching(
        self, block: type[Block], alarm: Existing, but: frozenset[str] | set[str] = frozenset()
    ) -> Iterator[tuple[str | None, Data]]:
        """What an alarm watches, in each form, with the unit that its threshold has there."""
        properties = {
            key: value
            for key, value in alarm.properties.items()
            if key not in {"Tags", *ACTIONS, *but} and (key, value) != ("ActionsEnabled", True)
        }
        properties["Statistic"] = properties.pop("ExtendedStatistic", properties.get("Statistic"))
        said = self._said(block, {k: it for k, it in properties.items() if it is not None}, alarm.name)
        for name, default in FIELD_DEFAULTS[block].items():
            if said.get(name) == default.value:
                del said[name]
        metric = published_by_sagemaker(properties)
        if metric is not None and "threshold" in said:
            counted = as_counted(metric, said.get("statistic"))
            unit = counted.unit if is_time(counted) else None
            short = {
                k: it for k, it in said.items() if k not in ("namespace", "metric_name", "dimensions", "unit")
            }
            if unit is not None:
                short["threshold"] = time_of(short["threshold"], unit)
            where = dimensions_of(properties)
            chosen = {"variant_name": VARIANT_NAME, "inference_component": COMPONENT_NAME}
            several = block is AlarmRule
            part = {key: where[name] for key, name in chosen.items() if several and name in where}
            yield unit, {"metric": metric.name, **part, **short}
        yield None, said

    # ------------------------------------------------------------ blocks

    def _block(self, block: type[Block], it: Existing, but: set[str] | frozenset[str] = frozenset()) -> Data:
        properties = {key: value for key, value in it.properties.items() if key not in {*but, "Tags"}}
        made = self._said(block, properties, it.name)
        own = self._own_tags(it)
        if own and "tags" in block.__struct_fields__:
            made["tags"] = own
        elif own:
            self._leave_out_tags(it)
        return made

    def _own_tags(self, it: Existing) -> dict[str, str]:
        return {key: value for key, value in _tags(it).items() if self._shared_tags.get(key) != value}

    def _leave_out_tags(self, it: Existing) -> None:
        self._left_out += [
            f"the tag `{key}: {value}` of {it.name}" for key, value in self._own_tags(it).items()
        ]

    def _said(self, block: type[Block], properties: Properties, of: str) -> Data:
        """The properties as keys of a block; what it has no key for is listed."""
        keys = {name: key for key, name in property_names(block).items() if key in block.__struct_fields__}
        nested = _nested(block)
        made: Data = {}
        for name, value in properties.items():
            key = keys.get(name)
            if _is_as_left_out(name, value):
                continue
            if key is None:
                self._left_out.append(f"`{name}` of {of}")
                continue
            below = nested.get(key)
            match value:
                case dict() if below is not None:
                    made[key] = self._said(below, value, of)
                    if not made[key]:
                        del made[key]
                case list() if below is not None:
                    made[key] = [self._said(below, one, of) for one in value]
                case _:
                    made[key] = value
        # In the order of the reference.
        return {key: made[key] for key in block.__struct_fields__ if key in made}


def _is_as_left_out(name: str, value: Any) -> bool:
    return value in ({}, []) or (name in _AS_LEFT_OUT and value == _AS_LEFT_OUT[name])


@cache
def _nested(block: type[Block]) -> Mapping[str, type[Block]]:
    """The blocks below a block, by key."""
    found = {key: _block_in(hint) for key, hint in get_type_hints(block).items()}
    return {key: it for key, it in found.items() if it is not None}


def _block_in(hint: Any) -> type[Block] | None:
    if isinstance(hint, type) and issubclass(hint, Block):
        return hint if hint.shapes else None
    return next((it for it in map(_block_in, get_args(hint)) if it is not None), None)


def _once(container: Properties) -> Properties:
    """A container without the data source that AWS shows in addition to the URL that it was made from."""
    source = mapping(mapping(container.get("ModelDataSource")).get("S3DataSource"))
    usual = {"S3Uri": container.get("ModelDataUrl"), "S3DataType": "S3Object", "CompressionType": "Gzip"}
    prefix = {**usual, "S3DataType": "S3Prefix"}
    if source in (usual, prefix):
        return {key: value for key, value in container.items() if key != "ModelDataSource"}
    return container


# ---------------------------------------------------------------- tags


def _tags(it: Existing) -> dict[str, str]:
    return {one["Key"]: one["Value"] for one in entries(it.properties.get("Tags"))}


def _shared_tags(existing: Iterable[Existing]) -> dict[str, str]:
    """The tags of the spec: those that all resources have. Their values are those of targets and alarms,
    which can have no others.
    """
    every = [*existing]
    bare = [_tags(it) for it in every if it.type in (TARGET_TYPE, ALARM_TYPE)]
    found = [_tags(it) for it in every]
    everywhere = [key for key in found[0] if all(key in it for it in found)]
    return {key: Counter(it[key] for it in bare or found).most_common(1)[0][0] for key in everywhere}
