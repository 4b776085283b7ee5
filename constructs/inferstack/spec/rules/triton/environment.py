"""The variables with which a container starts Triton."""

from collections.abc import Iterator

from inferstack.catalog.triton_container import VALUES, Value, set_variable
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.parts.triton_blocks import loaded_by
from inferstack.spec.parts.triton_image import is_triton, triton_release
from inferstack.spec.parts.walk import PlacedContainer, containers
from inferstack.spec.problem.words import listed, span
from inferstack.spec.rules.base import Finding, error
from inferstack.spec.texts.placeholders import is_settled

_OPTIONS = "https://github.com/triton-inference-server/server/blob/main/src/command_line_parser.cc"


@error(
    "IS298",
    "A variable that sets an option of Triton must have a value that the server accepts as written.",
    _OPTIONS,
    ModelSpec,
    about="environment",
)
def options_have_values(spec: ModelSpec) -> Iterator[Finding]:
    """With any other, the server does not start, or reads only the leading digits: 16 of `16MB`."""
    for placed in containers(spec):
        environment = placed.environment
        for name in _options_set(spec, placed):
            found, value = set_variable(environment, name), VALUES[name]
            if found is None or not is_settled(found) or value.fits(found, triton_release(placed.image)):
                continue
            path = (*placed.path, "environment", name)
            yield Finding(path, f'{name} is "{found[:60]}"', f"allowed: {_allowed(value)}")


def _options_set(spec: ModelSpec, placed: PlacedContainer) -> list[str]:
    """The variables of a container that set options, if it runs Triton."""
    names = VALUES.keys() & placed.environment.keys()
    runs_triton = names and (is_triton(placed.image) or loaded_by(spec, placed) is not None)
    return sorted(names) if runs_triton else []


def _allowed(value: Value) -> str:
    numbers = "whole numbers of digits only" if value.is_whole else "numbers"
    number = [] if value.least is None else [f"{numbers}, {span(value.least, value.most)}"]
    return ", or ".join([*([listed(value.words)] if value.words else []), *number])
