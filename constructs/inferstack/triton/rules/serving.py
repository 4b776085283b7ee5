"""How the container chooses what it serves."""

import re
from collections.abc import Iterator

from inferstack.catalog.triton_container import DEFAULT_MODEL
from inferstack.spec.problem.words import listed
from inferstack.triton.model import Repository
from inferstack.triton.rules.base import CONTAINER, Context, Finding, at, error, warning

_FRONT_END = "https://github.com/triton-inference-server/server/blob/main/src/sagemaker_server.cc"
# What the SageMaker front end looks for to find the ensemble of an archive.
_DETECTED = r'platform:(\s)*"ensemble"'


@error(
    "IS914",
    "An archive of a multi-model endpoint has one model, or one ensemble with its models.",
    _FRONT_END,
)
def one_model_answers(repository: Repository, context: Context) -> Iterator[Finding]:
    """Else the container serves whichever folder it happens to read last, without a word."""
    if repository.kind != "multi-model" or len(repository.models) < 2:
        return
    ensembles = [model.name for model in repository.models if model.has_steps]
    if len(ensembles) != 1:
        names = [model.name for model in repository.models]
        what = f"{len(ensembles)} ensembles" if ensembles else f"{len(names)} models and no ensemble"
        message = f"{repository.archive} has {what} ({listed(ensembles or names, last='and')})"
        yield Finding(
            _models_place(repository),
            message,
            "put each into an archive of its own, or join them in one ensemble",
        )


def _models_place(repository: Repository) -> tuple[str | int, ...]:
    return (*repository.source, "models") if repository.source[-1:] != ("repository",) else repository.source


@error("IS915", "The container can tell the ensemble of an archive from its text.", _FRONT_END)
def ensemble_is_detected(repository: Repository, context: Context) -> Iterator[Finding]:
    """It looks for the words `platform: "ensemble"`, with no space before the colon and no other quotes."""
    if repository.kind != "multi-model" or len(repository.models) < 2:
        return
    for model in repository.models:
        if model.text is None or bool(re.search(_DETECTED, model.text)) == model.has_steps:
            continue
        if model.has_steps:
            message = f"SageMaker's container does not see that {model.name} is an ensemble"
            yield Finding(at(model, "platform"), message, 'write it exactly so: platform: "ensemble"')
        else:
            message = f"SageMaker's container takes {model.name} for an ensemble"
            yield Finding(at(model), message, 'remove the words platform: "ensemble", also from comments')


@error("IS916", "The variable for the default model and the repository agree.", CONTAINER)
def default_model_agrees(repository: Repository, context: Context) -> Iterator[Finding]:
    """The container stops when the folder is not there; two different names leave open what was meant."""
    named = context.environment.get(DEFAULT_MODEL)
    if repository.kind == "multi-model" or named is None:
        return
    names = [model.name for model in repository.models]
    if named not in names:
        message = f'{DEFAULT_MODEL} is "{named}", which is no model of the repository'
        yield Finding(context.variable(DEFAULT_MODEL), message, f"allowed: {listed(names)}")
    elif repository.default_model not in (None, named):
        message = f'{DEFAULT_MODEL} is "{named}", and `default_model` is "{repository.default_model}"'
        yield Finding(
            context.variable(DEFAULT_MODEL), message, "remove the variable: it follows from `default_model`"
        )


@error("IS917", "Among several models of a repository, one is the default.", CONTAINER)
def repository_has_a_default(repository: Repository, context: Context) -> Iterator[Finding]:
    """The container stops when there are several folders and nobody says which to serve."""
    if repository.kind == "multi-model" or repository.source[-1:] != ("repository",):
        return
    names = [model.name for model in repository.models]
    if repository.default_model is None and len(names) > 1 and DEFAULT_MODEL not in context.environment:
        likely = [model.name for model in repository.models if model.has_steps] or names
        message = f"the repository has {len(names)} models and no default"
        yield Finding(repository.source, message, f"add `default_model`: {listed(likely)}")
    elif repository.default_model is not None and names and repository.default_model not in names:
        message = f'the repository has no model "{repository.default_model}"'
        yield Finding((*repository.source[:-1], "default_model"), message, f"allowed: {listed(names)}")


@error(
    "IS918",
    "A model that answers a request several times is not called through a multi-model endpoint.",
    _FRONT_END,
    about="model_transaction_policy",
)
def no_decoupled_multi_model(repository: Repository, context: Context) -> Iterator[Finding]:
    """The container loads it and then refuses each request."""
    served = None if repository.default_model is None else repository.model(repository.default_model)
    if (
        repository.kind == "multi-model"
        and served is not None
        and served.config.model_transaction_policy.decoupled
    ):
        message = f"{served.name} is decoupled, and multi-model endpoints refuse its requests"
        fix = "answer once, or use `kind: single-model`"
        yield Finding(at(served, "model_transaction_policy", "decoupled"), message, fix)


@warning("IS919", "Every model of a repository is loaded.", CONTAINER)
def every_model_is_loaded(repository: Repository, context: Context) -> Iterator[Finding]:
    """The container loads the default model and, for an ensemble, the models of its steps: nothing else.

    A Python model may call others by itself, but then those have to be loaded as well.
    """
    start = context.environment.get(DEFAULT_MODEL, repository.default_model)
    if start is None or repository.model(start) is None:
        return
    loaded = _reached(repository, start)
    for model in repository.models:
        if model.name not in loaded:
            message = f"the container loads only {listed(sorted(loaded), last='and')}, so never {model.name}"
            yield Finding(at(model), message, f"remove {model.name}, or call it in a step of an ensemble")


def _reached(repository: Repository, start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        model = repository.model(name)
        if model is not None and name not in found:
            found.add(name)
            waiting += [step.model_name for step in model.config.ensemble_scheduling.step]
    return found
