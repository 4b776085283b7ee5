"""IS500 to IS529: scaling of instances and of copies."""

from collections.abc import Iterator
from dataclasses import dataclass

from inferstack.catalog import instances, metrics
from inferstack.catalog.metrics import Metric
from inferstack.spec.blocks.autoscaling import Autoscaling, ScalingPolicy
from inferstack.spec.blocks.kinds import InferenceComponentsSpec, ModelSpec
from inferstack.spec.blocks.variant import Variant
from inferstack.spec.problem import SpecPath
from inferstack.spec.rules.base import Finding, error, warning
from inferstack.spec.rules.walk import (
    component_scalings,
    component_variants,
    has_variants,
    instance_types,
    is_async,
    kind_of,
    variant_scalings,
    variants,
)
from inferstack.spec.words import listed, nearest

_SCALING = "https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling.html"
_POLICY = "https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-add-code-define.html"
_TARGET = "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_RegisterScalableTarget.html"
_TRACKING = "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_TargetTrackingScalingPolicyConfiguration.html"
_METRICS = "https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html"
_SERVERLESS = "https://docs.aws.amazon.com/sagemaker/latest/dg/serverless-endpoints-autoscale.html"
_MANAGED = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProductionVariantManagedInstanceScaling.html"

_INSTANCES = "sagemaker:variant:DesiredInstanceCount"
_CONCURRENCY = "sagemaker:variant:DesiredProvisionedConcurrency"
_COPIES = "sagemaker:inference-component:DesiredCopyCount"
# Of what a serverless endpoint publishes, only this rises and falls with provisioned concurrency.
_OF_CONCURRENCY = "ServerlessProvisionedConcurrencyUtilization"
_WHAT = {_INSTANCES: "instances", _CONCURRENCY: "provisioned concurrency", _COPIES: "copies"}


@dataclass(frozen=True, slots=True)
class _Scaled:
    """Something that scales: where, on which scalable dimension, on which fleet, from which number on."""

    path: SpecPath
    scaling: Autoscaling
    dimension: str
    variant: Variant | None
    start: tuple[SpecPath, int] | None

    @property
    def levels(self) -> tuple[str, ...]:
        """Levels on which CloudWatch has metrics of it."""
        return ("component",) if self.dimension == _COPIES else ("variant", "endpoint")


def _scaled(spec: ModelSpec) -> Iterator[_Scaled]:
    where = {id(variant): path for path, variant in variants(spec)}
    for path, variant, scaling in variant_scalings(spec):
        serverless = variant.serverless_config
        dimension = _INSTANCES if serverless is None else _CONCURRENCY
        key = (
            ("initial_instance_count",)
            if serverless is None
            else ("serverless_config", "provisioned_concurrency")
        )
        count = variant.initial_instance_count if serverless is None else serverless.provisioned_concurrency
        start = None if count is None else ((*where[id(variant)], *key), count)
        yield _Scaled(path, scaling, dimension, variant, start)
    for path, _, component, scaling in component_scalings(spec):
        host = next(iter(component_variants(spec, component)), None)
        runtime = component.runtime_config
        start = (
            None if runtime is None else ((*path[:-1], "runtime_config", "copy_count"), runtime.copy_count)
        )
        yield _Scaled(path, scaling, _COPIES, host, start)


def _policies(spec: ModelSpec) -> Iterator[tuple[SpecPath, _Scaled, ScalingPolicy]]:
    for scaled in _scaled(spec):
        for index, policy in enumerate(scaled.scaling.policies):
            yield (*scaled.path, "policies", index), scaled, policy


@error("IS500", "The least capacity is not above the most.", _TARGET, ModelSpec)
def minimum_and_maximum(spec: ModelSpec) -> Iterator[Finding]:
    """In instances, copies or provisioned places."""
    for it in _scaled(spec):
        low, high = it.scaling.min_capacity, it.scaling.max_capacity
        if low > high:
            message = f"`min_capacity` is {low} and `max_capacity` {high}"
            yield Finding(
                (*it.path, "min_capacity"), message, f"write at most {high}, or raise `max_capacity`"
            )


@error(
    "IS501",
    "Only asynchronous endpoints and inference components scale down to nothing.",
    _SCALING,
    ModelSpec,
)
def not_below_the_least(spec: ModelSpec) -> Iterator[Finding]:
    """Everything else keeps one; nothing goes below zero."""
    for it in _scaled(spec):
        least = 0 if it.dimension == _COPIES or (is_async(spec) and it.dimension == _INSTANCES) else 1
        for key in ("min_capacity", "max_capacity"):
            found = getattr(it.scaling, key)
            if found < (least if key == "min_capacity" else 1):
                fix = f"write {least if key == 'min_capacity' else 1} or more"
                yield Finding((*it.path, key), f"`{key}` of {_WHAT[it.dimension]} is {found}", fix)


@error(
    "IS502", "Top-level `autoscaling` is for a spec with one variant.", "inferstack's spec format", ModelSpec
)
def top_level_for_one_variant(spec: ModelSpec) -> Iterator[Finding]:
    """Otherwise it would not be clear which one it means."""
    if has_variants(spec) and spec.autoscaling is not None and len(list(variants(spec))) > 1:
        message = "`autoscaling` does not say which of the variants it scales"
        yield Finding(("autoscaling",), message, "move it into the variant that it is for")


@error("IS503", "A variant scales by one `autoscaling` block.", "inferstack's spec format", ModelSpec)
def one_scaling_for_a_variant(spec: ModelSpec) -> Iterator[Finding]:
    """Either at the top or in the variant."""
    seen = [variant for _, variant, _ in variant_scalings(spec)]
    for path, variant, _ in variant_scalings(spec):
        if path != ("autoscaling",) and sum(1 for other in seen if other is variant) > 1:
            yield Finding(path, "the variant's scaling stands here and at the top", "keep one of them")


@warning("IS504", "What scales starts within its limits.", _SCALING, ModelSpec)
def start_within_limits(spec: ModelSpec) -> Iterator[Finding]:
    """Scaling corrects it right after the deployment."""
    for it in _scaled(spec):
        low, high = it.scaling.min_capacity, it.scaling.max_capacity
        if it.start is None or low > high or high < 1 or it.start[1] < 1:
            continue
        if not low <= it.start[1] <= high:
            message = f"`{it.start[0][-1]}` is {it.start[1]}, and scaling goes from {low} to {high}"
            yield Finding(
                it.start[0], message, f"write a number from {max(low, 1)} to {high}, or change the limits"
            )


@warning("IS505", "What scales has a policy.", _SCALING, ModelSpec)
def there_is_a_policy(spec: ModelSpec) -> Iterator[Finding]:
    """Without one nothing ever changes, unless schedules are added elsewhere."""
    for it in _scaled(spec):
        if not it.scaling.policies:
            yield Finding(
                it.path,
                "`autoscaling` has no policies, so nothing scales",
                "add `policies:` with a metric and a target",
            )


@error("IS506", "Policies of one target differ in metric and name.", _POLICY, ModelSpec)
def policies_differ(spec: ModelSpec) -> Iterator[Finding]:
    """A second policy with the same name would replace the first."""
    for it in _scaled(spec):
        for key in ("metric", "policy_name"):
            values = [getattr(policy, key) for policy in it.scaling.policies]
            for index, value in enumerate(values):
                if value is not None and value in values[:index]:
                    path = (*it.path, "policies", index, key)
                    yield Finding(
                        path,
                        f"two policies have the {key.replace('_', ' ')} {value}",
                        "change or remove one of them",
                    )


@error("IS510", "The metric of a policy is one that AWS has.", _METRICS, ModelSpec)
def metric_is_known(spec: ModelSpec) -> Iterator[Finding]:
    """A predefined metric type, or one that SageMaker publishes."""
    for path, scaled, policy in _policies(spec):
        if metrics.find_predefined(policy.metric) is None and not metrics.find(policy.metric):
            fitting = _fitting(spec, scaled)
            close = nearest(policy.metric, [*fitting, *metrics.names()])
            suggestion = "" if close is None else f"did you mean `{close}`? "
            yield Finding(
                (*path, "metric"),
                f"AWS has no metric `{policy.metric}`",
                f"{suggestion}here fit {listed(fitting)}",
            )


def _fitting(spec: ModelSpec, scaled: _Scaled) -> list[str]:
    """Metrics that could scale this, the predefined ones first."""
    predefined = [
        it.name for it in metrics.PREDEFINED_SCALING_METRICS if it.scalable_dimension == scaled.dimension
    ]
    return [*predefined, *(name for name in metrics.names(kind_of(spec)) if _published(spec, scaled, name))]


def _published(spec: ModelSpec, scaled: _Scaled, name: str) -> bool:
    if scaled.dimension == _CONCURRENCY and name != _OF_CONCURRENCY:
        return False
    return any(it.dimensions in scaled.levels for it in metrics.find(name, kind_of(spec)))


@error("IS511", "A predefined metric scales what it belongs to.", _POLICY, ModelSpec)
def predefined_metric_fits(spec: ModelSpec) -> Iterator[Finding]:
    """Metrics of copies scale copies, those of variants instances."""
    for path, scaled, policy in _policies(spec):
        found = metrics.find_predefined(policy.metric)
        if found is not None and found.scalable_dimension != scaled.dimension:
            here, there = _WHAT[scaled.dimension], _WHAT[found.scalable_dimension]
            message = f"{policy.metric} scales {there}, and this scales {here}"
            yield Finding((*path, "metric"), message, f"here fit {listed(_fitting(spec, scaled))}")


@error("IS512", "The metric of a policy is published for what it scales.", _METRICS, ModelSpec)
def metric_is_published(spec: ModelSpec) -> Iterator[Finding]:
    """A policy on a metric without data never does anything."""
    for path, scaled, policy in _policies(spec):
        known = metrics.find_predefined(policy.metric) is None and metrics.find(policy.metric)
        if known and not _published(spec, scaled, policy.metric):
            message = (
                f"{policy.metric} is not published for {_WHAT[scaled.dimension]} of this kind of endpoint"
            )
            yield Finding((*path, "metric"), message, f"here fit {listed(_fitting(spec, scaled))}")


@error("IS513", "The target of a policy is above zero.", _TRACKING, ModelSpec)
def target_is_positive(spec: ModelSpec) -> Iterator[Finding]:
    """Capacity follows the ratio of metric and target."""
    for path, _, policy in _policies(spec):
        if policy.target_value <= 0:
            yield Finding(
                (*path, "target_value"), f"the target is {policy.target_value}", "write a number above 0"
            )


@error("IS514", "The target of a utilization can be reached.", _METRICS, ModelSpec)
def target_can_be_reached(spec: ModelSpec) -> Iterator[Finding]:
    """A sum over devices ends at 100 times their number."""
    for path, scaled, policy, metric in _utilizations(spec):
        most = 100 * min(_devices(scaled, metric), default=1)
        if policy.target_value > most:
            message = f"{policy.metric} never gets above {most} here, and the target is {policy.target_value}"
            fix = f"write a number below {most}" if most else "choose a metric that the instance type has"
            yield Finding((*path, "target_value"), message, fix)


@warning("IS515", "The target of a utilization that sums over devices counts them all.", _METRICS, ModelSpec)
def target_counts_all_devices(spec: ModelSpec) -> Iterator[Finding]:
    """60 on four GPUs is 15 % of them."""
    for path, scaled, policy, metric in _utilizations(spec):
        devices = max(_devices(scaled, metric), default=1)
        if metric.per_device is not None and devices > 1 and 0 < policy.target_value <= 100:
            word = "GPUs" if metric.per_device == "gpu" else "vCPUs"
            share = f"{policy.target_value} is {policy.target_value / devices:.3g} % of {devices} {word}"
            fix = f"for {policy.target_value} % of all, write {policy.target_value * devices}"
            yield Finding((*path, "target_value"), f"{policy.metric} is a sum: {share}", fix)


def _utilizations(spec: ModelSpec) -> Iterator[tuple[SpecPath, _Scaled, ScalingPolicy, Metric]]:
    """Policies on a percentage, with the metric."""
    for path, scaled, policy in _policies(spec):
        for metric in metrics.find(policy.metric, kind_of(spec)):
            if metric.unit == "Percent" and metric.dimensions in scaled.levels:
                yield path, scaled, policy, metric


def _devices(scaled: _Scaled, metric: Metric) -> list[int]:
    """How many devices the metric sums over, on each instance type that is known."""
    if metric.per_device is None or scaled.variant is None:
        return []
    found = [instances.find(name) for name in instance_types(scaled.variant)]
    return [it.gpus if metric.per_device == "gpu" else it.vcpus for it in found if it is not None]


@warning("IS520", "The instances of a fleet are counted by one mechanism.", _MANAGED, InferenceComponentsSpec)
def one_mechanism_counts(spec: InferenceComponentsSpec) -> Iterator[Finding]:
    """Managed scaling follows the copies, Application Auto Scaling its policies: they undo one another."""
    for path, variant, _ in variant_scalings(spec):
        managed = variant.managed_instance_scaling
        if managed is not None and managed.status != "DISABLED":
            message = "`autoscaling` and `managed_instance_scaling` both count the instances"
            yield Finding(path, message, "keep one of them")


@error(
    "IS521",
    "Provisioned concurrency scales from a number, by its own utilization, within `max_concurrency`.",
    _SERVERLESS,
    ModelSpec,
)
def serverless_scaling(spec: ModelSpec) -> Iterator[Finding]:
    """On-demand serverless scales by itself."""
    for it in _scaled(spec):
        serverless = None if it.variant is None else it.variant.serverless_config
        if serverless is None or it.dimension != _CONCURRENCY:
            continue
        if serverless.provisioned_concurrency is None:
            yield Finding(
                it.path,
                "there is no provisioned concurrency to scale",
                "add `provisioned_concurrency`, or remove `autoscaling`",
            )
        if it.scaling.max_capacity > serverless.max_concurrency:
            most = serverless.max_concurrency
            message = f"`max_capacity` is {it.scaling.max_capacity}, above the `max_concurrency` of {most}"
            yield Finding((*it.path, "max_capacity"), message, f"write at most {most}")
