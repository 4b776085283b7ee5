"""Templates about to be deployed in place of specs: what an app of one's own makes, compared with what it
made.

    cdk.out, templates -> endpoints -> each with its endpoint of the base -> updates

The template has all that the app adds to a spec, or makes without a file. Where the spec is a file that is
there, problems are at its lines, and what it ignores is ignored.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.catalog.resource_types import CONFIG_TYPE
from inferstack.check.project_file import read_spec
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import PropertyPath
from inferstack.endpoint.own_stack import source_of
from inferstack.endpoint.place import Place
from inferstack.endpoint.stack import PlaceOf
from inferstack.format.logical_ids import ENDPOINT
from inferstack.problems import FilePlace, Problem, Severity, SpecError, SpecPath, dotted
from inferstack.problems.file_codes import UNCLEAR, UNRESOLVED
from inferstack.problems.words import listed
from inferstack.review.base import BaseStack
from inferstack.review.deploying import not_ours
from inferstack.review.templates import (
    PATTERNS,
    PreviousTemplate,
    each_endpoint,
    notes_on,
    read_template,
    template_files,
)
from inferstack.source.document import Document
from inferstack.source.spec_file import SUFFIXES
from inferstack.updates.removed import REMOVED
from inferstack.updates.rules import update_problems
from inferstack.updates.update import Update, compare, differ


class Synthesized(msgspec.Struct, frozen=True):
    """An endpoint of a template that is about to be deployed."""

    template: PreviousTemplate
    document: Document | None = None
    """The spec that it came from, where that is a file which can be read."""

    @property
    def endpoint_name(self) -> str:
        """Its name, in plain text or as the function that makes it."""
        return deployed.shown(deployed.endpoint(self.template.resources).get("EndpointName"))

    @property
    def reasons_to_ignore(self) -> dict[str, str]:
        """Why its spec ignores codes; empty reasons for those that are only listed."""
        written = [] if self.document is None else deployed.entries(self.document.data.get("ignore"))
        found = [it if isinstance(it, dict) else {"code": it} for it in written]
        return {str(it.get("code")): str(it.get("reason", "")) for it in found}

    def located(self, problem: Problem, code: str, severity: Severity) -> Problem:
        """What a rule has found, with its code and severity: in the spec's file, or else in the template."""
        if self.document is not None:
            return self.document.located(problem, code, severity)
        return replace(problem, code=code, severity=severity, at=FilePlace(self.template.file, 0, 0))

    def place(self, path: SpecPath) -> Place:
        """The place of a part of the spec."""
        if self.document is None:
            return Place(self.template.file, path=dotted(path))
        return Place(self.document.file, *self.document.position(path), dotted(path))

    def place_of(self, update: Update) -> PlaceOf:
        """Where what the resources are made from is written."""

        def place(logical_id: str, path: PropertyPath) -> Place:
            known = logical_id in update.changes and logical_id in update.sources
            return self.place(update.place(logical_id, path) if known else ())

        return place


class Synthesis(msgspec.Struct, frozen=True):
    """What is about to be deployed, and what is wrong with its templates."""

    endpoints: tuple[Synthesized, ...] = ()
    templates: tuple[PreviousTemplate, ...] = ()
    """All templates that may be compared, those without an endpoint among them."""
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()


def holds_templates(path: Path) -> bool:
    """Whether a path is a template, or a folder of them, and no spec or folder of specs."""
    try:
        if not path.is_dir():
            return path.suffix == ".json" or _is_template(path)
        specs = [it for it in path.iterdir() if it.suffix in SUFFIXES and not _is_template(it)]
        return not specs and bool(template_files(path))
    except OSError:
        return False


def _is_template(file: Path) -> bool:
    return any(file.match(form) for form in PATTERNS)


def read_synthesis(paths: Iterable[Path]) -> Synthesis:
    """The endpoints of templates and of folders with templates."""
    found: dict[str, PreviousTemplate] = {}
    problems: list[Problem] = []
    for file in dict.fromkeys(it for path in paths for it in _templates_at(path)):
        try:
            found[file.as_posix()] = read_template(file)
        except SpecError as error:
            problems += error.problems
    return synthesis_of(found.values(), problems)


def _templates_at(path: Path) -> list[Path]:
    return template_files(path) if path.is_dir() else [path]


def synthesis_of(templates: Collection[PreviousTemplate], problems: Sequence[Problem] = ()) -> Synthesis:
    """The endpoints of templates."""
    ours: list[Synthesized] = []
    for template in templates:
        each = each_endpoint(template)
        made = [it for it in each if it.source_of(ENDPOINT) is not None]
        ours += [Synthesized(it.made, _document(it.source_of(ENDPOINT))) for it in made]
    return Synthesis(
        tuple(ours),
        tuple(it for it in templates if not it.is_foreign),
        (*problems, *not_ours(templates), *(it for one in templates for it in _unresolved(one))),
        tuple(notes_on(templates)),
    )


def _unresolved(template: PreviousTemplate) -> Iterator[Problem]:
    """What resources of specs refer to and the template lacks: an app can remove anything from its stack."""
    sections = template.sections
    if "Transform" in sections:
        return  # Which resources there will be, only the transform knows.
    there = sections["Resources"].keys() | deployed.mapping(sections.get("Parameters")).keys()
    for logical_id, it in sections["Resources"].items():
        waits = [name for name in deployed.entries(it.get("DependsOn")) if isinstance(name, str)]
        referred = [*deployed.references(deployed.properties_of(it)), *waits]
        lacking = [name for name in dict.fromkeys(referred) if name not in there and "::" not in name]
        if lacking and source_of(it) is not None:
            message = (
                f"`{logical_id}` ({deployed.type_of(it)}) refers to {listed(lacking, last='and')}, which the "
                "template lacks"
            )
            fix = "keep in the stack what it refers to, or remove it from the stack, too"
            yield Problem(FilePlace(template.file), message, fix, UNRESOLVED)


def _document(file: str | None) -> Document | None:
    """The spec that a template names; None if it is not in this folder, or cannot be read."""
    path = Path(file or "")
    inside = not path.is_absolute() and ".." not in path.parts
    if not inside or path.suffix not in SUFFIXES or not path.is_file():
        return None
    try:
        return read_spec(path)
    except SpecError:
        return None


# ---------------------------------------------------------------- which belongs to which


class TemplateMatch(msgspec.Struct, frozen=True):
    """An endpoint and what it was; without that if it is new, or if that is not clear."""

    one: Synthesized
    stack: BaseStack | None = None
    problem: Problem | None = None


def match_templates(
    synthesis: Synthesis, stacks: Sequence[BaseStack]
) -> tuple[list[TemplateMatch], list[BaseStack]]:
    """Each endpoint with what it was, and those that its stack has no more."""
    is_one = len(synthesis.templates) == len({it.template.file for it in stacks}) == 1
    # What a pipeline has fetched has the file's name from the app, and nothing else of it.
    names = {_file(it): it.stack for it in synthesis.templates}
    stacks = [
        replace(it, template=replace(was, stack=was.stack or names.get(_file(was))))
        for it in stacks
        for was in (it.template,)
    ]

    def same_stack(now: PreviousTemplate) -> list[BaseStack]:
        return [it for it in stacks if _is_same_stack(it.template, now, alone=is_one)]

    stay = {it.template.title for one in synthesis.endpoints for it in _named(one, same_stack(one.template))}
    others = [it for it in stacks if it.template.title not in stay]
    matches = [_match(it, same_stack(it.template), others) for it in synthesis.endpoints]
    taken = {it.stack.template.title for it in matches if it.stack is not None}
    there = {it.template.title: it for now in synthesis.templates for it in same_stack(now)}
    gone = [it for title, it in there.items() if it.template.is_own_stack and title not in taken]
    return matches, gone


def _is_same_stack(was: PreviousTemplate, now: PreviousTemplate, *, alone: bool) -> bool:
    """Whether both are of one stack; of two that are ``alone``, nothing is known against it."""
    if None not in (was.stack, now.stack):
        return was.stack == now.stack
    # The file of `get-template` may be called anything.
    return alone or _file(was) == _file(now)


def _match(one: Synthesized, same: Sequence[BaseStack], others: Sequence[BaseStack]) -> TemplateMatch:
    """The endpoint of its name in the ``same`` stack as before, or in one of the ``others`` that it may have
    left: in any if the stack is new, else in one that is known not to be this one.
    """
    now = one.template
    left = [
        it
        for it in others
        if not differ((it.account, it.region), (now.account, now.region))
        and (not same or differ([it.template.stack], [now.stack]))
    ]
    around = same or left
    # Under another name it is still the one of its construct.
    found = (
        _named(one, same)
        or _named(one, left)
        or [it for it in same if it.template.construct == now.construct]
    )
    if len(found) > 1:
        titles = listed([it.template.title for it in found], last="and", quote="")
        message = f"{titles} all have the endpoint `{one.endpoint_name}`"
        fix = "name one of them instead of the folder"
        return TemplateMatch(one, None, Problem(FilePlace(one.template.file), message, fix, UNCLEAR))
    # Which endpoint of a stack without metadata it was, nobody knows.
    unknown = [] if any(not it.template.is_foreign for it in around) else around
    strange = next(not_ours(it.template for it in found or unknown), None)
    if strange is not None or not found:
        return TemplateMatch(one, None, strange)
    return TemplateMatch(one, replace(found[0], template=found[0].template.made))


def _named(one: Synthesized, stacks: Sequence[BaseStack]) -> list[BaseStack]:
    """Those with an endpoint of the same name; SageMaker does not tell names apart by case."""
    name = one.endpoint_name.casefold()
    return [it for it in stacks if Synthesized(it.template).endpoint_name.casefold() == name]


def _file(template: PreviousTemplate) -> str:
    return PurePath(template.file).name


# ---------------------------------------------------------------- updates


def update_between(one: Synthesized, before: PreviousTemplate | None) -> Update:
    """What deploying a template does to an endpoint of an earlier one, or to none."""
    after = one.template
    old = {} if before is None else before.resources
    moves = before is not None and differ([before.stack], [after.stack])
    ids = {} if before is None else _other_ids(before, after, all_of_them=moves)
    sources = {logical_id: _path(source_of(it)) for logical_id, it in after.resources.items()}
    return Update(
        endpoint_name=one.endpoint_name,
        account=after.account,
        named_region=after.region,
        variants=_variants(after, sources),
        data=None,
        sources=sources,
        before=old,
        after=after.resources,
        changes=compare(old, after.resources, ids),
        sections_before={} if before is None else before.sections,
        sections_after=after.sections,
        other_ids=ids,
        other_stack=(str(before.stack), str(after.stack)) if before is not None and moves else None,
    )


def _other_ids(
    before: PreviousTemplate, after: PreviousTemplate, *, all_of_them: bool
) -> dict[str, tuple[str, str]]:
    """The logical ids of resources in their stacks, before and after, where they differ."""
    if not (all_of_them or (before.ids and after.ids)):
        return {}
    both = {
        it: (before.ids.get(it, it), after.ids.get(it, it))
        for it in after.resources
        if it in before.resources
    }
    return {it: (old, new) for it, (old, new) in both.items() if all_of_them or old != new}


def _path(source: str | None) -> SpecPath:
    """The path of `file: variants.0`."""
    written = (source or "").rpartition(": ")[2]
    return tuple(int(it) if it.isdecimal() else it for it in written.split(".") if it)


def _variants(template: PreviousTemplate, sources: Mapping[str, SpecPath]) -> dict[str, SpecPath]:
    config = next(iter(deployed.of_type(template.resources, CONFIG_TYPE)), "")
    is_list = sources.get(config, ())[:1] == ("variants",)
    names = enumerate(deployed.variants(template.resources))
    return {name: ("variants", index) if is_list else ("variant",) for index, name in names}


def problems_of(one: Synthesized, update: Update) -> Iterator[Problem]:
    """What to know about an update, without what the spec ignores. A template may have several endpoints."""
    ignored = one.reasons_to_ignore
    for rule, problem in update_problems(update):
        if rule.severity is Severity.ERROR or rule.code not in ignored:
            said = replace(problem, message=f"`{one.endpoint_name}`: {problem.message}")
            yield one.located(said, rule.code, rule.severity)


def removal(stack: BaseStack) -> Problem:
    """What to know about an endpoint that its stack has no more."""
    template = stack.template
    name = Synthesized(template).endpoint_name
    message = f"`{name}` (`{template.ids.get(ENDPOINT, ENDPOINT)}`) is removed with all that belongs to it"
    fix = "make sure that nobody calls it"
    at = FilePlace(template.file, 0, 0)
    return Problem((), message, fix, REMOVED, Severity.WARNING, at)


def as_template(found: Mapping[str, Any] | PreviousTemplate, file: str) -> PreviousTemplate:
    """A template that is data already, such as CDK's `Template.to_json()`."""
    if isinstance(found, PreviousTemplate):
        return found
    return PreviousTemplate(file, found["Resources"], found)
