"""How files, S3 objects, keys and alarm actions are addressed: file names, URLs and ARNs."""

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from inferstack.texts.placeholders import ATOM, TOKEN, awaits_look_up, is_opaque

# ----------------------------------------------------------------
# Names of files: their suffixes, and how names are shown.


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


# ----------------------------------------------------------------
# What an S3 URL says about bucket and key, even if parts of it are only known at deployment.
#
# It knows every form of https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html, and
# tokens that stand for a whole URL (a parameter, an SSM value, an import) or for its host
# (``RegionalDomainName``).


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


# ----------------------------------------------------------------
# URLs that contain a digest, so that different content has a different URL.
#
# s3://bucket/one/model.tar.gz -> s3://bucket/one/model-sha256-0123456789abcdef.tar.gz s3://bucket/many/ ->
# s3://bucket/many/sha256-0123456789abcdef/
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


# ----------------------------------------------------------------
# What an alarm can notify or trigger, by the ARN that names it.
#
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html


_PLACE = r"[a-z0-9\-]+:[0-9]{12}"
_OPSITEM = r"opsitem:[1-4](#CATEGORY=(Availability|Cost|Performance|Recovery|Security))?"


class ActionKind(NamedTuple):
    """One kind of action: what its ARN names, the ARN after the partition, and when the action can happen."""

    what: str
    form: str
    only_when_it_goes_off: bool = False


ACTION_KINDS = {
    "sns": ActionKind("topic", rf"sns:{_PLACE}:[A-Za-z0-9_.\-]+"),
    # The function itself (its latest version), another version, or an alias.
    "lambda": ActionKind("function", rf"lambda:{_PLACE}:function:[A-Za-z0-9_\-]+(:[A-Za-z0-9_$\-]+)?"),
    # https://docs.aws.amazon.com/systems-manager/latest/userguide/OpsCenter-configuring-an-existing-alarm-programmatically.html
    "ssm": ActionKind("OpsItem", rf"ssm:{_PLACE}:{_OPSITEM}", True),
    # CloudWatch's page and Incident Manager's own ARNs spell it differently; likewise for the next one.
    "ssm-incidents": ActionKind(
        "response plan", r"ssm-incidents::[0-9]{12}:response-?plan/[A-Za-z0-9_\-]+", True
    ),
    "aiops": ActionKind(
        "investigation group", rf"aiops:{_PLACE}:investigation-group[:/][A-Za-z0-9\-]+", True
    ),
    # A policy of an EC2 Auto Scaling group, or of a target of Application Auto Scaling.
    "autoscaling": ActionKind(
        "scaling policy",
        rf"autoscaling:{_PLACE}:scalingPolicy:[^:]+:(autoScalingGroupName|resource)/[^:]+:policyName/.+",
    ),
}
"""By the service in the ARN. Actions on EC2 instances are left out, as they need a metric of the instance."""

ALARM_ACTION = rf"^arn:aws[a-z\-]*:({'|'.join(kind.form for kind in ACTION_KINDS.values())})$"


# ----------------------------------------------------------------
# How a KMS key can be named: by its ID, its ARN, an alias, or the alias's ARN.
#
# https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html#key-id


_ALIAS = "alias/[A-Za-z0-9/_-]+"
KMS_KEY = rf"(arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{{12}}:(key/[A-Za-z0-9-]+|{_ALIAS})|[A-Za-z0-9-]+|{_ALIAS})"
"""A pattern for all four, to match a whole text."""
