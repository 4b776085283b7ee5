"""Where the archives of a spec's ``triton`` blocks are uploaded to, as the containers that load them say, and
the files in these archives that need not be on this machine, since the lock says that they exist.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from inferstack.check.lock import NO_DESTINATION
from inferstack.check.lock.file import LockedArchive, LockedFile, Uploads
from inferstack.facts.triton import PlacedTriton, archive_of, may_have_own_block, triton_blocks
from inferstack.facts.walk import PlacedContainer
from inferstack.format.kinds import ModelSpec
from inferstack.problems import Problem, SpecError, SpecPath
from inferstack.problems.words import listed
from inferstack.source.document import Document
from inferstack.texts.placeholders import is_opaque
from inferstack.triton.model import CONFIG_FILE, Repository, TritonModel, version_folders


class Destination(msgspec.Struct, frozen=True):
    """The URL that archives are uploaded for, as the spec writes it, and the paths of that URL in the spec.

    It ends in ``/`` for a multi-model endpoint, otherwise in ``.tar.gz``. ``blocks`` are the repositories
    packed for it: one, or several with the same models in one archive.
    """

    location: str
    paths: tuple[SpecPath, ...]
    blocks: tuple[PlacedTriton, ...]

    def name_of(self, archive: str) -> str:
        """An archive's name at the destination: its own under a prefix, otherwise the name in the URL."""
        return archive if self.location.endswith("/") else self.location.rpartition("/")[2]


def destinations_of(spec: ModelSpec, document: Document) -> tuple[Destination, ...]:
    """The destinations of a spec's archives, one for each URL; none without a ``triton`` block.

    Raises:
        SpecError: with every block for which no container names a URL, several name different ones, or only
            the deployment knows it, and every URL that would have two different contents.
    """
    found: dict[str, Destination] = {}
    problems: list[Problem] = []
    for block in triton_blocks(spec):
        try:
            destination = _destination_of(block, document)
            before = found.get(destination.location)
            found[destination.location] = (
                destination if before is None else _joined(before, destination, document)
            )
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(problems)
    return tuple(found.values())


def _destination_of(block: PlacedTriton, document: Document) -> Destination:
    named: dict[str, list[SpecPath]] = {}
    for path, url in _locations(block.loaders):
        named.setdefault(url, []).append(path)
    match list(named.items()):
        case [(location, paths)] if not is_opaque(location):
            return Destination(location, tuple(paths), (block,))
        case [(location, [path, *_])]:
            message = f'"{location}" is known only at deployment'
            fix = "write the bucket's name; it may contain ${AWS::AccountId} and ${AWS::Region}"
            raise _error(document, path, message, fix)
        case [_, (_, [path, *_]), *_]:
            message = f"the archives of the `triton` block could belong to {listed(list(named))}"
            fix = "give the containers that load them one URL"
            own = all(map(may_have_own_block, block.loaders))
            fix += ", or each a `triton` block of its own" if own else ""
            raise _error(document, path, message, fix)
        case _:
            message = "no container says where the archives of the `triton` block go"
            fix = "name it in the container with Triton: `model_data_url: s3://…`, or `artifact_url`"
            raise _error(document, block.path, message, fix)


def _joined(before: Destination, one: Destination, document: Document) -> Destination:
    """One destination for two repositories that share an archive, which can only have one set of files."""
    new = one.blocks[0].block
    if any((it.block.models, it.block.repository) != (new.models, new.repository) for it in before.blocks):
        message = f"{one.location} would hold different models for different containers"
        raise _error(document, one.paths[0], message, "give each its own archive")
    return replace(before, paths=(*before.paths, *one.paths), blocks=(*before.blocks, *one.blocks))


def _error(document: Document, path: SpecPath, message: str, fix: str) -> SpecError:
    return SpecError([document.problem(path, NO_DESTINATION, message, fix)])


def _locations(loaders: Iterable[PlacedContainer]) -> Iterator[tuple[SpecPath, str]]:
    """The URLs of archives that the containers name, each after its path."""
    for placed in loaders:
        found = archive_of(placed)
        # An adapter's files are not Triton models.
        if found is not None and not placed.is_of_adapter:
            yield found


# ---------------------------------------------------------------- Files that only the lock knows of
#
# A pipeline has the model repository without its weights, and nevertheless deploys what the lock names.


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
