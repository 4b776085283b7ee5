"""The rules of SageMaker hosting that a schema cannot express, by topic.

Importing this package registers them all; :data:`RULES` is the catalogue by code, from which the
reference of codes follows.
"""

from inferstack.spec.rules.base import RULES, Finding, Rule

__all__ = ["RULES", "Finding", "Rule"]
