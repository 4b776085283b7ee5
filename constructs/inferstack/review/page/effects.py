"""What each code of an update means to a reviewer."""

from collections.abc import Mapping
from typing import get_args

from inferstack.problems import update_codes as codes
from inferstack.review.page.data import Effect

EFFECTS: Mapping[str, Effect] = {
    codes.SCALED_TYPE_CHANGES: "refused",
    codes.GUARDED_VARIANTS_CHANGE: "refused",
    codes.BECOMES_SERVERLESS: "refused",
    codes.NO_LONGER_ASYNC: "refused",
    codes.SAME_NAME_IN_OTHER_CASE: "refused",
    codes.COMPONENT_NAME_TAKEN: "refused",
    codes.POLICY_RENAMED: "refused",
    codes.UNREADABLE: "invalid",
    codes.NOT_A_TEMPLATE: "invalid",
    codes.UNCLEAR: "invalid",
    codes.OTHER_STACK: "invalid",
    codes.TOO_MANY_POLICIES: "doubtful",
    codes.SCALED_VARIANT_GONE: "doubtful",
    codes.NO_LONGER_SERVERLESS: "doubtful",
    codes.SAME_CONFIG_AGAIN: "doubtful",
    codes.ADAPTER_REBASED: "doubtful",
    codes.VARIANT_UNDER_COMPONENTS: "doubtful",
    codes.SCALED_POOLS_CHANGE: "doubtful",
    codes.POLICY_NAME_TAKEN: "doubtful",
    codes.EXPORT_GONE: "doubtful",
    codes.COMPONENT_REMOVED: "removed",
    codes.SCALING_REMOVED: "removed",
    codes.GONE: "removed",
    codes.LEFT_OVER: "removed",
    codes.ENDPOINT_RENAMED: "replaced",
    codes.COMPONENT_RENAMED: "replaced",
    codes.KNOWN_BY_NAME: "replaced",
    codes.VARIANTS_CHANGE: "interrupted",
    codes.KIND_CHANGES: "interrupted",
    codes.PREFIX_CHANGES: "interrupted",
    codes.COMPONENT_UPDATED: "interrupted",
    codes.FLEET_UNDER_COMPONENTS: "interrupted",
    codes.COUNT_RESET: "reset",
    codes.COPIES_RESET: "reset",
    codes.LIMIT_LOWERED: "reset",
    codes.COUNT_KEPT: "no-effect",
    codes.DEFAULT_CHANGES: "no-effect",
    codes.NEW_FLEET: "updated",
}
"""The effect of what each code reports. What goes (IS893) may be an alarm: then it is `alarms-loosened`."""

WORST_FIRST: tuple[Effect, ...] = get_args(Effect)
"""The effects, by how much they matter."""

MEANINGS: Mapping[Effect, str] = {
    "invalid": "a spec has errors, or it is not clear what to compare it with",
    "refused": "AWS refuses the update",
    "doubtful": "the update may fail or be impossible to undo; nobody outside AWS can confirm it",
    "removed": "something is removed that may still be needed",
    "replaced": "something that others know by its name is replaced, or given up",
    "interrupted": "requests fail or have to change, or what answers them is restarted",
    "role-widened": "the role, or whoever invokes the endpoint, may do more",
    "protection-lowered": "network, encryption or access is protected less",
    "alarms-loosened": "an alarm goes off later, tells fewer, or is gone",
    "never-fits": "copies that find no instance",
    "reset": "a number that scaling has set is reset, or a limit stops what runs",
    "no-effect": "what the spec says now reaches nothing that exists",
    "updated": "updated in place, while a new fleet runs beside the old one",
    "cost": "the instances cost more or less",
    "capacity": "more or fewer instances or copies",
    "weights-changed": "other model files, or another image",
    "library-changed": "a new version of inferstack makes this of the same spec",
    "added": "something new beside what is there",
    "changed": "another property changes",
    "costly": "it may cost more than it has to",
    "advice": "a warning about the spec as it is",
}
"""Each effect in words."""
