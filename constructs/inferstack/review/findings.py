"""All rules on updates, and their findings as problems of the spec."""

from collections.abc import Callable, Iterator

from inferstack.check.load import LoadedSpec
from inferstack.problems import Problem
from inferstack.problems.update_codes import UPDATE_CODES
from inferstack.review import components, components as scaling, endpoint, endpoint as variants, fleet, role
from inferstack.review.update import Update

Rule = Callable[[Update], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    endpoint.renamed,
    endpoint.serverless,
    endpoint.asynchronous,
    endpoint.with_components,
    endpoint.many_models,
    endpoint.prefix,
    fleet.new_fleet,
    fleet.count_reset,
    fleet.count_kept,
    fleet.same_config,
    variants.scaled_type,
    variants.scaled_pools,
    variants.names,
    variants.scaled_variant_gone,
    components.name_taken,
    components.removed_or_renamed,
    components.updated,
    components.copies_reset,
    components.fleet_under_components,
    components.rebased,
    components.variant_under_components,
    scaling.limit_lowered,
    scaling.scaling_removed,
    scaling.policy_renamed,
    scaling.policy_name_taken,
    role.policies_at_once,
)
"""Each looks at one update and yields its effects."""


def update_problems(loaded: LoadedSpec, update: Update) -> list[Problem]:
    """What one should know about the deployment, without the warnings that the spec ignores."""
    found = [problem for rule in RULES for problem in rule(update)]
    problems = [loaded.document.located(it, it.code, UPDATE_CODES[it.code].severity) for it in found]
    return [it for it in problems if it.code not in loaded.spec.ignored_codes]
