"""An archive unpacked where the hosting container finds it, and made fit for the local server.

What is unpacked are the bytes that would be deployed. Two things then differ: configurations that ask for
what the local server lacks, and files that no real backend will read, which are as long as they are but
empty, so that weights of any size cost nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from inferstack.triton.archive.packing import pack
from inferstack.triton.archive.plan import Locate, Plan, plan_archives
from inferstack.triton.archive.tar_reading import UnreadableError
from inferstack.triton.archive.unpacking import unpack
from inferstack.triton.backends import is_ensemble
from inferstack.triton.config import render_config
from inferstack.triton.messages import parse_text
from inferstack.triton.model import CONFIG_FILE, Repository, TritonModel
from inferstack.triton.rehearsal.local_config import LocalConfig, local_config, stand_in_backend
from inferstack.triton.rehearsal.refused import RehearsalRefused
from inferstack.triton.versions import is_version

_ROOM = "the environment variable TMPDIR chooses another folder"


@dataclass(frozen=True, slots=True)
class LaidOut:
    """An archive as it lies on the disk: its top folders, and by model what differs from the real one."""

    folders: tuple[str, ...]
    configs: Mapping[str, LocalConfig]
    notes: Mapping[str, tuple[str, ...]]

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """The backends that the local server lacks."""
        found = {config.stand_in for config in self.configs.values() if config.stand_in is not None}
        return tuple(sorted(found))

    def stand_in(self, model: str) -> str | None:
        """The backend that is played for a model."""
        return self.configs[model].stand_in

    def in_sequence(self, model: str) -> bool:
        """Whether requests to a model belong to a sequence: it has state, or an ensemble may pass them on."""
        config = self.configs[model].config
        stateful = any(one.config.HasField("sequence_batching") for one in self.configs.values())
        return stateful if is_ensemble(config) else bool(config.HasField("sequence_batching"))


def pack_and_lay_out(
    repositories: Mapping[Path, Repository], scratch: Path, allowed: Sequence[Path], locate: Locate
) -> Iterator[LaidOut]:
    """Packs the archives of repositories, one at a time, and unpacks each into the folder that is its key.

    ``scratch`` is an empty folder for what is needed meanwhile.

    Raises:
        SpecError: when an archive cannot be packed, such as for files that are missing; before any is.
        RehearsalRefused: when a file cannot be written.
    """
    empty = scratch / "empty-weights"
    empty.touch()
    complete = [_without_missing_weights(repository, empty) for repository in repositories.values()]
    plans = plan_archives(complete, [*allowed, scratch], locate)
    for (target, repository), plan in zip(repositories.items(), plans, strict=True):
        archive = _packed(plan, scratch / "packed.tar.gz")
        yield lay_out(archive, repository, target)
        # Two copies of large weights are more than many disks have.
        archive.unlink()


def _packed(plan: Plan, target: Path) -> Path:
    try:
        return pack(plan, target).path
    except OSError as error:
        raise RehearsalRefused(f"{target} cannot be written: {error.strerror}; {_ROOM}") from None


def lay_out(archive: Path, repository: Repository, target: Path) -> LaidOut:
    """Unpacks an archive, which holds a repository, into the folder ``target``, and makes that.

    Raises:
        RehearsalRefused: when it cannot be unpacked.
    """
    target.mkdir(parents=True)
    try:
        unpack(archive, target, _Wanted.of(repository))
    except UnreadableError as error:
        raise RehearsalRefused(f"{repository.archive} cannot be unpacked: {error}") from None
    except OSError as error:
        raise RehearsalRefused(f"{error.filename} cannot be written: {error.strerror}; {_ROOM}") from None
    folders = tuple(sorted(found.name for found in target.iterdir() if found.is_dir()))
    configs = {model.name: _made_local(model, _folder(model, target)) for model in repository.models}
    notes = {model.name: _notes(model, configs[model.name]) for model in repository.models}
    return LaidOut(folders, configs, notes)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Says of a path in an archive whether somebody will read it. ``played`` tells it of each model."""

    played: Mapping[str, bool]

    @classmethod
    def of(cls, repository: Repository) -> "_Wanted":
        return cls({model.name: stand_in_backend(model) is not None for model in repository.models})

    def __call__(self, path: str) -> bool:
        first, _, inner = path.partition("/")
        if first in self.played:
            return not (self.played[first] and _is_weight(inner))
        # In an archive that is its only model, versions lie at the top.
        return not (list(self.played.values()) == [True] and _is_weight(path))


def _folder(model: TritonModel, target: Path) -> Path:
    folder = target / model.name
    return folder if folder.is_dir() or not (target / CONFIG_FILE).is_file() else target


def _made_local(model: TritonModel, folder: Path) -> LocalConfig:
    """Reads a model's configuration as it was unpacked, and writes over it where it has to differ."""
    file = folder / CONFIG_FILE
    if not file.is_file():
        return local_config(model)
    found = local_config(replace(model, config=parse_text(file.read_text(encoding="utf-8"))))
    if found.changed:
        file.write_text(render_config(found.config), encoding="ascii")
    return found


def _notes(model: TritonModel, config: LocalConfig) -> tuple[str, ...]:
    return (*(f"{path} is not on this machine" for path in _missing_weights(model)), *config.changes)


def _without_missing_weights(repository: Repository, empty: Path) -> Repository:
    """Weights are often on another machine, and a stand-in does not read them."""
    models = (
        replace(model, files={**model.files, **dict.fromkeys(_missing_weights(model), empty)})
        for model in repository.models
    )
    return replace(repository, models=tuple(models))


def _missing_weights(model: TritonModel) -> list[str]:
    """Files of a version that are not there. All others are read by Triton itself, so they are needed."""
    if stand_in_backend(model) is None:
        return []
    return [path for path, local in model.files.items() if _is_weight(path) and not local.exists()]


def _is_weight(inner: str) -> bool:
    """Whether a path in a model's folder lies in one of its versions."""
    return "/" in inner and is_version(inner.partition("/")[0])
