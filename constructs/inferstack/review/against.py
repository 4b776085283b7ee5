"""Compares specs with the templates that their stacks were made from."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from inferstack.check.in_stack import in_place
from inferstack.check.load import LoadedSpec, check_document, ruled
from inferstack.check.stack_names import stack_name
from inferstack.facts.walk import containers
from inferstack.format.model import FrameworkImage
from inferstack.problems import FilePlace, Problem, Severity, SpecError
from inferstack.problems.update_codes import LEFT_OVER, OTHER_STACK, UNCLEAR, UPDATE_CODES
from inferstack.problems.words import listed
from inferstack.resolve.endpoint import ENDPOINT
from inferstack.resolve.template import SOURCE_METADATA
from inferstack.review import components, elsewhere, endpoint, fleet, known_by_name, removed, role
from inferstack.review.role import changed_rights
from inferstack.review.templates import PreviousTemplate, read_folder, read_template
from inferstack.review.update import Fate, Update, update_of
from inferstack.source.document import read_document
from inferstack.source.spec_file import name_in_templates
from inferstack.source.stages import stage_names

_NAME = ("endpoint_name",)
Rule = Callable[[Update], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    endpoint.renamed,
    endpoint.serverless,
    endpoint.asynchronous,
    endpoint.with_components,
    endpoint.many_models,
    endpoint.prefix,
    fleet.new_fleet,
    fleet.count_reset,
    fleet.count_kept,
    fleet.same_config,
    fleet.scaled_type,
    fleet.scaled_pools,
    fleet.names,
    fleet.scaled_variant_gone,
    components.name_taken,
    components.removed_or_renamed,
    components.updated,
    components.copies_reset,
    components.fleet_under_components,
    components.rebased,
    components.variant_under_components,
    components.limit_lowered,
    components.scaling_removed,
    components.policy_renamed,
    components.policy_name_taken,
    role.policies_at_once,
    known_by_name.alarms_renamed,
    known_by_name.bucket_replaced,
    known_by_name.topic_replaced,
    removed.removed_or_replaced,
    elsewhere.exports_gone,
    elsewhere.defaults_change,
)
"""The rules on updates. Each yields what one should know about the update that it is given."""


def update_problems(loaded: LoadedSpec, update: Update) -> list[Problem]:
    """What to know about the deployment, without the warnings that the spec ignores."""
    found = every_update_problem(loaded, update)
    return [it for it in found if it.code not in loaded.spec.ignored_codes]


def every_update_problem(loaded: LoadedSpec, update: Update) -> list[Problem]:
    """Every problem of an update, including warnings that the spec ignores."""
    found = (problem for rule in RULES for problem in rule(update))
    return [loaded.document.located(it, it.code, UPDATE_CODES[it.code].severity) for it in found]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of a comparison: problems of specs and templates, and a line on each spec."""

    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def compare_with(
    against: Path,
    files: Sequence[Path],
    *,
    stage: str | None,
    region: str | None,
    folders: Iterable[Path],
    foreign: bool = False,
) -> Comparison:
    """Compares specs with previous templates. Specs with errors are left out: they deploy nothing.

    Args:
        against: a template, or a folder of templates in which each spec finds its own by the endpoint's
            name, or by the spec file that the template says it came from.
        files: spec files.
        stage: the stage to compare. Without one, a spec that can be deployed without a stage is compared
            without.
        region: the region for specs that name none; without it, that of the template.
        folders: folders whose spec files are all among ``files``: a template that came from one of these
            and that no spec makes any more is reported.
        foreign: whether to compare with templates that inferstack has not made, too.
    """
    is_folder = against.is_dir()
    try:
        templates, problems = read_folder(against) if is_folder else ([read_template(against)], [])
    except SpecError as error:
        return Comparison(list(error.problems))
    if not (is_folder or foreign) and (strange := list(not_ours(templates))):
        # It was named, so it is meant, even if no spec has its endpoint.
        return Comparison(strange)
    result = Comparison(list(problems))
    documents = [found for file in files if (found := deployment_of(file, stage)).specs]
    together = not is_folder and len(documents) == 1 and len(documents[0].specs) == 1
    claimed: set[str] = set()
    for document in documents:
        own = [
            (one, templates if together else own_templates(one, templates, document))
            for one in document.specs
        ]
        claimed |= {template.file for _, found in own for template in found}
        refused = [] if foreign else list(not_ours(it for _, found in own for it in found))
        result.problems.extend(refused)
        if not refused:
            _compare_document(own, against, region, result)
    if is_folder:
        result.problems.extend(left_over(templates, claimed, files, folders))
    return result


def _compare_document(
    own: list[tuple[LoadedSpec, list[PreviousTemplate]]],
    against: Path,
    region: str | None,
    result: Comparison,
) -> None:
    """Compares the specs that one file deploys, each given with the templates that may be its own."""
    claims: dict[str, list[LoadedSpec]] = {}
    for one, templates in own:
        if not templates:
            result.notes.append(f"{_title(one)}: a new stack, no template of it in {against.as_posix()}")
        elif len(templates) > 1:
            result.problems.append(unclear_template(one, templates))
        else:
            claims.setdefault(templates[0].file, []).append(one)
    found = {template.file: template for _, templates in own for template in templates}
    compared: list[tuple[LoadedSpec, list[Problem]]] = []
    for file, claimed in claims.items():
        # If no stage is chosen, the spec that is deployed without one is meant.
        chosen = [one for one in claimed if one.stage is None] or claimed
        if len(chosen) == 1:
            compared.append((chosen[0], _compare_one(chosen[0], found[file], region, result.notes)))
        else:
            result.problems.append(unclear_stage(chosen, found[file]))
    result.problems.extend(_of_stages(compared))


def _of_stages(compared: list[tuple[LoadedSpec, list[Problem]]]) -> Iterator[Problem]:
    """The problems of a file's stages, each once; what is not true of all of them names its stages."""
    stages: dict[Problem, list[str]] = {}
    for one, problems in compared:
        for problem in problems:
            stages.setdefault(problem, []).append("no stage" if one.stage is None else f"stage {one.stage}")
    for problem, found in stages.items():
        if len(found) == len(compared) or problem.file != compared[0][0].document.file:
            yield problem
        else:
            said = f"{problem.message} ({listed(found, last='and', quote='')})"
            yield msgspec.structs.replace(problem, message=said)


def _compare_one(
    one: LoadedSpec, template: PreviousTemplate, region: str | None, notes: list[str]
) -> list[Problem]:
    """What deploying one spec would do to the stack of one template, and a note on it."""
    try:
        update = update_of(as_deployed(one, template, region), template.resources, template.sections)
    except SpecError as error:
        return list(error.problems)
    foreign = list(strangers(update))
    if foreign:
        return [other_stack(template, foreign)]
    notes.append(f"{_title(one)} against {template.file}: {_summary(update)}")
    return update_problems(one, update)


def as_deployed(one: LoadedSpec, template: PreviousTemplate, region: str | None) -> LoadedSpec:
    """The spec for the region that it goes to, which it need not name. The region chooses framework images;
    where the previous template leaves that choice to the deployment, so does this.
    """
    framework = any(isinstance(it.image, FrameworkImage) for it in containers(one.spec))
    if one.spec.region is not None or not framework or template.image_region is None:
        return one
    return ruled(in_place(one, None, template.image_region if region is None else region))


def strangers(update: Update) -> Iterator[str]:
    """Logical ids that stand for something else in the previous template."""
    if ENDPOINT not in update.before:
        yield ENDPOINT
    for logical_id, resource in update.before.items():
        if logical_id in update.after and resource["Type"] != update.after[logical_id]["Type"]:
            yield logical_id


def _title(one: LoadedSpec) -> str:
    return one.document.file if one.stage is None else f"{one.document.file} ({one.stage})"


def _summary(update: Update) -> str:
    groups = {fate: [it.logical_id for it in update.changes.values() if it.fate is fate] for fate in Fate}
    del groups[Fate.UNCHANGED]
    said = [f"{fate} {', '.join(ids)}" for fate, ids in groups.items() if ids]
    rights = changed_rights(update.before, update.after)
    if rights:
        said.append(rights)
    return "; ".join(said) or "nothing changes; new files under an old S3 key are not deployed"


def unclear_stage(specs: list[LoadedSpec], template: PreviousTemplate) -> Problem:
    """Several stages of one file have the endpoint of a template."""
    stages = listed([one.stage for one in specs], last="and")
    message = f"the stages {stages} all have the endpoint of {template.file}"
    return specs[0].document.problem(_NAME, UNCLEAR, message, "choose one with `--stage`")


def unclear_template(one: LoadedSpec, templates: list[PreviousTemplate]) -> Problem:
    """Several templates have the endpoint of a spec."""
    names = listed([it.file for it in templates], last="and", quote="")
    message = f"{names} all have the endpoint `{one.spec.endpoint_name}`"
    fix = (
        "delete what an earlier synth or another app left, or name one of them instead of the folder, or a "
        "folder that holds no other"
    )
    return one.document.problem(_NAME, UNCLEAR, message, fix)


def not_ours(templates: Iterable[PreviousTemplate]) -> Iterator[Problem]:
    """Reports templates whose endpoint does not come from a spec: every template of ours says where from."""
    for template in {it.file: it for it in templates}.values():
        if ENDPOINT in template.resources and template.source_of(ENDPOINT) is None:
            message = f"inferstack has not made this template: `{ENDPOINT}` has no `{SOURCE_METADATA}`"
            fix = "compare with that of the endpoint's own stack; to compare all the same, add `--foreign`"
            yield Problem(FilePlace(template.file), message, fix, OTHER_STACK)


def other_stack(template: PreviousTemplate, logical_ids: list[str]) -> Problem:
    """The template is of another kind of stack."""
    names = listed(logical_ids, last="and")
    message = f"{names} is not there, or not what it is in templates of `inferstack render` and EndpointStack"
    fix = "compare with the template of the endpoint's own stack"
    return Problem(FilePlace(template.file), message, fix, OTHER_STACK)


# ---------------------------------------------------------------- Which template belongs to which spec


@dataclass(frozen=True, slots=True)
class Deployment:
    """What one file deploys: itself, or its stages; ``is_whole`` is False where errors hold some back."""

    specs: list[LoadedSpec]
    has_stages: bool
    is_whole: bool


def deployment_of(file: Path, stage: str | None) -> Deployment:
    """What a file deploys at one stage, or at every stage."""
    try:
        document = read_document(file)
    except SpecError:
        # The check of the file reports this.
        return Deployment([], has_stages=False, is_whole=False)
    specs, problems = check_document(document, stage=stage)
    errors = any(it.severity is Severity.ERROR for it in problems)
    return Deployment(specs, bool(stage_names(document)), is_whole=not errors)


def own_templates(
    one: LoadedSpec, templates: Iterable[PreviousTemplate], deployment: Deployment
) -> list[PreviousTemplate]:
    """Templates of the spec's endpoint; without any, those made from the spec file under another name."""
    name = one.spec.endpoint_name.casefold()
    found = [it for it in templates if it.endpoint_name is not None and it.endpoint_name.casefold() == name]
    # The same endpoint may be in several accounts or regions: the app puts these into the stack's name.
    env = "-".join(it for it in (one.spec.account, one.spec.region) if it is not None)
    found = [it for it in found if Path(it.file).name.partition(".")[0].endswith(env)] or found
    if found or deployment.has_stages:
        # A template under another name may be another stage's.
        return found
    return [it for it in templates if one.document.shown_file in it.spec_files]


def left_over(
    templates: Sequence[PreviousTemplate],
    claimed: Collection[str],
    files: Iterable[Path],
    folders: Iterable[Path],
) -> Iterator[Problem]:
    """Templates that came from spec files of these folders, and that no file makes any more.

    Nothing is reported while a spec has errors, since what it would make is not known.

    Args:
        templates: all templates.
        claimed: files of the templates that specs were compared with.
        files: all spec files of the folders, and perhaps others.
        folders: folders that are given as a whole. Other folders may belong to other apps.
    """
    here = {name_in_templates(str(folder)) for folder in folders}
    candidates = [it for it in templates if it.file not in claimed and _folder(it) in here]
    if not candidates:
        return
    # At every stage: comparing one stage does not mean that the others were removed.
    now = [deployment_of(file, None) for file in files]
    if not all(it.is_whole for it in now):
        return
    made = {own.file for it in now for one in it.specs for own in own_templates(one, templates, it)}
    for template in candidates:
        # A name that only the deployment knows may be that of any spec.
        if template.file not in made and template.endpoint_name is not None:
            yield _problem(template, template.endpoint_name)


def _folder(template: PreviousTemplate) -> str | None:
    """The folder of the spec file that a stack of one endpoint was made from; None for any other stack."""
    source = template.source_of(ENDPOINT)
    return None if source is None else Path(source).parent.as_posix()


def delete_stack(name: str) -> str:
    """How to delete the stack of an endpoint that no spec makes any more."""
    return f"delete its stack: `aws cloudformation delete-stack --stack-name {stack_name(name)}`"


def _problem(template: PreviousTemplate, name: str) -> Problem:
    message = (
        f"no spec makes the endpoint `{name}` any more ({template.source_of(ENDPOINT)} did): if it was "
        "deployed, it stays and costs money"
    )
    fix = f"{delete_stack(name)}; if that is done, remove this template"
    return Problem(FilePlace(template.file), message, fix, LEFT_OVER, Severity.WARNING)
