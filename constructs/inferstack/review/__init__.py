"""What a change deploys, costs, replaces and risks: specs compared with a base.

    templates.py, base.py    what is compared with: templates, specs, a revision of git
    cloud_assembly.py        which stack of an app a template is for
    matching.py              which template belongs to which spec
    deploying.py             a spec about to be deployed over a template
    synthesized.py           a template about to be deployed, which an app of one's own made
    pair.py, twins.py        an endpoint before and after; what runs now, with what ran in its place
    rooms.py                 what the KV caches of language models have room for
    comparing.py, widened.py, loosened.py, remaining.py, avoidable_costs.py
                             findings: from and to, rights, alarms, settings and tags, costs to avoid
    sums.py                  quotas and totals
    order.py                 which finding comes first
    policies.py              what a team wants to fail on
    project_rules.py         what the project's own rules allow that they did not before
    data.py                  the review as data
    reviewing.py             :func:`review`, from files to the whole
    against.py               the same comparison as problems of specs: :func:`compare_with`; and of templates:
                             :func:`compare_templates`

Everything is decided from files; AWS is not asked. What an update means is in :mod:`inferstack.updates`. For
one spec, :func:`update_of` gives the update as data (every resource's fate, the properties that differ, the
places in the spec), and :func:`update_problems` what to know about it.
"""

from inferstack.review.against import Comparison, compare_templates, compare_with
from inferstack.review.data import Finding, Quota, Review, Reviewed, Total
from inferstack.review.deploying import update_of, update_problems
from inferstack.review.reviewing import review
from inferstack.review.synthesized import holds_templates
from inferstack.review.templates import PreviousTemplate, each_endpoint, read_folder, read_template
from inferstack.updates.update import Change, Fate, Update

__all__ = [
    "Change",
    "Comparison",
    "Fate",
    "Finding",
    "PreviousTemplate",
    "Quota",
    "Review",
    "Reviewed",
    "Total",
    "Update",
    "compare_templates",
    "compare_with",
    "each_endpoint",
    "holds_templates",
    "read_folder",
    "read_template",
    "review",
    "update_of",
    "update_problems",
]
