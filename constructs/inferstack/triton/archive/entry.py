"""An entry of an archive, before it is written."""

from collections.abc import Iterator
from dataclasses import dataclass

from inferstack.triton.archive.local_file import LocalFile
from inferstack.triton.model import FilePlace


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """A file or, without content, a folder.

    ``name`` is its path in the archive, without a slash at the end; ``at`` is where it is declared.
    """

    name: str
    content: LocalFile | bytes | None
    at: FilePlace

    @property
    def size(self) -> int:
        """Bytes of content."""
        match self.content:
            case LocalFile() as file:
                return file.size
            case bytes() as text:
                return len(text)
            case None:
                return 0

    @property
    def is_folder(self) -> bool:
        """Whether this is a folder."""
        return self.content is None

    @property
    def executable(self) -> bool:
        """Whether a file may be run."""
        return isinstance(self.content, LocalFile) and self.content.executable

    def chunks(self) -> Iterator[bytes]:
        """The content, in pieces of at most 64 KiB.

        Raises:
            LocalFileError: when a file of this machine cannot be read as it was found.
        """
        match self.content:
            case LocalFile() as file:
                yield from file.chunks()
            case bytes() as text:
                yield text
            case None:
                return
