"""Which files of this machine may go into an archive, by their kind and by where they are.

Checking models and packing them both ask here, so that neither accepts what the other refuses. Links are not
followed: SageMaker does not unpack an archive that has links, and a link that is followed brings in, or shows
in a report, what the spec does not name.
"""

import stat
from collections.abc import Iterable
from pathlib import Path

import msgspec

from inferstack.triton.model import NOT_A_FILE


class Unusable(msgspec.Struct, frozen=True):
    """Why something cannot go into an archive."""

    code: str
    message: str
    fix: str


def unfit_kind(local: Path, mode: int) -> Unusable | None:
    """Why what ``lstat`` found cannot be in an archive; None for a regular file or a folder."""
    if stat.S_ISLNK(mode):
        fix = "put the file itself in its place (cp -L follows links)"
        return Unusable(NOT_A_FILE, f"{local} is a symbolic link", fix)
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return Unusable(NOT_A_FILE, f"{local} is neither a file nor a folder", "name a file")
    return None


def lies_in(local: Path, folders: Iterable[Path]) -> bool:
    """Whether a path really is in one of these resolved folders, wherever links and ``..`` lead."""
    try:
        real = local.resolve()
    except ValueError:
        # No path has a null character in it.
        return False
    return any(real.is_relative_to(folder) for folder in folders)
