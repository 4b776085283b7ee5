"""Every code that a problem can have, in one list: what `inferstack explain` and docs/codes.md show."""

from collections.abc import Iterator
from functools import cache

from inferstack.spec.check_files import FOLDER_CODES
from inferstack.spec.document.references import REFERENCE_CODES
from inferstack.spec.document.tokens import TOKEN_CODES
from inferstack.spec.in_stack import STACK_CODES
from inferstack.spec.lock.codes import LOCK_CODES
from inferstack.spec.names_across_files import NAME_CODES
from inferstack.spec.problem.codes import Code
from inferstack.spec.problem.file_codes import FILE_CODES
from inferstack.spec.problem.update_codes import LEFT_OVER_CODES, UPDATE_CODES
from inferstack.spec.rules import RULES
from inferstack.spec.rules.template import TEMPLATE_CODES
from inferstack.spec.structure import STRUCTURE_CODES

TOPICS = {
    "IS0": "The file, its YAML, its stages, its lock",
    "IS1": "Keys and values",
    "IS2": "Names, sizes and instances",
    "IS3": "Multi-model endpoints",
    "IS4": "Inference components",
    "IS5": "Autoscaling",
    "IS6": "Endpoint configuration, serverless, deployment guardrails",
    "IS7": "Images and regions",
    "IS8": "Alarms, dashboard, execution role, updates",
    "IS9": "Triton's models",
}
"""What the codes with the same beginning are about."""


def every_entry() -> Iterator[Code]:
    """The codes of all tables, one table after the other."""
    # Every command imports this module, and few of them need the code that knows Triton.
    from inferstack.triton.archive.codes import ARCHIVE_CODES  # noqa: PLC0415
    from inferstack.triton.rules import RULES as TRITON_RULES  # noqa: PLC0415

    of_files = (FILE_CODES, FOLDER_CODES, NAME_CODES, LOCK_CODES)
    of_specs = (STRUCTURE_CODES, REFERENCE_CODES, TOKEN_CODES, TEMPLATE_CODES, RULES)
    of_deployments = (STACK_CODES, UPDATE_CODES, LEFT_OVER_CODES)
    for table in (*of_files, *of_specs, TRITON_RULES, ARCHIVE_CODES, *of_deployments):
        yield from table.values()


@cache
def every_code() -> dict[str, Code]:
    """Every code, sorted."""
    entries = {entry.code: entry for entry in every_entry()}
    return {code: entries[code] for code in sorted(entries)}
