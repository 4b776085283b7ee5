"""Which template of the base belongs to which spec."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from inferstack.check.load import LoadedSpec
from inferstack.problems import Problem
from inferstack.review.against import Deployment, not_ours, own_templates, unclear_stage, unclear_template
from inferstack.review.page.base import Base, BaseStack


class SpecsOfFile(NamedTuple):
    """What one file deploys: itself, or its stages."""

    specs: Sequence[LoadedSpec]
    has_stages: bool


class Match(msgspec.Struct, frozen=True):
    """A spec and its template; without one if it is new, or if that is not clear."""

    one: LoadedSpec
    stack: BaseStack | None = None
    candidates: tuple[str, ...] = ()
    """Files of all templates that may be its own."""
    problem: Problem | None = None
    is_unclear: bool = False


def matched(of_file: SpecsOfFile, base: Base | None, *, alone: bool) -> list[Match]:
    """The specs of a file, each with its template. With ``alone``, the only spec gets the only template."""
    if base is None:
        return [Match(it) for it in of_file.specs]
    found = [_match(it, of_file, base, alone=alone) for it in of_file.specs]
    return list(_each_template_once(found))


def _match(one: LoadedSpec, of_file: SpecsOfFile, base: Base, *, alone: bool) -> Match:
    own = list(base.stacks) if alone and not base.is_folder else _own(one, of_file, base.stacks)
    files = tuple(it.template.file for it in own)
    if len(own) > 1:
        problem = unclear_template(one, [it.template for it in own])
        return Match(one, None, files, problem, is_unclear=True)
    if not own:
        return Match(one, is_unclear=one.document.shown_file in base.wrong)
    if own[0].spec is None:
        refused = next(not_ours([own[0].template]), None)
        if refused is not None:
            return Match(one, None, files, refused, is_unclear=True)
    return Match(one, own[0], files)


def _own(one: LoadedSpec, of_file: SpecsOfFile, stacks: Iterable[BaseStack]) -> list[BaseStack]:
    """Of the same stage, where that is known; by the endpoint's name, or by the spec file."""
    fitting = [it for it in stacks if not it.is_staged or it.stage == one.stage]
    is_staged = any(it.is_staged for it in fitting)
    deployment = Deployment(list(of_file.specs), of_file.has_stages and not is_staged, is_whole=True)
    templates = own_templates(one, [it.template for it in fitting], deployment)
    found = [it for it in fitting if any(it.template is template for template in templates)]
    same_file = [it for it in found if it.spec == one.document.shown_file]
    return same_file if len(found) > 1 and len(same_file) == 1 else found


def _each_template_once(found: Sequence[Match]) -> Iterator[Match]:
    """A template that stages of a file share is that of the spec without a stage, if that is deployed."""
    for match in found:
        sharing = [it for it in found if it.stack is not None and it.stack is match.stack]
        bare = [it for it in sharing if it.one.stage is None]
        if len(sharing) < 2 or match in bare:
            yield match
        elif bare or match.stack is None:
            yield msgspec.structs.replace(match, stack=None, is_unclear=True)
        else:
            problem = unclear_stage([it.one for it in sharing], match.stack.template)
            first = problem if match is sharing[0] else None
            yield msgspec.structs.replace(match, stack=None, problem=first, is_unclear=True)
