"""What an option of an engine of language models is called in each image, and what its versions accept."""

import re
from collections.abc import Iterator

import msgspec

from inferstack.engines import tables
from inferstack.engines.engine import ENGINES, Engine
from inferstack.engines.lmi import LMI_OPTIONS
from inferstack.engines.settings import name_of, option_called
from inferstack.engines.values import NO_VALUE, EngineOption

_ENGINES = {
    name: it for name, it in ENGINES.items() if it.table and name not in ("huggingface-vllm", "vllm-omni")
}
"""Those whose options are known, without the images that have the variables of `vllm`."""


class ExplainedOption(msgspec.Struct, frozen=True):
    """An option of one engine: its variable as a title, and a line for each thing to know."""

    title: str
    lines: tuple[str, ...]


def options_called(subject: str) -> tuple[ExplainedOption, ...]:
    """The options of a name, a variable's or an engine's own; in one version, if that follows."""
    asked = re.fullmatch(r"([\w.-]+)(?: ([0-9]+(?:\.[0-9]+)+))?", subject)
    if asked is None:
        return ()
    name, version = asked[1], asked[2] or ""
    return tuple(
        ExplainedOption(f"{engine.variable(option)} ({engine.title})", tuple(_lines(key, option, version)))
        for key, engine in _named(name)
        if (option := _option(key, engine, name)) is not None
    )


def variables_like(subject: str) -> list[str]:
    """Every variable of the engine whose prefix a name has."""
    named = _named(subject) if len(_named(subject)) < len(_ENGINES) else []
    return [engine.variable(it) for _, engine in named for it in tables.every_name(engine.table or "")]


def _named(name: str) -> list[tuple[str, Engine]]:
    """The engine whose prefix a name has, or all of them."""
    own = [(key, it) for key, it in _ENGINES.items() if it.prefix and name.upper().startswith(it.prefix)]
    return own or list(_ENGINES.items())


def _option(key: str, engine: Engine, name: str) -> str | None:
    """What an engine calls the option; None if it has none of that name."""
    plain = name.upper().removeprefix("OPTION.").removeprefix(engine.prefix).lstrip("-")
    own = name_of(key, option_called(plain) or plain.lower())
    style = engine.option(engine.variable(plain))
    return next((it for it in (own, style) if it is not None and _is_known(key, engine, it)), None)


def _is_known(key: str, engine: Engine, option: str) -> bool:
    table, named = engine.table or "", _in_table(engine, option)
    if key == "lmi":
        # Options of vLLM's HTTP server are none of its engine.
        has = tables.versions_with(table, named)[-1:]
        newest = [one for it in has if (known := tables.look(table, it)) for one in known.options(named)]
        return option in LMI_OPTIONS or any(not it.server for it in newest)
    return named in tables.every_name(table)


def _in_table(engine: Engine, option: str) -> str:
    return option.replace("_", "-") if engine.prefix else option


def _lines(key: str, option: str, version: str) -> Iterator[str]:
    engine = _ENGINES[key]
    table, named, of = engine.table or "", _in_table(engine, option), engine.title
    if key == "lmi":
        of = "vLLM in it"
        yield f"In a serving.properties: option.{option}"
        if option in LMI_OPTIONS:
            yield f"LMI's own: {_values(LMI_OPTIONS[option])}"
            return
    elif engine.prefix:
        yield f"Option: --{named}"
    has, every = tables.versions_with(table, named), tables.every_version(table)
    yield f"Versions of {of}: {has[0]} to {has[-1]}, of {every[0]} to {every[-1]} that are known"
    known = tables.look(table, version or has[-1])
    found = () if known is None else known.options(named)
    unknown = "not known" if known is None else "there is none"
    yield f"In {known.said if known else version}: {_values(found[-1]) if found else unknown}"
    accepted = {_values(it) for one in has if (at := tables.look(table, one)) for it in at.options(named)}
    if len(accepted) > 1 and not version:
        yield f"Others accept other values: `inferstack explain {named} {has[0]}`"


def _values(option: EngineOption) -> str:
    if option.kind in NO_VALUE:
        off = "; the same with NO_ in its name switches it off" if option.kind == "flag" else ""
        return f'a flag, which "true" switches on{off}{"; it may be on by default" if option.on else ""}'
    if option.kind == "any":
        return "what it accepts is not checked"
    return f"{option.allowed.removeprefix('allowed: ')}{', one or more' if option.many else ''}"
