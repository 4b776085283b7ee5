"""What deploying a template over an earlier one does, and what that means for SageMaker.

    update.py      what CloudFormation does with each resource, and which part of the spec causes it
    renames.py     what only gets another name, so that it can be compared with what it was
    effects.py     what a change means to somebody who decides
    rules.py       how a rule is declared
    endpoint.py, fleet.py, components.py, scaling.py, role.py, known_by_name.py, elsewhere.py, removed.py
                   the rules, by what they are about
    drift.py       how what runs differs from what a template wants
    import_plan.py the deployment that takes over what exists

Everything is decided from templates, and from answers that were read; AWS is not asked.
"""

from inferstack.updates import (
    components,
    elsewhere,
    endpoint,
    fleet,
    known_by_name,
    removed,
    role,
    scaling,
)
from inferstack.updates.rules import UPDATE_RULES, UpdateRule, update_problems

__all__ = [
    "UPDATE_RULES",
    "UpdateRule",
    "components",
    "elsewhere",
    "endpoint",
    "fleet",
    "known_by_name",
    "removed",
    "role",
    "scaling",
    "update_problems",
]
