"""Unpacks archives as the hosting container does at its start: streamed, and nothing in them trusted."""

from collections.abc import Callable, Iterator
from pathlib import Path

from inferstack.triton.archive.gzip_reading import GzipContent
from inferstack.triton.archive.names import plain, unfit
from inferstack.triton.archive.packing import Progress, silent
from inferstack.triton.archive.tar_reading import FILE, FOLDER, Member, UnreadableError, entries
from inferstack.triton.archive.tar_writing import FILE_MODE, OPEN_MODE


def unpack(archive: Path, folder: Path, wanted: Callable[[str], bool], progress: Progress = silent) -> None:
    """Writes what an archive holds into an empty folder.

    A file that is not ``wanted``, by its path in the archive, gets its length but no content: weights that
    nobody will read take no room. What leads out of the folder, or is neither file nor folder, is refused; no
    link is ever made, so none can be followed. ``progress`` counts bytes of the archive.

    Raises:
        UnreadableError: when the archive is damaged, or holds what must not be unpacked.
        OSError: when the folder cannot be written.
    """
    with archive.open("rb") as file:
        content = GzipContent(file, progress)
        for member, chunks in entries(content):
            path = plain(member.name)
            if path:
                _check(member, path)
                _write(member, chunks if wanted(path) else None, folder / path)
        content.drain()


def _check(member: Member, path: str) -> None:
    why = unfit(path)
    if why is not None:
        raise UnreadableError(f"{path!r} cannot be unpacked: {why}")
    if member.kind not in (FILE, FOLDER):
        raise UnreadableError(f"{path!r} is a {member.kind}")


def _write(member: Member, chunks: Iterator[bytes] | None, target: Path) -> None:
    try:
        if member.kind == FOLDER:
            target.mkdir(parents=True, exist_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            if chunks is None:
                file.truncate(member.size)
            else:
                file.writelines(chunks)
    except (FileExistsError, NotADirectoryError):
        raise UnreadableError(f"{member.name!r} is in it twice") from None
    target.chmod(OPEN_MODE if member.executable else FILE_MODE)
