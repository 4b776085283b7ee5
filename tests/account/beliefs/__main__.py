"""Tries beliefs in an AWS account: ``make test-account BUDGET_USD=5 BUDGET_MINUTES=240``.

Without a budget it only shows what it would do. Everything that it makes is removed at its end, and by its next start
if it was killed.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from account.beliefs import on_endpoints, on_stacks
from account.beliefs.cleaning import clean
from account.beliefs.lab import Answer, Lab, OutOfTimeError
from account.beliefs.table import RESULTS, Experiment, Result, experiments, results, write
from botocore.exceptions import BotoCoreError, ClientError

_USD_PER_HOUR = 0.20
"""Of an instance: more than ml.m5.large costs in any region. Prices are not known here."""
_TOO_LONG = 2
"""An experiment ends after so many times its estimate."""
_TYPE = "ml.m5.large"


def function_of(name: str) -> Callable[[Lab], Answer] | None:
    """The experiment of that name, if it is written."""
    word = name.replace("-", "_")
    return next((getattr(it, word) for it in (on_endpoints, on_stacks) if hasattr(it, word)), None)


def main(words: Sequence[str] | None = None) -> int:
    """The command line; returns its exit status."""
    options = _options(words)
    every = {name: it for name, it in experiments().items() if not it.missing}
    if unknown := {*options.only} - every.keys():
        print(f"no experiment: {', '.join(sorted(unknown))}; there are: {', '.join(every)}", file=sys.stderr)
        return 2
    chosen = {name: it for name, it in every.items() if not options.only or name in options.only}
    if not options.clean and (status := _refused(chosen, options)) is not None:
        return status
    # As Ctrl-C does, so that what is there is removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    lab = Lab(options.region, options.instance_type)
    left = clean(lab, print)
    if options.clean or left:
        return _report(left)
    try:
        _run(lab, chosen, options)
    finally:
        left = clean(lab, print)
    return _report(left)


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    given = os.environ.get
    parser = argparse.ArgumentParser(prog="python -m account.beliefs", description=__doc__)
    add = parser.add_argument
    add(
        "only",
        nargs="*",
        default=given("ONLY", "").split(),
        metavar="BELIEF",
        help="by default, all that are written",
    )
    add("--clean", action="store_true", help="only remove what an earlier run has left")
    add("--usd", type=float, default=given("BUDGET_USD") or None, help="most that it may cost (BUDGET_USD)")
    add(
        "--minutes",
        type=float,
        default=given("BUDGET_MINUTES") or None,
        help="most that it may take (BUDGET_MINUTES)",
    )
    add("--region", default=given("AWS_REGION") or given("AWS_DEFAULT_REGION"), help="default: AWS_REGION")
    add("--instance-type", default=given("INSTANCE_TYPE") or _TYPE, help=f"default: {_TYPE} (INSTANCE_TYPE)")
    add("--results", type=Path, default=RESULTS, help="what is found is written into this file")
    options = parser.parse_args(words)
    if not options.region:
        parser.error("no region: set AWS_REGION or write --region")
    return options


def _refused(chosen: Mapping[str, Experiment], options: argparse.Namespace) -> int | None:
    """Shows what would be done, and says why it is not."""
    for name, it in chosen.items():
        print(f"{name:34} {it.minutes:4} min {it.instance_hours * _USD_PER_HOUR:6.2f} USD")
    minutes, usd = (
        sum(it.minutes for it in chosen.values()),
        sum(it.instance_hours for it in chosen.values()) * _USD_PER_HOUR,
    )
    print(
        f"at most about {minutes} minutes and {usd:.2f} USD in {options.region}, for up to 4 of {options.instance_type}"
    )
    if options.usd is None or options.minutes is None:
        print(
            f"nothing is done without a budget: BUDGET_USD={usd:.2f} BUDGET_MINUTES={minutes}",
            file=sys.stderr,
        )
        return 2
    if usd > options.usd or minutes > options.minutes:
        told = f"that is more than the budget of {options.usd:.2f} USD and {options.minutes:.0f} minutes"
        print(f"{told}; raise it, or name some of them in ONLY", file=sys.stderr)
        return 1
    return None


def _run(lab: Lab, chosen: Mapping[str, Experiment], options: argparse.Namespace) -> None:
    end = monotonic() + options.minutes * 60
    for name, it in chosen.items():
        lab.ends = min(end, monotonic() + it.minutes * 60 * _TOO_LONG)
        function = function_of(name)
        assert function is not None
        try:
            answer = function(lab)
        # What one experiment stumbles over says nothing about the others.
        except (OutOfTimeError, RuntimeError, ClientError, BotoCoreError) as error:
            answer = Answer("cannot tell", f"{type(error).__name__}: {error}")
        finally:
            lab.end()
        print(f"{name}: {answer.finding}: {answer.evidence}", flush=True)
        found = Result(name, answer.finding, f"{datetime.now(UTC):%Y-%m-%d}", lab.region, answer.evidence)
        # After each: a run may be killed. An answer is not replaced by none.
        before = results(options.results)
        if answer.finding != "cannot tell" or name not in before:
            write({**before, name: found}.values(), options.results)
        if monotonic() > end:
            print("the minutes are over", file=sys.stderr)
            return


def _report(left: Sequence[str]) -> int:
    for it in left:
        print(f"LEFT, AND IT MAY COST: {it}", file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
