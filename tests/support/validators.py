"""AWS's own validators of templates, run in this process."""

import json
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

from cfnlint.config import ConfigMixIn
from cfnlint.decode import decode_str
from cfnlint.runner import Runner
from cloudformation_validate import RegoEngine, Severity, TemplateContent, ValidateConfig


@cache
def _engine() -> RegoEngine:
    return RegoEngine()


def validate_findings(template: Mapping[str, Any]) -> list[str]:
    """What `cloudformation-validate` reports with severity WARN or above; enums and bounds count as errors."""
    config = ValidateConfig(strict=True, severity_level=Severity.WARN)
    report = _engine().validate_template(TemplateContent(json.dumps(template)), config)
    return [f"{it.rule_id}: {it.message}" for it in report.diagnostics]


@cache
def _linter() -> Runner:
    """With its rules, which are read once, as for the templates of one command line."""
    arguments = ConfigMixIn(
        regions=["us-east-1"],
        include_checks=["I", "W", "E"],
        ignore_checks=["I4010"],
        include_experimental=True,
    )
    return Runner(arguments)


def cfn_lint_findings(template: Mapping[str, Any]) -> list[str]:
    """What cfn-lint reports with all of its rules, including the informational and experimental ones.

    The exception is I4010, which wants a description of every resource for language models.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decoded, unreadable = decode_str(json.dumps(template))
        found = unreadable or _linter().validate_template(decoded)
        return [f"{it.rule.id}: {it.message} {it.path}" for it in found]
