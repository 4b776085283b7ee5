"""The names of variables that set options of an engine: does it have such an option, in this version?"""

import re
from collections.abc import Iterator, Sequence

from inferstack.check.rules.base import warning
from inferstack.check.rules.language_models.judged import Judged, has_own_handler, judged, known
from inferstack.engines.engine import ENGINES
from inferstack.engines.lmi import CALLED, LMI_OPTIONS, OF_HANDLERS, OF_LMI_15, OF_SERVER, TRANSFORMERS
from inferstack.engines.settings import FORMER, NAMES, OF_REQUESTS, name_of, option_called, settings
from inferstack.engines.tables import KnownOptions, every_name, every_version, numbers, versions_with
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem
from inferstack.problems.words import by_length, listed, nearest, slip_of, slips_among

_DLC = "https://github.com/aws/deep-learning-containers"
_VLLM = "https://docs.vllm.ai/en/latest/configuration/engine_args"
_VLLM_VARIABLES = "https://docs.vllm.ai/en/latest/configuration/env_vars"
_LMI = "https://docs.djl.ai/master/docs/serving/serving/docs/lmi/user_guides/vllm_user_guide.html"
_FILES = ("artifact_url", "model_data_url", "model_data_source")
_LEAST_LETTERS = 6
"""A shorter name without a prefix may be anything."""


# ---------------------------------------------------------------- no such option


@warning("IS340", _VLLM)
def variables_set_options(spec: ModelSpec) -> Iterator[Problem]:
    """A variable that is named like those of an engine should set one of its options.

    vLLM and SGLang do not start with any other, and LMI drops it without a word. The names are those of the
    engine's version in the image; an image that is not AWS's is not looked at.
    """
    for it, options in known(spec):
        for variable in it.placed.environment.keys() - it.engine.aliases.keys():
            option = it.engine.option(variable)
            if not it.engine.prefix:
                yield from _misspelt(it, options, variable)
            elif option is None:
                yield from _with_wrong_prefix(it, options, variable)
            elif it.running.name == "lmi":
                yield from _not_lmis(it, options, variable, option)
            else:
                yield from _no_option(it, options, variable, option)


def _no_option(it: Judged, options: KnownOptions, variable: str, option: str) -> Iterator[Problem]:
    meant, table = options.meant_by(option), str(it.engine.table)
    if len(meant) > 1:
        several = listed([it.engine.variable(name) for name in meant])
        message = f"{variable[:60]} could be several options of {it.title}, which then does not start"
        yield Problem(it.path(variable), message, f"write the whole name of one: {several}", of_key=True)
    elif not meant and not versions_with(table, option):
        fix = _meant(it, options, option) or "remove it"
        # It has options besides those of the table.
        if not it.engine.is_open or slip_of(option, options.names()) is not None:
            message = f"{it.title} has no option `--{option[:60]}`, and does not start with {variable[:60]}"
            yield Problem(it.path(variable), message, fix, of_key=True)


def _meant(it: Judged, options: KnownOptions, option: str) -> str:
    """What this engine calls what another calls so; else what is similar; empty if nothing is."""
    if option.replace("-", "_") in OF_REQUESTS:
        return "remove it: each request says that itself"
    what = option_called(option)
    name = None if what is None else name_of(it.running.name, what)
    if name is not None:
        return f"write `{it.engine.variable(name)}`, its name for that"
    today = FORMER.get(option.replace("-", "_"))
    today = None if today is None else today.replace("_", "-")
    if today is not None and options.options(today):
        return f"write `{it.engine.variable(today)}`, which does that today"
    own = LMI_OPTIONS.keys() - OF_HANDLERS.keys() if it.running.name == "lmi" else ()
    similar = nearest(option, [*sorted(own), *options.names()])
    similar = CALLED.get(str(similar).replace("-", "_"), similar) if own else similar
    return "" if similar is None else f"did you mean `{it.engine.variable(similar)}`?"


def _not_lmis(it: Judged, options: KnownOptions, variable: str, option: str) -> Iterator[Problem]:
    if option in OF_HANDLERS and not has_own_handler(it):
        yield from _of_another_handler(it, variable, *OF_HANDLERS[option])
    if option in LMI_OPTIONS or option in CALLED or has_own_handler(it):
        return
    flag = option.replace("_", "-")
    found = options.options(flag)
    if option in OF_SERVER:
        message = f"{it.title} does not read {variable[:60]}, which is its server's"
        yield Problem(it.path(variable), message, f"write `SERVING_{option.upper()}`", of_key=True)
    elif found and all(one.server for one in found):
        message = (
            f"{it.title} drops {variable[:60]}: it is an option of vLLM's HTTP server, which LMI replaces"
        )
        yield Problem(it.path(variable), message, "remove it", of_key=True)
    elif not versions_with("vllm", flag):
        similar = _meant(it, options, option)
        # A handler among the files may read any option.
        is_slip = similar and option not in OF_REQUESTS
        if is_slip or all(getattr(it.placed.container, key, None) is None for key in _FILES):
            message = f"{it.title} has no option like {variable[:60]}, and drops it without a word"
            yield Problem(it.path(variable), message, similar or "remove it", of_key=True)


def _of_another_handler(it: Judged, variable: str, handler: str, instead: str) -> Iterator[Problem]:
    # Without a word about it, LMI runs what vLLM does not serve by Transformers.
    runs_vllm = it.placed.environment.get("OPTION_ROLLING_BATCH") == "vllm"
    if runs_vllm or handler != TRANSFORMERS or it.placed.environment.get("OPTION_ASYNC_MODE") == "true":
        message = f"{it.title} drops {variable}, which only its handler of {handler} reads"
        yield Problem(it.path(variable), message, f"write `{it.engine.variable(instead)}`", of_key=True)


def _misspelt(it: Judged, options: KnownOptions, variable: str) -> Iterator[Problem]:
    """A variable that differs by one letter from one that the container reads."""
    if len(variable) < _LEAST_LETTERS or variable in every_name(str(it.engine.table)):
        return
    meant = slip_of(variable, [*options.names(), *it.engine.aliases])
    if meant is not None:
        message = f"{it.title} reads no variable {variable[:60]}"
        yield Problem(it.path(variable), message, f"did you mean `{meant}`?", of_key=True)


def _with_wrong_prefix(it: Judged, options: KnownOptions, variable: str) -> Iterator[Problem]:
    """A variable whose beginning differs by one letter from that of the engine's."""
    prefixes = by_length([it.engine.prefix])
    for end in (it.end() for it in re.finditer("_", variable)):
        option = str(it.engine.option(it.engine.prefix + variable[end:]))
        if options.options(option.replace("_", "-")) and any(slips_among(variable[:end], prefixes)):
            message = f"{it.title} reads no variable {variable[:60]}"
            fix = f"did you mean `{it.engine.prefix}{variable[end:].upper()}`?"
            yield Problem(it.path(variable), message, fix, of_key=True)


@warning("IS341", _VLLM)
def options_are_of_this_version(spec: ModelSpec) -> Iterator[Problem]:
    """A variable should set an option that the engine has in the version of the image.

    Options come and go from version to version; those that are gone end vLLM and SGLang when they start.
    """
    for it, options in known(spec):
        for variable in it.placed.environment:
            option = it.engine.option(variable)
            if option is None or variable in it.engine.aliases:
                continue
            name = option.replace("_", "-") if it.running.name == "lmi" else option
            is_own = it.running.name == "lmi" and (
                option in LMI_OPTIONS or option in CALLED or has_own_handler(it)
            )
            versions = () if is_own or options.meant_by(name) else versions_with(str(it.engine.table), name)
            if versions:
                message = f"{it.title} has no option like {variable[:60]}, {_when(it, versions)}"
                yield Problem(it.path(variable), message, _instead(it, options, versions), of_key=True)


def _when(it: Judged, versions: Sequence[str]) -> str:
    """Which versions have what this one does not."""
    table = every_version(str(it.engine.table))
    spans: list[list[str]] = []
    for version in versions:
        if spans and table.index(version) == table.index(spans[-1][-1]) + 1:
            spans[-1].append(version)
        else:
            spans.append([version])
    said = [span[0] if len(span) == 1 else f"{span[0]} to {span[-1]}" for span in spans]
    return f"which {' and '.join(said)} {'has' if len(versions) == 1 else 'have'}"


def _instead(it: Judged, options: KnownOptions, versions: Sequence[str]) -> str:
    if numbers(versions[0]) < numbers(options.looked_at[0]):
        return "remove it"
    return f"remove it, or choose an image with {ENGINES[str(it.engine.table)].title} {versions[0]} or newer"


@warning("IS388", _DLC)
def variables_have_the_prefix(spec: ModelSpec) -> Iterator[Problem]:
    """A variable that is called like an option should begin with the engine's prefix.

    The container does not look at any other, so that the engine keeps its default.
    """
    for it in judged(spec):
        for variable in _OF_NAMES.keys() & it.placed.environment.keys() - it.engine.aliases.keys():
            name = name_of(it.running.name, _OF_NAMES[variable]) if it.engine.prefix else None
            if name is not None and _owner(it, variable) is None and not has_own_handler(it):
                message = f"{it.title} does not read {variable}"
                yield Problem(it.path(variable), message, f"write `{it.engine.variable(name)}`", of_key=True)


_OF_NAMES = {
    written.upper().replace("-", "_"): what
    for what, names in NAMES.items()
    for written in (what, *(names.get(engine, "") for engine in ("sglang", "lmi")))
    if what != "model" and re.search("[_-]", written)
}
"""Variables without a prefix that are called like an option, with what vLLM calls it."""


# ---------------------------------------------------------------- another engine's


@warning("IS343", _DLC)
def variables_are_of_this_engine(spec: ModelSpec) -> Iterator[Problem]:
    """A variable should be one that the image's engine reads, and not another engine's.

    Each engine has its own names for the same things, and ignores those of the others.
    """
    for it in judged(spec):
        for variable in it.placed.environment:
            owner = _owner(it, variable)
            if owner is not None:
                what = option_called(variable.removeprefix(ENGINES[owner].prefix))
                name = None if what is None else name_of(it.running.name, what)
                fix = "remove it" if name is None else f"write `{it.engine.variable(name)}`, or remove it"
                message = (
                    f"{it.title} does not read {variable[:60]}: it is a variable of {ENGINES[owner].title}"
                )
                yield Problem(it.path(variable), message, fix, of_key=True)


def _owner(it: Judged, variable: str) -> str | None:
    """The engine that reads a variable, if that is not this one."""
    if it.engine.option(variable) is not None and (it.engine.prefix or _is_known(it, variable)):
        return None
    for name, engine in ENGINES.items():
        if engine.prefix and variable.startswith(engine.prefix) and engine.prefix != it.engine.prefix:
            return name
    if variable in it.engine.aliases:
        return None
    return next(
        (name for name in ("tgi", "lmi") if name != it.running.name and variable in _OF_OTHERS[name]), None
    )


def _is_known(it: Judged, variable: str) -> bool:
    return it.options is None or bool(it.options.options(it.engine.aliases.get(variable, variable)))


_OF_OTHERS = {
    "tgi": {
        *("SM_NUM_GPUS", "HF_MODEL_QUANTIZE", "HF_MODEL_TRUST_REMOTE_CODE", "NUM_SHARD", "MAX_INPUT_LENGTH"),
        *("MAX_INPUT_TOKENS", "MAX_TOTAL_TOKENS", "MAX_BATCH_PREFILL_TOKENS", "MAX_BATCH_TOTAL_TOKENS"),
        *("MAX_CONCURRENT_REQUESTS", "MAX_CLIENT_BATCH_SIZE", "CUDA_MEMORY_FRACTION", "KV_CACHE_DTYPE"),
    },
    "lmi": {"TENSOR_PARALLEL_DEGREE"},
}
"""Variables without a prefix whose names leave no doubt."""


# ---------------------------------------------------------------- what vLLM reads itself


@warning("IS345", _VLLM_VARIABLES)
def engine_reads_its_variables(spec: ModelSpec) -> Iterator[Problem]:
    """A variable that is named like those of vLLM itself should be one that its version reads.

    vLLM starts all the same, and only logs that it does not know the variable.
    """
    for it, options in known(spec):
        begin = it.engine.reads_environment
        for variable in it.placed.environment if begin and not it.engine.is_open else ():
            if variable.startswith(begin) and not options.reads(variable):
                yield _unread(it, options, variable)


def _unread(it: Judged, options: KnownOptions, variable: str) -> Problem:
    versions = versions_with("vllm", variable)
    option = variable.removeprefix(it.engine.reads_environment).lower().replace("_", "-")
    when = f", {_when(it, versions)}" if versions else ""
    if options.options(option):
        fix = f"write `{it.engine.variable(option)}`, which sets the option"
    elif versions:
        fix = _instead(it, options, versions)
    else:
        begin = it.engine.reads_environment
        known_names = sorted(name.removeprefix(begin) for names in options.environments for name in names)
        meant = nearest(variable.removeprefix(begin), known_names)
        fix = "remove it" if meant is None else f"did you mean `{begin}{meant}`?"
    return Problem(it.path(variable), f"{it.title} does not read {variable[:60]}{when}", fix, of_key=True)


# ---------------------------------------------------------------- two for one


@warning("IS346", _LMI)
def lmi_has_its_own_name(spec: ModelSpec) -> Iterator[Problem]:
    """An option for which LMI has a name of its own should not be set by vLLM's.

    LMI's own always has a value, which it compares with the text of the other: they differ, and the model is
    not loaded, even if both are the same number.
    """
    for it in judged(spec):
        compares = it.running.name == "lmi" and numbers(it.running.version or "") >= OF_LMI_15
        for variable in it.placed.environment if compares and not has_own_handler(it) else ():
            called = CALLED.get(str(it.engine.option(variable)))
            if called is not None:
                message = f"{it.title} does not load a model with {variable}"
                yield Problem(
                    it.path(variable), message, f"write `OPTION_{called.upper()}` instead", of_key=True
                )


@warning("IS347", _DLC)
def options_are_set_once(spec: ModelSpec) -> Iterator[Problem]:
    """An option should be set by one variable, and not by two with different values.

    Which of them counts depends on the engine, and on the order of the environment.
    """
    for it, _ in known(spec):
        found: dict[str, tuple[str, tuple[str, str]]] = {}
        for setting in settings(it.placed):
            option = str(setting.option).removeprefix("no-")
            if setting.option is None:
                continue
            said = (setting.option, setting.value)
            before, said_before = found.setdefault(option, (setting.name, said))
            if said != said_before:
                message = f"{before} and {setting.name} set the same option of {it.title} to different values"
                yield Problem(it.path(setting.name), message, "keep one of them", of_key=True)
