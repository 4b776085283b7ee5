"""A model repository as data: what Triton finds in an archive, wherever the repository comes from."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from string import digits
from typing import Any

import msgspec

from inferstack.catalog.triton_container import likely_default
from inferstack.problems import Place, Problem, SpecPath
from inferstack.triton.backends import Chosen, chosen, is_ensemble

CONFIG_FILE = "config.pbtxt"
"""Where Triton looks for a model's configuration, in the model's folder."""

UNREADABLE = "IS900"
NO_REPOSITORY = "IS901"
MISSING_FOLDER = "IS902"
NOT_A_FILE = "IS991"
"""Codes of what keeps models from being read."""

FieldPath = tuple[str | int, ...]
"""Proto names, list indices and keys of maps from the top of a configuration: ``("input", 0, "dims")``."""


class TritonModel(msgspec.Struct, frozen=True, dict=True):
    """One model, or an ensemble.

    ``config`` is a ``ModelConfig`` message; its ``name`` is empty or as written. ``files`` maps paths in the
    model's folder (with forward slashes, ``config.pbtxt`` left out) to local files, which need not exist.
    ``versions`` are the folders that Triton takes for versions, ascending; a model of a spec without any file
    in one has version 1. ``folders`` are all folders directly in the model's. ``text`` is ``config.pbtxt`` as
    it was read; None when the configuration comes from a spec. ``folder`` is the one that the model was read
    from, perhaps in an archive; None when a spec declares the model.
    """

    name: str
    config: Any
    files: Mapping[str, Path]
    versions: tuple[str, ...]
    where: Callable[[FieldPath], Place]
    text: str | None = None
    folders: tuple[str, ...] = ()
    folder: Path | None = None

    @cached_property
    def fields(self) -> frozenset[str]:
        """Names of all fields that are set in the configuration."""
        return frozenset(field.name for field, _ in self.config.ListFields())

    @property
    def is_ensemble(self) -> bool:
        """Whether it is, or is meant to be, an ensemble."""
        return is_ensemble(self.config)

    @property
    def has_steps(self) -> bool:
        """Whether it has the steps of an ensemble, or at least the field for them."""
        return bool(self.config.HasField("ensemble_scheduling"))

    @property
    def complete(self) -> bool:
        """Whether it has a configuration. Without a ``config.pbtxt`` Triton may fill in what is lacking."""
        return self.folder is None or self.text is not None

    @cached_property
    def chosen(self) -> Chosen:
        """What Triton runs it with, as far as its configuration, its files or its name say."""
        # Triton looks into the folder whose name comes first, and takes it for a version.
        first = min((*self.folders, *self.versions), default="")
        inside = (path.split("/")[1] for path in self.files if path.startswith(f"{first}/"))
        return chosen(self.config, self.name, frozenset(inside))

    @property
    def backend(self) -> str:
        """The backend that runs it; empty if nothing names it."""
        return self.chosen.backend

    @property
    def model_file(self) -> str | None:
        """The file that the backend loads from a version folder; None if only the backend knows."""
        return self.chosen.file


class Repository(msgspec.Struct, frozen=True):
    """The models of one archive.

    ``archive`` is the archive's file name and ``source`` the part of the spec that declares it.
    ``default_model`` is the model that answers, None when that is unclear. ``faults`` are models that could
    not be read; they are missing in ``models``. ``multi_model``: the container loads it as one of many.
    ``outside``: it is read from a folder outside that of the spec, which has to be allowed for packing.
    ``strangers`` are files that a spec names, and to which the same applies.
    ``uploaded`` are the paths in the archive as a lock knows it: files that need not be on this machine.
    """

    archive: str
    models: tuple[TritonModel, ...]
    default_model: str | None
    source: SpecPath
    faults: tuple[Problem, ...] = ()
    multi_model: bool = False
    outside: bool = False
    strangers: frozenset[Path] = frozenset()
    uploaded: frozenset[str] = frozenset()

    def model(self, name: str) -> TritonModel | None:
        """The model in the folder of this name."""
        return next((model for model in self.models if model.name == name), None)

    def served(self, named: str | None) -> TritonModel | None:
        """The model that answers, None if that is unclear. ``named`` is the one in the container's
        environment, which is ignored in one of many archives.
        """
        name = self.default_model if named is None or self.multi_model else named
        return None if name is None else self.model(name)


def only_model(models: Sequence[TritonModel]) -> str | None:
    """The name of the model if there is exactly one, else None."""
    return models[0].name if len(models) == 1 else None


def likely_default_model(models: Sequence[TritonModel]) -> str | None:
    """The name of the model that answers when a request names none: the only one, else the only ensemble."""
    ensembles = [model.name for model in models if model.is_ensemble]
    return likely_default([model.name for model in models], ensembles)


def enum_name(message: Any, field: str) -> str:
    """The name of an enum field's value; its number where the enum has no such value."""
    value: int = getattr(message, field)
    known = message.DESCRIPTOR.fields_by_name[field].enum_type.values_by_number.get(value)
    return str(value) if known is None else str(known.name)


def is_map(field: Any) -> bool:
    """Whether a field of a message is a map."""
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def is_repeated(field: Any) -> bool:
    """Whether a field of a message is a list or a map."""
    # protobuf 7 no longer has `label`, and protobuf 4 does not have `is_repeated` yet.
    repeated = getattr(field, "is_repeated", None)
    return bool(field.label == field.LABEL_REPEATED if repeated is None else repeated)


# ---------------------------------------------------------------- Version folders
#
# What a repository manager takes for a version:
# https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_repository.md#model-versions
# and ``VersionsToLoad`` in src/model_repository_manager/model_lifecycle.cc of Triton's core.


LARGEST = (1 << 63) - 1
"""The last version that there can be."""
RESERVED_FOLDERS = frozenset({"warmup", "initial_state", "configs"})
"""Folders of a model with a meaning of their own, which Triton never takes for versions."""


def is_version(folder: str) -> bool:
    """Whether the folder has the name of a version: a plain number without leading zeros."""
    plain = folder.isascii() and folder.isdecimal() and (folder == "0" or folder[0] != "0")
    return plain and int(folder) <= LARGEST


def taken_for(folder: str) -> int | None:
    """The version that Triton takes a folder for: the number that begins its name; None without one."""
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
