"""A fleet that runs, as CloudWatch has recorded it: a measurement of one instance, and the traffic.

Nobody has put the fleet under load, so all that is known is the busiest minutes in which it was fast enough.
They are a limit only if busier ones were too slow.

``InvocationsPerInstance`` gets one divided by the number of instances for each request: its sum is the
rate of one instance, whatever scaling did in that minute.
https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.catalog import instances, metrics
from inferstack.facts.publications import Publisher
from inferstack.facts.quantity import MICROSECONDS_IN
from inferstack.problems import FilePlace, SpecError
from inferstack.problems.words import listed
from inferstack.sizing.cloudwatch_export import labeled, points_of_export
from inferstack.sizing.measurement import MOST_FAILED, Measurement
from inferstack.sizing.results import LEAST
from inferstack.sizing.sizes import Demand, PercentileLimit
from inferstack.sizing.traffic import Traffic, traffic_of
from inferstack.sizing.traffic_points import Points
from inferstack.source.other_files import read_text

RETENTION = {60: 15, 300: 63}
"""For how many days CloudWatch keeps periods of so many seconds.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricStatistics.html
"""
_ALL, _EACH = "Invocations Sum", "InvocationsPerInstance Sum"
_ERRORS = ("Invocation4XXErrors Sum", "Invocation5XXErrors Sum")
_LATENCIES = ("ModelLatency", "OverheadLatency")
_USED = {"GPUUtilization": "GPU", "CPUUtilization": "CPU"}
_AS_BUSY = Decimal("0.9")
"""Periods with this share of a rate show what happens at it, too."""
_MOST_SLOW = Decimal("0.05")
"""The share of them that may be too slow."""
_FEW = 5
_WANTED = "an answer of `aws cloudwatch get-metric-data`"
_FIX = "ask with the request that `size --print-query` prints"


def query(part: Publisher, percentile: Decimal | None, now: datetime, days: int) -> dict[str, Any]:
    """The request for all that is needed of a variant: GetMetricData's arguments, as JSON has them."""
    period = next(it for it, kept in RETENTION.items() if days < kept)
    end = now.replace(minute=0, second=0, microsecond=0)
    dimensions = [{"Name": name, "Value": value} for name, value in part.values.items()]
    asked = []
    for number, name in enumerate(_names(percentile)):
        metric, statistic = name.split()
        space = next(filter(part.publishes, metrics.find(metric))).namespace
        one = {"Namespace": space, "MetricName": metric, "Dimensions": dimensions}
        stat = {"Metric": one, "Period": period, "Stat": statistic}
        asked.append({"Id": f"m{number}", "Label": labeled(name, period), "MetricStat": stat})
    start = end - timedelta(days=days)
    return {"MetricDataQueries": asked, "StartTime": start.isoformat(), "EndTime": end.isoformat()}


def _names(percentile: Decimal | None) -> Iterator[str]:
    yield from (_ALL, _EACH, *_ERRORS)
    if percentile is not None:
        yield from (f"{it} p{percentile:f}" for it in _LATENCIES)
    yield from (f"{it} Average" for it in _USED)


# ---------------------------------------------------------------- what was recorded


class Recorded(msgspec.Struct, frozen=True):
    """The values of some metrics by name, such as ``ModelLatency p95``, and time."""

    values: Mapping[str, Mapping[datetime, Decimal]]
    traffic: Traffic
    """All requests, and when there were any."""
    file: str

    def at(self, time: datetime, *names: str) -> list[Decimal | None]:
        """What some metrics were at a time."""
        return [self.values.get(it, {}).get(time) for it in names]


def read_recorded(files: Sequence[Path], period: int | None) -> Recorded:
    """Reads CloudWatch's answers about one variant.

    Raises:
        SpecError: with what is wrong with a file.
    """
    read = []
    for file in files:
        points = Points(file.as_posix())
        large = "ask for fewer days, or put some of the metrics into a file of their own"
        text = read_text(file, points.stop, wanted=_WANTED, if_large=large)
        read.append((points, points_of_export(text, None, points, period)))
    return _together(read)


def recorded_in(answer: str, source: str) -> Recorded:
    """The same of an answer at hand, ``source`` being what problems are about.

    Raises:
        SpecError: when it cannot be used.
    """
    points = Points(source)
    return _together([(points, points_of_export(answer, None, points, None))])


def _together(read: Sequence[tuple[Points, int]]) -> Recorded:
    whole, step = Points(read[0][0].file), read[0][1]
    for points, of_file in read:
        whole.file, whole.form = points.file, points.form
        if of_file != step:
            message = f"its period is {of_file * 60} seconds, but that of the first file {step * 60}"
            raise whole.stop(message, "ask for all metrics with the same period")
        for name, values in points.by_name.items():
            for time, value in values.items():
                whole.add(name, time, value, 1)
        first, last = points.covered
        if whole.window is not None:
            first, last = min(first, whole.window[0]), max(last, whole.window[1])
        whole.window = first, last
    missing = [it for it in (_ALL, _EACH) if not whole.by_name.get(it)]
    if missing and not whole.problems:
        has = listed([it for it in whole.by_name if whole.by_name[it]], last="and") or "nothing"
        raise whole.stop(f"there are no data of {listed(missing, last='and')}, only of {has}", _FIX)
    whole.check_length(step)
    if whole.problems:
        raise SpecError(whole.problems)
    requests = replace(whole, by_name={_ALL: whole.by_name[_ALL]}, named_at={_ALL: FilePlace(whole.file)})
    return Recorded(whole.by_name, traffic_of(requests, step, is_export=True), whole.file)


# ---------------------------------------------------------------- what it shows


class _Period(msgspec.Struct, frozen=True):
    """A minute, or several, in which there were requests."""

    time: datetime
    rate: Decimal
    """Requests per minute and instance, without those that failed."""
    instances: Decimal
    latency: Decimal | None
    """Milliseconds, at the percentile of the limit."""
    failed: Decimal
    """The share of requests with an answer of 5xx."""

    def met(self, limit: PercentileLimit | None) -> bool:
        """Whether its requests were answered, fast enough."""
        if self.failed > MOST_FAILED:
            return False
        return limit is None or (self.latency is not None and self.latency <= limit.milliseconds)


class Observed(msgspec.Struct, frozen=True):
    """What a fleet has shown: the measurement, the traffic, and in words what they rest on."""

    measurement: Measurement
    traffic: Traffic
    basis: tuple[str, ...]

    def over(self, demand: Demand) -> Demand:
        """A demand with this traffic; what it asks for beyond that must still be met."""
        least = min(self.traffic.totals)
        lowest = least if demand.lowest is None else min(demand.lowest, least)
        peak = max(demand.peak, self.traffic.peak)
        return replace(demand, traffic=self.traffic.totals, peak=peak, lowest=lowest)


def observed(
    recorded: Recorded,
    title: str,
    instance_type: str,
    limit: PercentileLimit | None,
    since: datetime | None = None,
) -> Observed:
    """What the records of a fleet show. Those before ``since`` are of other instances, and only traffic.

    Raises:
        SpecError: when it answered no request.
    """
    periods = sorted(_periods(recorded, limit, since), key=lambda it: (it.rate, it.time))
    if not periods:
        points = Points(recorded.file)
        when = "" if since is None else f" since {since:%Y-%m-%d %H:%M}, when its configuration was made"
        fix = "choose a time with requests, and check the endpoint's name and `--variant`"
        raise points.stop(f"{title} answered no requests{when}", fix)
    if limit is not None and all(it.latency is None for it in periods):
        message = f"there are no data of ModelLatency and OverheadLatency p{limit.percentile:f}"
        raise Points(recorded.file).stop(message, _FIX)
    alike = _busiest(periods, limit)
    rests_on = [it for it in alike if it.met(limit)]
    at = rests_on[-1] if rests_on else periods[-1]
    shown = rests_on or periods
    slowest = [it.latency for it in shown if it.latency is not None]
    # Where none was fast enough, the fastest says so.
    latency = (max if rests_on else min)(slowest, default=None)
    measurement = Measurement(
        configuration=title,
        instance_type=instance_type,
        requests_per_minute=at.rate,
        latencies={} if limit is None or latency is None else {limit.percentile: latency},
        ended_badly=() if any(it.failed <= MOST_FAILED for it in periods) else (_FAILED,),
        doubts=tuple(_doubts(periods, rests_on, limit)) if rests_on else (),
    )
    basis = [*_basis(recorded, at.rate, periods, shown)]
    if used := ", ".join(_used(recorded, instance_type, shown)):
        basis.append(f"used meanwhile, on average: {used}")
    return Observed(measurement, recorded.traffic, tuple(basis))


_FAILED = f"more than {MOST_FAILED:.0%} of the requests failed whenever there were any"


def _periods(recorded: Recorded, limit: PercentileLimit | None, since: datetime | None) -> Iterator[_Period]:
    names = () if limit is None else tuple(f"{it} p{limit.percentile:f}" for it in _LATENCIES)
    for time, total in recorded.values[_ALL].items():
        [each], latencies = recorded.at(time, _EACH), recorded.at(time, *names)
        if not total or not each or (since is not None and time < since):
            continue
        if each > total:
            message = f"`InvocationsPerInstance` is above `Invocations` at {time:%Y-%m-%d %H:%M}"
            raise Points(recorded.file).stop(message, "ask for both of the same variant")
        known = [it for it in latencies if it is not None]
        is_known = limit is not None and len(known) == len(names)
        mistakes, failed = (it or Decimal(0) for it in recorded.at(time, *_ERRORS))
        # The caller's mistakes and failures are no work that an instance has done.
        rate = each * (total - mistakes - failed) / total / recorded.traffic.step
        if rate < LEAST:
            continue
        yield _Period(
            time=time,
            rate=rate,
            instances=total / each,
            latency=sum(known, Decimal(0)) / MICROSECONDS_IN["ms"] if is_known else None,
            failed=failed / total,
        )


def _busiest(periods: Sequence[_Period], limit: PercentileLimit | None) -> Sequence[_Period]:
    """The busiest period that was fast enough, like nearly all that were about as busy, and these; the last
    is the busiest. Empty if there is none.
    """
    rates, met = [it.rate for it in periods], [0]
    for it in periods:
        met.append(met[-1] + it.met(limit))
    for last in range(len(periods) - 1, -1, -1):
        first = bisect_left(rates, _AS_BUSY * rates[last])
        slow = last + 1 - first - (met[last + 1] - met[first])
        if periods[last].met(limit) and slow <= _MOST_SLOW * (last + 1 - first):
            return periods[first : last + 1]
    return ()


def _doubts(
    periods: Sequence[_Period], rests_on: Sequence[_Period], limit: PercentileLimit | None
) -> Iterator[str]:
    if periods[-1].rate == rests_on[-1].rate:
        yield "no busier minute came: it may do more, and fewer instances may do"
    if len(rests_on) < _FEW:
        yield f"it rests on {len(rests_on)} of {len(periods)} periods: put it under load to be sure"
    if limit is None:
        yield "the objective has no `latency`, so it does not matter how slow the busiest minute was"


def _basis(
    recorded: Recorded, rate: Decimal, periods: Sequence[_Period], shown: Sequence[_Period]
) -> Iterator[str]:
    traffic, seconds = recorded.traffic, recorded.traffic.step * 60
    kept = f", which it keeps for {RETENTION[seconds]} days" if seconds in RETENTION else ""
    yield f"{traffic.minutes:,} minutes from {traffic.shown(0)}, in periods of {seconds} seconds{kept}"
    counts = sorted({round(it.instances) for it in shown})
    on = f"{counts[0]} to {counts[-1]} instances" if len(counts) > 1 else f"instances: {counts[0]}"
    first, last = (f"{choose(it.time for it in shown):%Y-%m-%d %H:%M}" for choose in (min, max))
    times = f"{len(shown)} of {len(periods):,} periods with requests, {first} to {last}"
    yield f"{float(rate):.6g} requests a minute and instance: {times}; {on}"
    busier = [it for it in periods if it.rate > rate]
    if busier:
        most = f"with up to {float(busier[-1].rate):.6g}"
        slowest = max((it.latency for it in busier if it.latency is not None), default=None)
        late = "" if slowest is None else f", up to {float(slowest):.6g} ms"
        yield f"{len(busier)} busier periods, {most}, were too slow or failed{late}"
    names = (_ALL, *_ERRORS)
    total, mistakes, failed = (sum(recorded.values.get(it, {}).values(), Decimal(0)) for it in names)
    yield f"of {total:,.0f} requests, {failed:,.0f} failed (5xx), and {mistakes:,.0f} were wrong (4xx)"
    if any(it.latency is not None for it in shown):
        yield "latency: ModelLatency plus OverheadLatency, without the network to the clients"


def _used(recorded: Recorded, instance_type: str, shown: Sequence[_Period]) -> Iterator[str]:
    """How busy the devices were: a metric is a sum over those of an instance."""
    host = instances.find(instance_type)
    for name, device in _USED.items():
        found = (recorded.at(it.time, f"{name} Average")[0] for it in shown)
        values = [it for it in found if it is not None]
        [metric, *_] = metrics.find(name)
        if values and host is not None and (devices := host.devices(metric.per_device)):
            yield f"{device} {sum(values) / len(values) / devices:.0f} %"
