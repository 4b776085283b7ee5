"""The containers whose engine is known, and how messages name engine and version."""

from collections.abc import Iterator, Mapping

import msgspec

from inferstack.engines.engine import ENGINES, Engine
from inferstack.engines.settings import known_options
from inferstack.engines.tables import KnownOptions
from inferstack.facts.engines import RunningEngine, engine_of
from inferstack.facts.once import found_once
from inferstack.facts.walk import PlacedContainer, containers
from inferstack.format.kinds import ModelSpec
from inferstack.problems import SpecPath
from inferstack.texts.placeholders import is_settled


class Judged(msgspec.Struct, frozen=True):
    """A container with an engine. ``options`` are those of its version; None if they are not known."""

    placed: PlacedContainer
    running: RunningEngine
    engine: Engine
    options: KnownOptions | None

    @property
    def title(self) -> str:
        """The engine and the version that was looked at, as messages name them."""
        if self.running.name == "lmi":
            inside = "" if self.options is None else f" with vLLM {self.options.said}"
            return f"LMI {self.running.release.rpartition('lmi')[2]}{inside}"
        if self.options is None:
            return self.engine.title
        return f"{self.engine.title} {self.options.said}"

    @property
    def environment(self) -> Mapping[str, str]:
        """Its variables without those whose value only the deployment knows."""
        return {name: value for name, value in self.placed.environment.items() if is_settled(value)}

    def path(self, variable: str) -> SpecPath:
        """Where a variable is."""
        return (*self.placed.path, "environment", variable)


@found_once
def judged(spec: ModelSpec) -> Iterator[Judged]:
    """Every container with variables and an engine that is known."""
    for placed in containers(spec):
        running = engine_of(placed) if placed.environment else None
        engine = None if running is None else ENGINES.get(running.name)
        if running is not None and engine is not None:
            yield Judged(placed, running, engine, known_options(running))


def known(spec: ModelSpec) -> Iterator[tuple[Judged, KnownOptions]]:
    """Those of them whose options are known, with these."""
    for it in judged(spec):
        if it.options is not None:
            yield it, it.options


_ENTRY_POINT = "lmi_vllm"


def has_own_handler(it: Judged) -> bool:
    """Whether LMI hands its options to another handler than the one that runs vLLM."""
    handler = it.placed.environment.get("OPTION_ENTRYPOINT", _ENTRY_POINT)
    return _ENTRY_POINT not in handler or it.placed.environment.get("OPTION_ROLLING_BATCH") == "trtllm"
