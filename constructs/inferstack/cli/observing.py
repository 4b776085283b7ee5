"""What an endpoint did, out of CloudWatch, for ``inferstack size``: asked for, or read from files."""

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path

from inferstack.account.connection import AccountError, connect
from inferstack.account.endpoint_metrics import recorded_by_cloudwatch, running_fleet
from inferstack.check.load import LoadedSpec
from inferstack.cli.arguments import whole_number_within
from inferstack.cli.terminal import Refusal
from inferstack.facts.kinds import hosts_components
from inferstack.facts.publications import of_variant
from inferstack.facts.walk import is_async
from inferstack.format.variant import Variant
from inferstack.problems import SpecError
from inferstack.sizing.observed import Observed, observed, query, read_recorded, recorded_in
from inferstack.sizing.sizes import PercentileLimit
from inferstack.texts.placeholders import is_opaque

_MOST_DAYS = 31
_DAYS = 14


def add_observing(parser: argparse.ArgumentParser) -> None:
    """Adds the options for an endpoint that runs."""
    add = parser.add_argument
    answers = "answers of CloudWatch about the endpoint as it runs, which measure it, too"
    add("--from-cloudwatch", type=Path, nargs="+", action="extend", metavar="FILE", help=answers)
    add("--endpoint", metavar="NAME", help="ask CloudWatch about this endpoint (extra: aws)")
    add("--print-query", action="store_true", help="print the request whose answer --from-cloudwatch reads")
    days = f"how long ago that begins ({_DAYS}); from 15 on, in periods of 300 seconds"
    add("--days", type=whole_number_within(1, _MOST_DAYS), metavar="DAYS", help=days)


def observed_fleet(
    loaded: LoadedSpec, variant: Variant, limit: PercentileLimit | None, options: argparse.Namespace
) -> Observed | None:
    """What the variant's instances did; None if nobody asks."""
    if options.from_cloudwatch is None and options.endpoint is None:
        return None
    require_instances(loaded, variant)
    if options.from_cloudwatch is not None:
        instance_type: str | None = options.instance_type or variant.instance_type
        if instance_type is None or is_opaque(instance_type):
            raise Refusal("add --instance-type TYPE: the spec does not say what its instances are")
        recorded = read_recorded(options.from_cloudwatch, options.period)
        title = f"{options.endpoint or loaded.spec.endpoint_name} {variant.variant_name}"
        return observed(recorded, title, instance_type, limit)
    try:
        return _asked(loaded, variant.variant_name, limit, options)
    except AccountError as error:
        raise Refusal(str(error)) from None
    except SpecError as error:
        [wrong, *_] = error.problems
        raise Refusal(f"CloudWatch's answer: {wrong.message}; {wrong.fix}") from None


def _asked(
    loaded: LoadedSpec, variant: str, limit: PercentileLimit | None, options: argparse.Namespace
) -> Observed:
    spec, percentile = loaded.spec, None if limit is None else limit.percentile
    connection = connect(spec.region)
    region = connection.require_region(spec.account)
    fleet = running_fleet(connection, region, options.endpoint, variant)
    answer = recorded_by_cloudwatch(connection, region, fleet, percentile, _days(options))
    recorded = recorded_in(answer, f"CloudWatch in {region}")
    title = f"{fleet.endpoint} {fleet.variant}"
    return observed(recorded, title, fleet.instance_type, limit, fleet.since)


def printed_query(
    loaded: LoadedSpec, variant: Variant, limit: PercentileLimit | None, options: argparse.Namespace
) -> str:
    """The request for `aws cloudwatch get-metric-data --cli-input-json`."""
    require_instances(loaded, variant)
    endpoint = options.endpoint or loaded.spec.endpoint_name
    if is_opaque(endpoint):
        options.wrong_usage("add --endpoint NAME: only the deployment knows the one in the spec")
    percentile = None if limit is None else limit.percentile
    asked = query(of_variant(endpoint, variant.variant_name), percentile, datetime.now(UTC), _days(options))
    return json.dumps(asked, indent=1)


def _days(options: argparse.Namespace) -> int:
    return _DAYS if options.days is None else int(options.days)


def observes(options: argparse.Namespace) -> bool:
    """Whether an option is about an endpoint that runs."""
    return options.print_query or options.endpoint is not None or options.from_cloudwatch is not None


def require_instances(loaded: LoadedSpec, variant: Variant | None = None) -> None:
    """Refuses what CloudWatch has no rate of an instance for."""
    if variant is not None and variant.serverless_config is not None:
        raise Refusal(f"{loaded.document.file}: a serverless variant has no instances to count")
    if is_async(loaded.spec):
        raise Refusal(f"{loaded.document.file}: an asynchronous endpoint has no `Invocations` in CloudWatch")
    if hosts_components(loaded.spec):
        why = "its instances share their requests among components, so no rate of an instance says much"
        raise Refusal(f"{loaded.document.file}: {why}; measure a copy with `inferstack measure`")
