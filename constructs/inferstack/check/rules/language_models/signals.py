"""What autoscaling and alarms of a server of language models go by: requests at once, not memory or CPUs."""

from collections.abc import Iterator
from contextlib import suppress

from inferstack.catalog.metrics import Metric
from inferstack.check.rules.base import METRICS_PAGE, warning
from inferstack.check.rules.language_models.gpus import most_gpus
from inferstack.check.rules.language_models.judged import Judged, judged
from inferstack.engines.gpus import SHARE_OF_A_TARGET, gpus_used
from inferstack.engines.settings import sequences, setting, variable_for
from inferstack.facts.alarms import GPU_MEMORY, OwnAlarm, evaluation, gpu_memory_taken, own_alarms
from inferstack.facts.publications import devices_by_type
from inferstack.facts.quantity import UnfitQuantity, parse_threshold
from inferstack.facts.scaling import (
    Scaled,
    metrics_of,
    policies,
    policies_of,
    scaled_parts,
    scaled_with,
    tracked_name,
    tracks_requests_at_once,
)
from inferstack.format.autoscaling import ScalingPolicy
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem

_CONCURRENCY = "https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-policy.html"
_CPU = "CPUUtilization"


@warning("IS378", _CONCURRENCY)
def engine_works_on_as_many_requests(spec: ModelSpec) -> Iterator[Problem]:
    """A target of requests at once should be less than the engine works on at once.

    Further ones wait in its queue and count, too, so that capacity is added only after they wait.
    """
    for it in judged(spec):
        most = sequences(it.placed)
        for scaled in scaled_with(it.placed) if most is not None else ():
            for path, policy in policies_of(scaled):
                at_once = (most or 0) * _workers(it)
                if tracks_requests_at_once(policy) and policy.target_value > at_once:
                    yield _too_many(it, (*path, "target_value"), policy, at_once)


def _too_many(it: Judged, path: tuple[str | int, ...], policy: ScalingPolicy, most: int) -> Problem:
    message = f"the target is {policy.target_value:g} requests at once, but {it.title} works on {most}"
    variable = variable_for(it.running.name, "max_num_seqs")
    return Problem(path, message, f"write {max(1, int(most * SHARE_OF_A_TARGET))}, or raise `{variable}`")


def _workers(it: Judged) -> int:
    """Copies of the model in one container, at most: LMI starts as many as the GPUs allow."""
    used = gpus_used(it.placed)
    if it.running.name != "lmi" or used is None or not used.said:
        return 1
    return max(1, most_gpus(it.placed) // used.total)


@warning("IS379", METRICS_PAGE)
def load_is_not_measured_by_memory(spec: ModelSpec) -> Iterator[Problem]:
    """A server that takes the GPU's memory when it starts should not scale by it.

    The memory in use is the same without a request and under full load, so the capacity stays at its minimum
    or grows to its maximum.
    """
    for path, scaled, policy in policies(spec):
        if tracked_name(policy).startswith(GPU_MEMORY) and gpu_memory_taken(spec, scaled.part) is not None:
            message = "the server takes the GPU's memory when it starts, so it does not change with the load"
            yield Problem((*path, "metric"), message, _instead(scaled))


@warning("IS380", METRICS_PAGE)
def load_is_not_measured_by_cpus(spec: ModelSpec) -> Iterator[Problem]:
    """A server of language models on GPUs should not scale by its CPUs alone.

    They wait for the GPU, so they do not get busier in proportion to the load.
    """
    for scaled in scaled_parts(spec):
        own = [(path, tracked_name(policy)) for path, policy in policies_of(scaled)]
        of_cpus = [name.startswith(_CPU) and bool(metrics_of(spec, scaled, name)) for _, name in own]
        if own and all(of_cpus) and gpu_memory_taken(spec, scaled.part) is not None:
            message = "the server computes on the GPU, and its CPUs are no measure of the load"
            yield Problem((*own[0][0], "metric"), message, _instead(scaled))


def _instead(scaled: Scaled) -> str:
    of = "VariantConcurrentRequestsPerModel"
    if scaled.component is not None:
        of = "InferenceComponentConcurrentRequestsPerCopy"
    return f"track the requests at once: `SageMaker{of}HighResolution`"


@warning("IS381", METRICS_PAGE)
def alarm_on_memory_can_stop(spec: ModelSpec) -> Iterator[Problem]:
    """An alarm on a GPU's memory should be for more than the server takes of it when it starts.

    Below that, it is always on, whatever the load, and rolls back each update that it watches.
    """
    written = list(_written_shares(spec))
    for alarm in own_alarms(spec):
        metric, taken = alarm.metric, gpu_memory_taken(spec, alarm.part)
        # Which container an alarm is for is not asked: the least is surely always there.
        taken = min((*written, taken)) if taken is not None else None
        if metric is None or taken is None or not metric.name.startswith(GPU_MEMORY):
            continue
        share = _share(alarm, metric)
        above = evaluation(alarm.rule).comparison_operator.startswith("Greater")
        if share is not None and share <= taken and above:
            message = (
                f"the server takes {taken:.0%} or more of the GPU's memory when it starts, so this alarm is "
                "always on"
            )
            yield Problem((*alarm.path, "threshold"), message, "remove it, or write a share above that")


def _written_shares(spec: ModelSpec) -> Iterator[float]:
    """The shares of a GPU's memory that engines are told to take."""
    for it in judged(spec):
        said = setting(it.placed, "gpu_memory_utilization")
        with suppress(ValueError):
            yield from () if said is None else (float(said.value),)


def _share(alarm: OwnAlarm, metric: Metric) -> float | None:
    """The threshold as a share of all the memory; None if it is not known."""
    devices = 1
    if metric.per_device is not None:
        fleet = {} if alarm.part.variant is None else devices_by_type(alarm.part.variant, metric)
        devices = next(iter(fleet.values()), 0)
    try:
        found = parse_threshold(alarm.rule.threshold, metric)
    except UnfitQuantity:  # A problem of its own.
        return None
    if found.is_share or not devices or not isinstance(found.value, int | float):
        return float(found.value) if found.is_share and isinstance(found.value, int | float) else None
    return found.value / (100 * devices)
