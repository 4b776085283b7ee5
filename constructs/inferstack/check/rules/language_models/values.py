"""The values of variables that set options of an engine: does it accept them, what does it make of them?"""

import re
from collections.abc import Iterator, Sequence

from inferstack.check.rules.base import warning
from inferstack.check.rules.language_models.judged import Judged, has_own_handler, judged, known
from inferstack.engines.arguments import words_after
from inferstack.engines.engine import is_supervised
from inferstack.engines.lmi import (
    ADAPTERS_IN_A_BATCH,
    CALLED,
    LMI_OPTIONS,
    OF_LMI_15,
    PASSED_ON,
    REFUSED_SINCE_LMI_15,
)
from inferstack.engines.settings import Setting, family_of, setting, settings, variable_for
from inferstack.engines.tables import KnownOptions, numbers
from inferstack.engines.values import NO_VALUE
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem
from inferstack.problems.words import choose, listed

_VLLM = "https://docs.vllm.ai/en/latest/configuration/engine_args"
_DLC = "https://github.com/aws/deep-learning-containers"
_PLUGINS = {"tool-call-parser": "tool-parser-plugin", "reasoning-parser": "reasoning-parser-plugin"}
"""Options whose values a plugin adds to, and the option that loads it."""
_YES = frozenset({"1", "yes", "on", "y", "t"})
_NO = frozenset({"0", "no", "off", "n", "f"})


@warning("IS342", _VLLM)
def options_accept_their_values(spec: ModelSpec) -> Iterator[Problem]:
    """A variable should have a value that the engine's option accepts: its type, its words and its bounds.

    With any other, the container ends when it starts. What is accepted is read from the engine's own version.
    """
    for it in judged(spec):
        yield from _of_an_older_lmi(it)
    for it, options in known(spec):
        for variable, value in it.environment.items():
            own = it.engine.own.get(variable) if is_supervised(numbers(options.version)) else None
            option = None if own is not None else it.engine.option(variable)
            if own is not None:
                allowed = own.refusal((value,)) if value else None
            elif option is None:
                continue
            elif it.running.name == "lmi":
                allowed = _refused_by_lmi(it, options, option, value)
            else:
                allowed = _refused(it, options, option, value)
            if allowed is not None:
                message = f'{variable[:60]} is "{value[:60]}", which {it.title} does not accept'
                yield Problem(it.path(variable), message, allowed)


def _of_an_older_lmi(it: Judged) -> Iterator[Problem]:
    """What LMI itself refuses, with a vLLM that is older than the tables."""
    is_one = it.running.name == "lmi" and it.options is None
    if is_one and numbers(it.running.version or "") >= OF_LMI_15 and not has_own_handler(it):
        for option in REFUSED_SINCE_LMI_15:
            variable = it.engine.variable(option)
            value = it.environment.get(variable, "")
            allowed = LMI_OPTIONS[option].refusal((value,)) if value else None
            if allowed is not None:
                message = f'{variable} is "{value[:60]}", which {it.title} does not accept'
                yield Problem(it.path(variable), message, allowed)


def _refused(it: Judged, options: KnownOptions, option: str, value: str) -> str | None:
    meant = options.meant_by(option)
    if len(meant) != 1 or _may_be_plugins(it, meant[0]) or _is_flag(options, meant[0]):
        return None
    words = words_after(it.running, meant[0], value)
    return None if words is None else _allowed(options, meant[0], words)


def _allowed(options: KnownOptions, option: str, words: Sequence[str]) -> str | None:
    refusal = options.refusal(option, words)
    choices = options.options(option)[-1].choices
    return choose(words[0], choices) if refusal is not None and choices and len(words) == 1 else refusal


def _refused_by_lmi(it: Judged, options: KnownOptions, option: str, value: str) -> str | None:
    if value == "" or option in CALLED:
        return None
    own, passed_on = LMI_OPTIONS.get(option), PASSED_ON.get(option, option).replace("_", "-")
    if own is not None:
        refusal = own.refusal((value,))
        if refusal is not None:
            return choose(value, own.choices) if own.choices else refusal
    has_plugin = (
        _may_be_plugins(it, passed_on) or it.placed.environment.get("OPTION_ROLLING_BATCH") == "trtllm"
    )
    if (own is not None and option not in PASSED_ON) or has_plugin or _is_flag(options, passed_on):
        return None
    if value.lower() == "false" and not _switches_off(it):
        return None  # It is left out.
    # Both words make a flag of any option.
    words = {"true": (), "false": (f"--no-{passed_on}",)}.get(value.lower(), (value,))
    return _allowed(options, passed_on, words) if options.options(passed_on) else None


def _may_be_plugins(it: Judged, option: str) -> bool:
    plugin = _PLUGINS.get(option)
    return plugin is not None and it.engine.variable(plugin) in it.placed.environment


def _is_flag(options: KnownOptions, option: str) -> bool:
    found = options.options(option)
    return bool(found) and all(it.kind in NO_VALUE for it in found)


@warning("IS344", _DLC)
def flags_are_switched_by_words(spec: ModelSpec) -> Iterator[Problem]:
    """A flag of an engine should be switched on by `true`, and off by the variable with `NO_` in its name.

    The container leaves out a flag that is `false`, which is not the same as switching it off. It passes on
    any other value, such as `1`, and the engine ends.
    """
    for it, options in known(spec):
        for variable, value in it.environment.items():
            option = it.engine.option(variable)
            if (
                option is None
                or variable in it.engine.own
                or (it.running.name == "lmi" and option in LMI_OPTIONS)
            ):
                continue
            meant = options.meant_by(option.replace("_", "-") if it.running.name == "lmi" else option)
            if len(meant) == 1 and _is_flag(options, meant[0]):
                yield from _switched(it, options, variable, meant[0], value.strip().lower())


def _switched(it: Judged, options: KnownOptions, variable: str, option: str, word: str) -> Iterator[Problem]:
    found = options.options(option)
    if word in ("true", ""):
        return
    off = _how_to_switch_off(it, options, option)
    if word == "false":
        if _switches_off(it) and not options.options(f"no-{option}"):
            message = (
                f"{it.title} does not load a model with {variable[:60]} false: `{option}` is off unless set"
            )
            yield Problem(it.path(variable), message, "remove it")
        elif all(one.on for one in found) and not _switches_off(it):
            message = f"{it.title} may have `{option}` on: `false` leaves it out, and does not switch it off"
            fix = off or ("choose an image with LMI 27 or newer" if it.running.name == "lmi" else "remove it")
            yield Problem(it.path(variable), message, fix)
        return
    message = f'{variable[:60]} is "{word[:60]}": `{option}` takes no value, and {it.title} does not start'
    fix = (
        'write "true"'
        if word in _YES
        else (off or "remove it")
        if word in _NO
        else 'write "true", or remove it'
    )
    yield Problem(it.path(variable), message, fix)


def _how_to_switch_off(it: Judged, options: KnownOptions, option: str) -> str:
    twin = f"no-{option}"
    return (
        f'write `{it.engine.variable(twin)}: "true"`'
        if options.options(twin) and it.engine.is_of_flags
        else ""
    )


def _switches_off(it: Judged) -> bool:
    """Whether `false` becomes the option that switches a flag off: since LMI 27."""
    number = it.running.release.rpartition("lmi")[2].partition(".")[0]
    return it.running.name == "lmi" and number.isdigit() and int(number) >= 27


_ON = {"vllm": {"", "true"}, "lmi": {"true", *_YES}}
"""With which words a flag is on, of the engines that call tools."""
_PARSED = {
    "enable_auto_tool_choice": ("tool_call_parser", "how the model writes calls"),
    "enable_reasoning": ("reasoning_parser", "where the model's reasoning ends"),
}
"""What is switched on, with the option and the knowledge that it then needs; the second is LMI's only."""


@warning("IS348", "https://docs.vllm.ai/en/latest/features/tool_calling/")
def tools_are_called_with_a_parser(spec: ModelSpec) -> Iterator[Problem]:
    """Automatic tool choice, and reasoning in LMI, should come with the parser of what the model writes.

    Neither vLLM nor LMI starts without it.
    """
    for it, options in known(spec):
        words = _ON.get(family_of(it.running.name), set())
        for what, (parser, knowledge) in _PARSED.items():
            said = setting(it.placed, what)
            is_on = said is not None and said.value.strip().lower() in words
            is_there = it.running.name == "lmi" or bool(options.options(what.replace("_", "-")))
            if said is not None and is_on and is_there and setting(it.placed, parser) is None:
                such = options.options(parser.replace("_", "-"))
                message = f"{it.title} needs to know {knowledge}, and does not start without"
                fix = f"add `{variable_for(it.running.name, parser)}`"
                yield Problem(said.path, message, f"{fix}: {listed(such[-1].choices)}" if such else fix)


@warning("IS349", "user reports")
def input_leaves_room_for_an_answer(spec: ModelSpec) -> Iterator[Problem]:
    """In TGI, the longest input should be shorter than input and answer together, and that fit into a batch.

    Otherwise its launcher exits.
    """
    for it in judged(spec):
        said = {
            name: int(value) for name, value in it.environment.items() if re.fullmatch("[0-9]{1,9}", value)
        }
        together, batch = said.get("MAX_TOTAL_TOKENS"), said.get("MAX_BATCH_TOTAL_TOKENS")
        if it.running.name != "tgi" or together is None:
            continue
        name = next((name for name in ("MAX_INPUT_TOKENS", "MAX_INPUT_LENGTH") if name in said), None)
        if name is not None and said[name] >= together:
            message = f"`{name}` is {said[name]}, and with the answer it may be {together} tokens"
            yield Problem(it.path(name), message, "write less than `MAX_TOTAL_TOKENS`")
        if batch is not None and batch < together:
            message = f"a batch may have {batch} tokens, but one request {together}"
            fix = "write `MAX_TOTAL_TOKENS` or more"
            yield Problem(it.path("MAX_BATCH_TOTAL_TOKENS"), message, fix)


@warning("IS387", _VLLM)
def batches_hold_the_sequences(spec: ModelSpec) -> Iterator[Problem]:
    """In vLLM, a step should take as many tokens as there are sequences.

    vLLM does not start with fewer, nor with fewer than the longest prompt has if prompts are not cut.
    """
    for it, _ in known(spec):
        tokens = _number(it, "max_num_batched_tokens") if family_of(it.running.name) in _ON else None
        for what in ("max_num_seqs", *(("max_model_len",) if _keeps_prompts_whole(it) else ())):
            least = _number(it, what)
            if tokens is not None and least is not None and tokens[1] < least[1]:
                message = (
                    f"a step of {it.title} takes {tokens[1]} tokens, but `{least[0].name}` is {least[1]}"
                )
                yield Problem(
                    tokens[0].path, message, f"write {least[1]} or more, or lower `{least[0].name}`"
                )


@warning("IS389", _VLLM)
def adapters_of_a_batch_are_kept(spec: ModelSpec) -> Iterator[Problem]:
    """In vLLM, as many adapters should be kept in the host's memory as a batch may have.

    vLLM does not start with fewer.
    """
    for it in judged(spec):
        kept = _number(it, "max_cpu_loras") if family_of(it.running.name) in _ON else None
        in_batch = _number(it, "max_loras")
        name = variable_for(it.running.name, "max_loras")
        least = ADAPTERS_IN_A_BATCH if it.running.name == "lmi" else None
        by_default = ", unless it is set" if in_batch is None else ""
        if in_batch is not None or setting(it.placed, "max_loras") is not None:
            least = None if in_batch is None else in_batch[1]
        if kept is not None and least is not None and kept[1] < least:
            message = f"{it.title} keeps {kept[1]} adapters, but `{name}` is {least}{by_default}"
            yield Problem(kept[0].path, message, f"write {least} or more, or lower `{name}`")


def _number(it: Judged, what: str) -> tuple[Setting, int] | None:
    said = setting(it.placed, what)
    return (said, int(said.value)) if said is not None and re.fullmatch("[0-9]{1,9}", said.value) else None


def _keeps_prompts_whole(it: Judged) -> bool:
    return any(one.option == "no-enable-chunked-prefill" for one in settings(it.placed))
