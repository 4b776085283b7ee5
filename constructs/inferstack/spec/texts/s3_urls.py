"""What an S3 URL says about bucket and key, even if parts of it are only known at deployment.

It knows every form of https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html, and tokens
that stand for a whole URL (a parameter, an SSM value, an import) or for its host (``RegionalDomainName``).
"""

import re
from functools import lru_cache

import msgspec

from inferstack.spec.texts.file_names import ARCHIVE_SUFFIX
from inferstack.spec.texts.placeholders import ATOM, TOKEN, awaits_look_up, is_opaque

_BUCKET = rf"(?P<bucket>(?:{ATOM}|[^/])+)"
_SHORTEST_BUCKET = rf"(?P<bucket>(?:{ATOM}|[^/])+?)"
_HOST = rf"(?:{ATOM}|[^/])+"
# A bucket as a whole needs no slash behind it, as the folder of answers.
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


# Asked twice: by a rule for each URL, and for the role's rights to the files.
@lru_cache(maxsize=64)
def s3_url(text: str) -> S3Url | None:
    """The parts of an S3 URL; None if the text does not show them."""
    for form in _FORMS:
        if (found := form.fullmatch(text)) is not None:
            return S3Url(**found.groupdict(""))
    return S3Url(bucket=text) if awaits_look_up(text) else None


def is_open(url: str) -> bool:
    """Whether only the deployment knows how a URL ends, for example whether in a slash."""
    return is_opaque(url) and re.search(rf"{ATOM}\Z", url) is not None


def has_key(url: str) -> bool:
    """Whether a URL names more than a bucket."""
    return bool(url.partition("://")[2].partition("/")[2].strip("/"))


def is_no_archive(url: str) -> bool:
    """Whether a URL names something other than a `.tar.gz`; a bucket alone does not tell."""
    return not (url.endswith(ARCHIVE_SUFFIX) or _is_asset(url)) and has_key(url)


def _is_asset(url: str) -> bool:
    """Whether the key is one that CDK gives an archive as an asset; it keeps only the `.gz` of `.tar.gz`."""
    return _ASSET_KEY.fullmatch(url.rpartition("/")[2]) is not None
