"""Packs archives for a rehearsal, one at a time, and lays them out."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from inferstack.triton.archive.packing import Watch, pack, unwatched
from inferstack.triton.archive.plan import Locate, Plan, plan_archives
from inferstack.triton.model import Repository, TritonModel
from inferstack.triton.rehearsal.layout import LaidOut, is_weight, lay_out
from inferstack.triton.rehearsal.local_config import stand_in_backend
from inferstack.triton.rehearsal.refused import NO_ROOM, RehearsalRefused


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
        # Many disks have no room for two copies of large weights.
        archive.unlink()


def _packed(plan: Plan, target: Path, watch: Watch) -> Path:
    try:
        with watch(f"packing {plan.archive}", plan.unpacked_size) as progress:
            return pack(plan, target, progress).path
    except OSError as error:
        raise RehearsalRefused(f"{target} cannot be written: {error.strerror}; {NO_ROOM}") from None


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
    """Has an empty file for missing weights: they are often elsewhere, and a stand-in does not read them."""
    models = (
        replace(model, files={**model.files, **dict.fromkeys(_missing_weights(model), empty)})
        for model in repository.models
    )
    return replace(repository, models=tuple(models))


def _missing_weights(model: TritonModel) -> list[str]:
    """Files in versions that are not there. All other files are read by Triton itself, so they are needed."""
    if stand_in_backend(model) is None:
        return []
    return [path for path, local in model.files.items() if is_weight(path) and not local.exists()]
