"""URLs that contain a digest, so that different content has a different URL.

    s3://bucket/one/model.tar.gz -> s3://bucket/one/model-sha256-0123456789abcdef.tar.gz
    s3://bucket/many/            -> s3://bucket/many/sha256-0123456789abcdef/

Under the prefix of a multi-model endpoint, each set of archives gets its own folder: their names, which
clients send as `TargetModel`, stay the same, and no version sees the archives of another.
"""

import re

from inferstack.spec.texts.file_names import ARCHIVE_SUFFIX

_MARK = "sha256-"
_DIGITS = 16
_FORM = re.compile(
    rf"(?P<start>.*)(?:-{_MARK}[0-9a-f]{{{_DIGITS}}}(?P<archive>\.tar\.gz)|{_MARK}[0-9a-f]{{{_DIGITS}}}/)"
)


def uploaded_url(location: str, digest: str) -> str:
    """The URL for content with this SHA-256 that belongs at a location: an archive's URL, or a prefix."""
    return _url(location, digest[:_DIGITS])


def pattern_of(url: str) -> str | None:
    """For a URL that :func:`uploaded_url` made: a pattern that matches every version; `?` is any character.

    None for any other URL.
    """
    location = location_of(url)
    return None if location == url else _url(location, "?" * _DIGITS)


def location_of(url: str) -> str:
    """The location that a URL was made from: the reverse of :func:`uploaded_url`; other URLs unchanged."""
    found = _FORM.fullmatch(url) if _MARK in url else None
    return url if found is None else f"{found['start']}{found['archive'] or ''}"


def _url(location: str, digits: str) -> str:
    if location.endswith("/"):
        return f"{location}{_MARK}{digits}/"
    return f"{location.removesuffix(ARCHIVE_SUFFIX)}-{_MARK}{digits}{ARCHIVE_SUFFIX}"
