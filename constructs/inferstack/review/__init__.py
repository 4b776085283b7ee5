"""What a deployment would do to the existing stack, judging by the previous template.

    templates.py   reads previous templates
    deployed.py    what a template says about an endpoint
    update.py      what CloudFormation does with each resource, and which part of the spec causes it
    endpoint.py, fleet.py, components.py, role.py
                   rules: what that means for SageMaker, one function each
    against.py     finds each spec's template, and runs the rules

Everything is decided from the two templates alone; AWS is not asked. :func:`compare_with` takes files to
problems and notes. For one spec, :func:`update_of` gives the update as data (every resource's fate, the
properties that differ, the places in the spec), and :func:`update_problems` what to know about it.

:func:`review` puts that on one page, with capacity, cost, alarms and rights: the room ``page``.
"""

from inferstack.review.against import Comparison, compare_with, update_problems
from inferstack.review.page import Review, review
from inferstack.review.templates import PreviousTemplate, read_folder, read_template
from inferstack.review.update import Change, Fate, Update, update_of

__all__ = [
    "Change",
    "Comparison",
    "Fate",
    "PreviousTemplate",
    "Review",
    "Update",
    "compare_with",
    "read_folder",
    "read_template",
    "review",
    "update_of",
    "update_problems",
]
