"""Which components are adapters, and of which others."""

from collections.abc import Mapping

from inferstack.once import answered_once
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.walk import components


@answered_once
def bases_of_adapters(spec: ModelSpec) -> Mapping[str, str]:
    """The names of all adapters, with the name of the base of each."""
    bases = ((name, component.base_name) for _, name, component in components(spec))
    return {name: base for name, base in bases if base is not None}
