"""The `triton` block as a whole, and the variables with which a container starts Triton.

What is inside a model is checked by :mod:`inferstack.triton.rules`.
"""

from collections.abc import Iterator

from inferstack.catalog.triton_container import (
    DEFAULT_MODEL,
    PREFIX,
    VALUES,
    VARIABLES,
    Value,
    set_variable,
)
from inferstack.check.rules.base import GUIDE, MULTI_MODEL_PAGE, error, warning
from inferstack.check.rules.names import unknown_name
from inferstack.facts.triton import (
    archive_of,
    default_model,
    ensembles,
    is_triton,
    loaded_by,
    own_block,
    triton_blocks,
    triton_release,
)
from inferstack.facts.walk import PlacedContainer, containers, how_to_have_many
from inferstack.format.inference_component import ComponentContainer
from inferstack.format.kinds import EnsembleSpec, ModelSpec
from inferstack.format.model import Triton
from inferstack.problems import Problem, dotted
from inferstack.problems.words import listed, nearest, span
from inferstack.texts.placeholders import is_settled

# ---------------------------------------------------------------- variables that set options


_START = "https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve"
_OPTIONS = "https://github.com/triton-inference-server/server/blob/main/src/command_line_parser.cc"
_TRITON = f"{GUIDE}/deploy-models-frameworks-triton.html"


@error("IS298", _OPTIONS)
def options_have_values(spec: ModelSpec) -> Iterator[Problem]:
    """A variable that sets an option of Triton must have a value that the server accepts as written.

    With any other, the server does not start, or reads only the leading digits: 16 of `16MB`.
    """
    for placed in containers(spec):
        environment = placed.environment
        for name in _options_set(spec, placed):
            found, value = set_variable(environment, name), VALUES[name]
            if found is None or not is_settled(found) or value.fits(found, triton_release(placed.image)):
                continue
            path = (*placed.path, "environment", name)
            yield Problem(path, f'{name} is "{found[:60]}"', f"allowed: {_allowed(value)}")


def _options_set(spec: ModelSpec, placed: PlacedContainer) -> list[str]:
    """The variables of a container that set options, if it runs Triton."""
    names = VALUES.keys() & placed.environment.keys()
    runs_triton = names and (is_triton(placed.image) or loaded_by(spec, placed) is not None)
    return sorted(names) if runs_triton else []


def _allowed(value: Value) -> str:
    numbers = "whole numbers in plain digits" if value.is_whole else "numbers"
    number = [] if value.least is None else [f"{numbers}, {span(value.least, value.most)}"]
    return ", or ".join([*([listed(value.words)] if value.words else []), *number])


@warning("IS295", _START)
def variables_are_read(spec: ModelSpec) -> Iterator[Problem]:
    """A variable that is named like those of Triton's start script should be one of them.

    The script reads no other, so that a misspelt one changes nothing. Reported only for names that are
    similar: a newer script may read more.
    """
    known = sorted(it.removeprefix(PREFIX) for it in VARIABLES)
    for placed in containers(spec):
        for name in placed.environment.keys() - VARIABLES:
            meant = nearest(name.removeprefix(PREFIX), known) if name.startswith(PREFIX) else None
            if meant is not None:
                path = (*placed.path, "environment", name)
                message = f"Triton's start script reads no variable {name[:60]}"
                yield Problem(path, message, f"did you mean `{PREFIX}{meant}`?", of_key=True)


# ---------------------------------------------------------------- the `triton` block


@error("IS250", _TRITON)
def one_way_to_declare(spec: ModelSpec) -> Iterator[Problem]:
    """A model repository must be declared in one way: `models`, `archives` or `repository`.

    An empty block, or an empty mapping in it, declares nothing.
    """
    for placed in triton_blocks(spec):
        keys = ("models", "archives", "repository")
        ways = [key for key in keys if getattr(placed.block, key) is not None]
        if len(ways) > 1:
            message = f"{listed(ways, last='and')} cannot be used together"
            yield Problem((*placed.path, ways[1]), message, "keep one of them")
        elif not any(getattr(placed.block, key) for key in ways):
            message = "`triton` declares no models"
            fix = "add `models`, `archives` or `repository`, or remove the block"
            yield Problem((*placed.path, *ways), message, fix)
        for name, archive in (placed.block.archives or {}).items():
            path = (*placed.path, "archives", name)
            if placed.multi_model and archive.models and archive.repository is not None:
                message = f"`models` and `repository` of `{name}` cannot be used together"
                yield Problem((*path, "repository"), message, "keep one of them")
            elif placed.multi_model and not archive.models and archive.repository is None:
                fix = "add `models` or `repository` to it, or remove the archive"
                yield Problem(path, f"`{name}` has no models", fix)


@error("IS251", MULTI_MODEL_PAGE)
def archives_are_for_multi_model(spec: ModelSpec) -> Iterator[Problem]:
    """Only a multi-model endpoint can have `archives`.

    Every other endpoint loads one archive.
    """
    for placed in triton_blocks(spec):
        if placed.block.archives is not None and not placed.multi_model:
            message = f"`archives` cannot be used with `kind: {spec.kind}`"
            fix = f"write the models directly under `triton.models`, or {how_to_have_many(spec)}"
            yield Problem((*placed.path, "archives"), message, fix)


@error("IS253", _TRITON)
def default_model_is_declared(spec: ModelSpec) -> Iterator[Problem]:
    """`default_model` must be a model that the repository has.

    The container stops when the folder is missing.
    """
    for placed in triton_blocks(spec):
        named, models = placed.block.default_model, placed.block.models
        if named is not None and models is not None and named not in models:
            yield unknown_name((*placed.path, "default_model"), "model", named, list(models))


@error("IS254", _TRITON)
def several_models_have_a_default(spec: ModelSpec) -> Iterator[Problem]:
    """Of several Triton models in one archive, one must be the default or the ensemble.

    Without it, the container stops. The variable may be in the environment instead.
    """
    for placed in triton_blocks(spec):
        models = placed.block.models or {}
        if placed.multi_model or len(models) < 2 or default_model(placed.block) is not None:
            continue
        if not all(set_variable(it.environment, DEFAULT_MODEL) for it in placed.loaders):
            found = ensembles(placed.block)
            what = f"{len(found)} ensembles" if found else "no ensemble"
            message = f"the repository has {len(models)} models, {what} and no default"
            fix = f"add `default_model`: {listed(found or list(models))}"
            yield Problem((*placed.path, "models"), message, fix)


@error("IS255", _TRITON)
def ensemble_has_an_ensemble(spec: EnsembleSpec) -> Iterator[Problem]:
    """The repository of `kind: ensemble` must have an ensemble.

    That is a model with `platform: ensemble`, or with `ensemble_scheduling`. Only then do requests pass
    through several models.
    """
    for placed in triton_blocks(spec):
        if placed.block.models is not None and not ensembles(placed.block):
            fix = "add a model with `platform: ensemble`, or choose `kind: single-model`"
            yield Problem((*placed.path, "models"), "none of the models is an ensemble", fix)


@error("IS257", _TRITON)
def somebody_loads_the_models(spec: ModelSpec) -> Iterator[Problem]:
    """At least one container must load the model repository.

    A lone container of another framework is reported by its image instead.
    """
    found = containers(spec)
    for placed in triton_blocks(spec):
        if placed.loaders or len(found) == 1:
            continue
        if not found:
            yield Problem(placed.path, "no container of the spec loads these models", "remove `triton`")
            continue
        own = sum(own_block(it.container) is not None for it in found)
        message = "no container loads these models: "
        message += (
            "all that run Triton have models of their own" if own else "all have images of other frameworks"
        )
        fix = "remove it" if own else "write `framework: triton` in the container that does"
        yield Problem(placed.path, message, fix)


@error("IS258", _TRITON)
def own_models_have_an_archive(spec: ModelSpec) -> Iterator[Problem]:
    """A container with Triton models of its own needs the URL of their archive.

    Nothing else brings the models into the container.
    """
    for placed in containers(spec):
        if own_block(placed.container) is not None and archive_of(placed) is None:
            fix = f"{_how_to_get_one(placed)}, the URL for the archive that `inferstack package` makes"
            yield Problem(placed.path, "the container has no URL for the archive of its Triton models", fix)


def _how_to_get_one(placed: PlacedContainer) -> str:
    if isinstance(placed.container, ComponentContainer):
        return "add `artifact_url`"
    keys = ("model_data_source", "model_package_name")
    others = [key for key in keys if getattr(placed.container, key) is not None]
    instead = f"write `model_data_url` instead of {listed(others, last='and')}"
    return instead if others else "add `model_data_url`"


@error("IS259", _TRITON)
def one_archive_has_one_content(spec: ModelSpec) -> Iterator[Problem]:
    """An archive that several containers load must hold the same models for all of them.

    Only the default model may differ.
    """
    first: dict[str, tuple[PlacedContainer, Triton]] = {}
    for container, block in _loading(spec):
        archive = archive_of(container)
        if archive is None:
            continue
        where, url = archive
        other, content = first.setdefault(url, (container, block))
        if (content.models, content.repository) != (block.models, block.repository):
            message = f'"{url}" has different models for {_who(container)} than for {_who(other)}'
            fix = "give each its own archive, or declare the same models"
            yield Problem(where, message, fix)


def _who(placed: PlacedContainer) -> str:
    match placed.path:
        # A component may have the same name as a model.
        case ("models", name, *_):
            return f"the model `{name}`"
        case ("inference_components", name, *_):
            return f"`{name}`"
        case path:
            return f"`{dotted(path)}`"


def _loading(spec: ModelSpec) -> Iterator[tuple[PlacedContainer, Triton]]:
    """The containers that certainly load models, and those models."""
    for placed in triton_blocks(spec):
        for loader in placed.loaders:
            if len(placed.loaders) == 1 or own_block(loader.container) is not None or is_triton(loader.image):
                yield loader, placed.block
