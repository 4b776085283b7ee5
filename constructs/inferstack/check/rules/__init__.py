"""The rules of SageMaker hosting that a schema cannot express, by what they are about.

Importing this package registers them all; :data:`RULES` is the catalog by code, from which the reference of
codes is generated. Rules about a spec as a whole are beside the subfolders.
"""

from inferstack.check.rules import (
    alarms,
    arns,
    autoscaling,
    components,
    endpoint,
    execution_role,
    ignore,
    keys,
    model,
    names,
    security,
    tags,
    template,
    triton,
)
from inferstack.check.rules.base import RULES
from inferstack.problems.rules import Rule

__all__ = ["RULES", "Problem", "Rule"]
