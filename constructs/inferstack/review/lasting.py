"""Variants that exist both before and after an update."""

from collections.abc import Iterator

from inferstack.review import deployed
from inferstack.review.deployed import Properties
from inferstack.review.update import Update
from inferstack.spec.parts.walk import variants
from inferstack.spec.problem import SpecPath


def lasting_variants(update: Update) -> Iterator[tuple[SpecPath, str, Properties, Properties]]:
    """Variants that existed before: their place in the spec, name, properties before and after."""
    before, after = deployed.variants(update.before), deployed.variants(update.after)
    for path, variant in variants(update.spec):
        name = variant.variant_name
        if name in before and name in after:
            yield path, name, before[name], after[name]
