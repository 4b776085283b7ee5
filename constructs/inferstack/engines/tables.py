"""The options of each engine's versions: what is known of one version, or of those next to it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import msgspec

from inferstack.engines.values import EngineOption

_FOLDER = Path(__file__).with_name("data")
Version = tuple[int, ...]


class KnownOptions(msgspec.Struct, frozen=True):
    """The options that one version of an engine has, as far as the table knows.

    ``version`` is what was asked for, ``looked_at`` the versions of the table that stand for it: itself, the
    newest one if it is newer still, or both its neighbors, which then have to agree.
    """

    version: str
    looked_at: tuple[str, ...]
    by_version: tuple[Mapping[str, EngineOption], ...]
    environments: tuple[frozenset[str], ...]

    def options(self, name: str) -> tuple[EngineOption, ...]:
        """What the option accepts in each version looked at that has it, by its exact name or as a twin."""
        found = (_of_name(options, name) for options in self.by_version)
        return tuple(it for it in found if it is not None)

    def names(self) -> tuple[str, ...]:
        """Every name of an option, without twins."""
        return tuple(dict.fromkeys(name for options in self.by_version for name in options))

    def meant_by(self, name: str) -> tuple[str, ...]:
        """The options whose name it is; else those whose beginning it is, of which a parser takes the only
        one.
        """
        if self.options(name):
            return (name,)
        return tuple(dict.fromkeys(it for options in self.by_version for it in _begun_by(options, name)))

    def refusal(self, name: str, words: Sequence[str]) -> str | None:
        """What is allowed instead, if no version looked at accepts the words after the option's name."""
        found = [it.refusal(words) for it in self.options(name)]
        return found[-1] if found and None not in found else None

    def reads(self, variable: str) -> bool:
        """Whether the engine itself reads an environment variable."""
        return any(variable in known for known in self.environments)

    @property
    def said(self) -> str:
        """Which versions were looked at, for the end of a message."""
        if self.looked_at == (self.version,):
            return self.version
        return f"{self.version} (judged by {' and '.join(self.looked_at)})"


def _of_name(options: Mapping[str, EngineOption], name: str) -> EngineOption | None:
    found = options.get(name)
    if found is None and name.startswith("no-"):
        twin = options.get(name.removeprefix("no-"))
        return _SWITCH if twin is not None and twin.kind == "flag" else None
    return found


_SWITCH = EngineOption("switch")


def _begun_by(options: Mapping[str, EngineOption], name: str) -> Iterator[str]:
    for option, it in options.items():
        if option.startswith(name):
            yield option
        if it.kind == "flag" and f"no-{option}".startswith(name):
            yield f"no-{option}"


@lru_cache(maxsize=32)
def look(engine: str, version: str) -> KnownOptions | None:
    """What is known of a version; None for one that is older than the table, or that is no version."""
    table, wanted = _table(engine), numbers(version)
    known = [numbers(it) for it in table["versions"]]
    if wanted < known[0]:
        return None
    same = [at for at, it in enumerate(known) if wanted[: len(it)] == it]
    if same:
        return _look(engine, version, tuple(same[-1:]), is_exact=True)
    before = [at for at, it in enumerate(known) if it < wanted]
    return _look(engine, version, (before[-1], *range(len(before), len(known))[:1]))


def _look(engine: str, version: str, places: tuple[int, ...], *, is_exact: bool = False) -> KnownOptions:
    table = _table(engine)
    return KnownOptions(
        version,
        (version,) if is_exact else tuple(table["versions"][at] for at in places),
        tuple(_options_at(engine, at) for at in places),
        tuple(_environment_at(engine, at) for at in places),
    )


def versions_with(engine: str, name: str) -> tuple[str, ...]:
    """The versions that have an option, or read an environment variable, of this name."""
    versions = enumerate(_table(engine)["versions"])
    if name in _table(engine)["environment"]:
        return tuple(version for at, version in versions if name in _environment_at(engine, at))
    if name.removeprefix("no-") not in _table(engine)["options"]:
        return ()
    return tuple(version for at, version in versions if _of_name(_options_at(engine, at), name) is not None)


def every_version(engine: str) -> tuple[str, ...]:
    """The versions of the table, the oldest first."""
    return tuple(_table(engine)["versions"])


def newest(engine: str) -> str:
    """The newest version of the table."""
    return str(_table(engine)["versions"][-1])


def every_name(engine: str) -> frozenset[str]:
    """The options that any version has."""
    return frozenset(_table(engine)["options"])


@cache
def _table(engine: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = msgspec.json.decode((_FOLDER / f"{engine}.json").read_bytes())
    return table


@lru_cache(maxsize=64)
def _options_at(engine: str, at: int) -> Mapping[str, EngineOption]:
    return {
        name: msgspec.convert(
            {key: it for key, it in row.items() if key not in ("from", "until")}, EngineOption
        )
        for name, rows in _table(engine)["options"].items()
        for row in rows
        if row.get("from", 0) <= at <= row.get("until", at)
    }


@lru_cache(maxsize=64)
def _environment_at(engine: str, at: int) -> frozenset[str]:
    spans = _table(engine)["environment"].items()
    return frozenset(name for name, of in spans if any(first <= at <= last for first, last in of))


def numbers(version: str) -> Version:
    """The numbers of a version; those of a candidate (`0.22.1rc0`) are those of its release."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found is not None else ()
