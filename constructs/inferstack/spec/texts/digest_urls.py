"""URLs that carry a digest, so that other content has another one.

    s3://bucket/one/model.tar.gz -> s3://bucket/one/model-sha256-0123456789abcdef.tar.gz
    s3://bucket/many/            -> s3://bucket/many/sha256-0123456789abcdef/

Under the prefix of a multi-model endpoint a whole set of archives has a folder: their names, which clients
send as `TargetModel`, stay as they are, and no version sees the archives of another.
"""

import re

ARCHIVE = ".tar.gz"
_MARK = "sha256-"
_DIGITS = 16
_FORM = re.compile(
    rf"(?P<start>.*)(?:-{_MARK}[0-9a-f]{{{_DIGITS}}}(?P<archive>\.tar\.gz)|{_MARK}[0-9a-f]{{{_DIGITS}}}/)"
)


def uploaded_url(location: str, digest: str) -> str:
    """The URL of content with this SHA-256 that belongs at a location: an archive's URL, or a prefix."""
    return _url(location, digest[:_DIGITS])


def pattern_of(url: str) -> str | None:
    """A pattern for every version of what :func:`uploaded_url` made the URL of one: `?` is any character.

    None for any other URL.
    """
    location = location_of(url)
    return None if location == url else _url(location, "?" * _DIGITS)


def location_of(url: str) -> str:
    """What a URL was uploaded for: the other way round than :func:`uploaded_url`; any other URL as it is."""
    found = _FORM.fullmatch(url) if _MARK in url else None
    return url if found is None else f"{found['start']}{found['archive'] or ''}"


def _url(location: str, digits: str) -> str:
    if location.endswith("/"):
        return f"{location}{_MARK}{digits}/"
    return f"{location.removesuffix(ARCHIVE)}-{_MARK}{digits}{ARCHIVE}"
