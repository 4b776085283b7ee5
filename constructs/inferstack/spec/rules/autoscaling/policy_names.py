"""Names of policies: each stands for one policy of a target, and its letters for one resource."""

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
    """A policy that is called like one before it: where, its name, which other, and a name that is free."""

    path: SpecPath
    policy: ScalingPolicy | StepPolicy
    name: str
    other: str
    free: str


@found_once
def same_names(spec: ModelSpec) -> Iterator[SameName]:
    """Of all that one target has: Application Auto Scaling knows a policy by its name there.

    A second one would replace the first, or be refused for its other type.
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
    """What the built-in policy takes that starts the first of it; the other is made where it is alone."""
    step = built_in_step(scaled)
    if step is None:
        return {}
    name = policy_name(step)
    return dict.fromkeys(_taken("", name), f"the built-in `{name}`")


def _in_order(scaled: Scaled) -> Iterator[tuple[SpecPath, str, int, ScalingPolicy | StepPolicy]]:
    """Every policy of one target: its path, the list that it stands in, its number there, the policy."""
    for sort in ("policies", "step_policies"):
        for index, policy in enumerate(getattr(scaled.scaling, sort)):
            yield (*scaled.path, sort, index), sort, index + 1, policy


def called_like_another(path: SpecPath, same: SameName) -> Finding:
    """What two rules say of it, each of policies of one sort."""
    message = f"the policy name `{same.name}` clashes with {same.other}"
    return Finding(path, message, f"give it another `policy_name`, such as {describe(same.free)}")


# Names of metrics are those of all specs.
@lru_cache(maxsize=256)
def _taken(sort: str, name: str) -> tuple[str, ...]:
    """What no other policy may take: as part of a logical id a name loses all but letters and digits.

    One without any leaves of the id what all of its sort begin with.
    """
    letters = re.sub(r"[^A-Za-z0-9]", "", name).lower()
    return (letters,) if letters else (name, f"{sort}: ")
