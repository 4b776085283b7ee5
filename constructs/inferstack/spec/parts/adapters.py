"""Which components are adapters, and which components are their bases."""

from collections.abc import Iterator, Mapping

from inferstack.once import answered_once
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.walk import Specification, components, specifications
from inferstack.spec.problem import SpecPath


@answered_once
def bases_of_adapters(spec: ModelSpec) -> Mapping[str, str]:
    """The names of all adapters, each with the name of its base."""
    bases = ((name, component.base_name) for _, name, component in components(spec))
    return {name: base for name, base in bases if base is not None}


def whole_specifications(spec: ModelSpec) -> Iterator[tuple[SpecPath, str, Specification]]:
    """What every component runs that is not an adapter: path, name of the component, specification."""
    for path, name, component in components(spec):
        if component.base_name is None:
            for below, it in specifications(path, component):
                yield below, name, it
