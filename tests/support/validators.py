"""AWS's own validators of templates, run in this process."""

import json
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

from cfnlint.api import ManualArgs, lint
from cloudformation_validate import RegoEngine, Severity, TemplateContent, ValidateConfig


@cache
def _engine() -> RegoEngine:
    return RegoEngine()


def validate_findings(template: Mapping[str, Any]) -> list[str]:
    """What `cloudformation-validate` reports with severity WARN or above; enums and bounds count as errors."""
    config = ValidateConfig(strict=True, severity_level=Severity.WARN)
    report = _engine().validate_template(TemplateContent(json.dumps(template)), config)
    return [f"{it.rule_id}: {it.message}" for it in report.diagnostics]


def cfn_lint_findings(template: Mapping[str, Any]) -> list[str]:
    """What cfn-lint reports with all of its rules, including the informational and experimental ones.

    The exception is I4010, which wants a description of every resource for language models.
    """
    arguments = ManualArgs(
        regions=["us-east-1"],
        include_checks=["I", "W", "E"],
        ignore_checks=["I4010"],
        include_experimental=True,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            f"{it.rule.id}: {it.message} {it.path}" for it in lint(json.dumps(template), config=arguments)
        ]
