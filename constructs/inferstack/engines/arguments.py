"""What a container makes of its environment: words of a command line, as its entry point puts them there."""

import json
from collections.abc import Sequence

from inferstack.engines.engine import ENGINES, drops_false, splits_lists
from inferstack.engines.tables import numbers
from inferstack.facts.engines import RunningEngine

_NEVER_SPLIT = frozenset({"allowed-origins", "allowed-methods", "allowed-headers", "middleware"})


def words_after(running: RunningEngine, option: str, value: str) -> Sequence[str] | None:
    """The words after an option's name on the command line.

    None if the entry point leaves the option out, or if it is not known whether this release does.
    """
    if not ENGINES[running.name].is_of_flags:
        return (value,)
    version, text = numbers(running.version or ""), value.strip().lower()
    if text == "":
        return ()
    if text in ("true", "false"):
        return () if text == "true" and drops_false(running, version) else None
    entries = _entries(value) if option not in _NEVER_SPLIT else None
    if entries is None:
        return (value,)
    splits = splits_lists(running, version)
    return None if splits is None else (entries or None) if splits else (value,)


def _entries(value: str) -> Sequence[str] | None:
    """The entries of a JSON list; None for any other text."""
    if not value.strip().startswith("["):
        return None
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return [it if isinstance(it, str) else json.dumps(it) for it in found]
