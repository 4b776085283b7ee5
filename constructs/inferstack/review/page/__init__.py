"""The page for reviewers, as data: what specs deploy, cost and need, and what a change of them means.

data.py, outcome.py    the classes: what exists, and what changes
base.py, matching.py   what is compared with what
stack.py               one template, before or after
endpoints.py           an endpoint, made of fleets.py, capacity.py, cost.py, containers.py, scaling.py,
                       alarms.py, permissions.py, protections.py
comparing.py, widened.py, dear.py, order.py
                       findings: from and to, rights, what is dear, the worst first
sums.py                quotas and totals
policies.py            what a team wants to fail on
reviewing.py           :func:`review`, from files to the whole
"""

from inferstack.review.page.outcome import Finding, Quota, Review, Reviewed, Total
from inferstack.review.page.reviewing import review

__all__ = ["Finding", "Quota", "Review", "Reviewed", "Total", "review"]
