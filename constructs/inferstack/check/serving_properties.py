"""The `serving.properties` of LMI's containers: rules see what they set as if variables had done it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from inferstack.check.files_beside import file_beside
from inferstack.check.lock.applying import with_value_at
from inferstack.check.rules.asking import Ask
from inferstack.check.rules.containers import environment
from inferstack.check.rules.language_models.properties import DescribedProperties
from inferstack.engines.engine import ENGINES
from inferstack.engines.properties import PROPERTIES, ServingProperty, in_words_of_the_file, properties_in
from inferstack.facts.engines import RunningEngine, engine_of
from inferstack.facts.walk import PlacedContainer, containers
from inferstack.format.kinds import ModelSpec
from inferstack.problems import FilePlace, Problem, SpecError, SpecPath
from inferstack.problems.file_codes import UNREADABLE_MODEL
from inferstack.source.document import Document
from inferstack.source.other_files import read_text


class WithProperties(msgspec.Struct, frozen=True):
    """A spec whose containers have the variables that stand for their files, and what the files say.

    ``spec`` is for rules only: nothing of the files is deployed with the environment.
    """

    spec: ModelSpec
    described: tuple[DescribedProperties, ...] = ()
    unreadable: tuple[Problem, ...] = ()
    places: Mapping[SpecPath, FilePlace] = {}
    """Where a file has what the spec seems to have at a path."""

    def ask(self, deployed: ModelSpec) -> Ask:
        """Asks rules of the environment about what is deployed, and all others about the whole."""
        return lambda rule, it: rule.check(deployed if rule.check.__module__ == environment.__name__ else it)

    def located(self, problem: Problem) -> Problem:
        """A problem of a variable that stands for a line of a file, at that line and in its words."""
        at = self.places.get(problem.path)
        if at is None:
            return problem
        message, fix = map(in_words_of_the_file, (problem.message, problem.fix))
        return replace(problem, place=at, at=None, message=message, fix=fix)


def with_properties(spec: ModelSpec, document: Document, model_config: Path | None = None) -> WithProperties:
    """Reads the file of each container whose `model_config`, or else this one, has it."""
    changed = spec
    described: list[DescribedProperties] = []
    unreadable: list[Problem] = []
    places: dict[SpecPath, FilePlace] = {}
    for placed in containers(spec):
        running, file = engine_of(placed), _file_of(placed, document, model_config)
        if running is None or running.name not in ENGINES or file is None:
            continue
        try:
            found = DescribedProperties(placed, file.as_posix(), tuple(properties_in(_text(file))))
        except SpecError as error:
            unreadable += error.problems
            continue
        described.append(found)
        if found.is_read:
            at = (*placed.path, "environment")
            changed = with_value_at(changed, at, dict(_environment(placed, running, found)))
            places.update({(*at, it.variable or it.name): _place(file, it) for it in found.properties})
    return WithProperties(changed, tuple(described), tuple(unreadable), places)


def _place(file: Path, it: ServingProperty) -> FilePlace:
    return FilePlace(file.as_posix(), it.line)


def _file_of(placed: PlacedContainer, document: Document, model_config: Path | None) -> Path | None:
    """The file in the folder that a container names; None if there is none, or if it may not be read."""
    named = placed.container.model_config
    try:
        at = (*placed.path, "model_config")
        folder = model_config if named is None else file_beside(named, document, at, UNREADABLE_MODEL)
        file = None if folder is None or placed.is_of_adapter else folder / PROPERTIES
        return file if file is not None and file.exists() else None
    except (SpecError, OSError, ValueError):
        return None  # Reading the model reports it.


def _text(file: Path) -> str:
    def stop(message: str, fix: str) -> SpecError:
        return SpecError([Problem(FilePlace(file.as_posix()), message, fix, UNREADABLE_MODEL)])

    return read_text(file, stop, wanted=f"a {PROPERTIES}", if_large="remove what no server reads")


def _environment(
    placed: PlacedContainer, running: RunningEngine, found: DescribedProperties
) -> Iterator[tuple[str, str]]:
    """What counts: the variables for which the file has nothing, then the last of what the file says."""
    engine = ENGINES[running.name]
    said = {engine.option(it.variable) for it in found.properties if it.variable is not None}
    for variable, value in placed.environment.items():
        if engine.option(variable) not in said - {None}:
            yield variable, value
    for it in found.properties:
        if it.variable is not None:
            yield it.variable, it.value_of_variable
