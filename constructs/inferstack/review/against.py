"""Compares specs with the templates that their stacks were made from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from inferstack.resolve.endpoint import ENDPOINT
from inferstack.review.belonging import deployed_by, left_over, own_templates
from inferstack.review.changes import Fate
from inferstack.review.findings import update_problems
from inferstack.review.role import changed_rights
from inferstack.review.template_file import PreviousTemplate, read_folder, read_template
from inferstack.review.update import Update, update_of
from inferstack.spec.blocks.model import FrameworkImage
from inferstack.spec.check import LoadedSpec
from inferstack.spec.in_stack import in_region
from inferstack.spec.parts.walk import containers
from inferstack.spec.problem import Problem, SpecError
from inferstack.spec.problem.update_codes import OTHER_STACK, UNCLEAR
from inferstack.spec.problem.words import listed

_NAME = ("endpoint_name",)


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
) -> Comparison:
    """Compares specs with previous templates. Specs with errors are left out: they deploy nothing.

    Args:
        against: a template, or a folder of templates in which each spec finds its own by the endpoint's
            name, or by the spec file that the template says it came from.
        files: spec files.
        stage: the stage to compare. Without one, a spec that can be deployed without a stage is compared so.
        region: the region for specs that name none; without it, that of the template.
        folders: folders whose spec files are all among ``files``: a template that came from one of these
            folders and that no spec makes any more is reported.
    """
    result = Comparison()
    try:
        is_folder = against.is_dir()
        templates, problems = read_folder(against) if is_folder else ([read_template(against)], [])
    except SpecError as error:
        return Comparison(list(error.problems))
    result.problems.extend(problems)
    documents = [found for file in files if (found := deployed_by(file, stage)).specs]
    together = not is_folder and len(documents) == 1 and len(documents[0].specs) == 1
    claimed: set[str] = set()
    for document in documents:
        own = [
            (one, templates if together else own_templates(one, templates, document))
            for one in document.specs
        ]
        claimed |= {template.file for _, found in own for template in found}
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
            result.problems.append(_unclear_template(one, templates))
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
            result.problems.append(_unclear_stage(chosen, found[file]))
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
        update = update_of(_as_deployed(one, template, region), template.resources)
    except SpecError as error:
        return list(error.problems)
    strangers = list(_strangers(update))
    if strangers:
        return [_other_stack(template, strangers)]
    notes.append(f"{_title(one)} against {template.file}: {_summary(update)}")
    return update_problems(one, update)


def _as_deployed(one: LoadedSpec, template: PreviousTemplate, region: str | None) -> LoadedSpec:
    """The spec for the region that it goes to, which it need not name. The region chooses framework images;
    where the previous template leaves that choice to the deployment, so does this.
    """
    framework = any(isinstance(it.image, FrameworkImage) for it in containers(one.spec))
    if one.spec.region is not None or not framework or template.image_region is None:
        return one
    return in_region(one, template.image_region if region is None else region)


def _strangers(update: Update) -> Iterator[str]:
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


def _unclear_stage(specs: list[LoadedSpec], template: PreviousTemplate) -> Problem:
    stages = listed([one.stage for one in specs], last="and")
    message = f"the stages {stages} all have the endpoint of {template.file}"
    return specs[0].document.problem(_NAME, UNCLEAR, message, "choose one with `--stage`")


def _unclear_template(one: LoadedSpec, templates: list[PreviousTemplate]) -> Problem:
    names = listed([it.file for it in templates], last="and", quote="")
    message = f"{names} all have the endpoint `{one.spec.endpoint_name}`"
    fix = (
        "delete what an earlier synth or another app left, or name one of them instead of the folder, or a "
        "folder that holds no other"
    )
    return one.document.problem(_NAME, UNCLEAR, message, fix)


def _other_stack(template: PreviousTemplate, logical_ids: list[str]) -> Problem:
    names = listed(logical_ids, last="and")
    message = f"{names} is not there, or not what it is in templates of `inferstack render` and EndpointStack"
    fix = "compare with the template of the endpoint's own stack"
    return Problem(template.file, 1, 1, OTHER_STACK, message, fix)
