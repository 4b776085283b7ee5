"""Every code that a problem can have, in one list: what `inferstack explain` and docs/codes.md show."""

from collections.abc import Iterator
from functools import cache

import msgspec

from inferstack.spec import file_codes
from inferstack.spec.check import CHECK_CODES, UNKNOWN_PLACEHOLDER
from inferstack.spec.check_files import FOLDER_CODES
from inferstack.spec.lock.codes import LOCK_CODES
from inferstack.spec.names_across_files import NAME_CODES, SAME_ENDPOINT
from inferstack.spec.problem import Severity
from inferstack.spec.rules import RULES
from inferstack.spec.rules.template import TEMPLATE_CODES, TEMPLATE_LIMITS
from inferstack.spec.structure import STRUCTURE_CODES
from inferstack.spec.update_codes import UPDATE_CODES

_TABLES = (
    file_codes.FILE_CODES,
    FOLDER_CODES,
    NAME_CODES,
    LOCK_CODES,
    STRUCTURE_CODES,
    CHECK_CODES,
    TEMPLATE_CODES,
)
_OWN_FORMAT = "inferstack's spec format"
_YAML = (
    file_codes.NOT_UTF8,
    file_codes.UNPRINTABLE,
    file_codes.SYNTAX,
    file_codes.SEVERAL_DOCUMENTS,
    file_codes.DUPLICATE_KEY,
    file_codes.TAG,
    file_codes.UNFIT_SCALAR,
    file_codes.UNKNOWN_ALIAS,
)
_AWS = "https://docs.aws.amazon.com"
_SOURCES = {
    **dict.fromkeys(_YAML, "https://yaml.org/spec/1.2.2/"),
    **dict.fromkeys(STRUCTURE_CODES, f"{_AWS}/AWSCloudFormation/latest/TemplateReference/AWS_SageMaker.html"),
    file_codes.MERGE: "https://yaml.org/type/merge.html",
    SAME_ENDPOINT: f"{_AWS}/sagemaker/latest/APIReference/API_CreateEndpoint.html",
    **dict.fromkeys(TEMPLATE_CODES, TEMPLATE_LIMITS),
    UNKNOWN_PLACEHOLDER: f"{_AWS}/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html",
}
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
"""What codes that begin alike are about."""


class CodeEntry(msgspec.Struct, frozen=True):
    """A code as the catalogue shows it. ``source`` is the page or report that it rests on."""

    code: str
    severity: Severity
    sentence: str
    source: str

    @property
    def source_url(self) -> str | None:
        """The page, where the source is one."""
        return self.source if self.source.startswith("https://") else None


def every_entry() -> Iterator[CodeEntry]:
    """The entries of all tables, one table after the other."""
    # Every command imports this module, and few need what knows Triton.
    from inferstack.triton.archive.codes import ARCHIVE_CODES  # noqa: PLC0415
    from inferstack.triton.rules import RULES as TRITON_RULES  # noqa: PLC0415

    for table in _TABLES:
        for code, sentence in table.items():
            yield CodeEntry(code, Severity.ERROR, sentence, _SOURCES.get(code, _OWN_FORMAT))
    for rule in RULES.values():
        yield CodeEntry(rule.code, rule.severity, rule.sentence, rule.source)
    for of_models in TRITON_RULES.values():
        yield CodeEntry(of_models.code, of_models.severity, of_models.sentence, of_models.source)
    for of_archives in ARCHIVE_CODES.values():
        yield CodeEntry(of_archives.code, of_archives.severity, of_archives.sentence, of_archives.source)
    for of_updates in UPDATE_CODES.values():
        yield CodeEntry(of_updates.code, of_updates.severity, of_updates.sentence, of_updates.source)


@cache
def catalogue() -> dict[str, CodeEntry]:
    """Every code, sorted."""
    entries = {entry.code: entry for entry in every_entry()}
    return {code: entries[code] for code in sorted(entries)}
