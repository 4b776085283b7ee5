"""S3 URLs: their bucket and key, what they say about an archive, and URLs that contain a digest.

An S3 URL can be in any form of https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html,
with tokens that stand for a whole URL (a parameter, an SSM value, an import) or for its host
(``RegionalDomainName``).
"""

import re

import msgspec

from inferstack.texts.placeholders import ATOM, TOKEN, awaits_look_up, is_opaque

ARCHIVE_SUFFIX = ".tar.gz"
"""Suffix of the archives that SageMaker takes."""

_BUCKET = rf"(?P<bucket>(?:{ATOM}|[^/])+)"
_SHORTEST_BUCKET = rf"(?P<bucket>(?:{ATOM}|[^/])+?)"
_HOST = rf"(?:{ATOM}|[^/])+"
# A whole bucket needs no slash after it, for example as the folder of answers.
_KEY = r"(?:/(?P<key>.*))?"
_FORMS = tuple(
    map(
        re.compile,
        (
            rf"s3://(?P<path>(?:{ATOM}|[^/])*{TOKEN})",
            rf"s3://{_BUCKET}/?(?P<key>.*)",
            rf"https://{_SHORTEST_BUCKET}\.s3[.-]{_HOST}{_KEY}",
            rf"https://s3[.-]{_HOST}/{_BUCKET}/?(?P<key>.*)",
            rf"https://(?P<host>{TOKEN}){_KEY}",
            rf"(?P<url>{TOKEN})(?P<key>.*)",
        ),
    )
)
_ASSET_KEY = re.compile(r"[0-9a-f]{64}\.gz")


class S3Url(msgspec.Struct, frozen=True):
    """The parts of an S3 URL. If one token stands for several parts, one of ``path``, ``host`` and ``url`` is
    set instead of ``bucket``.
    """

    key: str = ""
    """Key or prefix; with ``url``, the text after that token."""
    bucket: str | None = None
    path: str | None = None
    """A text that ends with a token, which may contain both bucket and key."""
    host: str | None = None
    """A token for the bucket's own host."""
    url: str | None = None
    """A token for a whole URL, or for its beginning."""


def s3_url(text: str) -> S3Url | None:
    """The parts of an S3 URL; None if the text does not show them."""
    for form in _FORMS:
        if (found := form.fullmatch(text)) is not None:
            return S3Url(**found.groupdict(""))
    return S3Url(bucket=text) if awaits_look_up(text) else None


def is_open(url: str) -> bool:
    """Whether only the deployment knows how a URL ends, such as whether in a slash."""
    return is_opaque(url) and re.search(rf"{ATOM}\Z", url) is not None


def has_key(url: str) -> bool:
    """Whether a URL names more than a bucket."""
    return bool(url.partition("://")[2].partition("/")[2].strip("/"))


def is_no_archive(url: str) -> bool:
    """Whether a URL names something other than a `.tar.gz`; a bucket alone does not say it."""
    return not (url.endswith(ARCHIVE_SUFFIX) or _is_asset(url)) and has_key(url)


def _is_asset(url: str) -> bool:
    """Whether the key is one that CDK gives an archive as an asset; it keeps only the `.gz` of `.tar.gz`."""
    return _ASSET_KEY.fullmatch(url.rpartition("/")[2]) is not None


# ---------------------------------------------------------------- with a digest
#
# An upload gets a URL with a digest, so that different content has a different URL:
#
#   s3://bucket/one/model.tar.gz -> s3://bucket/one/model-sha256-0123456789abcdef.tar.gz
#   s3://bucket/many/            -> s3://bucket/many/sha256-0123456789abcdef/
#
# Under the prefix of a multi-model endpoint, each set of archives gets its own folder: their names, which
# clients send as `TargetModel`, stay the same, and no version sees the archives of another.

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
