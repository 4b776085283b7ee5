"""Files that are in an uploaded archive but not on this machine: the lock says that they exist.

A pipeline has the model repository without its weights, and nevertheless deploys what the lock names.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from inferstack.spec.lock.destinations import Destination
from inferstack.spec.lock.file import LockedArchive, LockedFile, Uploads
from inferstack.triton.model import CONFIG_FILE, Repository, TritonModel
from inferstack.triton.versions import version_folders


def uploaded_archives(destinations: Iterable[Destination], uploads: Uploads) -> Mapping[str, LockedArchive]:
    """What was uploaded for the destinations of a spec, by the names of the archives packed from the spec."""
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
    """A repository together with the names of its uploaded files.

    For an existing repository, uploaded files that are missing here count as its files. For models that the
    spec declares, the names are enough, since the spec itself says which files there are.
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
        # An ensemble's version folder is empty, and Git does not keep empty folders. It must have been there,
        # since no archive would have been packed without it.
        folders, versions = (*folders, "1"), ("1",)
    return replace(model, files=files, folders=folders, versions=versions)


def _files_of(model: str, uploaded: Mapping[str, LockedFile]) -> Iterator[str]:
    for path in uploaded:
        inner = path.removeprefix(f"{model}/")
        if inner not in (path, CONFIG_FILE):
            yield inner
