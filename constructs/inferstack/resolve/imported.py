"""The spec of an endpoint that exists: drafts of it, until what one resolves to is what is there."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from inferstack.check.load import LoadedSpec, parse_spec
from inferstack.endpoint.deployed import Resources
from inferstack.endpoint.of_answers import EndpointAnswers, resources_of
from inferstack.problems import Problem, SpecError, SpecPath
from inferstack.resolve.draft import Data, Draft, Importing
from inferstack.resolve.template import resolve_resources, template_of
from inferstack.updates.drift import Drift, Drifts, Template, compared

_GENERATED = {("AlarmDescription",)}
"""Texts for readers that an alarm gets where nobody has written one."""


class Imported(msgspec.Struct, frozen=True):
    """A spec, and in what it differs from the endpoint."""

    data: Data
    left_out: tuple[str, ...]
    """What the spec does not say."""
    problems: tuple[Problem, ...]
    """Errors of the spec: what exists is not what a spec may be."""
    comparison: Drifts | None
    """What its template differs in; None for a spec with errors."""

    @property
    def resolves_to_it(self) -> bool:
        """Whether the spec resolves to what is there, but for texts that nobody had written."""
        return self.comparison is not None and all(it.path in _GENERATED for it in self.comparison.drift)


def spec_of(answers: EndpointAnswers, pseudo_parameters: Mapping[str, str]) -> Imported:
    """The spec of an endpoint."""
    importing = Importing(
        resources_of(answers), pseudo_parameters["AWS::AccountId"], pseudo_parameters["AWS::Region"]
    )
    while True:
        draft = importing.draft()
        left_out = (*draft.left_out, *(f"the composite alarm {it}" for it in answers.composites))
        try:
            loaded = parse_spec(draft.data)
        except SpecError as error:
            unfit = {part for it in error.problems for part in _parts(draft, it.path)}
            result = Imported(draft.data, left_out, tuple(error.problems), None)
        else:
            comparison = compared(template(loaded, pseudo_parameters), answers)
            unfit = {*_unequal(draft, loaded, comparison.drift)}
            result = Imported(draft.data, left_out, (), comparison)
        if not unfit:
            return result
        for part in unfit:
            importing.try_next(part)


def template(
    loaded: LoadedSpec, parameters: Mapping[str, Any], ids: Mapping[str, str] | None = None
) -> Template:
    """The template of a spec, with what is known of its deployment."""
    resources: Resources = template_of(loaded)["Resources"]
    return Template(resources, parameters, ids)


def _parts(draft: Draft, path: SpecPath) -> Iterator[str]:
    """The part with several forms that a path leads into."""
    yield from (part for at, part in draft.parts.items() if path[: len(at)] == at)


def _unequal(draft: Draft, loaded: LoadedSpec, drift: tuple[Drift, ...]) -> Iterator[str]:
    """The parts that do not resolve to what is there."""
    sources = {it: one.source for it, one in resolve_resources(loaded.spec, loaded.spec.region).items()}
    for it in drift:
        if it.logical_id and it.path not in _GENERATED:
            yield from _parts(draft, sources[it.logical_id])
