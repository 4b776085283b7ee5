"""The project's file with a spec: it is read and checked, and its defaults are made fit for the spec.

    spec file -> Document -> [project's file] -> Document with defaults -> at a stage: one tree

What is wrong with the file itself is reported at its own lines, whichever spec is checked. A default that a
spec cannot have is left out: by its kind, and by the rules about keys once the spec is typed.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.check.rules.company import COMPANY, Demanded
from inferstack.check.rules.keys import ROWS
from inferstack.check.structure import MISSING_KEY
from inferstack.check.structure.report import forbidden_by
from inferstack.endpoint.cost import NO_PRICES, Prices
from inferstack.facts.walk import every_variant, hosts, instance_types
from inferstack.format.kinds import ModelSpec
from inferstack.format.project import Project, Rules
from inferstack.format.schema import kind_definitions, shipped_schema
from inferstack.problems import Problem, SpecError, SpecPath
from inferstack.sizing.prices import PRICE_FILE, read_price_file
from inferstack.source.compose import compose
from inferstack.source.defaults import MODEL, MODELS, without
from inferstack.source.document import DEFAULTS, RULES, Document, read_document
from inferstack.source.project_file import project_of
from inferstack.source.stages import STAGES, at_stage, stage_names, uses_stage
from inferstack.source.tree import Entry, mapping_node

_VOLUME_KEY = ("endpoint_config", "kms_key_id")

# ---------------------------------------------------------------- a spec in its project


def read_spec(path: Path | str, top: Path | None = None) -> Document:
    """Reads a spec file, and the project's file that applies to it; the search for that one ends at ``top``.

    Raises:
        SpecError: with everything wrong with either file.
    """
    return in_its_project(read_document(path), top)


def spec_of_text(file: str, text: str) -> Document:
    """The document that a spec's file would be if it had this text.

    Raises:
        SpecError: with everything wrong with the text, or with the project's file.
    """
    return in_its_project(Document(file, compose(file, text)))


def in_its_project(document: Document, top: Path | None = None) -> Document:
    """A spec with the project's file that applies to it, and with the defaults that are for its kind.

    Raises:
        SpecError: with everything wrong with the project's file.
    """
    project = project_of(document.file, top)
    if project is None:
        return document
    problems = project_problems(project)
    if problems:
        raise SpecError(problems)
    defaults = defaults_of(project)
    definition = kind_definitions().get(str(document.data.get("kind")))
    if defaults is None or definition is None:
        return replace(document, project=project)
    known = {*shipped_schema()["$defs"][definition]["properties"], STAGES}
    if MODELS in known:
        # For each of them, also where the kind has no single one.
        known.add(MODEL)
    fit = {key: it for key, it in defaults.tree.by_key.items() if key in known}
    return replace(
        document, project=project, defaults=replace(defaults, tree=mapping_node(defaults.tree.at, fit))
    )


def unfit_defaults(spec: ModelSpec, document: Document) -> Iterator[SpecPath]:
    """The places of defaults that a spec has but cannot use, by the rules about keys."""
    if document.defaults is None:
        return
    for row in ROWS:
        if isinstance(spec, row.of):
            yield from (it.path for it in row.problems(spec) if document.is_inherited(it.path))
    if document.is_inherited(_VOLUME_KEY) and _has_local_disks_only(spec):
        yield _VOLUME_KEY


def _has_local_disks_only(spec: ModelSpec) -> bool:
    """Whether a key for storage volumes would encrypt nothing; not if some instance type is unknown."""
    of_variants = [(instance_types(it), [*hosts(it)]) for _, it in every_variant(spec)]
    known = [host for _, found in of_variants for host in found]
    is_known = all(len(names) == len(found) for names, found in of_variants)
    return is_known and bool(known) and all(host.has_local_nvme for host in known)


def without_defaults(document: Document, paths: list[SpecPath]) -> Document:
    """A spec at a stage without some of its defaults."""
    tree = document.tree
    for path in paths:
        tree = without(tree, path)
    return replace(document, tree=tree)


# ---------------------------------------------------------------- the file itself


_ANY_STAGE = "stage"
"""A stage's name where the file needs one and lists none."""


def project_problems(project: Document) -> tuple[Problem, ...]:
    """Everything wrong with a project's file, at each of its stages. What defaults are missing, the specs may
    have.
    """
    return tuple(it for it in _found(project) if it.code != MISSING_KEY or it.path[:1] != (DEFAULTS,))


@lru_cache(maxsize=8)
def _found(project: Document) -> Iterable[Problem]:
    defaults = defaults_of(project)
    if defaults is None:
        return forbidden_by(Project.__name__, project)
    found: dict[Problem, None] = {}
    for stage in stage_names(defaults) or ((_ANY_STAGE,) if uses_stage(defaults) else (None,)):
        try:
            chosen = at_stage(defaults, stage).tree
        except SpecError as error:
            found |= dict.fromkeys(error.problems)
            chosen = without(defaults.tree, (STAGES,))
        staged = {**project.tree.by_key, DEFAULTS: Entry(project.tree.by_key[DEFAULTS].at, chosen)}
        whole = replace(project, tree=mapping_node(project.tree.at, staged))
        found |= dict.fromkeys(forbidden_by(Project.__name__, whole))
    return found


def defaults_of(project: Document) -> Document | None:
    """The defaults of a project's file; None if it has none, or what is no mapping."""
    entry = project.tree.entry(DEFAULTS)
    is_usable = entry is not None and isinstance(entry.node.data, dict)
    return replace(project, tree=entry.node) if entry is not None and is_usable else None


# ---------------------------------------------------------------- its rules


def written_rules(document: Document) -> Mapping[str, Any]:
    """The rules that apply to a spec, as they are written; empty where there are none."""
    written = None if document.project is None else document.project.data.get(RULES)
    return written if isinstance(written, dict) else {}


def company_problems(spec: ModelSpec, document: Document) -> Iterator[Problem]:
    """Everything in a spec that breaks the rules of its project."""
    project, written = document.project, written_rules(document)
    if project is None or not written:
        return
    rules = msgspec.convert(written, Rules)
    demanded = Demanded(spec, rules, lambda: _prices(rules, project, spec.region))
    for rule in COMPANY.values():
        try:
            found = [*rule.check(demanded)]
        except SpecError as error:
            yield from error.problems
            continue
        yield from (document.located(it, rule.code, rule.severity) for it in found)


def _prices(rules: Rules, project: Document, region: str | None) -> Prices:
    limit = None if rules.at_most is None else rules.at_most.cost_per_hour
    file = PRICE_FILE if limit is None or limit.prices is None else limit.prices
    path = Path(project.file).parent / file
    return read_price_file(path).of(region) if path.is_file() else NO_PRICES
