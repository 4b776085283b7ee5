"""Version folders of a model, by the rules of Triton's repository manager.

https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_repository.md#model-versions
"""

from collections.abc import Iterable
from typing import Any

# Folders that have a meaning of their own.
RESERVED_FOLDERS = frozenset({"warmup", "initial_state", "configs"})
"""Folders of a model that Triton never takes for versions."""


def is_version(folder: str) -> bool:
    """Whether Triton takes the folder for a version: a plain number without zeros in front."""
    return folder.isascii() and folder.isdecimal() and (folder == "0" or folder[0] != "0")


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
