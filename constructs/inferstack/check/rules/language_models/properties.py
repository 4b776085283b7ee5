"""What a `serving.properties` says, and the variables of the container that it goes with."""

import re
from collections.abc import Iterator

import msgspec

from inferstack.check.rules.containers.artifacts import has_files
from inferstack.check.rules.language_models.model_files import OF_MODELS
from inferstack.engines.engine import ENGINES
from inferstack.engines.properties import PROPERTIES, ServingProperty
from inferstack.facts.engines import engine_of
from inferstack.facts.walk import PlacedContainer
from inferstack.problems import FilePlace, Problem

_LMI = "https://docs.djl.ai/master/docs/serving/serving/docs/lmi/deployment_guide/configurations.html"
_JAVA = "https://docs.oracle.com/javase/8/docs/api/java/util/Properties.html"


class DescribedProperties(msgspec.Struct, frozen=True):
    """A container of a known engine, with the file and its entries in order."""

    placed: PlacedContainer
    file: str
    properties: tuple[ServingProperty, ...]

    @property
    def title(self) -> str:
        """The engine's name."""
        running = engine_of(self.placed)
        return "" if running is None else ENGINES[running.name].title

    @property
    def is_read(self) -> bool:
        """Whether the container gets the file, and its engine reads it."""
        return self.title == ENGINES["lmi"].title and has_files(self.placed.container)

    def at(self, it: ServingProperty) -> FilePlace:
        """Where an entry is."""
        return FilePlace(self.file, it.line)


@OF_MODELS.warning("IS382", _LMI)
def file_says_what_variables_say(described: DescribedProperties) -> Iterator[Problem]:
    """A variable should not set an option to another value than `serving.properties` does.

    LMI takes the file's value, whatever the variable says.
    """
    engine, environment = ENGINES["lmi"], described.placed.environment
    said = {engine.option(it.variable): it for it in described.properties if it.variable is not None}
    for variable, value in environment.items() if described.is_read else ():
        it = said.get(engine.option(variable))
        if engine.option(variable) is not None and it is not None and it.value != value:
            message = f"LMI does not use {variable[:60]}: line {it.line} of {PROPERTIES} sets {it.name}"
            fix = "remove the variable, or that line"
            yield Problem((*described.placed.path, "environment", variable), message, fix, of_key=True)


@OF_MODELS.warning("IS383", _LMI)
def options_have_their_prefix(described: DescribedProperties) -> Iterator[Problem]:
    """In `serving.properties`, an option of the engine should begin with `option.`, and have underscores.

    LMI's server reads names without it as its own, and sets its default for the option.
    """
    for it in described.properties if described.is_read else ():
        option = it.option
        if option is None and it.name in _ONLY_WITH_PREFIX:
            message = f"LMI does not read {it.name}, but only option.{it.name}"
            yield Problem(described.at(it), message, f"write `option.{it.name}`")
        elif option is not None and "-" in option:
            message = f"LMI drops {it.name[:60]}: the names of its options have no hyphens"
            yield Problem(described.at(it), message, f"write `option.{option.replace('-', '_')[:60]}`")


_ONLY_WITH_PREFIX = frozenset(
    {
        *("async_mode", "enable_lora", "enable_stateful_sessions", "entryPoint", "is_peft_model"),
        *("lmcache_auto_config", "max_rolling_batch_size", "model_id", "model_loading_timeout", "mpi_mode"),
        *("parallel_loading", "pipeline_parallel_degree", "predict_timeout", "rolling_batch"),
        *("speculative_draft_model", "tensor_parallel_degree"),
    }
)
"""What LMI's server looks for with the prefix. It hands other names on, so that handlers get them."""


@OF_MODELS.warning("IS384", _JAVA)
def properties_are_set_once(described: DescribedProperties) -> Iterator[Problem]:
    """In `serving.properties`, a property should be set once.

    Of two, the last one counts.
    """
    last = {it.name: it for it in described.properties}
    for it in described.properties if described.is_read else ():
        if it is not last[it.name] and it.value != last[it.name].value:
            message = f"line {it.line} sets {it.name[:60]} to another value, which does not count"
            yield Problem(described.at(last[it.name]), message, "keep one of the two")


@OF_MODELS.warning("IS385", _JAVA)
def values_are_plain(described: DescribedProperties) -> Iterator[Problem]:
    """In `serving.properties`, a value should stand without quotes, and without a remark behind it.

    Both become part of the value: a remark has a line of its own.
    """
    for it in described.properties if described.is_read else ():
        if re.fullmatch(r"""(["']).*\1\s*""", it.value):
            message = f"the quotes are part of the value of {it.name[:60]}"
            yield Problem(described.at(it), message, f"write `{it.name}={it.value.strip()[1:-1]}`")
        elif re.search(r"\s#", it.value) and not it.value.startswith(("{", "[")):
            message = f"the remark is part of the value of {it.name[:60]}"
            yield Problem(described.at(it), message, "put it into a line of its own")


@OF_MODELS.warning("IS386", _LMI)
def container_reads_the_file(described: DescribedProperties) -> Iterator[Problem]:
    """A `serving.properties` should be among the files of a container that runs LMI.

    Other engines do not read it, and what `model_config` names is not deployed.
    """
    if described.is_read:
        return
    at = (*described.placed.path, "model_config")
    if described.title != ENGINES["lmi"].title:
        message = f"{described.title} does not read {described.file}"
        yield Problem(at, message, "set its options by variables, and remove the file")
    else:
        message = f"the container gets no files, so that LMI never sees {described.file}"
        key = described.placed.url_key
        yield Problem(at, message, f"put it into the archive at `{key}`, or set its options by variables")
