"""Which models each version of vLLM runs, and what is known of a type of model."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from inferstack.engines.tables import numbers

_FILE = Path(__file__).with_name("data") / "vllm-architectures.json"


class _Architectures(msgspec.Struct, frozen=True):
    versions: tuple[str, ...]
    architectures: Mapping[str, tuple[tuple[str, int, int], ...]]
    no_longer: Mapping[str, str]
    own_types: frozenset[str]
    transformers: str
    model_types: Mapping[str, tuple[str, ...]]


@cache
def _table() -> _Architectures:
    return msgspec.json.decode(_FILE.read_bytes(), type=_Architectures)


class RunBy(msgspec.Struct, frozen=True):
    """Whether a version runs an architecture, judged by the versions of the table that stand for it.

    ``kind`` is that of the KV cache, if it runs it and all of them agree; ``since`` and ``until`` are the
    first and the last version that are known to run it.
    """

    runs: bool | None
    kind: str | None = None
    since: str | None = None
    until: str | None = None


def run_of(architecture: str, version: str) -> RunBy:
    """What a version of vLLM, such as `0.30.1`, makes of an architecture.

    One that is older than the table is not judged; one that is newer, by the newest.
    """
    table = _table()
    spans = table.architectures.get(architecture, ())
    since = table.versions[spans[0][1]] if spans else None
    last = spans[-1][2] if spans else -1
    until = table.no_longer.get(architecture) if last < len(table.versions) - 1 else None
    at = _places(version)
    kinds = {next((kind for kind, first, after in spans if first <= it <= after), None) for it in at}
    if len(kinds) != 1:
        return RunBy(None, None, since, until)
    (kind,) = kinds
    return RunBy(kind is not None, kind, since, until)


def newest_version() -> str:
    """The newest version of vLLM in the table."""
    return _table().versions[-1]


def text_class(model_type: str | None) -> str | None:
    """The class of causal language models of a type that Transformers has built in."""
    return next(iter(_table().model_types.get(model_type or "", ())), "") or None


def is_built_in(model_type: str) -> bool:
    """Whether Transformers knows a type of model without code of the model's repository."""
    return model_type in _table().model_types


def is_configured(model_type: str) -> bool:
    """Whether Transformers or any version of vLLM reads the configuration of a type without such code."""
    return is_built_in(model_type) or model_type in _table().own_types


def has_number_of_its_own(model_type: str | None, *keys: str) -> bool:
    """Whether a type has a number for one of these keys where a configuration lacks it."""
    return bool({*keys} & {*_table().model_types.get(model_type or "", ())[1:]})


def _places(version: str) -> tuple[int, ...]:
    """The places in the table of a version, or of its neighbors; none for one that is older."""
    wanted = numbers(version)[:2]
    known = [numbers(it)[:2] for it in _table().versions]
    if not wanted or wanted < known[0]:
        return ()
    if wanted in known:
        return (known.index(wanted),)
    before = sum(it < wanted for it in known)
    return tuple(it for it in (before - 1, before) if it < len(known))
