"""Which components are adapters, and of which others."""

from collections.abc import Iterator, Mapping

from inferstack.once import answered_once
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.walk import Specification, components, specifications
from inferstack.spec.problem import SpecPath


@answered_once
def bases_of_adapters(spec: ModelSpec) -> Mapping[str, str]:
    """The names of all adapters, with the name of the base of each."""
    bases = ((name, component.base_name) for _, name, component in components(spec))
    return {name: base for name, base in bases if base is not None}


def whole_specifications(spec: ModelSpec) -> Iterator[tuple[SpecPath, str, Specification]]:
    """What every component runs that is no adapter: path, name of the component, specification."""
    for path, name, component in components(spec):
        if component.base_name is None:
            for below, it in specifications(path, component):
                yield below, name, it
