"""The metrics that scaling follows, and their targets."""

from collections.abc import Iterator

import msgspec

from inferstack.catalog import metrics
from inferstack.catalog.metrics import Metric
from inferstack.check.rules.alarms.custom_metrics import broken_metric, broken_metrics, customized
from inferstack.check.rules.base import AWS, GUIDE, METRICS_PAGE, TRACKING_PAGE, error, warning
from inferstack.facts.alarms import GPU_MEMORY, gpu_memory_taken
from inferstack.facts.kinds import hosts_components
from inferstack.facts.publications import devices_by_type
from inferstack.facts.quantity import INSTEAD_OF_A_TARGET, as_sum, is_time
from inferstack.facts.scaling import WHAT, Scaled, metrics_of, named_policies, policies, steps
from inferstack.facts.walk import hosting_of, hosts
from inferstack.format.autoscaling import ScalingPolicy
from inferstack.format.kinds import InferenceComponentsSpec, ModelSpec
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import begun_by, did_you_mean_then, likest, listed

_POLICY = f"{GUIDE}/endpoint-auto-scaling-add-code-define.html"
_TRACKABLE = f"{AWS}/autoscaling/application/userguide/target-tracking-scaling-policy-overview.html"
_CUSTOMIZED = f"{AWS}/autoscaling/application/APIReference/API_CustomizedMetricSpecification.html"

# Of a serverless endpoint's metrics, only this one rises and falls with provisioned concurrency.
_OF_CONCURRENCY = "ServerlessProvisionedConcurrencyUtilization"


@error("IS510", METRICS_PAGE)
def metric_is_known(spec: ModelSpec) -> Iterator[Problem]:
    """The metric of a policy must be one that AWS has.

    Either a predefined metric type, or one that SageMaker publishes. Nothing scales by any other name.
    """
    for path, scaled, _, name in named_policies(spec):
        if metrics.find_predefined(name) is None and not metrics.find(name):
            fitting = _fitting(spec, scaled)
            meant = begun_by(name, fitting) or [*fitting, *metrics.names()]
            # SageMakerVariantCPUUtilization, say: made up in the style of the predefined ones.
            plain = next((it for it in fitting if name.endswith(it)), name)
            fix = did_you_mean_then(plain, meant, f"available here: {likest(name, fitting)}")
            yield Problem((*path, "metric"), f"AWS has no metric `{name}`", fix)


def _fitting(spec: ModelSpec, scaled: Scaled) -> list[str]:
    """Metrics that could be held at a target here, the predefined ones first."""
    known = (it.name for it in metrics.PREDEFINED_SCALING_METRICS)
    predefined = [name for name in known if _has_data(spec, scaled, name)]
    published = (name for name in metrics.names(hosting_of(spec)) if _has_data(spec, scaled, name))
    trackable = (name for name in published if _can_be_tracked(name))
    return [*predefined, *(name for name in trackable if _has_devices(spec, scaled, name))]


def _has_data(spec: ModelSpec, scaled: Scaled, name: str) -> bool:
    """Whether it is published, and not one of those that IS524 warns of."""
    doubtful = hosts_components(spec) and _is_of_requests_to_variant(spec, scaled, name)
    return _published(spec, scaled, name) and not doubtful


def _is_of_requests_to_variant(spec: ModelSpec, scaled: Scaled, name: str) -> bool:
    predefined = metrics.find_predefined(name)
    if predefined is None:
        return any(it.is_of_requests_to_variant for it in metrics_of(spec, scaled, name))
    # Each that scales instances is.
    return predefined.scalable_dimension == scaled.dimension == metrics.INSTANCE_COUNT


def _has_devices(spec: ModelSpec, scaled: Scaled, name: str) -> bool:
    """Whether the instances have the devices that the metric is about; unknown types may have them."""
    fleet = [] if scaled.variant is None else list(hosts(scaled.variant))
    return all(it.gpus for it in fleet) or not any(it.is_about_gpus for it in metrics_of(spec, scaled, name))


def _published(spec: ModelSpec, scaled: Scaled, name: str) -> bool:
    predefined = metrics.find_predefined(name)
    if predefined is not None:
        return predefined.scalable_dimension == scaled.dimension and hosting_of(spec) in predefined.hostings
    if scaled.dimension == metrics.PROVISIONED_CONCURRENCY and name != _OF_CONCURRENCY:
        return False
    return bool(metrics_of(spec, scaled, name))


@error("IS511", _POLICY)
def predefined_metric_fits(spec: ModelSpec) -> Iterator[Problem]:
    """A predefined metric must belong to what the policy scales.

    Metrics of copies scale copies, and metrics of variants scale instances.
    """
    for path, scaled, _, name in named_policies(spec):
        found = metrics.find_predefined(name)
        if found is not None and found.scalable_dimension != scaled.dimension:
            here, there = WHAT[scaled.dimension], WHAT[found.scalable_dimension]
            message = f"{name} scales {there}, but this policy scales {here}"
            yield Problem((*path, "metric"), message, f"available here: {listed(_fitting(spec, scaled))}")


@error("IS512", METRICS_PAGE)
def metric_is_published(spec: ModelSpec) -> Iterator[Problem]:
    """The metric of a policy must be published for what the policy scales.

    A policy whose metric has no data never does anything.
    """
    for path, scaled, _, name in named_policies(spec):
        predefined, what = metrics.find_predefined(name), name
        known = bool(metrics.find(name))
        if predefined is not None:
            # IS511 reports those that scale something else.
            known = predefined.scalable_dimension == scaled.dimension
            what = f"{predefined.metric}, which {name} follows,"
        if known and not _published(spec, scaled, name):
            here = f"{what} is not published for {WHAT[scaled.dimension]} of this kind of endpoint"
            message = f"{here}: {_where_published(spec, name if predefined is None else predefined.metric)}"
            yield Problem((*path, "metric"), message, f"available here: {listed(_fitting(spec, scaled))}")


@warning("IS524", "user reports")
def instances_do_not_follow_requests(spec: InferenceComponentsSpec) -> Iterator[Problem]:
    """The instances below inference components should not be scaled by requests to their variant.

    Users report that such a metric has no data there, although AWS lists it.
    """
    followed = [(path, scaled, name) for path, scaled, _, name in named_policies(spec)]
    # IS530 refuses predefined names there.
    stepped = ((path, scaled, step.metric or "") for path, scaled, step in steps(spec))
    followed += [it for it in stepped if metrics.find_predefined(it[2]) is None]
    for path, scaled, name in followed:
        if _is_of_requests_to_variant(spec, scaled, name):
            message = f"{name} may have no data for a variant with inference components"
            fix = "use `managed_instance_scaling`, which follows the copies, or a metric of instances"
            yield Problem((*path, "metric"), message, fix)


_ENDPOINTS = {
    "instances": "real-time endpoints with a model on each variant",
    "multi-model": "multi-model endpoints",
    "inference-components": "endpoints with inference components",
    "async": "asynchronous endpoints",
    "serverless": "serverless endpoints",
}
_LEVELS = {
    "variant": "a variant's instances",
    "component": "an inference component",
    "container": "one of several containers",
    "endpoint": "the endpoint as a whole",
}


def _where_published(spec: ModelSpec, name: str) -> str:
    """Where this metric is published instead: other parts of this endpoint, or other kinds."""
    here = {_LEVELS[it.dimensions] for it in metrics.find(name, hosting_of(spec))}
    if here:
        return f"it describes {listed(sorted(here), quote='')}"
    hostings = {hosting for it in metrics.find(name) for hosting in it.hostings}
    return f"it is only for {listed([what for it, what in _ENDPOINTS.items() if it in hostings], quote='')}"


@error("IS513", TRACKING_PAGE)
def target_is_positive(spec: ModelSpec) -> Iterator[Problem]:
    """The target of a policy must be above zero.

    Capacity follows the ratio of metric to target.
    """
    tops = {it.path: it.most for it in _bounded(spec)}
    for path, _, policy in policies(spec):
        if policy.target_value <= 0:
            message = f"the target is {policy.target_value}"
            most = tops.get(path)
            such = "" if not most else f", such as {round(most * 0.7, 1):g}, 70 % of all"
            yield Problem((*path, "target_value"), message, f"write a number above 0{such}")


@error("IS514", METRICS_PAGE)
def target_can_be_reached(spec: ModelSpec) -> Iterator[Problem]:
    """The target of a utilization must be one that the metric can reach.

    A sum over devices is at most 100 times their number. AWS accepts any target; nothing scales by this one.
    """
    for it in _bounded(spec):
        policy, most = it.policy, it.most
        if most is not None and policy.target_value > most:
            key = "target_value"
            message = f"{policy.metric} never gets above {most} here, but the target is {policy.target_value}"
            fix = f"write a number below {most}, such as {most * 7 // 10}"
            if most == 1:
                percent = policy.target_value
                meant = f"; {percent} % is {percent / 100:g}" if percent <= 100 else ""
                fix = f"write a share, such as 0.7{meant}"
            if not most:
                key = "metric"
                message = f"{_without_gpu(it.scaled)} has no GPU, so {policy.metric} is not published"
                fix = "choose another metric, or an instance type with GPUs"
            yield Problem((*it.path, key), message, fix)


@warning("IS515", METRICS_PAGE)
def target_counts_all_devices(spec: ModelSpec) -> Iterator[Problem]:
    """The target of a utilization that sums over devices should count all of them.

    A target of 60 on four GPUs is 15 % of them.
    """
    for it in _bounded(spec):
        target, devices = it.policy.target_value, it.preferred_devices
        # IS379: no number would make such a policy follow the load.
        is_taken = (
            it.metric.name.startswith(GPU_MEMORY) and gpu_memory_taken(spec, it.scaled.part) is not None
        )
        if devices > 1 and 1 <= target <= 100 and not is_taken:
            fix = f"for {target} % of the total, write {target * devices}"
            yield Problem((*it.path, "target_value"), as_sum(target, it.metric, devices), fix)


@error("IS522", METRICS_PAGE)
def target_is_in_percent(spec: ModelSpec) -> Iterator[Problem]:
    """The target of a utilization must be in percent, not a fraction of 1.

    Anything that runs at all is busier than 0.6 %, so that no capacity brings it there.
    """
    for it in _bounded(spec):
        target, devices = it.policy.target_value, it.preferred_devices
        if it.of_each == 100 and 0 < target < 1:
            message = f"{it.policy.metric} is in percent, but the target is {target} out of 100"
            of_all = f", {target * 100:.3g} % of {devices} x 100," if devices > 1 else ""
            fix = f"write {target * 100 * devices:.6g}{of_all} if you meant a fraction"
            yield Problem((*it.path, "target_value"), message, fix)


@error("IS516", _TRACKABLE)
def target_is_no_time(spec: ModelSpec) -> Iterator[Problem]:
    """A policy cannot hold a time at a target.

    AWS says that the metric must change in proportion to capacity, and lists latencies among those that do
    not work. It registers such a policy all the same. The number would be microseconds.
    """
    for path, scaled, policy, name in named_policies(spec):
        found = metrics.find(name, hosting_of(spec)) if _published(spec, scaled, name) else ()
        if any(is_time(metric) for metric in found):
            message = f"{name} is a time, but has the target {policy.target_value}"
            yield Problem((*path, "target_value"), message, INSTEAD_OF_A_TARGET)


@error("IS517", _TRACKABLE)
def metric_falls_with_capacity(spec: ModelSpec) -> Iterator[Problem]:
    """The metric of a policy must fall when capacity is added.

    AWS says so, and lists counts of all requests among those that do not work: capacity grows to its maximum
    and stays there.
    """
    for path, scaled, _, metric in named_policies(spec):
        falls = all(it.falls_with_capacity for it in metrics.find(metric))
        if not falls and _published(spec, scaled, metric):
            message = f"{metric} does not fall in proportion when capacity is added"
            fix = f"track {listed(_fitting(spec, scaled))}, or use `step_policies`"
            yield Problem((*path, "metric"), message, fix)


def _can_be_tracked(name: str) -> bool:
    return all(it.falls_with_capacity and not is_time(it) for it in metrics.find(name))


class _Bounded(msgspec.Struct, frozen=True):
    """A policy on a percentage or a share, which is at most ``of_each`` for one device.

    ``devices`` has how many the metric sums over, on each instance type that is known, the preferred one
    first.
    """

    path: SpecPath
    scaled: Scaled
    policy: ScalingPolicy
    metric: Metric
    of_each: int
    devices: list[int]

    @property
    def preferred_devices(self) -> int:
        """How many there are on the preferred type; 1 if that is not known."""
        return next(iter(self.devices), 1)

    @property
    def most(self) -> int | None:
        """The most that the metric can be; None if no instance type is known."""
        return self.of_each * max(self.devices) if self.devices else None


def _bounded(spec: ModelSpec) -> Iterator[_Bounded]:
    for path, scaled, policy, name in named_policies(spec):
        predefined = metrics.find_predefined(name)
        for metric in metrics_of(spec, scaled, name if predefined is None else predefined.metric):
            if metric.most is not None:
                yield _Bounded(path, scaled, policy, metric, metric.most, _devices(scaled, metric))


def _devices(scaled: Scaled, metric: Metric) -> list[int]:
    if metric.per_device is None:
        return [1]
    return [] if scaled.variant is None else list(devices_by_type(scaled.variant, metric).values())


def _without_gpu(scaled: Scaled) -> str:
    """The first of its instance types that has no GPU."""
    fleet = () if scaled.variant is None else hosts(scaled.variant)
    return next(it.name for it in fleet if not it.gpus)


# ---------------------------------------------------------------- custom metrics


_OF_ONE = ("namespace", "metric_name", "statistic", "dimensions", "unit")


@error("IS518", TRACKING_PAGE)
def one_metric(spec: ModelSpec) -> Iterator[Problem]:
    """A policy must hold exactly one metric at its target: SageMaker's or a custom one.

    Metrics that AWS has a name for are written as `metric`.
    """
    for path, _, policy in policies(spec):
        custom = policy.customized_metric_specification
        if policy.metric is None and custom is None:
            fix = "add `metric`, or `customized_metric_specification` for one that SageMaker does not publish"
            yield Problem(path, "the policy has no metric", fix)
        elif policy.metric is not None and custom is not None:
            message = "`metric` and `customized_metric_specification` cannot be used together"
            yield Problem((*path, "metric"), message, "keep one of them")


@error("IS519", _CUSTOMIZED)
def metric_is_whole(spec: ModelSpec) -> Iterator[Problem]:
    """A custom metric must be a single metric, or an expression over several.

    Of several metrics, exactly one is held at the target.
    """
    for path, _, custom in customized(spec):
        if custom.metrics is None:
            yield from broken_metric(path, custom, ", or `metrics` for an expression")
        else:
            yield from broken_metrics(path, custom, _OF_ONE, "held at the target")
