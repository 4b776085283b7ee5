"""What a change means to somebody who decides: every finding of a review has one of these effects."""

from collections.abc import Mapping
from typing import Literal, get_args

Effect = Literal[
    "invalid",
    "refused",
    "doubtful",
    "moved",
    "removed",
    "replaced",
    "interrupted",
    "role-widened",
    "protection-lowered",
    "alarms-loosened",
    "never-fits",
    "reset",
    "no-effect",
    "cost",
    "capacity",
    "updated",
    "weights-changed",
    "image-changed",
    "library-changed",
    "added",
    "changed",
    "costly",
    "advice",
]
"""What a finding is about, the worst first; docs/review.md explains each."""

WORST_FIRST: tuple[Effect, ...] = get_args(Effect)
"""The effects, by how much they matter."""

ROUTINE: frozenset[Effect] = frozenset(WORST_FIRST[WORST_FIRST.index("cost") : WORST_FIRST.index("advice")])
"""Effects of ordinary changes: information, since nobody stops a deployment for one of them alone."""

MEANINGS: Mapping[Effect, str] = {
    "invalid": "a spec has errors, or it is not clear what to compare it with",
    "refused": "AWS refuses the update",
    "doubtful": "the update may fail or be impossible to undo; nobody outside AWS can confirm it",
    "moved": "a new stack in another region or account; the old one stays there, and costs money",
    "removed": "something is removed that may still be needed",
    "replaced": "something that others know by its name is replaced, or given up",
    "interrupted": "requests fail or have to change, or what answers them is restarted",
    "role-widened": "the role, or an invoker of the endpoint, may do more",
    "protection-lowered": "network, encryption, access or updates are protected less",
    "alarms-loosened": "an alarm goes off later or never, notifies fewer, or is gone",
    "never-fits": "copies that find no instance",
    "reset": "a number that scaling has set is reset, or a limit stops what runs",
    "no-effect": "a change in the spec that reaches nothing that exists",
    "cost": "the instances cost more or less",
    "capacity": "more or fewer instances, copies or concurrent requests",
    "updated": "updated in place, by a new fleet or by new copies",
    "weights-changed": "other model files",
    "image-changed": "another image",
    "library-changed": "a new version of inferstack makes this of the same spec",
    "added": "something new beside what exists",
    "changed": "another property changes",
    "costly": "it may cost more than it has to",
    "advice": "a warning about the spec as it is",
}
"""Each effect in words."""
