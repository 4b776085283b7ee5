"""The files of language models that a spec names: read, and compared with the containers that serve them."""

from collections.abc import Iterator
from pathlib import Path

from inferstack.check.files_beside import file_beside
from inferstack.check.rules.language_models.model_files import OF_MODELS, Described, DescribedAdapter
from inferstack.engines.model_config import ADAPTER, LanguageModel, read_adapter, read_model
from inferstack.facts.engines import engine_of
from inferstack.facts.walk import PlacedContainer, bases_of_adapters, containers
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecError
from inferstack.problems.file_codes import UNREADABLE_MODEL
from inferstack.source.document import Document


def model_problems(
    spec: ModelSpec, document: Document, model_config: Path | None = None
) -> Iterator[Problem]:
    """What the rules say that compare a spec with the files of its models, unless it ignores them.

    ``model_config`` is for the containers of language models that name none.
    """
    about: list[Described | DescribedAdapter] = []
    for placed in containers(spec):
        try:
            about += _described(placed, document, model_config)
        except SpecError as error:
            yield from error.problems
    for rule in OF_MODELS.values():
        for it in about:
            if isinstance(it, rule.applies_to) and rule.code not in spec.ignored_codes:
                for problem in rule.check(it):
                    yield document.located(problem, rule.code, rule.severity)


def described_models(
    spec: ModelSpec, document: Document, model_config: Path | None = None
) -> Iterator[tuple[PlacedContainer, LanguageModel]]:
    """Every container with the model that it serves, where a file says what that is.

    Raises:
        SpecError: when such a file cannot be used.
    """
    for placed in containers(spec):
        for it in _described(placed, document, model_config):
            if isinstance(it, Described):
                yield placed, it.model


def _described(
    placed: PlacedContainer, document: Document, model_config: Path | None
) -> Iterator[Described | DescribedAdapter]:
    named = placed.container.model_config
    if named is None:
        if model_config is not None and not placed.is_of_adapter and engine_of(placed) is not None:
            yield Described(placed, read_model(model_config))
        return
    at = (*placed.path, "model_config")
    path = file_beside(named, document, at, UNREADABLE_MODEL)
    if not placed.is_of_adapter:
        yield Described(placed, read_model(path))
        return
    adapter = read_adapter(path)
    if adapter is None:
        message, fix = f"{path.as_posix()} has no {ADAPTER}", "name the folder of the adapter's files"
        raise SpecError([document.problem(at, UNREADABLE_MODEL, message, fix)])
    base = bases_of_adapters(placed.spec).get("" if placed.run is None else placed.run.name)
    for it in containers(placed.spec):
        if it.run is not None and it.run.name == base:
            yield DescribedAdapter(placed, adapter, it)
