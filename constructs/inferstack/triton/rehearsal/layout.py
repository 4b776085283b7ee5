"""Packs archives for a rehearsal, unpacks them where the container finds them, and makes them fit for the
local server, which has no GPU and the Python backend only.

The bytes that are unpacked are those that would be deployed. Two things then differ: configurations that ask
for what the local server lacks, which the report says, and files that nobody will read, which get their
length but no content, so weights of any size cost nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.triton.archive.packing import Watch, pack, unpacked_size, unwatched
from inferstack.triton.archive.plan import Locate, Plan, plan_archives
from inferstack.triton.archive.reading import UnreadableError, unpack
from inferstack.triton.backends import is_ensemble
from inferstack.triton.config import parse_text, print_text
from inferstack.triton.model import CONFIG_FILE, Repository, TritonModel, is_version
from inferstack.triton.rehearsal.outcome import SERVER_RELEASE, RehearsalRefused
from inferstack.triton.rehearsal.runners import may_run, runner_for
from inferstack.triton.rehearsal.stand_in import FILE
from inferstack.triton.rules.releases import FIRST_RELEASE, messages

_NO_ROOM = "the environment variable TMPDIR chooses another folder"
# For models that PyTorch compiled ahead of time; a stand-in treats it like the other platform.
_NEWER_PLATFORM = "torch_aoti"
_RELEASE = "{}.{:02}".format(*SERVER_RELEASE)


class LocalConfig(msgspec.Struct, frozen=True):
    """A configuration as the local server gets it.

    ``changes`` says how it differs where that matters, ``stand_in`` is the backend that is replaced,
    and ``run_by`` the package, with its version, by which its stand-in runs the model's file. Without one,
    answers are zeros.
    """

    config: Any
    changes: tuple[str, ...]
    changed: bool
    stand_in: str | None
    run_by: str | None = None


class LaidOut(msgspec.Struct, frozen=True):
    """An archive as unpacked on disk: its top folders, and by model what differs from the real one."""

    folders: tuple[str, ...]
    configs: Mapping[str, LocalConfig]
    notes: Mapping[str, tuple[str, ...]]

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """The backends that the local server lacks."""
        found = {config.stand_in for config in self.configs.values() if config.stand_in is not None}
        return tuple(sorted(found))

    def stand_in(self, model: str) -> str | None:
        """The backend that a stand-in replaces for a model."""
        return self.configs[model].stand_in

    def run_by(self, model: str) -> str | None:
        """What computes instead of that backend: a package and its version; None if the answers are zeros."""
        return self.configs[model].run_by

    def in_sequence(self, model: str) -> bool:
        """Whether requests to a model are in a sequence: it has state, or may pass them on to one with it."""
        config = self.configs[model].config
        stateful = any(one.config.HasField("sequence_batching") for one in self.configs.values())
        return stateful if is_ensemble(config) else bool(config.HasField("sequence_batching"))


def lay_out(
    archive: Path,
    repository: Repository,
    target: Path,
    packages: Mapping[str, str],
    watch: Watch = unwatched,
) -> LaidOut:
    """Unpacks an archive, which holds ``repository``, into the new folder ``target``.

    ``packages``, with their versions, can run models in place of backends that the server lacks.

    Raises:
        RehearsalRefused: when it cannot be unpacked.
    """
    target.mkdir(parents=True)
    try:
        with watch(f"unpacking {repository.archive}", archive.stat().st_size) as progress:
            unpack(archive, target, _wanted(repository, packages), progress)
    except UnreadableError as error:
        raise RehearsalRefused(f"{repository.archive} cannot be unpacked: {error}") from None
    except OSError as error:
        raise RehearsalRefused(f"{error.filename} cannot be written: {error.strerror}; {_NO_ROOM}") from None
    folders = tuple(sorted(found.name for found in target.iterdir() if found.is_dir()))
    configs: dict[str, LocalConfig] = {}
    notes: dict[str, tuple[str, ...]] = {}
    for model in repository.models:
        configs[model.name], why = _made_local(model, target, packages)
        notes[model.name] = (*why, *configs[model.name].changes)
    return LaidOut(folders, configs, notes)


def _wanted(repository: Repository, packages: Mapping[str, str]) -> Callable[[str], bool]:
    """Tells of a path in an archive whether anything will read it."""
    unread = {
        model.name: stand_in_backend(model) is not None and not may_run(model, packages)
        for model in repository.models
    }

    def wanted(path: str) -> bool:
        first, _, inner = path.partition("/")
        if first in unread:
            return not (unread[first] and is_weight(inner))
        # In an archive that is itself its only model, versions are at the top.
        return not (list(unread.values()) == [True] and is_weight(path))

    return wanted


def is_weight(inner: str) -> bool:
    """Whether a path in a model's folder is in one of its versions."""
    return "/" in inner and is_version(inner.partition("/")[0])


def _made_local(
    model: TritonModel, target: Path, packages: Mapping[str, str]
) -> tuple[LocalConfig, tuple[str, ...]]:
    """Reads a model's configuration as it was unpacked, and overwrites it where it has to differ.

    Also returns, as text, why nothing computes instead of its backend.
    """
    folder = folder_in(target, model)
    file = folder / CONFIG_FILE
    run_by, why = runner_for(model, folder, packages)
    if not file.is_file():
        return local_config(model, run_by=run_by), why
    found = local_config(replace(model, config=parse_text(file.read_text(encoding="utf-8"))), run_by=run_by)
    if found.changed:
        file.write_text(print_text(found.config), encoding="ascii")
    return found, why


def folder_in(target: Path, model: TritonModel) -> Path:
    """A model's folder in an unpacked archive, which may be that folder itself."""
    folder = target / model.name
    return folder if folder.is_dir() or not (target / CONFIG_FILE).is_file() else target


def pack_and_lay_out(
    repositories: Mapping[Path, Repository],
    scratch: Path,
    allowed: Sequence[Path],
    locate: Locate,
    packages: Mapping[str, str],
    watch: Watch = unwatched,
) -> Iterator[LaidOut]:
    """Packs the archives of repositories and unpacks each into the folder that is its key.

    ``scratch`` is an empty folder for what is needed meanwhile; ``packages`` are as for :func:`lay_out`.

    Raises:
        SpecError: when an archive cannot be packed, such as for missing files; raised before any is packed.
        RehearsalRefused: when a file cannot be written.
    """
    empty = scratch / "empty-weights"
    empty.touch()
    complete = [_without_missing_weights(repository, empty) for repository in repositories.values()]
    plans = plan_archives(complete, [*allowed, scratch], locate)
    for (target, repository), plan in zip(repositories.items(), plans, strict=True):
        archive = _packed(plan, scratch / "packed.tar.gz", watch)
        yield _with_notes(lay_out(archive, repository, target, packages, watch), repository)
        # Many disks have no space for two copies of large weights.
        archive.unlink()


def _packed(plan: Plan, target: Path, watch: Watch) -> Path:
    try:
        with watch(f"packing {plan.archive}", unpacked_size(plan)) as progress:
            return pack(plan, target, progress).path
    except OSError as error:
        raise RehearsalRefused(f"{target} cannot be written: {error.strerror}; {_NO_ROOM}") from None


def _with_notes(laid_out: LaidOut, repository: Repository) -> LaidOut:
    notes = {
        model.name: (
            *(f"{path} is not on this machine" for path in _missing_weights(model)),
            *laid_out.notes[model.name],
        )
        for model in repository.models
    }
    return replace(laid_out, notes=notes)


def _without_missing_weights(repository: Repository, empty: Path) -> Repository:
    """Adds empty files for missing weights: they are often elsewhere, and a stand-in does not read them."""
    models = (
        replace(model, files={**model.files, **dict.fromkeys(_missing_weights(model), empty)})
        for model in repository.models
    )
    return replace(repository, models=tuple(models))


def _missing_weights(model: TritonModel) -> list[str]:
    """Missing files in versions. All other files are read by Triton itself, so they are needed."""
    if stand_in_backend(model) is None:
        return []
    return [path for path, local in model.files.items() if is_weight(path) and not local.exists()]


# ---------------------------------------------------------------- Configurations for the local server


def stand_in_backend(model: TritonModel) -> str | None:
    """The backend that the local server lacks and this model needs; None where it runs for real."""
    if model.is_ensemble:
        return None
    return None if model.backend in {"", "python"} else model.backend


def local_config(model: TritonModel, *, run_by: str | None = None) -> LocalConfig:
    """The configuration of a model, changed where the local server could not load it.

    ``run_by`` is the package by which its stand-in runs the model's file.
    """
    config = type(model.config)()
    config.CopyFrom(model.config)
    changes = [said for change in _CHANGES for said in change(config)]
    stand_in = stand_in_backend(model)
    if stand_in is not None:
        if run_by is not None:
            config.parameters[FILE].string_value = model.model_file or ""
        _fit_stand_in(config)
    return LocalConfig(config, tuple(dict.fromkeys(changes)), config != model.config, stand_in, run_by)


def _without_gpus(config: Any) -> Iterator[str]:
    kinds = type(config).DESCRIPTOR.fields_by_name["instance_group"].message_type.enum_types_by_name["Kind"]
    for group in config.instance_group:
        if group.kind == kinds.values_by_name["KIND_GPU"].number or group.gpus:
            group.kind = kinds.values_by_name["KIND_CPU"].number
            yield "its instances run on the CPU"
        for field in ("gpus", "secondary_devices"):
            group.ClearField(field)


def _without_newer_fields(config: Any) -> Iterator[str]:
    for _, message in messages(config):
        for field, _ in message.ListFields():
            since = FIRST_RELEASE.get(f"{message.DESCRIPTOR.name}.{field.name}")
            if since is not None and since > SERVER_RELEASE:
                message.ClearField(field.name)
                yield f"`{field.name}` is left out: the local Triton is {_RELEASE}, which does not know it"
    if config.platform == _NEWER_PLATFORM:
        config.platform = "pytorch_libtorch"
        yield f"`{_NEWER_PLATFORM}` is loaded as `pytorch_libtorch`: the local Triton is {_RELEASE}"


def _without_agents(config: Any) -> Iterator[str]:
    if config.HasField("model_repository_agents"):
        config.ClearField("model_repository_agents")
        yield "`model_repository_agents` is left out: the local server has none"


def _without_brain_floats(config: Any) -> Iterator[str]:
    """Replaces BF16, which numpy lacks, so no Python model can return it; half floats have the same size."""
    types = config.DESCRIPTOR.file.enum_types_by_name["DataType"].values_by_name
    brain, half = types["TYPE_BF16"].number, types["TYPE_FP16"].number
    for tensor in (*config.input, *config.output):
        if tensor.data_type == brain:
            tensor.data_type = half
            yield "TYPE_BF16 is rehearsed as TYPE_FP16"
    for warmup in config.model_warmup:
        for tensor in warmup.inputs.values():
            if tensor.data_type == brain:
                tensor.data_type = half


_CHANGES: tuple[Callable[[Any], Iterator[str]], ...] = (
    _without_gpus,
    _without_newer_fields,
    _without_agents,
    _without_brain_floats,
)


def _fit_stand_in(config: Any) -> None:
    """Removes what only means something to the real backend."""
    for field in ("runtime", "default_model_filename", "cc_model_filenames", "optimization"):
        config.ClearField(field)
    for group in config.instance_group:
        group.ClearField("profile")
