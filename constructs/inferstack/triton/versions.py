"""Version folders of a model, and what Triton's repository manager takes for one.

https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_repository.md#model-versions
and ``VersionsToLoad`` in src/model_repository_manager/model_lifecycle.cc of its core.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import takewhile
from string import digits
from typing import Any

LARGEST = (1 << 63) - 1
"""The last version that there can be."""
RESERVED_FOLDERS = frozenset({"warmup", "initial_state", "configs"})
"""Folders of a model with a meaning of their own, which Triton never takes for versions."""


def is_version(folder: str) -> bool:
    """Whether the folder has the name of a version: a plain number without leading zeros."""
    plain = folder.isascii() and folder.isdecimal() and (folder == "0" or folder[0] != "0")
    return plain and int(folder) <= LARGEST


def taken_for(folder: str) -> int | None:
    """The version that Triton takes a folder for: the number that its name begins with; None for none."""
    if folder in RESERVED_FOLDERS or (len(folder) > 1 and folder.startswith("0")):
        return None
    # As C's `strtoll` reads it: it stops where the number ends, and Triton does not look at the rest.
    rest = folder.lstrip(" \t\n\v\f\r")
    sign = rest[:1] if rest[:1] in ("+", "-") else ""
    number = "".join(takewhile(digits.__contains__, rest.removeprefix(sign)))
    return int(sign + number) if number else None


def mistaken_folders(config: Any, folders: Iterable[str], versions: Collection[str]) -> Iterator[str]:
    """Folders that Triton takes for a version to load, where no folder has the name of that version.

    ``versions`` are the versions that exist. A number that is too large counts whatever the policy loads.
    """
    odd = [folder for folder in folders if folder not in versions]
    taken = {folder: version for folder in odd if (version := taken_for(folder)) is not None}
    loaded = loaded_versions(config, {*versions, *map(str, taken.values())}) if taken else ()
    for folder, version in taken.items():
        if abs(version) > LARGEST or (str(version) in loaded and str(version) not in versions):
            yield folder


def version_folders(folders: Iterable[str]) -> tuple[str, ...]:
    """The versions among the folders of a model, ascending."""
    return tuple(sorted(filter(is_version, folders), key=int))


def loaded_versions(config: Any, versions: Iterable[str]) -> tuple[str, ...]:
    """The versions that the model's policy loads, the latest one by default, ascending."""
    found = sorted(versions, key=int)
    policy = config.version_policy
    match policy.WhichOneof("policy_choice"):
        case "specific":
            wanted = {str(version) for version in policy.specific.versions}
            return tuple(version for version in found if version in wanted)
        case "all":
            return tuple(found)
        case "latest":
            count = policy.latest.num_versions
            return tuple(found[len(found) - count :]) if count < len(found) else tuple(found)
        case _ if config.HasField("version_policy"):
            # A policy without a choice in it: Triton falls through to all versions.
            return tuple(found)
        case _:
            return tuple(found[-1:])
