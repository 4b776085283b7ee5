"""The files of an archive as the hosting container finds them after unpacking.

They are written from the packer's own list of what goes into the archive. Two differences: configurations
are made fit for the local server, and a file that no real backend will read is as long as it is but empty,
so that weights of any size cost nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from inferstack.triton.archive.entry import Entry
from inferstack.triton.archive.local_file import LocalFileError
from inferstack.triton.archive.plan import Locate, plan_archives
from inferstack.triton.backends import is_ensemble
from inferstack.triton.config import render_config
from inferstack.triton.model import CONFIG_FILE, Repository, TritonModel
from inferstack.triton.rehearsal.local_config import LocalConfig, local_config, stand_in_backend
from inferstack.triton.rehearsal.refused import RehearsalRefused
from inferstack.triton.versions import is_version


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


def lay_out(
    repositories: Mapping[Path, Repository], allowed: Sequence[Path], locate: Locate
) -> tuple[LaidOut, ...]:
    """Writes what the archives of repositories hold into the folders that are their keys, and makes these.

    Raises:
        SpecError: when an archive could not be packed, such as for files that are missing.
        RehearsalRefused: when a file cannot be read or written.
    """
    complete: list[Repository] = []
    for target, repository in repositories.items():
        target.mkdir(parents=True)
        complete.append(_without_missing_weights(repository, target.with_name("empty-weights")))
    plans = plan_archives(complete, [*allowed, *(target.parent for target in repositories)], locate)
    pairs = zip(repositories.items(), plans, strict=True)
    return tuple(_written(plan.entries, repository, target) for (target, repository), plan in pairs)


def _written(entries: Sequence[Entry], repository: Repository, target: Path) -> LaidOut:
    configs = {model.name: local_config(model) for model in repository.models}
    for entry in entries:
        _write(entry, target / entry.name, configs)
    notes = {model.name: _notes(model, configs[model.name]) for model in repository.models}
    top = tuple(entry.name for entry in entries if entry.is_folder and "/" not in entry.name)
    return LaidOut(top, configs, notes)


def _notes(model: TritonModel, config: LocalConfig) -> tuple[str, ...]:
    return (*(f"{path} is not on this machine" for path in _missing_weights(model)), *config.changes)


def _without_missing_weights(repository: Repository, empty: Path) -> Repository:
    """Weights are often on another machine, and a stand-in does not read them."""
    models: list[TritonModel] = []
    for model in repository.models:
        missing = _missing_weights(model)
        if missing:
            empty.touch()
        models.append(replace(model, files={**model.files, **dict.fromkeys(missing, empty)}))
    return replace(repository, models=tuple(models))


def _missing_weights(model: TritonModel) -> list[str]:
    """Files of a version that are not there. All others are read by Triton itself, so they are needed."""
    if stand_in_backend(model) is None:
        return []
    return [path for path, local in model.files.items() if _is_weight(path) and not local.exists()]


def _write(entry: Entry, path: Path, configs: Mapping[str, LocalConfig]) -> None:
    model, _, inner = entry.name.partition("/")
    if entry.is_folder:
        path.mkdir(exist_ok=True)
    elif inner == CONFIG_FILE and configs[model].changed:
        path.write_text(render_config(configs[model].config), encoding="ascii")
    elif _is_weight(inner) and configs[model].stand_in is not None:
        with path.open("wb") as file:
            file.truncate(entry.size)
    else:
        _copy(entry, path)


def _is_weight(inner: str) -> bool:
    """Whether a path in a model's folder lies in one of its versions."""
    return is_version(inner.partition("/")[0])


def _copy(entry: Entry, path: Path) -> None:
    try:
        with path.open("wb") as file:
            for chunk in entry.chunks():
                file.write(chunk)
        path.chmod(0o755 if entry.executable else 0o644)
    except LocalFileError as error:
        raise RehearsalRefused(f"{entry.at.file}:{entry.at.line}: {entry.name}: {error}") from None
    except OSError as error:
        fix = "the environment variable TMPDIR chooses another folder"
        raise RehearsalRefused(f"{path} cannot be written: {error.strerror}; {fix}") from None
