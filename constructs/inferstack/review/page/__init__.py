"""The page for reviewers, as data: what specs deploy, cost and need, and what a change of them means.

data.py, outcome.py    the classes: what exists, and what changes
parts                  an endpoint, read from one template
base.py, matching.py   what is compared with what
comparing.py, widened.py, avoidable_costs.py
                       findings: from and to, rights, costs that may be avoided
effects.py, order.py   what findings mean, and which comes first
sums.py                quotas and totals
policies.py            what a team wants to fail on
reviewing.py           :func:`review`, from files to the whole
"""

from inferstack.review.page.outcome import Finding, Quota, Review, Reviewed, Total
from inferstack.review.page.reviewing import review

__all__ = ["Finding", "Quota", "Review", "Reviewed", "Total", "review"]
