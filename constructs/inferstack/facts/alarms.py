"""The alarms that a spec asks for, part by part: the default set of its kind and its own rules."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.catalog.images import name_in_registry
from inferstack.catalog.metrics import COMPONENT_NAME, Metric
from inferstack.facts.once import answered_once, found_once
from inferstack.facts.publications import (
    Publisher,
    is_chosen,
    published,
    publishers,
    seconds_between_readings,
)
from inferstack.facts.scaling import goes_to_zero
from inferstack.facts.triton import WrittenImage, own_block
from inferstack.facts.walk import (
    bases_of_adapters,
    component_scalings,
    components,
    containers,
    deployment_config,
    hosting_of,
    model_containers,
    runs,
    shadow_variants,
    watched_name,
    whole_specifications,
)
from inferstack.format.alarms import ACTION_KEYS, AlarmMetricDataQuery, AlarmRule, Alarms, CompositeAlarm
from inferstack.format.autoscaling import StepPolicy
from inferstack.format.default_alarms import DEFAULT_ALARMS, DefaultAlarm
from inferstack.format.defaults import FIELD_DEFAULTS, GPU_MEMORY_TAKEN, VARIABLES_OF_GPU_MEMORY_TAKERS
from inferstack.format.endpoint import AutoRollbackConfiguration, RollbackAlarm
from inferstack.format.inference_component import ComponentContainer, ComputeResourceRequirements
from inferstack.format.kinds import ModelSpec
from inferstack.format.model import Container, FrameworkImage
from inferstack.format.variant import Variant
from inferstack.problems import SpecPath
from inferstack.texts.placeholders import ATOM, is_opaque

# ---------------------------------------------------------------- how CloudWatch evaluates an alarm


class Evaluation(msgspec.Struct, frozen=True):
    """The fields that every alarm needs. ``period`` is the length of one data point, in seconds."""

    period: int
    evaluation_periods: int
    comparison_operator: str
    treat_missing_data: str

    @property
    def looks_down(self) -> bool:
        """Whether values below the threshold raise the alarm."""
        return self.comparison_operator.startswith("Less")


def evaluation(watched: AlarmRule | StepPolicy, between_readings: int = 0) -> Evaluation:
    """The evaluation of an alarm on a metric with ``between_readings`` seconds from one reading to the next.

    The default period is never shorter than that, since most periods would then have no data.
    """
    said: dict[str, Any] = {}
    for field, default in FIELD_DEFAULTS[type(watched)].items():
        written = getattr(watched, field)
        said[field] = default.value if written is None else written
    if watched.metrics is not None:
        # An expression is evaluated over the longest period among its metrics.
        said["period"] = max(_periods(watched.metrics), default=said["period"])
    elif watched.period is None:
        said["period"] = max(said["period"], between_readings)
    return Evaluation(**said)


def _periods(queries: Sequence[AlarmMetricDataQuery]) -> Iterator[int]:
    for query in queries:
        if query.metric_stat is not None:
            yield query.metric_stat.period
        if query.period is not None:
            yield query.period


# ---------------------------------------------------------------- servers that take a GPU's memory

GPU_MEMORY = "GPUMemoryUtilization"
"""How the names of the metrics of it begin."""
_SERVER = re.compile(rf"(?<![a-z])({'|'.join(GPU_MEMORY_TAKEN)})(?![a-z])")


def may_take_gpu_memory(spec: ModelSpec, part: Publisher) -> bool:
    """Whether a container of a variant or a component runs such a server, judging by its image's name.

    If the image is given by its URI, its environment variables count as well. What runs in a model package,
    in a hub's model or in a model that exists already is often such a server, too, which nothing here shows.
    """
    found = _containers_of(spec, part)
    return not any(map(_shows_what_runs, found)) or any(map(_takes, found))


def gpu_memory_taken(spec: ModelSpec, part: Publisher) -> float | None:
    """The share that such a server takes by default, if the name of an image of a variant or a component says
    that it runs one.
    """
    names = (server_in(container.image) for container in _containers_of(spec, part))
    return max((GPU_MEMORY_TAKEN[it].value for it in names if it is not None), default=None)


def _containers_of(spec: ModelSpec, part: Publisher) -> Sequence[Container | ComponentContainer]:
    component = part.values.get(COMPONENT_NAME)
    if component is not None:
        return list(_containers_of_component(spec, component))
    return [] if part.variant is None else list(_containers_of_variant(spec, part.variant))


def _shows_what_runs(container: Container | ComponentContainer) -> bool:
    """Whether it is known before the deployment what runs: Triton's models, or an image with a name."""
    image = container.image
    is_named = image is not None and not (isinstance(image, str) and re.fullmatch(ATOM, image))
    return is_named or own_block(container) is not None


def _takes(container: Container | ComponentContainer) -> bool:
    said = container.environment or {} if isinstance(container.image, str) else {}
    return server_in(container.image) is not None or any(
        key.startswith(VARIABLES_OF_GPU_MEMORY_TAKERS) for key in said
    )


def server_in(image: WrittenImage) -> str | None:
    """Which such server an image runs, in the words of :data:`GPU_MEMORY_TAKEN`; None if it does not say."""
    match image:
        case FrameworkImage():
            # An image for Hugging Face's models has another framework below.
            name = f"{image.framework} {image.base_framework_version}"
        case str():
            name = name_in_registry(image)
        case None:
            return None
    found = _SERVER.search(name)
    return None if found is None else found[1]


def _containers_of_variant(spec: ModelSpec, variant: Variant) -> Iterator[Container]:
    overrides = (pool.model_name_override for pool in variant.instance_pools or ())
    hosted = {variant.model_name, *(it for it in overrides if it is not None)}
    return (container for _, name, container in model_containers(spec) if name in hosted)


def _containers_of_component(spec: ModelSpec, name: str) -> Iterator[Container | ComponentContainer]:
    """The component's own containers, and those of its base if it is an adapter, which runs in them."""
    hosts = dict.fromkeys((name, bases_of_adapters(spec).get(name, name)))
    return (container for host in hosts for container in _containers_by_component(spec).get(host, ()))


@answered_once
def _containers_by_component(spec: ModelSpec) -> Mapping[str, Sequence[Container | ComponentContainer]]:
    by_path = {placed.path: placed.container for placed in containers(spec)}
    found: dict[str, list[Container | ComponentContainer]] = {}
    for run in runs(spec):
        if run.container in by_path:
            found.setdefault(run.name, []).append(by_path[run.container])
    return found


# ---------------------------------------------------------------- the alarms

ROLLBACK = ("deployment_config", "auto_rollback_configuration")


class OwnAlarm(msgspec.Struct, frozen=True):
    """One alarm: its rule and the rule's path, what it watches and how, and why it exists."""

    path: SpecPath
    rule: AlarmRule
    evaluation: Evaluation
    part: Publisher
    metric: Metric | None
    """None for a metric that SageMaker does not publish."""
    reason: str
    of_shadow: bool
    """Whether it watches a shadow variant."""


@found_once
def own_alarms(spec: ModelSpec) -> Iterator[OwnAlarm]:
    """One alarm for each rule and each part of the endpoint that publishes its metric.

    A rule on a metric that SageMaker does not publish makes a single alarm.
    """
    if spec.alarms is False:
        return
    block = alarms_block(spec)
    for default in _defaults(spec, block):
        own = [rule for rule in block.rules if rule.metric == default.rule.metric]
        for part, metric in _watched(spec, default.rule):
            taken = default.not_where_taken and may_take_gpu_memory(spec, part)
            useful = _is_known(default, part, metric) and _says_more_than_the_base(spec, default, part)
            if useful and not taken and not any(watches(rule, part) for rule in own):
                for rule in _fitted(spec, default, part):
                    yield _own_alarm(spec, ("alarms",), rule, part, metric, default.reason)
    for index, rule in enumerate(block.rules):
        for part, metric in _watched(spec, rule):
            yield _own_alarm(spec, ("alarms", "rules", index), rule, part, metric, "")


def _own_alarm(
    spec: ModelSpec, path: SpecPath, rule: AlarmRule, part: Publisher, metric: Metric | None, reason: str
) -> OwnAlarm:
    readings = 0 if metric is None else seconds_between_readings(spec, metric)
    of_shadow = any(part.variant is shadow for _, shadow in shadow_variants(spec))
    return OwnAlarm(path, rule, evaluation(rule, readings), part, metric, reason, of_shadow)


def most_own_alarms(spec: ModelSpec) -> int:
    """An upper bound: the number of alarms if each part of the endpoint published each metric."""
    return (len(DEFAULT_ALARMS) + len(alarms_block(spec).rules)) * len(publishers(spec))


def alarms_block(spec: ModelSpec) -> Alarms:
    """The block `alarms`; an empty one if the spec says `true` or nothing."""
    return spec.alarms if isinstance(spec.alarms, Alarms) else Alarms()


def with_own_actions(block: Alarms, rule: AlarmRule | CompositeAlarm) -> Alarms:
    """The block `alarms`, with the rule's own actions in place of its own."""
    keys = (*ACTION_KEYS, "actions_enabled")
    own = {key: value for key in keys if (value := getattr(rule, key)) is not None}
    return replace(block, **own) if own else block


def _defaults(spec: ModelSpec, block: Alarms) -> Iterator[DefaultAlarm]:
    """The default alarms for the endpoint's kind, some of which the spec's own rules may replace."""
    for default in DEFAULT_ALARMS if block.defaults else ():
        if hosting_of(spec) in default.hostings and not (default.not_where_cached and _keeps_models(spec)):
            yield default


def _fitted(spec: ModelSpec, default: DefaultAlarm, part: Publisher) -> Iterator[AlarmRule]:
    """The rule of a default alarm for one part of the endpoint; none if it means nothing there."""
    if not default.of_limit:
        yield default.rule
    elif (most := _most_to_least_memory(spec, part.values.get(COMPONENT_NAME, ""))) is not None:
        yield replace(default.rule, threshold=round(float(default.rule.threshold) * most))


def _most_to_least_memory(spec: ModelSpec, name: str) -> float | None:
    """How many times the memory that it reserves a component may take; None if it does not say so.

    Where several specifications say different things, the largest: an alarm must not be on for good.
    """
    found = _requirements(spec).get(name, ())
    limits = [(it.min_memory_required_in_mb, it.max_memory_required_in_mb) for it in found if it is not None]
    known = [it for it in limits if not any(bound is None or is_opaque(bound) for bound in it)]
    shares = [most / least for least, most in known if least and most]
    return max(shares) if shares and len(shares) == len(found) else None


@answered_once
def _requirements(spec: ModelSpec) -> Mapping[str, Sequence[ComputeResourceRequirements | None]]:
    """What each component that is no adapter requires, by its name: once for each of its specifications."""
    found: dict[str, list[ComputeResourceRequirements | None]] = {}
    for _, name, specification in whole_specifications(spec):
        found.setdefault(name, []).append(specification.compute_resource_requirements)
    return found


def _keeps_models(spec: ModelSpec) -> bool:
    """Whether a container with many models keeps what it has loaded, as it does by default."""
    many = (it.container for it in containers(spec) if it.takes_prefix)
    configs = (it.multi_model_config for it in many if isinstance(it, Container))
    return any(it is None or it.model_cache_setting != "Disabled" for it in configs)


def _is_known(default: DefaultAlarm, part: Publisher, metric: Metric | None) -> bool:
    """False if the threshold is a share of devices, and it is not known how many devices there are."""
    is_number = not isinstance(default.rule.threshold, str)
    return metric is None or is_number or part.devices(metric) is not None


def _says_more_than_the_base(spec: ModelSpec, default: DefaultAlarm, part: Publisher) -> bool:
    """False for an adapter whose base already has the same alarm; true for any other part.

    AWS does not say whether requests that are refused while a base has no copies count for the base or for
    the adapter. If the base may be without copies in normal operation, both are watched.
    """
    base = bases_of_adapters(spec).get(part.values.get(COMPONENT_NAME, ""))
    if base is None or default.of_adapters == "all":
        return True
    return default.of_adapters == "of bases that go to zero" and base in _going_to_zero(spec)


@answered_once
def _going_to_zero(spec: ModelSpec) -> frozenset[str]:
    scalings = component_scalings(spec)
    return frozenset(name for _, name, _, scaling in scalings if goes_to_zero(scaling))


def _watched(spec: ModelSpec, rule: AlarmRule) -> Iterator[tuple[Publisher, Metric | None]]:
    if rule.metric is None:
        yield from ((part, None) for part in _subject_of(spec, rule))
        return
    for part, metric in published(rule.metric, spec):
        if watches(rule, part) and part.may_have(metric):
            yield part, metric


def _subject_of(spec: ModelSpec, rule: AlarmRule) -> list[Publisher]:
    """The one part that a user's own metric is about: the endpoint, unless the rule says otherwise."""
    found = [part for part in publishers(spec) if watches(rule, part)]
    names_one = rule.variant_name is not None or rule.inference_component is not None
    return found[:1] if names_one else found[-1:]


def watches(rule: AlarmRule, part: Publisher) -> bool:
    """Whether a rule applies to a part of the endpoint: it applies to all unless it names one."""
    return is_chosen(part.values, rule.variant_name, rule.inference_component)


# ---------------------------------------------------------------- alarms that undo an update


@found_once
def rollbacks(spec: ModelSpec) -> Iterator[tuple[SpecPath, AutoRollbackConfiguration, str | None]]:
    """Every place with roll-back alarms: its path, the alarms, and the component (None for the endpoint)."""
    config = deployment_config(spec)
    if config is not None and config.auto_rollback_configuration is not None:
        yield ("endpoint", *ROLLBACK), config.auto_rollback_configuration, None
    for path, name, component in components(spec):
        of_component = component.deployment_config
        if of_component is not None and of_component.auto_rollback_configuration is not None:
            yield (*path, *ROLLBACK), of_component.auto_rollback_configuration, name


def rolls_back(alarm: OwnAlarm, rollback: AutoRollbackConfiguration, component: str | None) -> bool:
    """Whether an alarm of the spec rolls back an update of the endpoint, or of the component with this name.

    Only a component's own alarms roll it back; the others say nothing about it. The alarms of a shadow
    variant roll nothing back: a shadow is for trying something out, and nobody gets its responses.
    """
    if alarm.of_shadow:
        return False
    if component is not None and alarm.part.values.get(COMPONENT_NAME) != component:
        return False
    if isinstance(rollback.alarms, str):
        return True
    return any(_is_chosen(alarm.rule, chosen) for chosen in rollback.alarms)


def _is_chosen(rule: AlarmRule, chosen: RollbackAlarm) -> bool:
    by_name = chosen.alarm_name is not None and chosen.alarm_name == rule.alarm_name
    return by_name or chosen.metric == watched_name(rule)


def foreign_alarms(spec: ModelSpec, rollback: AutoRollbackConfiguration) -> list[str]:
    """Names of the alarms in the list that are not alarms on metrics of this spec."""
    own = {it.rule.alarm_name for it in own_alarms(spec)}
    names = (it.alarm_name for it in named_alarms(rollback))
    return [name for name in names if name is not None and name not in own]


def named_alarms(rollback: AutoRollbackConfiguration) -> Sequence[RollbackAlarm]:
    """The entries of the list; none if it is `own`, which means all alarms of the spec."""
    return () if isinstance(rollback.alarms, str) else rollback.alarms
