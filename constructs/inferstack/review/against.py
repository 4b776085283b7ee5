"""`inferstack validate --against`: what a review's comparison finds about updates, as problems of specs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.check.load import LoadedSpec
from inferstack.problems import Problem, SpecError, in_file_order
from inferstack.problems.words import listed
from inferstack.review.base import Base, Question, read_base, stacks_of
from inferstack.review.deploying import as_deployed, not_ours, update_over, update_problems
from inferstack.review.matching import Match, left_over, matched, specs_of
from inferstack.review.synthesized import (
    Synthesis,
    as_template,
    holds_templates,
    match_templates,
    problems_of,
    read_synthesis,
    removal,
    synthesis_of,
    update_between,
)
from inferstack.review.templates import PreviousTemplate, notes_on
from inferstack.updates.role import changed_rights
from inferstack.updates.update import Fate, Update


class Comparison(msgspec.Struct, frozen=True):
    """Result of a comparison: problems of specs and templates, and a line on each spec."""

    problems: list[Problem] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    endpoints: int = 0
    """How many endpoints of templates were compared with what they were, or are new."""


def compare_with(
    against: Path,
    files: Sequence[Path],
    *,
    stage: str | None,
    region: str | None,
    paths: Sequence[Path],
    foreign: bool = False,
) -> Comparison:
    """Compares specs with what their stacks were made from. Specs with errors are left out: they deploy
    nothing.

    Args:
        against: a template, a folder of templates or a folder of specs.
        files: spec files.
        stage: the stage to compare. Without one, a spec that can be deployed without a stage is compared
            without.
        region: the region for specs that name none; without it, that of the template.
        paths: what was named: folders whose spec files are all among ``files``, and files. A template that
            came from one of these folders, or from a file that is gone, and that no spec makes any more is
            reported.
        foreign: whether to compare with templates that inferstack has not made, too.
    """
    synthesis = read_synthesis(it for it in paths if holds_templates(it))
    asked = Question(paths=(*paths, *files), stage=stage, region=region)
    try:
        base = read_base(against, asked)
    except SpecError as error:
        return Comparison(list(error.problems))
    if not (base.is_folder or foreign):
        # It was named, so it is meant, even if no spec has its endpoint.
        strange = list(not_ours(it.template for it in base.stacks))
        if strange:
            return Comparison(strange)
    return _with_templates(synthesis, base, _compared(base, asked, files, paths, foreign=foreign))


def compare_templates(
    before: Mapping[str, Any] | PreviousTemplate, after: Mapping[str, Any] | PreviousTemplate
) -> Comparison:
    """What deploying a template over an earlier one of the same stack does to the endpoints in it, whoever
    else has resources there: for tests of an app. Both are data, such as
    ``Template.from_stack(…).to_json()``, or read by :func:`read_template`.
    """
    then, now = as_template(before, "before"), as_template(after, "after")
    base = Base(then.file, stacks_of(then), tuple(not_ours([then])), tuple(notes_on([then])))
    found = _with_templates(synthesis_of([now]), base, Comparison([*base.problems], [*base.notes]))
    return replace(found, problems=[*in_file_order(found.problems)])


def _with_templates(synthesis: Synthesis, base: Base, others: Comparison) -> Comparison:
    """The comparison with what deploying templates does to what their endpoints were."""
    matches, gone = match_templates(synthesis, base.stacks)
    problems, notes = [*others.problems, *synthesis.problems], [*others.notes, *synthesis.notes]
    for match in matches:
        title = match.one.template.title
        if match.problem is not None:
            problems.append(match.problem)
        elif match.stack is None:
            notes.append(f"{title}: a new endpoint, none of its name in {base.title}")
        else:
            update = update_between(match.one, match.stack.template)
            notes.append(f"{title} against {match.stack.template.title}: {_summary(update)}")
            problems += problems_of(match.one, update)
    return Comparison([*problems, *map(removal, gone)], notes, len(matches))


def _compared(
    base: Base, asked: Question, files: Sequence[Path], paths: Sequence[Path], *, foreign: bool
) -> Comparison:
    read = [specs for file in files if (specs := specs_of(file, asked.stage, asked.region)).specs]
    alone = sum(len(it.specs) for it in read) == 1
    wrong = [f"{it.file} has errors, such as {it.code}: not compared" for it in base.wrong.values()]
    result = Comparison(list(base.problems), [*wrong, *base.notes])
    claimed: set[str] = set()
    for of_file in read:
        matches = matched(of_file, base, alone=alone, foreign=foreign)
        claimed |= {file for match in matches for file in match.candidates}
        result.problems.extend(_problems_of(matches, base, asked.region, result.notes))
    result.problems.extend(problem for _, problem in left_over(base, claimed, files, paths))
    return result


def _problems_of(
    matches: Sequence[Match], base: Base, region: str | None, notes: list[str]
) -> Iterator[Problem]:
    """The problems of a file's stages, each once; what is not true of all of them names its stages."""
    compared: list[tuple[LoadedSpec, list[Problem]]] = []
    for match in matches:
        if match.problem is not None:
            yield match.problem
        elif match.stack is not None:
            compared.append((match.one, _problems(match, region, notes)))
        elif not match.candidates and not match.is_unclear:
            notes.append(f"{match.one.title}: a new stack, no template of it in {base.title}")
    stages: dict[Problem, list[str]] = {}
    for one, problems in compared:
        for problem in problems:
            stages.setdefault(problem, []).append("no stage" if one.stage is None else f"stage {one.stage}")
    for problem, at in stages.items():
        if len(at) == len(compared) or problem.file != compared[0][0].document.file:
            yield problem
        else:
            message = f"{problem.message} ({listed(at, last='and', quote='')})"
            yield replace(problem, message=message)


def _problems(match: Match, region: str | None, notes: list[str]) -> list[Problem]:
    """What deploying one spec would do to the stack of its template, and a note on it."""
    assert match.stack is not None
    template = match.stack.template
    try:
        one = as_deployed(match.one, template, region)
        update = update_over(one, match.stack)
    except SpecError as error:
        return list(error.problems)
    summary = "a new stack; the old one stays" if update.moves else _summary(update)
    notes.append(f"{one.title} against {template.title}: {summary}")
    return update_problems(one, update)


def _summary(update: Update) -> str:
    if update.other_stack is not None:
        old, new = update.other_stack
        return f"moves from the stack `{old}` to `{new}`"
    groups = {fate: [it.logical_id for it in update.changes.values() if it.fate is fate] for fate in Fate}
    del groups[Fate.UNCHANGED]
    parts = [f"{fate} {', '.join(ids)}" for fate, ids in groups.items() if ids]
    rights = changed_rights(update.before, update.after)
    if rights:
        parts.append(rights)
    return "; ".join(parts) or "nothing changes; new files under an old S3 key are not deployed"
