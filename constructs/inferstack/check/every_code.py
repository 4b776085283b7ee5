"""Every code that a problem can have, with an example, for `inferstack explain` and docs/codes.md.

`tools/code_examples.py` generates the examples from the test cases, so each of them has been tested.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

from inferstack.check.elsewhere import ELSEWHERE_CODES
from inferstack.check.lock import LOCK_CODES
from inferstack.check.references import REFERENCE_CODES, TOKEN_CODES
from inferstack.check.rules import RULES
from inferstack.check.rules.company import COMPANY
from inferstack.check.rules.language_models.model_files import OF_MODELS
from inferstack.check.rules.objective import MEASURED
from inferstack.check.rules.stack import TEMPLATE_CODES
from inferstack.check.structure import STRUCTURE_CODES
from inferstack.problems.codes import Code
from inferstack.problems.file_codes import COMPARISON_CODES, FILE_CODES
from inferstack.triton.archive.entries import ARCHIVE_CODES
from inferstack.triton.rules import RULES as TRITON_RULES
from inferstack.updates import UPDATE_RULES

# ---------------------------------------------------------------- codes

TOPICS = {
    "IS0": "The file, its YAML, its stages, its lock",
    "IS1": "Keys and values",
    "IS2": "Names, sizes and instances",
    "IS3": "Multi-model endpoints, pipelines, engines of language models",
    "IS4": "Inference components",
    "IS5": "Autoscaling",
    "IS6": "Endpoint configuration, serverless, deployment guardrails",
    "IS7": "Images and regions; files of Triton's models",
    "IS8": "Alarms, dashboard, execution role, updates",
    "IS9": "Triton's models",
}
"""What the codes with the same beginning are about."""


def every_entry() -> Iterator[Code]:
    """The codes of all tables, table by table."""
    of_files = (FILE_CODES, LOCK_CODES)
    of_specs = (STRUCTURE_CODES, REFERENCE_CODES, TOKEN_CODES, ELSEWHERE_CODES, TEMPLATE_CODES, RULES)
    of_deployments = (UPDATE_RULES, COMPARISON_CODES)
    for table in (
        *of_files,
        *of_specs,
        MEASURED,
        OF_MODELS,
        COMPANY,
        TRITON_RULES,
        ARCHIVE_CODES,
        *of_deployments,
    ):
        yield from table.values()


@cache
def every_code() -> dict[str, Code]:
    """Every code, sorted."""
    entries = {entry.code: entry for entry in every_entry()}
    return {code: entries[code] for code in sorted(entries)}


# ---------------------------------------------------------------- examples

EXAMPLES_FILE = Path(__file__).with_name("examples.json")
WRONG, RIGHT, BOTH = "-+ "
# In words, since the minus sign of a diff would look like a list item in YAML.
_IN_THE_MARGIN = {WRONG: "wrong", RIGHT: "right", BOTH: ""}


class Example(msgspec.Struct, frozen=True):
    """Part of a spec. Each line begins with a sign: it is in the wrong version, the right one, or both."""

    title: str
    lines: tuple[str, ...]

    def shown(self) -> Iterator[str]:
        """The lines, for a terminal with 80 columns."""
        return (f"{_IN_THE_MARGIN[line[0]]:5}  {line[1:]}" for line in self.lines)


@cache
def examples() -> dict[str, Example]:
    """The examples, by code. Not every code has one."""
    return msgspec.json.decode(EXAMPLES_FILE.read_bytes(), type=dict[str, Example])
