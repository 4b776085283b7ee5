"""The files of language models that a spec names: read, and compared with the containers that serve them."""

from collections.abc import Iterator
from pathlib import Path

from inferstack.check.files_beside import file_beside
from inferstack.check.rules.language_models.model_files import OF_MODELS, Described, DescribedAdapter
from inferstack.check.rules.language_models.properties import DescribedProperties
from inferstack.check.serving_properties import WithProperties, with_properties
from inferstack.engines.model_config import ADAPTER, CONFIG, LanguageModel, read_adapter, read_model
from inferstack.engines.properties import PROPERTIES
from inferstack.facts.engines import engine_of
from inferstack.facts.walk import PlacedContainer, bases_of_adapters, containers
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecError
from inferstack.problems.file_codes import UNREADABLE_MODEL
from inferstack.problems.words import did_you_mean
from inferstack.source.document import Document

_WRITES = "`inferstack describe-model` writes one"


def model_problems(
    seen: WithProperties, document: Document, model_config: Path | None = None
) -> Iterator[Problem]:
    """What the rules say that compare a spec with the files of its models, unless it ignores them.

    ``model_config`` is for the containers of language models that name none.
    """
    spec = seen.spec
    about: list[Described | DescribedAdapter | DescribedProperties] = [*seen.described]
    yield from seen.unreadable
    for placed in containers(spec):
        try:
            about += _described(placed, document, model_config)
        except SpecError as error:
            yield from error.problems
    for rule in OF_MODELS.values():
        for it in about:
            if isinstance(it, rule.applies_to) and rule.code not in spec.ignored_codes:
                for problem in rule.check(it):
                    found = document.located(problem, rule.code, rule.severity)
                    yield found if isinstance(it, DescribedProperties) else seen.located(found)


def described_models(
    spec: ModelSpec, document: Document, model_config: Path | None = None
) -> Iterator[tuple[PlacedContainer, LanguageModel]]:
    """Every container with the model that it serves, where a file says what that is.

    Raises:
        SpecError: when such a file cannot be used.
    """
    for placed in containers(with_properties(spec, document, model_config).spec):
        for it in _described(placed, document, model_config):
            if isinstance(it, Described):
                yield placed, it.model


def _described(
    placed: PlacedContainer, document: Document, model_config: Path | None
) -> Iterator[Described | DescribedAdapter]:
    named = placed.container.model_config
    if named is None:
        if model_config is not None and not placed.is_of_adapter and engine_of(placed) is not None:
            yield from _model_in(placed, model_config)
        return
    at = (*placed.path, "model_config")
    path = file_beside(named, document, at, UNREADABLE_MODEL)
    if not _is_there(path):
        siblings = path.parent.glob(f"*/{ADAPTER if placed.is_of_adapter else CONFIG}")
        others = [(Path(named).parent / it.parent.name).as_posix() for it in siblings]
        fix = did_you_mean(named, others, f"name a folder next to the spec; {_WRITES}")
        raise SpecError([document.problem(at, UNREADABLE_MODEL, f"there is no {path.as_posix()}", fix)])
    if not placed.is_of_adapter:
        yield from _model_in(placed, path)
        return
    adapter = read_adapter(path)
    if adapter is None:
        message, fix = f"{path.as_posix()} has no {ADAPTER}", "name the folder of the adapter's files"
        raise SpecError([document.problem(at, UNREADABLE_MODEL, message, fix)])
    base = bases_of_adapters(placed.spec).get("" if placed.run is None else placed.run.name)
    for it in containers(placed.spec):
        if it.run is not None and it.run.name == base:
            yield DescribedAdapter(placed, adapter, it)


def _model_in(placed: PlacedContainer, path: Path) -> Iterator[Described]:
    # LMI may get the model from elsewhere, and only its properties from the folder.
    if not _has(path, PROPERTIES) or _has(path, CONFIG):
        yield Described(placed, read_model(path))


def _has(folder: Path, name: str) -> bool:
    return _is_there(folder / name)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
