"""How the container chooses what it serves."""

import re
from collections.abc import Iterator
from itertools import filterfalse

from inferstack.catalog.triton_container import (
    ADDITIONAL_ARGS,
    DEFAULT_MODEL,
    GENERATING,
    INFERENCE_TYPE,
    LOAD_MODEL,
    further_arguments,
    loose_words,
    with_argument,
    words,
)
from inferstack.problems import Problem
from inferstack.problems.words import listed
from inferstack.texts.placeholders import tokens
from inferstack.triton.model import Repository
from inferstack.triton.rules.base import CONTAINER, Context, at, error, served, warning
from inferstack.triton.rules.ensembles import reached

_FRONT_END = "https://github.com/triton-inference-server/server/blob/main/src/sagemaker_server.cc"
# What the SageMaker front end looks for to find the ensemble of an archive.
_DETECTED = r'platform:(\s)*"ensemble"'


@error("IS914", _FRONT_END)
def one_model_answers(repository: Repository, context: Context) -> Iterator[Problem]:
    """An archive of a multi-model endpoint must have one model, or one ensemble with its models.

    Otherwise the container silently serves whichever folder it happens to read last.
    """
    if not repository.multi_model or len(repository.models) < 2:
        return
    ensembles = [model.name for model in repository.models if model.is_ensemble]
    if len(ensembles) != 1:
        names = [model.name for model in repository.models]
        what = f"{len(ensembles)} ensembles" if ensembles else f"{len(names)} models and no ensemble"
        message = f"{repository.archive} has {what} ({listed(ensembles or names, last='and')})"
        fix = "put each into an archive of its own, or join them in one ensemble"
        in_folder = repository.source[-1:] == ("repository",)
        place = repository.source if in_folder else (*repository.source, "models")
        yield Problem(place, message, fix)


@error("IS915", _FRONT_END)
def ensemble_is_detected(repository: Repository, context: Context) -> Iterator[Problem]:
    """The container must be able to recognize an archive's ensemble by the text of its configuration.

    It looks for the words `platform: "ensemble"`, with no space before the colon and no other quotes.
    """
    if not repository.multi_model or len(repository.models) < 2:
        return
    for model in repository.models:
        if model.text is None or bool(re.search(_DETECTED, model.text)) == model.is_ensemble:
            continue
        if model.is_ensemble:
            message = f"SageMaker's container does not see that {model.name} is an ensemble"
            yield Problem(at(model, "platform"), message, 'write it exactly so: platform: "ensemble"')
        else:
            message = f"SageMaker's container takes {model.name} for an ensemble"
            yield Problem(at(model), message, 'remove the words platform: "ensemble", also from comments')


@error("IS916", CONTAINER)
def default_model_agrees(repository: Repository, context: Context) -> Iterator[Problem]:
    """The variable for the default model and the repository must agree.

    The container stops when the folder is not there; with two different names, it is unclear which was meant.
    """
    if repository.multi_model or DEFAULT_MODEL not in context.environment:
        return
    named, place = context.value(DEFAULT_MODEL), context.variable(DEFAULT_MODEL)
    names = [model.name for model in repository.models]
    remove = "remove the variable: it follows from `default_model`"
    if named is None:
        if repository.default_model is not None and len(names) > 1:
            message = f"{DEFAULT_MODEL} is empty, so the container does not know which of"
            yield Problem(place, f"{message} {len(names)} models to serve", remove)
    elif named not in names:
        message = f'{DEFAULT_MODEL} is "{named}", which is not a model of the repository'
        yield Problem(place, message, f"allowed: {listed(names)}")
    elif repository.default_model not in (None, named):
        message = f'{DEFAULT_MODEL} is "{named}", but `default_model` is "{repository.default_model}"'
        yield Problem(place, message, remove)


@error("IS917", CONTAINER)
def repository_has_a_default(repository: Repository, context: Context) -> Iterator[Problem]:
    """Of several models in a repository, one must be the default.

    The container stops when there are several folders and nothing says which to serve.
    """
    if repository.multi_model or repository.source[-1:] != ("repository",):
        return
    names = [model.name for model in repository.models]
    if repository.default_model is None and len(names) > 1 and context.value(DEFAULT_MODEL) is None:
        likely = [model.name for model in repository.models if model.is_ensemble] or names
        message = f"the repository has {len(names)} models and no default"
        yield Problem(repository.source, message, f"add `default_model`: {listed(likely)}")
    elif repository.default_model is not None and names and repository.default_model not in names:
        message = f'the repository has no model "{repository.default_model}"'
        yield Problem((*repository.source[:-1], "default_model"), message, f"allowed: {listed(names)}")


@error("IS918", _FRONT_END)
def several_answers_are_taken(repository: Repository, context: Context) -> Iterator[Problem]:
    """A decoupled model, which may answer a request several times, must be called in a way that allows it.

    Otherwise the container loads it and refuses each request. An ensemble with such a model in a step counts
    as decoupled, too.
    """
    if repository.multi_model:
        fix = "make it answer once, or use `kind: single-model`"
        yield from _often(repository, context, "multi-model endpoints refuse its requests", fix)
    elif context.environment_path and context.value(INFERENCE_TYPE) not in GENERATING:
        fix = f"make it answer once, or set {INFERENCE_TYPE} to {listed(GENERATING)}, from Triton 25.03 on"
        why = "`/invocations` gives one answer to a request, and refuses all requests for it"
        yield from _often(repository, context, why, fix)


@warning("IS967", _FRONT_END)
def several_answers_need_an_endpoint(repository: Repository, context: Context) -> Iterator[Problem]:
    """A decoupled model, which may answer a request several times, needs an endpoint that allows it.

    For an archive or a repository where the container's environment is not known.
    """
    if not repository.multi_model and not context.environment_path:
        fix = f"set {INFERENCE_TYPE} to {listed(GENERATING)} in the container's environment"
        yield from _often(repository, context, "a container refuses its requests by default", fix)


def _often(repository: Repository, context: Context, why: str, fix: str) -> Iterator[Problem]:
    """The decoupled models among the answering model and those of its steps."""
    model = served(repository, context)
    if model is None:
        return
    for name in sorted(reached(repository, model.name)):
        found = repository.model(name)
        if found is not None and found.config.model_transaction_policy.decoupled:
            what = f"{name} is decoupled" if name == model.name else f"{name} of {model.name} is decoupled"
            yield Problem(at(found, "model_transaction_policy", "decoupled"), f"{what}, but {why}", fix)


@warning("IS919", CONTAINER)
def every_model_is_loaded(repository: Repository, context: Context) -> Iterator[Problem]:
    """Every model of a repository should be loaded.

    The container loads the default model and, for an ensemble, the models of its steps: nothing else.

    A Python model may call others by itself, but then those have to be loaded as well.
    """
    start = served(repository, context)
    if start is None:
        return
    loaded = reached(repository, start.name)
    for name in () if repository.multi_model else _loaded_besides(context):
        loaded |= reached(repository, name)
    for model in repository.models:
        if model.name not in loaded:
            message = f"the container loads only {listed(sorted(loaded), last='and')}, and never {model.name}"
            fix = f"remove {model.name}, or call it in a step of an ensemble"
            load = with_argument(f"{LOAD_MODEL}={model.name}", context.release)
            called = f"; if a model's code calls it, set {load}"
            yield Problem(at(model), message, fix if repository.multi_model else fix + called)


def _loaded_besides(context: Context) -> Iterator[str]:
    """The models that further arguments name."""
    arguments = further_arguments(context.environment, context.release)
    for argument, following in zip(arguments, (*arguments[1:], ""), strict=False):
        option, equals, value = argument.partition("=")
        if option == LOAD_MODEL:
            yield value if equals else following


@error("IS969", CONTAINER)
def command_line_stays_whole(repository: Repository, context: Context) -> Iterator[Problem]:
    """Names and arguments on Triton's command line must not be split there.

    Its script quotes neither the model's name nor additional arguments: both are split at white space.
    What a token stands for is known at deployment only.
    """
    model = served(repository, context)
    if model is not None and not repository.multi_model and len(words(model.name)) > 1:
        message = f'the container cannot start "{model.name}": its name is split on the command line'
        yield Problem(at(model), message, f"call it `{'_'.join(words(model.name))}`")
    for what in filterfalse(tokens, loose_words(words(context.environment.get(ADDITIONAL_ARGS, "")))):
        message = f"Triton does not start with {what} among its arguments"
        fix = "write --OPTION=VALUE, without spaces or quotes around it"
        yield Problem(context.variable(ADDITIONAL_ARGS), message, fix)
