"""The contents of a folder, on this machine or in an archive."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from inferstack.triton.model import CONFIG_FILE, Fault


class Folder(msgspec.Struct, frozen=True):
    """A folder and its contents by name, without leftovers of tools.

    The ``path`` of a folder in an archive begins with the archive's. ``unfit`` is what is neither file nor
    folder; ``loose`` are the names of what among that is not packed anyway, if it is beside models.
    """

    path: Path
    folders: dict[str, "Folder"] = msgspec.field(default_factory=dict)
    files: dict[str, Path] = msgspec.field(default_factory=dict)
    unfit: dict[str, Fault] = msgspec.field(default_factory=dict)
    loose: set[str] = msgspec.field(default_factory=set)

    @property
    def config(self) -> Path:
        """Path of its configuration, if it has one."""
        return self.path / CONFIG_FILE

    @property
    def has_config(self) -> bool:
        """Whether it is, or is meant to be, the folder of a model."""
        return CONFIG_FILE in self.files or CONFIG_FILE in self.unfit

    @property
    def is_layer(self) -> bool:
        """Whether it holds models instead of being one."""
        return not self.has_config and any(inner.has_config for inner in self.folders.values())

    @property
    def in_place_of_models(self) -> dict[str, Fault]:
        """What is unfit where folders of models belong, and may be meant as one."""
        return {name: fault for name, fault in self.unfit.items() if name not in self.loose}

    def subfolders(self) -> Iterator["Folder"]:
        """The folders in it, sorted."""
        return (self.folders[name] for name in sorted(self.folders))

    def all_unfit(self) -> Iterator[Fault]:
        """What is neither file nor folder, also in the folders in it."""
        yield from self.unfit.values()
        for inner in self.subfolders():
            yield from inner.all_unfit()

    def all_files(self, prefix: str = "") -> Iterator[tuple[str, Path]]:
        """The files in it and in the folders in it, by their paths from here, with forward slashes."""
        yield from ((f"{prefix}{name}", file) for name, file in self.files.items())
        for name, inner in self.folders.items():
            yield from inner.all_files(f"{prefix}{name}/")
