"""Files that are in an archive and not on this machine: the lock knows that they were uploaded.

A pipeline has the repository without its weights, and deploys what the lock names all the same.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from inferstack.spec.lock.destinations import Destination
from inferstack.spec.lock.file import LockedArchive, LockedFile, Uploads
from inferstack.triton.model import CONFIG_FILE, Repository, TritonModel
from inferstack.triton.versions import version_folders


def uploaded_archives(destinations: Iterable[Destination], uploads: Uploads) -> Mapping[str, LockedArchive]:
    """What was uploaded for the places that a spec names, by the names of the archives packed from it."""
    return {
        archive: locked for destination in destinations for archive, locked in _archives(destination, uploads)
    }


def _archives(destination: Destination, uploads: Uploads) -> Iterator[tuple[str, LockedArchive]]:
    location = destination.location
    upload = uploads.get(location)
    if upload is None:
        return
    if location.endswith("/"):
        yield from upload.archives.items()
        return
    (only,) = upload.archives.values()
    yield from ((block.archive, only) for block in destination.blocks)


def vouched(repository: Repository, uploaded: Mapping[str, LockedArchive]) -> Repository:
    """A repository with the names of what was uploaded of it, and an existing one with the files themselves.

    What a spec declares needs no more than the names: it says which files there are.
    """
    archive = uploaded.get(repository.archive)
    if archive is None:
        return repository
    models = tuple(_whole(model, archive.files) for model in repository.models)
    return replace(repository, models=models, uploaded=frozenset(archive.files))


def _whole(model: TritonModel, uploaded: Mapping[str, LockedFile]) -> TritonModel:
    if model.folder is None:
        return model
    added = (inner for inner in _files_of(model.name, uploaded) if inner not in model.files)
    missing = {inner: model.folder / inner for inner in added}
    files = dict(sorted({**model.files, **missing}.items()))
    inside = (inner.partition("/")[0] for inner in missing if "/" in inner)
    folders = tuple(dict.fromkeys((*model.folders, *inside)))
    versions = version_folders(folders)
    if not versions and f"{model.name}/{CONFIG_FILE}" in uploaded:
        # Git keeps no empty folder, as an ensemble has it; without it no archive would have been packed.
        folders, versions = (*folders, "1"), ("1",)
    return replace(model, files=files, folders=folders, versions=versions)


def _files_of(model: str, uploaded: Mapping[str, LockedFile]) -> Iterator[str]:
    for path in uploaded:
        inner = path.removeprefix(f"{model}/")
        if inner not in (path, CONFIG_FILE):
            yield inner
