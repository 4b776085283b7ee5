"""Where a place of a spec can be read: the address that a line of a file has on the web."""

import os
import re
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlsplit

import msgspec

from inferstack.endpoint.place import Place
from inferstack.review import Review
from inferstack.source.spec_file import STANDARD_INPUT

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_KNOWN = {"file", "line"}
_EXAMPLE = "https://github.com/OWNER/REPOSITORY/blob/COMMIT/{file}#L{line}"


class SourceUrl(msgspec.Struct, frozen=True):
    """An address with `{file}`, and perhaps `{line}`."""

    template: str

    def of(self, file: str, line: int) -> str:
        """The address of a line. Whatever is in the name of the file, it stays a path."""
        values = {"file": quote(file, safe="/"), "line": str(line)}
        return _PLACEHOLDER.sub(lambda found: values[found[1]], self.template)


def source_url(template: str) -> SourceUrl:
    """Checks an address of `--source-url`.

    Raises:
        ValueError: when it is not the address of a file.
    """
    names = _PLACEHOLDER.findall(template)
    if "file" not in names or not _KNOWN.issuperset(names):
        raise ValueError(f"must have {{file}}, and may have {{line}}, as in {_EXAMPLE}")
    parts = urlsplit(template)
    # A page must not start a program when somebody follows a link.
    is_web = parts.scheme in ("http", "https") and parts.netloc != ""
    is_relative = not parts.scheme and not parts.netloc
    if not (is_web or is_relative) or not template.isprintable() or " " in template or "\\" in template:
        raise ValueError(f"must be an address of the web, or a relative one, as in {_EXAMPLE}")
    return SourceUrl(template)


class SourceLinks(msgspec.Struct, frozen=True):
    """Addresses of the places of a review."""

    url: SourceUrl | None
    root: Path
    """The top of the repository, which addresses start from."""
    base: str | None
    """What is compared with: its files are not those of the repository as it is."""
    is_commit: bool = False
    """Whether that is a revision. A folder may have its name; its files begin with that and a colon."""

    def __call__(self, place: Place) -> str | None:
        """The address of a place; None if it has none."""
        if self.url is None or not place.line or not self._is_here(place.file):
            return None
        path = Path(os.path.normpath(Path.cwd() / place.file))
        if not path.is_relative_to(self.root):
            return None
        return self.url.of(PurePosixPath(path.relative_to(self.root)).as_posix(), place.line)

    def _is_here(self, file: str) -> bool:
        """Whether it is a file, and not one of the base."""
        if self.base is None:
            return file != STANDARD_INPUT
        in_base = file.startswith(f"{self.base}:")
        if not self.is_commit:
            in_base = in_base or file == self.base or file.startswith(f"{self.base}/")
        return file != STANDARD_INPUT and not in_base


def links_of(review: Review, url: SourceUrl | None) -> SourceLinks:
    """Addresses from the top of the repository around the working directory; without one, from there."""
    here = Path.cwd()
    root = next((it for it in (here, *here.parents) if (it / ".git").exists()), here)
    return SourceLinks(url, root, review.base, review.base_commit is not None)
