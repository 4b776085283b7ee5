"""Writes all files of a project, or none."""

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

_Undo = list[Callable[[], object]]


def write_all(folder: Path, contents: Mapping[str, str], replacing: Collection[str]) -> None:
    """Writes files, given by their paths in a folder, which is made if it is missing. Only those of
    ``replacing`` may be there already.

    Whatever happens in between, such as an interruption, everything is as before.

    Raises:
        OSError: when a file cannot be written, or is there already.
    """
    undo: _Undo = []
    _refuse_links(folder, contents)
    try:
        _make(folder, undo)
        complete = {_written_beside(folder / path, text, undo): path for path, text in contents.items()}
        for unfinished, path in complete.items():
            _give_name(unfinished, folder / path, undo, replace=path in replacing)
    except BaseException:
        for step in reversed(undo):
            with suppress(OSError):
                step()
        raise


def _refuse_links(folder: Path, paths: Iterable[str]) -> None:
    """Refuses links where the project has folders: what is written there would land outside of it."""
    for inner in {parent for path in paths for parent in Path(path).parents[:-1]}:
        if (folder / inner).is_symlink():
            why = "this is a link, and what is written there would land elsewhere; put a folder in its place"
            raise NotADirectoryError(0, why, str(folder / inner))


def _make(folder: Path, undo: _Undo) -> None:
    """Makes a folder and those above it."""
    if not folder.is_dir():
        if folder.parent != folder:
            _make(folder.parent, undo)
        folder.mkdir()
        undo.append(folder.rmdir)


def _written_beside(target: Path, text: str, undo: _Undo) -> Path:
    _make(target.parent, undo)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    undo.append(partial(unfinished.unlink, missing_ok=True))
    try:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        # That file is no concern of the user's.
        error.filename = str(target)
        raise
    return unfinished


def _give_name(unfinished: Path, target: Path, undo: _Undo, *, replace: bool) -> None:
    if replace:
        before = target.read_bytes()
        shutil.copymode(target, unfinished)
        undo.append(partial(target.write_bytes, before))
    else:
        # Somebody else may have made it in the meantime; then it is not ours to remove either.
        if os.path.lexists(target):
            raise FileExistsError(0, "somebody else has just created it", str(target))
        undo.append(partial(target.unlink, missing_ok=True))
    unfinished.replace(target)
