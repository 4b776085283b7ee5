"""The steps that every spec goes through: read it, choose a stage, check the structure, apply the rules.

    file -> Document -> Document at a stage -> [structure problems] -> typed spec -> [rule problems] -> locked

Structure comes first: the rules only see specs whose structure is right, so each rule can be a few lines. The
lock is read once, together with the Document, for all its stages.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from inferstack.check.elsewhere import elsewhere_problems, with_lists
from inferstack.check.incomplete import problems_beside
from inferstack.check.lock.applying import apply_lock
from inferstack.check.lock.file import AS_WRITTEN, NO_LOCK, FoundLock, Lock, LockedArchive, lock_beside
from inferstack.check.lock.pins import with_pins_applied
from inferstack.check.model_files import model_problems
from inferstack.check.objective_files import objective_problems, with_traffic
from inferstack.check.project_file import company_problems, read_spec, unfit_defaults, without_defaults
from inferstack.check.references import (
    LITERAL_PLACEHOLDER,
    literal_placeholders,
    placeholder_problems,
    reference_problems,
    token_problems,
)
from inferstack.check.rules.asking import rule_problems
from inferstack.check.serving_properties import with_properties
from inferstack.check.structure import UNKNOWN_KEY
from inferstack.check.structure.report import of_meant_kind, structure_problems
from inferstack.check.triton_models import triton_problems
from inferstack.format.kinds import NAMELESS, Environment, ModelSpec, Spec
from inferstack.problems import MANY, Problem, Severity, SpecError, SpecPath, in_file_order
from inferstack.problems.file_codes import STAGES_IDLE
from inferstack.problems.words import few_suggestions, listed
from inferstack.source.document import Document
from inferstack.source.stages import STAGES, at_stage, overridden, stage_names, uses_stage

if TYPE_CHECKING:
    # Most specs have none.
    from inferstack.sizing.traffic import Traffic


class LoadedSpec(msgspec.Struct, frozen=True):
    """A spec without errors, the document that knows where its parts are, and its warnings.

    ``spec`` has the URLs of the uploads, and the ARNs of the model packages, that its lock names.
    """

    spec: ModelSpec
    document: Document
    stage: str | None
    warnings: tuple[Problem, ...] = ()
    uploaded: Mapping[str, LockedArchive] = msgspec.field(default_factory=dict)
    """Archives in the lock, by name: the files in them need not be on this machine."""
    traffic: "Traffic | None" = None
    """What the file says that the objective names."""

    @property
    def title(self) -> str:
        """The file, with the stage."""
        file = self.document.file
        return file if self.stage is None else f"{file} ({self.stage})"

    def source_of(self, path: SpecPath) -> str:
        """The location of a part of the spec: see :meth:`Document.source_of`."""
        return self.document.source_of(path)


@few_suggestions()
def load_spec(
    path: Path | str,
    *,
    stage: str | None = None,
    region: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    locked: bool = True,
    period: int | None = None,
) -> LoadedSpec:
    """Reads a spec file for one stage. ``region`` is used if the spec names none.

    ``overrides`` are what only Python knows, such as tokens of CDK. They have a spec's form and are merged
    into the spec as a stage is, after the stage: mappings key by key, anything else as a whole, None removes
    a key.

    With a lock beside the file, the spec names what was uploaded and pinned. Pass ``locked=False`` to have it
    as it is written: packing does, since it makes the next lock.

    ``period`` is how many seconds a number of CloudWatch's is for, if the file of traffic does not say it.

    Raises:
        SpecError: with every error found, when there is any.
    """
    document = read_spec(path)
    lock = lock_beside(document) if locked else AS_WRITTEN
    staged = at_stage(document, stage)
    changed = overridden(staged, overrides, stage) if overrides else staged
    return _load(_read(changed, stage, region, lock, period))


@few_suggestions()
def load_unruled(path: Path, *, stage: str | None, region: str | None) -> LoadedSpec:
    """Reads a spec file for one stage, whatever its rules say, for what a broken rule does not touch.

    Raises:
        SpecError: when it has not the structure of a spec.
    """
    document = read_spec(path)
    read = _read(at_stage(document, stage), stage, region, lock_beside(document))
    return replace(read.loaded, spec=read.deployed)


@few_suggestions()
def parse_spec(data: Mapping[str, Any] | ModelSpec, *, stage: str | None = None) -> LoadedSpec:
    """Makes a spec from data in the form of a YAML spec, or from the classes of the format.

    Raises:
        SpecError: with every error found, when there is any.
    """
    return _load(_read(_named(at_stage(Document.from_data(data), stage)), stage, None, NO_LOCK))


def checked(spec: ModelSpec) -> LoadedSpec:
    """Checks a spec that was built in Python from the classes.

    Raises:
        SpecError: with every error found, when there is any.
    """
    return ruled(structured(spec))


@few_suggestions()
def structured(spec: ModelSpec) -> LoadedSpec:
    """Checks only the structure of a spec that was built in Python from the classes: the rules are applied
    once it is known where it is deployed.

    Raises:
        SpecError: with every error found, when there is any.
    """
    document = Document.from_data(spec)
    if STAGES in document.data:
        message = "constructs choose no stage, so that `stages` would have no effect"
        fix = "pass `parse_spec(spec, stage=…)`, or remove `stages`"
        raise SpecError([document.problem((STAGES,), STAGES_IDLE, message, fix, key=True)])
    document = _named(at_stage(document, None))
    typed, of_traffic, traffic = with_traffic(_typed(document, NO_LOCK), document)
    pinned = with_pins_applied(typed, document, None, NO_LOCK)
    if pinned.problems or of_traffic:
        raise SpecError([*pinned.problems, *of_traffic])
    return LoadedSpec(pinned.spec, pinned.document, None, traffic=traffic)


def _named(document: Document) -> Document:
    """A document made in Python, which may leave the endpoint's name to the construct that takes it."""
    left_out = "endpoint_name" not in document.data
    return overridden(document, {"endpoint_name": NAMELESS}, None) if left_out else document


@few_suggestions()
def check_document(
    document: Document,
    *,
    stage: str | None = None,
    region: str | None = None,
    model_config: Path | None = None,
) -> tuple[list[LoadedSpec], list[Problem]]:
    """The specs of a document, at one stage or at each that can be deployed, and everything wrong with them.

    A problem that several stages share is reported once. If it stands outside of `stages`, such as in a file
    of a model, and not all stages have it, it names those that have it. ``region`` is used if the spec names
    none, ``model_config`` by the containers of language models that name none.
    """
    specs: list[LoadedSpec] = []
    found: dict[Problem, tuple[Problem, list[str | None]]] = {}
    lock = lock_beside(document)
    stages = (stage,) if stage is not None else deployable_stages(document, lock.lock)
    for each_stage in stages:
        try:
            read = _read(at_stage(document, each_stage), each_stage, region, lock)
            specs.append(_load(read, model_config))
            problems: Iterable[Problem] = specs[-1].warnings
        except SpecError as error:
            problems = error.problems
        for problem in problems:
            found.setdefault(problem.as_read, (problem, []))[1].append(each_stage)
    placed = (it if len(at) == len(stages) else _at_stages(document, it, at) for it, at in found.values())
    return specs, list(in_file_order(placed))


def _at_stages(document: Document, problem: Problem, stages: Collection[str | None]) -> Problem:
    """The problem with the names of the stages that have it, unless its place or its message names them."""
    at = {document.place(problem.path), document.place(problem.path, key=True)}
    is_in_a_stage = problem.file == document.file and problem.in_file not in at
    if None in stages or is_in_a_stage or all(f"stage `{one}`" in problem.message for one in stages):
        return problem
    names = [one for one in stages if one is not None]
    where = f"at stage{'s' if len(names) > 1 else ''} {listed(names, last='and')}"
    return replace(problem, message=f"{problem.message} ({where})")


def deployable_stages(document: Document, lock: Lock | None) -> tuple[str | None, ...]:
    """The stages to check, None for the spec without a stage. None is left out if the spec uses `${stage}`,
    or if its lock is about stages only.
    """
    names = stage_names(document)
    only = uses_stage(document) or (lock is not None and lock.has_only_stages)
    return names if names and only else (None, *names)


class _Unruled(NamedTuple):
    """A spec before its rules."""

    loaded: LoadedSpec
    """As the rules see it: with pinned model packages, and the URLs of uploads as they are written."""
    deployed: ModelSpec
    beside: tuple[Problem, ...]
    """What its lock and its traffic have against it."""


def _load(read: _Unruled, model_config: Path | None = None) -> LoadedSpec:
    return replace(ruled(read.loaded, read.beside, model_config), spec=read.deployed)


def _read(
    staged: Document, stage: str | None, region: str | None, lock: FoundLock, period: int | None = None
) -> _Unruled:
    staged = with_lists(staged)
    typed = _typed(staged, lock)
    if unfit := [*unfit_defaults(typed, staged)]:
        staged = without_defaults(staged, unfit)
        typed = _typed(staged, lock)
    spec, of_traffic, traffic = with_traffic(with_region(typed, region), staged, period)
    pinned = with_pins_applied(spec, staged, stage, lock)
    applied = apply_lock(pinned.spec, staged, stage, lock)
    loaded = LoadedSpec(pinned.spec, pinned.document, stage, uploaded=applied.uploaded, traffic=traffic)
    beside = (*applied.problems, *pinned.problems, *of_traffic)
    return _Unruled(loaded, spec if lock.ignored else applied.spec, beside)


def _typed(document: Document, lock: FoundLock) -> ModelSpec:
    structural = _structural_problems(document)
    if structural:
        raise SpecError(_all_that_is_wrong(structural, document, lock))
    typed: ModelSpec = msgspec.convert(document.data, Spec)
    return typed


def _structural_problems(document: Document) -> list[Problem]:
    found = _with_elsewhere(list(elsewhere_problems(document)), structure_problems(document))
    wrong = {problem.path for problem in found}
    # Where a value has the wrong type or form, what is wrong inside of its text need not be said as well.
    held = (*placeholder_problems(document), *reference_problems(document))
    return [*found, *(it for it in held if it.path not in wrong), *token_problems(document)]


def _with_elsewhere(elsewhere: list[Problem], others: list[Problem]) -> list[Problem]:
    """All problems, but no other about a misplaced value from elsewhere; below an unknown key, not even that
    one.
    """
    unknown = {it.path for it in others if it.code == UNKNOWN_KEY}
    reported = [it for it in elsewhere if not any(it.path[: len(path)] == path for path in unknown)]
    wrong = {problem.path for problem in reported}
    return [*reported, *(it for it in others if it.path not in wrong)]


def _all_that_is_wrong(structural: list[Problem], document: Document, lock: FoundLock) -> Iterator[Problem]:
    """Everything wrong with a document; if `kind` is misspelt, including what is wrong under the intended
    kind.
    """
    meant = of_meant_kind(document)
    if meant is not None:
        structural = list(dict.fromkeys((*structural, *_structural_problems(meant))))
    yield from structural
    if any(it.code == MANY for it in structural):
        return  # The rules would meet values that were not looked at.
    # With a lock, files of models need not be on this machine; only a whole spec says which ones.
    with_models = lock in (NO_LOCK, AS_WRITTEN)
    yield from problems_beside(structural, document if meant is None else meant, with_models=with_models)


def ruled(loaded: LoadedSpec, beside: Iterable[Problem] = (), model_config: Path | None = None) -> LoadedSpec:
    """The spec with the warnings of its rules. ``beside`` are problems found earlier, ``model_config`` is for
    containers of language models that name none.

    Raises:
        SpecError: when it breaks a rule, or there is an error among those found earlier.
    """
    spec, document = loaded.spec, loaded.document
    of_triton = triton_problems(spec, document, frozenset(spec.ignored_codes), loaded.uploaded)
    seen = with_properties(spec, document, model_config)
    of_models = model_problems(seen, document, model_config)
    of_rules = map(seen.located, rule_problems(seen.spec, document, seen.ask(spec)))
    of_spec = (*of_rules, *objective_problems(spec, document, loaded.traffic))
    problems = [*of_triton, *of_spec, *of_models, *company_problems(spec, document), *beside]
    if LITERAL_PLACEHOLDER not in spec.ignored_codes:
        reported = {problem.path for problem in problems}
        problems.extend(it for it in literal_placeholders(document) if it.path not in reported)
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise SpecError(problems)
    return replace(loaded, warnings=in_file_order(problems))


def with_region(spec: ModelSpec, region: str | None) -> ModelSpec:
    """The spec with this region, unless it names one itself."""
    if region is None or spec.region is not None:
        return spec
    return replace(spec, env=Environment(account=spec.account, region=region))
