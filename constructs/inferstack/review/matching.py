"""Which template of the base belongs to which spec, and which belongs to none any more."""

import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from inferstack.check.files import is_folder, is_gone
from inferstack.check.load import LoadedSpec, check_document
from inferstack.check.project_file import read_spec
from inferstack.check.stack_names import stack_name
from inferstack.format.logical_ids import ENDPOINT
from inferstack.problems import FilePlace, Problem, Severity, SpecError
from inferstack.problems.file_codes import LEFT_OVER, UNCLEAR
from inferstack.problems.words import listed
from inferstack.review.base import Base, BaseStack, delete_command
from inferstack.review.deploying import not_ours
from inferstack.review.templates import PreviousTemplate
from inferstack.source.document import read_document
from inferstack.source.spec_file import name_in_templates
from inferstack.source.stages import stage_names

_NAME = ("endpoint_name",)


class SpecsOfFile(msgspec.Struct, frozen=True):
    """What one file deploys: itself, or its stages; ``is_whole`` is False where errors hold some back."""

    file: str
    """The file, as templates call it."""
    specs: Sequence[LoadedSpec] = ()
    has_stages: bool = False
    is_whole: bool = False


def specs_of(
    file: Path, stage: str | None, region: str | None, problems: list[Problem] | None = None
) -> SpecsOfFile:
    """What a file deploys at one stage, or at every stage; what is wrong with it is added to ``problems``."""
    told = [] if problems is None else problems
    name = name_in_templates(str(file))
    try:
        document = read_spec(file)
        specs, wrong = check_document(document, stage=stage, region=region)
    except SpecError as error:
        told += error.problems
        return SpecsOfFile(name)
    told += wrong
    errors = any(problem.severity is Severity.ERROR for problem in wrong)
    return SpecsOfFile(name, specs, bool(stage_names(document)), is_whole=not errors)


class Match(msgspec.Struct, frozen=True):
    """A spec and its template; without one if it is new, or if that is not clear."""

    one: LoadedSpec
    stack: BaseStack | None = None
    candidates: tuple[str, ...] = ()
    """Files of all templates that may be its own."""
    problem: Problem | None = None
    is_unclear: bool = False


def matched(of_file: SpecsOfFile, base: Base | None, *, alone: bool, foreign: bool = False) -> list[Match]:
    """The specs of a file, each with its template.

    Args:
        of_file: the specs.
        base: what they are compared with.
        alone: whether there is no other spec: a single one gets the only template.
        foreign: whether a template that inferstack has not made will do, too.
    """
    if base is None:
        return [Match(one) for one in of_file.specs]
    found = [_match(one, of_file, base, alone=alone, foreign=foreign) for one in of_file.specs]
    return list(_each_template_once(found))


def _match(one: LoadedSpec, of_file: SpecsOfFile, base: Base, *, alone: bool, foreign: bool) -> Match:
    own = list(base.stacks) if alone and not base.is_folder else _own(one, of_file, base.stacks)
    files = tuple(it.template.title for it in own)
    if len(own) > 1:
        problem = _unclear_template(one, files)
        return Match(one, None, files, problem, is_unclear=True)
    if not own:
        return Match(one, is_unclear=one.document.shown_file in base.wrong)
    if own[0].spec is None and not foreign:
        refused = next(not_ours([own[0].template]), None)
        if refused is not None:
            return Match(one, None, files, refused, is_unclear=True)
    return Match(one, own[0], files)


def _own(one: LoadedSpec, of_file: SpecsOfFile, stacks: Iterable[BaseStack]) -> list[BaseStack]:
    """Of the same stage, where that is known; by the endpoint's name, or by the spec file."""
    fitting = [it for it in stacks if not it.is_staged or it.stage == one.stage]
    by_file = not of_file.has_stages or any(it.is_staged for it in fitting)
    found = _by_name(one, fitting)
    if not found and by_file:
        # A template under another name may be another stage's.
        found = [it for it in fitting if one.document.shown_file in it.template.spec_files]
    of_same_file = [it for it in found if it.spec == one.document.shown_file]
    found = of_same_file if len(found) > 1 and of_same_file else found
    here = [it for it in found if it.is_in(one)]
    return here if len(found) > 1 and here else found


def _by_name(one: LoadedSpec, stacks: Iterable[BaseStack]) -> list[BaseStack]:
    name = one.spec.endpoint_name.casefold()
    found = [it for it in stacks if (it.template.endpoint_name or "").casefold() == name]
    # The same endpoint may be in several accounts or regions: the app puts these into the stack's name.
    env = "-".join(part for part in (one.spec.account, one.spec.region) if part is not None)
    return [it for it in found if Path(it.template.file).name.partition(".")[0].endswith(env)] or found


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
            problem = _unclear_stage([it.one for it in sharing], match.stack.template)
            first = problem if match is sharing[0] else None
            yield msgspec.structs.replace(match, stack=None, problem=first, is_unclear=True)


def _unclear_stage(specs: list[LoadedSpec], template: PreviousTemplate) -> Problem:
    """Several stages of one file have the endpoint of a template."""
    stages = listed([one.stage for one in specs], last="and")
    message = f"the stages {stages} all have the endpoint of {template.title}"
    return specs[0].document.problem(_NAME, UNCLEAR, message, "choose one with `--stage`")


def _unclear_template(one: LoadedSpec, files: Sequence[str]) -> Problem:
    """Several templates have the endpoint of a spec."""
    message = f"{listed(files, last='and', quote='')} all have the endpoint `{one.spec.endpoint_name}`"
    fix = (
        "delete what an earlier synth or another app left, or name one of them instead of the folder, or a "
        "folder that holds no other"
    )
    return one.document.problem(_NAME, UNCLEAR, message, fix)


# ---------------------------------------------------------------- what no spec makes any more


def left_over(
    base: Base, claimed: Collection[str], files: Sequence[Path], paths: Iterable[Path]
) -> Iterator[tuple[BaseStack, Problem]]:
    """Stacks that came from spec files at these paths, and that no file makes any more.

    What a spec with errors would make is not known: the stacks that came from its file are left out, and
    those that have the name that it gives.

    Args:
        base: all templates.
        claimed: titles of the templates that specs were compared with.
        files: all spec files at the paths, those that are gone among them.
        paths: what is named. A folder is named as a whole: other folders may belong to other apps. Nobody
            removes what a file made by naming it; only if that file is gone, its stack is left over.
    """
    # A single template is for one spec: that a folder has none for it says nothing.
    whole = [it for it in paths if is_gone(it) or (base.is_folder and is_folder(it))]
    here = {name_in_templates(str(it)) for it in whole}
    # A stack with other resources is not left over: an update of it deletes what is gone.
    alone = [it for it in base.stacks if not it.template.is_own_stack]
    candidates = [it for it in alone if it.template.title not in claimed and not here.isdisjoint(_from(it))]
    if not candidates:
        return
    there = [it for it in files if not is_gone(it)]
    # At every stage: comparing one stage does not mean that the others were removed.
    now = [specs_of(file, None, None) for file in there]
    made = {own.template.title for it in now for one in it.specs for own in _own(one, it, base.stacks)}
    broken = {it.file for it in now if not it.is_whole}
    names = {name for file, it in zip(there, now, strict=True) if not it.is_whole for name in _names_in(file)}
    for stack in candidates:
        template = stack.template
        name = template.endpoint_name
        # A name that only the deployment knows may be that of any spec.
        if template.title in made or name is None:
            continue
        if broken.isdisjoint(template.spec_files) and name.casefold() not in names:
            yield stack, _no_longer_made(stack, name)


def _names_in(file: Path) -> Iterator[str]:
    """The name of the endpoint of a spec with errors, if it can be read."""
    try:
        name = read_document(file).data.get("endpoint_name")
    except SpecError:
        return
    if isinstance(name, str):
        yield name.casefold()


def _from(stack: BaseStack) -> tuple[str, ...]:
    """The spec file that a stack of one endpoint was made from, and its folder; empty for any other stack."""
    source = stack.template.source_of(ENDPOINT)
    return () if source is None else (source, Path(source).parent.as_posix())


def _no_longer_made(stack: BaseStack, name: str) -> Problem:
    source = stack.came_from or stack.template.source_of(ENDPOINT)
    message = (
        f"no spec makes the endpoint `{name}` any more ({source} did): if it was deployed, it stays and "
        "costs money"
    )
    fix = f"delete its stack: `{stack.delete_command(stack_name(name))}`"
    # Specs of a base are rendered: there is no template to remove.
    if stack.spec is None:
        fix += "; if that is done, remove this template"
    return Problem(FilePlace(stack.template.file), message, fix, LEFT_OVER, Severity.WARNING)


def delete_commands(stacks: Iterable[BaseStack]) -> list[str]:
    """The commands that delete these stacks, one for each region."""
    by_region: dict[str | None, list[str]] = {}
    for stack in stacks:
        names = by_region.setdefault(stack.region, [])
        name = shlex.quote(stack_name(str(stack.template.endpoint_name)))
        if name not in names:
            names.append(name)
    return [_delete_all(names, region) for region, names in by_region.items()]


def _delete_all(stacks: Sequence[str], region: str | None) -> str:
    if len(stacks) == 1:
        return delete_command(stacks[0], region)
    return f"for stack in {' '.join(stacks)}; do {delete_command('$stack', region)}; done"
