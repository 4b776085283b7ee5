"""``inferstack pack``: what models cost that share a fleet, beside endpoints of their own."""

import argparse
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

from inferstack.check.load import load_spec
from inferstack.cli.arguments import add_region
from inferstack.cli.pack_report import as_json, as_text
from inferstack.cli.terminal import Refusal, tell
from inferstack.facts.walk import region_of
from inferstack.problems import printable
from inferstack.sizing.prices import HOW_TO_GET_PRICES, PRICE_FILE, Prices, prices_for
from inferstack.sizing.sharing.comparison import Comparison, Question, comparisons, period_of
from inferstack.sizing.sharing.hosts import CannotPackError, Simulation
from inferstack.sizing.traffic import read_traffic, repeated, together

_LONGEST_STARTUP = 120
_MOST_DAYS = 31


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument(
        "specs", type=Path, nargs="+", metavar="SPEC", help="specs whose models share a fleet"
    )
    parser.add_argument(
        "--traffic",
        type=Path,
        action="append",
        metavar="FILE",
        help="requests per minute, as CSV or from CloudWatch; without it, windows of scheduled actions",
    )
    parser.add_argument("--stage", metavar="STAGE", help="the stage of the specs")
    add_region(parser)
    parser.add_argument("--prices", type=Path, metavar="FILE", help=f"a price file ({PRICE_FILE})")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text (default) or json")
    _add_what_traffic_does_not_tell(parser)
    parser.set_defaults(wrong_usage=parser.error)


def _add_what_traffic_does_not_tell(parser: argparse.ArgumentParser) -> None:
    days = "repeat a day of traffic this many times (1)"
    parser.add_argument("--days", type=_days, default=1, metavar="DAYS", help=days)
    parser.add_argument(
        "--startup", type=_minutes, default=0, metavar="MINUTES", help="how long a copy takes to start (0)"
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        metavar="S",
        help="how long a request takes, for policies on concurrent requests",
    )
    parser.add_argument(
        "--model-memory",
        type=_memory,
        action="append",
        default=[],
        metavar="[NAME=]MIB",
        help="memory that a model takes, to count cold starts of a multi-model endpoint",
    )


def _is_short_number(text: str) -> bool:
    # Python refuses to read thousands of digits.
    return text.isascii() and text.isdigit() and len(text) < 20


def _minutes(text: str) -> int:
    if not _is_short_number(text) or int(text) > _LONGEST_STARTUP:
        raise argparse.ArgumentTypeError(f"must be 0 to {_LONGEST_STARTUP}")
    return int(text)


def _days(text: str) -> int:
    if not _is_short_number(text) or not 1 <= int(text) <= _MOST_DAYS:
        raise argparse.ArgumentTypeError(f"must be 1 to {_MOST_DAYS}")
    return int(text)


def _seconds(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not Decimal("0.001") <= number <= 3600:
        raise argparse.ArgumentTypeError("must be 0.001 to 3600")
    return number


def _memory(text: str) -> tuple[str, int]:
    name, _, number = text.rpartition("=")
    if not _is_short_number(number) or not 0 < int(number) <= 100_000_000:
        raise argparse.ArgumentTypeError("write MiB, as in 2048 or llama=2048")
    return name, int(number)


def run(options: argparse.Namespace) -> int:
    """Compares models that share a fleet with the same models on endpoints of their own.

    The scaling policies are simulated minute by minute, and copies packed on instances. Nothing is written.
    The exit status is 1 if copies find no room.
    """
    loaded = [load_spec(it, stage=options.stage, region=options.region) for it in options.specs]
    question = _question(options)
    prices = prices_for(region_of(loaded[0].spec), options.prices)
    try:
        found = comparisons([it.spec for it in loaded], question)
    except CannotPackError as error:
        raise Refusal(printable(str(error))) from None
    print(as_json(found, prices) if options.format == "json" else as_text(found, prices), end="", flush=True)
    _say_what_is_missing(found, prices)
    return int(any(it.sharing.short_of_room for it in found))


def _question(options: argparse.Namespace) -> Question:
    traffic = None
    if options.traffic is not None:
        traffic = repeated(together([read_traffic(it) for it in options.traffic]), options.days)
    elif options.days > 1:
        options.wrong_usage("--days repeats the traffic of --traffic; without it, a week is simulated")
    return Question(
        traffic=traffic,
        simulation=Simulation(period_of(traffic), options.seconds),
        startup=options.startup,
        memory=dict(options.model_memory),
    )


def _say_what_is_missing(found: Sequence[Comparison], prices: Prices) -> None:
    for it in dict.fromkeys(it for comparison in found for it in comparison.left_out):
        tell(printable(it))
    if any(it.limit == "max_capacity" and it.cold_starts is None for it in found):
        tell("add `--model-memory MIB` to count cold starts")
    if any(prices.of(it.instance_type) is None for it in found):
        tell(f"without prices, there are only instance hours; {HOW_TO_GET_PRICES}")
