"""The app that a user would write without inferstack: `python -m benchmarks.by_hand.app COUNT OUTDIR`.

Typed L1 constructs, no YAML, no validation, and every switch that inferstack's own app sets.
"""

import sys

from aws_cdk import App

from benchmarks.by_hand.stack import HandWrittenStack
from benchmarks.family import family


def main(count: int, outdir: str) -> None:
    """Synthesises the first ``count`` endpoints of the family into a folder."""
    app = App(
        outdir=outdir,
        analytics_reporting=False,
        stack_traces=False,
        context={"aws:cdk:disable-creation-stack-traces": True},
        auto_synth=False,
    )
    for endpoint in family(count):
        HandWrittenStack(app, endpoint)
    app.synth()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
