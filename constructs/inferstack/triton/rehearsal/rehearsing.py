"""The whole rehearsal of a spec's archives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from inferstack.triton.archive.packing import Watch, unwatched
from inferstack.triton.archive.plan import Locate
from inferstack.triton.model import Repository
from inferstack.triton.rehearsal.confinement import Confinement
from inferstack.triton.rehearsal.host import Host
from inferstack.triton.rehearsal.layout import LaidOut, lay_out
from inferstack.triton.rehearsal.multi_model import folder_of, rehearse_multi_model
from inferstack.triton.rehearsal.outcome import ArchiveOutcome
from inferstack.triton.rehearsal.packed import pack_and_lay_out
from inferstack.triton.rehearsal.server import find_server
from inferstack.triton.rehearsal.single import rehearse_single


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What is rehearsed and how.

    ``environment`` is the container's. ``allowed`` are the folders that files may come from and ``locate``
    finds places in the spec's file, both as for packing. ``python`` is the interpreter whose environment has
    the server and what the models import. ``seconds``: the longest wait for a start and for each answer.
    ``log``: a file that the server's log is appended to, if any. ``archives`` are files that hold the
    repositories, one for each; without them the repositories are packed. ``watch`` shows how far packing and
    unpacking have come.
    """

    repositories: Sequence[Repository]
    environment: Mapping[str, str]
    allowed: Sequence[Path]
    locate: Locate
    python: Path
    seconds: float
    log: Path | None = None
    archives: Sequence[Path] = ()
    watch: Watch = unwatched


def rehearse(rehearsal: Rehearsal) -> Iterator[ArchiveOutcome]:
    """Serves the archives as the hosting container would, and yields what came of each.

    When it ends, in whatever way, nothing of it is left on the machine.

    Raises:
        RehearsalRefused: when there is no server, or the machine does not allow confining it.
        SpecError: when an archive could not be packed, such as for a file that is missing.
    """
    server = find_server(rehearsal.python)
    with Confinement() as confinement:
        host = Host(confinement, server, rehearsal.seconds)
        try:
            yield from _outcomes(host, rehearsal)
        finally:
            if rehearsal.log is not None:
                with rehearsal.log.open("a", encoding="utf-8") as log:
                    log.write(host.log())


def _outcomes(host: Host, rehearsal: Rehearsal) -> Iterator[ArchiveOutcome]:
    archives = list(zip(rehearsal.repositories, _laid_out(host, rehearsal), strict=True))
    match archives:
        case [(Repository(multi_model=False) as only, files)]:
            yield rehearse_single(host, only, files, rehearsal.environment)
        case _:
            yield from rehearse_multi_model(host, archives, rehearsal.environment)


def _laid_out(host: Host, rehearsal: Rehearsal) -> Iterator[LaidOut]:
    targets = {host.models / _folder(one): one for one in rehearsal.repositories}
    packages = host.server.packages
    if rehearsal.archives:
        for archive, (target, repository) in zip(rehearsal.archives, targets.items(), strict=True):
            yield lay_out(archive, repository, target, packages, rehearsal.watch)
        return
    scratch = host.confinement.folder / "packed"
    scratch.mkdir()
    allowed, locate = rehearsal.allowed, rehearsal.locate
    yield from pack_and_lay_out(targets, scratch, allowed, locate, packages, rehearsal.watch)


def _folder(repository: Repository) -> str:
    return folder_of(repository.archive) if repository.multi_model else "model"
