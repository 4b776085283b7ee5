"""Paths in an archive: which can be unpacked anywhere, and which would be one on some file system."""

import unicodedata

_LONGEST_PART = 255
_DEEPEST = 64
# Spaces of other widths are allowed. Surrogates, for bytes that are not UTF-8, are not printable either.
_SPACE = "Zs"


def unfit(path: str) -> str | None:
    """Why a path cannot be in an archive, in words; None when it can. Forward slashes divide it."""
    if path.startswith("/"):
        return "it is absolute"
    if "\\" in path:
        return "it has a backslash"
    if not all(char.isprintable() or unicodedata.category(char) == _SPACE for char in path):
        return "it has characters that cannot be printed"
    if path.count("/") >= _DEEPEST:
        return f"it has more than {_DEEPEST} parts"
    return next(filter(None, map(_unfit_part, path.split("/"))), None)


def _unfit_part(part: str) -> str | None:
    match part:
        case "":
            return "it has an empty part"
        case "." | "..":
            return f"it has `{part}` in it"
        case _ if len(part.encode()) > _LONGEST_PART:
            return f"a part of it is longer than {_LONGEST_PART} bytes"
        case _:
            return None


def plain(name: str) -> str:
    """A member's path without what tar ignores: `.//net/./1/` is `net/1`. Empty for the top itself."""
    path = "/".join(part for part in name.split("/") if part not in ("", "."))
    return f"/{path}" if path and name.startswith("/") else path


def folded(path: str) -> str:
    """A path in a form that is the same for all paths that some file system may take for one."""
    return unicodedata.normalize("NFC", path).casefold()


def parents(path: str) -> list[str]:
    """The folders above a path, from the top."""
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]
