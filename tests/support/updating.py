"""Pairs of specs, and what deploying the second over the first does."""

import re
from typing import Any

import yaml
from support.resolving import BASES, merged

from inferstack.check.load import LoadedSpec, parse_spec
from inferstack.problems import Problem
from inferstack.resolve import resolve_template
from inferstack.review import Fate, PreviousTemplate, Update, update_problems
from inferstack.review.base import BaseStack
from inferstack.review.deploying import update_over

SIGNS = {Fate.REPLACED: "!", Fate.UPDATED: "~", Fate.ADDED: "+", Fate.REMOVED: "-"}
_HASH = re.compile(r"[0-9A-F]{8}(?=$|[A-Z])")


def spec_of(base: str, *changes: Any) -> LoadedSpec:
    """A base spec with changes merged in, one after the other."""
    data: Any = yaml.safe_load(BASES[base])
    for change in changes:
        data = merged(data, change)
    return parse_spec(data)


def resources_of(loaded: LoadedSpec) -> dict[str, Any]:
    """The resources that exist once the spec is deployed."""
    found: dict[str, Any] = template_of(loaded)["Resources"]
    return found


def template_of(loaded: LoadedSpec) -> dict[str, Any]:
    """The template that the spec is deployed with."""
    return resolve_template(loaded.spec, region=None, source_of=lambda _: "old:1")


def deploy(after: LoadedSpec, before: LoadedSpec) -> tuple[Update, list[Problem]]:
    """The update, and what is reported about it."""
    template = template_of(before)
    previous = PreviousTemplate("base:one.yaml", template["Resources"], template)
    place = {"account": before.spec.account, "region": before.spec.region or previous.image_region}
    update = update_over(after, BaseStack(previous, spec="one.yaml", is_staged=True, **place))
    return update, update_problems(after, update)


def fates(update: Update) -> set[str]:
    """What changes: signs and logical ids, without the hashes in the ids."""
    return {
        SIGNS[it.fate] + _HASH.sub("", it.logical_id)
        for it in update.changes.values()
        if it.fate is not Fate.UNCHANGED
    }
