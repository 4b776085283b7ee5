"""Generates docs/beliefs.md: each belief about AWS, and what was found when it was tried."""

from collections.abc import Mapping

from tests.account.beliefs.table import Experiment, Result, experiments, results, tried
from tools.generated_files import ROOT, Contents, generated_by
from tools.markdown import cell, table

PAGE = ROOT / "docs" / "beliefs.md"

_TOP = """\
# Beliefs

{generated}

Where AWS's documentation is silent, rules and the emulated AWS of the tests follow what users report, or what is likely.
Each of these beliefs can be tried in an account. Beliefs tried on AWS: {tried} of {count}.
One `holds` if AWS does what the rule, or the emulated AWS, takes it to do.

## Trying them

Whoever has an account for tests can do it, in a clone of inferstack and with credentials that may do everything in it:

```sh
make test-account AWS_REGION=us-east-1                                       # shows what it would do, and asks for a budget
make test-account AWS_REGION=us-east-1 BUDGET_USD=2 BUDGET_MINUTES=240
make test-account AWS_REGION=us-east-1 BUDGET_USD=1 BUDGET_MINUTES=60 ONLY="silent-rollback"
make test-account-clean AWS_REGION=us-east-1
```

The account needs a quota of four `ml.m5.large for endpoint usage`, or of another type that `INSTANCE_TYPE` names. Costs and minutes are
estimates on the large side; what they add up to must fit into the budget before anything is made. No experiment takes longer than
twice its minutes, nor than the budget's.

All that is made has a name that begins with `inferstack-belief-`, and the tag `inferstack:belief`. It is removed at the end, also after an error or
Ctrl-C; after a kill, the next start or `make test-account-clean` removes it. What could not be removed is listed, and the exit status is 1.
What is found is written into `tests/account/beliefs/results.toml`, without the number of the account: run `make generated`, and send it as
a change.

## Tried

{found}
## Not tried yet

{waiting}
## Not written yet

{missing}"""


def page(given: Mapping[str, Experiment], found: Mapping[str, Result]) -> str:
    """The page, with a table for each state that beliefs can be in."""
    waiting = {name: it for name, it in given.items() if name not in found and not it.missing}
    missing = {name: it for name, it in given.items() if name not in found and it.missing}
    tried_rows = [
        (name, cell(given[name].believed), it.finding, f"{it.date}, {it.region}", cell(it.evidence))
        for name, it in found.items()
    ]
    heads = ("Belief", "What is believed", "It", "When, where", "Evidence")
    return _TOP.format(
        generated=generated_by("beliefs"),
        tried=tried(found),
        count=len(given),
        found=table(heads, tried_rows) if tried_rows else "None.\n",
        waiting=table(
            ("Belief", "What is believed", "What the answer would show", "Relied on in", "Minutes"),
            [
                (name, cell(it.believed), cell(it.shows), _rests(it), str(it.minutes))
                for name, it in waiting.items()
            ],
        ),
        missing=table(
            (
                "Belief",
                "What is believed",
                "What the answer would show",
                "Relied on in",
                "The experiment takes",
            ),
            [
                (name, cell(it.believed), cell(it.shows), _rests(it), cell(it.missing))
                for name, it in missing.items()
            ],
        ),
    )


def _rests(it: Experiment) -> str:
    return ", ".join(
        f"[{one}](codes.md#{one.lower()})" if one in it.codes else f"[{one.rpartition('/')[2]}](../{one})"
        for one in it.rests
    )


def generate() -> Contents:
    """The page."""
    return {PAGE: page(experiments(), results())}
