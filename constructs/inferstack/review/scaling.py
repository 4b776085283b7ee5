"""Scaling that stays on the same endpoint or component."""

from collections.abc import Iterator

from inferstack.review import deployed
from inferstack.review.changes import Fate
from inferstack.review.update import Finding, Update
from inferstack.spec import update_codes as codes
from inferstack.spec.problem import SpecPath


def limit_lowered(update: Update) -> Iterator[Finding]:
    """Registering a target brings its capacity within the limits."""
    before = deployed.of_type(update.before, deployed.TARGET_TYPE)
    for logical_id, after in deployed.of_type(update.after, deployed.TARGET_TYPE).items():
        old, new = before.get(logical_id, {}).get("MaxCapacity"), after["MaxCapacity"]
        same = update.changes[logical_id].fate is Fate.UPDATED
        if same and isinstance(old, int) and new < old:
            path = update.place(logical_id, ("MaxCapacity",))
            message = f"`max_capacity` falls from {old} to {new}: what runs above it is stopped at once"
            yield Finding(codes.LIMIT_LOWERED, path, message, "deploy it while no more than that run")


def scaling_removed(update: Update) -> Iterator[Finding]:
    """The capacity stays where it is."""
    scaled = (
        (deployed.scaled_variants, deployed.variants),
        (deployed.scaled_components, deployed.components),
    )
    for targets, hosts in scaled:
        for name in targets(update.before):
            if update.same_endpoint and name in hosts(update.after) and name not in targets(update.after):
                message = f"`{name}` no longer scales, whatever its load is"
                fix = "set the capacity that it shall have, or keep its `autoscaling`"
                yield Finding(codes.SCALING_REMOVED, _place(update, name), message, fix)


def _place(update: Update, name: str) -> SpecPath:
    """The component of the name; of a variant's scaling nothing is left in the spec."""
    path = update.written(("inference_components", name))
    return path if path[-1:] == (name,) else ()
