"""Which template belongs to which spec, and which to none any more."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inferstack.resolve.endpoint import ENDPOINT
from inferstack.review.template_file import PreviousTemplate
from inferstack.spec.check import LoadedSpec, check_document
from inferstack.spec.document import read_document
from inferstack.spec.document.stages import stage_names
from inferstack.spec.names_across_files import stack_name
from inferstack.spec.problem import Problem, Severity, SpecError
from inferstack.spec.problem.update_codes import LEFT_OVER
from inferstack.spec.texts.file_names import name_in_templates


@dataclass(frozen=True, slots=True)
class Deployed:
    """What one file deploys: itself, or its stages; ``is_whole`` is False where errors hold some back."""

    specs: list[LoadedSpec]
    has_stages: bool
    is_whole: bool


def deployed_by(file: Path, stage: str | None) -> Deployed:
    """What a file deploys at one stage, or at every stage."""
    try:
        document = read_document(file)
    except SpecError:
        # The check of the file reports this.
        return Deployed([], has_stages=False, is_whole=False)
    specs, problems = check_document(document, stage=stage)
    errors = any(it.severity is Severity.ERROR for it in problems)
    return Deployed(specs, bool(stage_names(document)), is_whole=not errors)


def own_templates(
    one: LoadedSpec, templates: Iterable[PreviousTemplate], deployed: Deployed
) -> list[PreviousTemplate]:
    """Templates of the spec's endpoint; without any, those made from the spec file under another name."""
    name = one.spec.endpoint_name.casefold()
    found = [it for it in templates if it.endpoint_name is not None and it.endpoint_name.casefold() == name]
    # The same endpoint may be in several accounts or regions: the app puts these into the stack's name.
    env = "-".join(it for it in (one.spec.account, one.spec.region) if it is not None)
    found = [it for it in found if Path(it.file).name.partition(".")[0].endswith(env)] or found
    if found or deployed.has_stages:
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
    now = [deployed_by(file, None) for file in files]
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


def _problem(template: PreviousTemplate, name: str) -> Problem:
    message = (
        f"no spec makes the endpoint `{name}` any more ({template.source_of(ENDPOINT)} did): where it was "
        "deployed, it stays and costs"
    )
    fix = (
        f"delete its stack: `aws cloudformation delete-stack --stack-name {stack_name(name)}`; if that is "
        "done, remove this template"
    )
    return Problem(template.file, 1, 1, LEFT_OVER, message, fix, Severity.WARNING)
