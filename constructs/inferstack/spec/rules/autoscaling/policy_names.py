"""Names of policies: each names one policy of a target, and its letters and digits name one resource."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import count

import msgspec

from inferstack.once import found_once
from inferstack.spec.blocks.autoscaling import ScalingPolicy, StepPolicy
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.scaling import Scaled, built_in_step, scaled_parts
from inferstack.spec.parts.walk import policy_name
from inferstack.spec.problem import SpecPath
from inferstack.spec.problem.words import describe
from inferstack.spec.rules.base import Finding


class SameName(msgspec.Struct, frozen=True):
    """A policy named like an earlier one: its path, its name, what has that name already, and a free name."""

    path: SpecPath
    policy: ScalingPolicy | StepPolicy
    name: str
    other: str
    free: str


@found_once
def same_names(spec: ModelSpec) -> Iterator[SameName]:
    """Among all policies of one target, since that is where Application Auto Scaling knows them by name.

    A second one would replace the first, or be refused because it is of another type.
    https://docs.aws.amazon.com/autoscaling/application/APIReference/API_PutScalingPolicy.html
    """
    for scaled in scaled_parts(spec):
        seen = _built_in(scaled)
        for path, sort, number, policy in _in_order(scaled):
            name = policy_name(policy)
            taken = _taken(sort, name)
            other = next((seen[key] for key in taken if key in seen), None)
            if other is not None:
                numbered = (f"{name}{it}" for it in count(2))
                free = next(it for it in numbered if seen.keys().isdisjoint(_taken(sort, it)))
                yield SameName(path, policy, name, other, free)
            for key in taken:
                seen.setdefault(key, f"number {number} of `{sort}`, `{name}`")


def _built_in(scaled: Scaled) -> dict[str, str]:
    """The name of the built-in policy that scales up from zero; the other built-in one only exists alone."""
    step = built_in_step(scaled)
    if step is None:
        return {}
    name = policy_name(step)
    return dict.fromkeys(_taken("", name), f"the built-in `{name}`")


def _in_order(scaled: Scaled) -> Iterator[tuple[SpecPath, str, int, ScalingPolicy | StepPolicy]]:
    """Every policy of one target: its path, the list that it is in, its number there, and the policy."""
    for sort in ("policies", "step_policies"):
        for index, policy in enumerate(getattr(scaled.scaling, sort)):
            yield (*scaled.path, sort, index), sort, index + 1, policy


def called_like_another(path: SpecPath, same: SameName) -> Finding:
    """The finding of two rules, each for policies of one sort."""
    message = f"the policy name `{same.name}` clashes with {same.other}"
    return Finding(path, message, f"give it another `policy_name`, such as {describe(same.free)}")


# Most names are names of metrics, which are the same in all specs.
@lru_cache(maxsize=256)
def _taken(sort: str, name: str) -> tuple[str, ...]:
    """What no other policy may take: in a logical id, a name keeps only its letters and digits.

    A name without any leaves only the beginning of the id, which all policies of its sort share.
    """
    letters = re.sub(r"[^A-Za-z0-9]", "", name).lower()
    return (letters,) if letters else (name, f"{sort}: ")
