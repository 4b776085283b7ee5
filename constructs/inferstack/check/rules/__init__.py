"""The rules of SageMaker hosting that a schema cannot express, by what they are about.

Importing this package registers them all; :data:`RULES` is the catalog by code, from which the reference of
codes is generated. Plain rules are rows in :mod:`inferstack.check.rules.keys`, all others are functions.
"""

from inferstack.check.rules import (
    alarms,
    arns,
    async_inference,
    autoscaling,
    containers,
    elsewhere,
    execution_role,
    guardrails,
    keys,
    language_models,
    load_test,
    names,
    objective,
    security,
    stack,
    triton,
    variants,
)
from inferstack.check.rules.base import RULES

__all__ = ["RULES"]
