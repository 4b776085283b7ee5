"""A folder of templates: brought up to date as a whole, or not touched."""

import os
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from inferstack.cli.refusal import Refusal


def write_all(folder: Path, contents: Mapping[str, str]) -> dict[Path, str]:
    """Writes all files or none: each gets its name only when all are complete.

    A file that is up to date is left alone: replacing it takes longer than making its content, and tools that
    look at times would take it for a new one.

    Returns:
        What was written, and what there was before.
    """
    new = {name: content for name, content in contents.items() if not _holds(folder / name, content)}
    unfinished = {folder / f".{name}.{os.getpid()}": folder / name for name in new}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        before = {path: "out of date" if path.exists() else "missing" for path in unfinished.values()}
        for path, content in zip(unfinished, new.values(), strict=True):
            path.write_text(content, encoding="utf-8", newline="\n")
        for path, target in unfinished.items():
            path.replace(target)
    except OSError as error:
        raise Refusal(f"{folder}: templates cannot be written here: {error.strerror}") from None
    finally:
        for path in unfinished:
            _forget(path)
    return before


def without_spec(folder: Path, names: Collection[str], form: str) -> Iterator[Path]:
    """The templates of a folder whose names are not among these."""
    found = folder.glob(f"*.template.{form}")
    return (path for path in sorted(found) if path.name not in names)


def _holds(path: Path, content: str) -> bool:
    wanted = content.encode()
    try:
        # A pipe, say, is not read: that would wait for a writer.
        found = path.stat()
        return stat.S_ISREG(found.st_mode) and found.st_size == len(wanted) and path.read_bytes() == wanted
    except OSError:
        # Not there, or not ours to read: writing will show whether it can be written.
        return False


def _forget(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        # This is no folder, or it is not ours: then there is nothing to remove either.
        return
