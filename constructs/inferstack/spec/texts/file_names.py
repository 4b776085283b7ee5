"""Names of files: their suffixes, and how names are shown."""

import os
from pathlib import Path

SUFFIXES = (".yaml", ".yml")
"""Suffixes of spec files."""
LOCK_SUFFIX = ".lock.json"
"""Suffix of the lock beside a spec file."""
ARCHIVE_SUFFIX = ".tar.gz"
"""Suffix of the archives that SageMaker takes."""


def relative_to_cwd(file: str) -> str:
    """A file's name with forward slashes: as it was given, or from the working directory on if it is an
    absolute one that lies in there.
    """
    path = Path(file)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return path.as_posix()


def name_in_templates(file: str) -> str:
    """The name of a file or folder relative to the working directory, with `..` if it is outside of it.

    It is never absolute, since absolute names differ between machines. If a path shares only the root of the
    file system with the working directory, just its last part is shown, after `.../`.
    """
    near = relative_to_cwd(file)
    if not Path(near).is_absolute():
        return near
    # In `Path.cwd()` links are resolved, so they are in the other, too.
    here, there = Path.cwd(), Path(near).parent.resolve() / Path(near).name
    if here.parts[:2] != there.parts[:2]:
        return f".../{there.name}"
    return Path(os.path.relpath(there, here)).as_posix()
