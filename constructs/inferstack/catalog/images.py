"""Where container images are stored, and the URIs of AWS's own inference containers.

Framework names are the SageMaker Python SDK's; ``triton`` also stands for its ``sagemaker-tritonserver``.
https://docs.aws.amazon.com/sagemaker/latest/dg-ecr-paths/sagemaker-algo-docker-registry-paths.html
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

import msgspec

from inferstack.catalog import document, regions as aws_regions
from inferstack.catalog.cloudformation import REFERENCE

# ---------------------------------------------------------------- any image, by its URI

# Host names of Amazon ECR: the usual ones, FIPS endpoints, and dual-stack (IPv4 and IPv6) ones (dkr-ecr).
# https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-requests.html
_HOST = r"\.dkr[.-]ecr(?:-fips)?\."
# Placeholders, which only the deployment fills in, may contain dots, colons and slashes of their own.
_HELD = rf"\$\{{[^{{}}]*\}}|{REFERENCE}"
_ACCOUNT = rf"[0-9]{{12}}|[^./{{}}]*(?:{_HELD})(?:{_HELD}|[^./{{}}])*"
_ECR = re.compile(
    rf"(?P<account>{_ACCOUNT}){_HOST}(?P<region>(?:{_HELD}|[^./{{}}])+)\.(?:{_HELD}|[^/{{}}])+/"
    rf"(?P<repository>(?:{_HELD}|[^:@{{}}])+)(?:[:@].*)?"
)
_REGION = re.compile(rf"{_HOST}(?P<region>[a-z0-9-]+)\.")
# In a text of `Fn::Sub`, or in the list of `Fn::Join`.
_OF_ANY_REGION = re.compile(r'\.dkr\.ecr\.(?:\$\{AWS::Region\}|", ?\{"Ref": ?"AWS::Region"\})')


class EcrImage(msgspec.Struct, frozen=True):
    """An image in Amazon ECR. Parts that only the deployment knows are ``${AWS::…}``, tokens or dynamic
    references."""

    account: str
    region: str
    repository: str


# Half a dozen rules ask about the same URI.
@lru_cache(maxsize=64)
def ecr_image(uri: str) -> EcrImage | None:
    """The parts of the URI of an image in Amazon ECR; None for an image in any other registry."""
    found = _ECR.fullmatch(uri)
    return None if found is None else EcrImage(**found.groupdict())


def is_ecr_without_account(uri: str) -> bool:
    """Whether a URI looks like an image in Amazon ECR, but does not begin with an account."""
    found = _REGION.search(uri.partition("/")[0])
    return found is not None and re.fullmatch("[0-9]{12}", uri[: found.start()]) is None


def region_of_images(text: str) -> str | None:
    """The region of the first Amazon ECR image in a text, if it is written out."""
    found = _REGION.search(text)
    return None if found is None else found["region"]


def is_of_any_region(text: str) -> bool:
    """Whether a template, as JSON text, takes an Amazon ECR image from the region that it is deployed to."""
    return _OF_ANY_REGION.search(text) is not None


def name_in_registry(uri: str) -> str:
    """Repository and tag; the registry's name says nothing about what runs in an image."""
    return uri.split("/", 1)[-1]


# ---------------------------------------------------------------- AWS's own images

SERVERLESS = "serverless"
"""Used instead of an instance type for a serverless endpoint, which has CPUs only."""
_ALIASES = {"sagemaker-tritonserver": "triton"}
# Graviton: c7g, m6gd, c6gn, g5g. Not g5 or g4dn, where the g is the family, not the processor.
_ARM64_FAMILY = re.compile(r"[a-z]+\d+g[a-z]*")


class UnknownImage(LookupError):  # noqa: N818 - says what it is about; the product's errors are Problems
    """There is no such image; ``allowed`` lists what could replace the wrong word."""

    def __init__(self, message: str, allowed: Iterable[str]) -> None:
        super().__init__(message)
        self.message = message
        self.allowed = tuple(allowed)


class NoBuild(UnknownImage):
    """The image exists, but only for other processors; ``allowed`` has the table's names for them."""


class PublishedImage(msgspec.Struct, frozen=True):
    """One container image: ``repository``, ``tag``, and the account that has it in each region."""

    repository: str
    tag: str
    registries: Mapping[str, str]

    def uri(self, region: str) -> str:
        """The image's URI in a region; UnknownImage if it has not been published there."""
        if region not in self.registries:
            message = f"{self.repository}:{self.tag} has not been published in {region}"
            raise UnknownImage(message, sorted(self.registries))
        host = f"{self.registries[region]}.dkr.ecr.{region}.{aws_regions.dns_suffix(region)}"
        return f"{host}/{self.repository}:{self.tag}"


def frameworks() -> tuple[str, ...]:
    """Names of the frameworks and algorithms with images for inference, sorted."""
    return tuple(_frameworks())


def spellings(framework: str) -> frozenset[str]:
    """All names that a spec may use for a framework."""
    return frozenset({framework, *(name for name, alias in _ALIASES.items() if framework in (name, alias))})


def in_repository(repository: str, version: str) -> tuple[str, ...]:
    """The frameworks with images in an ECR repository: those that have the version, else all of them."""
    found = [name for name in frameworks() if repository in _repositories(name)]
    return tuple(name for name in found if version in versions(name)) or tuple(found)


def _repositories(framework: str) -> frozenset[str]:
    of_versions = (rows for line in _lines(framework).values() for rows in line["versions"].values())
    return frozenset(row["repository"] for rows in of_versions for row in rows)


def versions(framework: str) -> tuple[str, ...]:
    """Versions of a framework, oldest first, then the short names of some (``1.13`` for ``1.13.1``)."""
    lines = _lines(framework).values()
    full = {version for line in lines for version in line["versions"]}
    short = {alias for line in lines for alias in line["aliases"]} - full
    return (*sorted(full, key=_natural), *sorted(short, key=_natural))


@lru_cache(maxsize=256)
def find(
    framework: str,
    version: str,
    instance_type: str | None = None,
    *,
    py_version: str | None = None,
    base_framework_version: str | None = None,
) -> PublishedImage:
    """The image for an instance type or ``SERVERLESS``; for None, the one for CPUs, or the only one.

    ``py_version`` (``py310``) and, for Hugging Face, ``base_framework_version`` (``pytorch2.1.0``) are
    only needed if a version exists in several flavours. UnknownImage says which word is wrong.
    """
    line = _line(framework, instance_type)
    rows = _rows(framework, version, line)
    rows = _narrowed(rows, "base_framework_version", base_framework_version, f"{framework} {version}")
    row = _narrowed(rows, "py_version", py_version, f"{framework} {version}")[0]
    tag = _tag(row["tags"], instance_type, f"{framework} {version}")
    base = row.get("base", "") if base_framework_version is None else base_framework_version
    return PublishedImage(
        repository=row["repository"],
        tag=tag.format(version=version, base=base.lstrip("abcdefghijklmnopqrstuvwxyz")),
        registries=document("images.json")["registries"][row["registries"]],
    )


def ignores_python(framework: str, version: str) -> bool:
    """Whether there is this version, with no build of it for any version of Python."""
    found = [rows for line in _lines(framework).values() if (rows := _of_version(line, version))]
    return bool(found) and not any("py" in row for rows in found for row in rows)


def architecture(instance_type: str) -> str:
    """The architecture of an instance type's processors, as the catalog calls it: arm64 means Graviton."""
    return "arm64" if _ARM64_FAMILY.fullmatch(_family(instance_type)) else "x86_64"


def in_words(architecture: str) -> str:
    """An architecture as people call it."""
    return {"x86_64": "x86", "arm64": "Arm"}.get(architecture, architecture)


def architectures(uri: str) -> frozenset[str]:
    """The architectures that AWS builds an image for, by its tag or else by its repository; empty if it is
    not AWS's.
    """
    image = ecr_image(uri)
    if image is None or not is_in_aws_registry(uri):
        return frozenset()
    known = _architectures()
    tagged = f"{image.repository}:{uri.partition('@')[0].rpartition(':')[2]}"
    return known.get(tagged) or known.get(image.repository, frozenset())


def is_in_aws_registry(uri: str) -> bool:
    """Whether an image with this URI is published by AWS itself."""
    image = ecr_image(uri)
    return image is not None and image.account in _accounts()


def accounts_in(region: str, repository: str | None = None) -> frozenset[str]:
    """The accounts that AWS publishes images from in a region: all, or those known to have a repository."""
    registries: Mapping[str, Mapping[str, str]] = document("images.json")["registries"]
    names = registries if repository is None else registries_with(repository)
    return frozenset(registries[name][region] for name in names if region in registries[name])


def registries_with(repository: str) -> frozenset[str]:
    """The sets of registries that are known to have a repository; empty for one that is not known."""
    return _registries().get(repository, frozenset())


def repositories_of(account: str) -> frozenset[str]:
    """The repositories that one of AWS's accounts is known to have, in whichever region."""
    registries: Mapping[str, Mapping[str, str]] = document("images.json")["registries"]
    found = {name for name, regions in registries.items() if account in regions.values()}
    return frozenset(repository for repository, sets in _registries().items() if not found.isdisjoint(sets))


@cache
def _registries() -> Mapping[str, frozenset[str]]:
    """The sets of registries that each repository is in; some have moved between versions."""
    found: dict[str, frozenset[str]] = {}
    lines = (line for lines in _frameworks().values() for line in lines.values())
    for row in (row for line in lines for rows in line["versions"].values() for row in rows):
        found[row["repository"]] = found.get(row["repository"], frozenset()) | {row["registries"]}
    return found


@cache
def _accounts() -> frozenset[str]:
    registries: Mapping[str, Mapping[str, str]] = document("images.json")["registries"]
    return frozenset(account for accounts in registries.values() for account in accounts.values())


@cache
def _architectures() -> Mapping[str, frozenset[str]]:
    """By repository, and by repository and tag: XGBoost and scikit-learn have both architectures in one."""
    found: dict[str, frozenset[str]] = {}
    for lines in _frameworks().values():
        for built_for, line in lines.items():
            for version, row in ((it, row) for it, rows in line["versions"].items() for row in rows):
                tags = (tag.replace("{version}", version) for tag in row["tags"].values())
                for name in (row["repository"], *(f"{row['repository']}:{tag}" for tag in tags)):
                    found[name] = found.get(name, frozenset()) | {built_for}
    return found


def _frameworks() -> Mapping[str, Any]:
    found: Mapping[str, Any] = document("images.json")["frameworks"]
    return found


def _lines(framework: str) -> Mapping[str, Mapping[str, Any]]:
    found = _frameworks().get(_ALIASES.get(framework, framework))
    if found is None:
        raise UnknownImage(f"{framework!r} is not a framework with images for inference", frameworks())
    lines: Mapping[str, Mapping[str, Any]] = found
    return lines


def _line(framework: str, instance_type: str | None) -> Mapping[str, Any]:
    lines = _lines(framework)
    if instance_type in (None, SERVERLESS) and len(lines) == 1:
        return next(iter(lines.values()))
    wanted = "x86_64"
    if instance_type is not None and instance_type != SERVERLESS:
        wanted = architecture(instance_type)
    if wanted not in lines:
        message = f"{framework} has no image for {in_words(wanted)} CPUs, which {instance_type} has"
        raise NoBuild(message, sorted(lines))
    return lines[wanted]


def _rows(framework: str, version: str, line: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = _of_version(line, version)
    elsewhere = [built_for for built_for, it in _lines(framework).items() if _of_version(it, version)]
    if found is None and elsewhere:
        here = next(built_for for built_for, it in _lines(framework).items() if it is line)
        raise NoBuild(f"{framework} {version} has no image for {in_words(here)} CPUs", elsewhere)
    if found is None:
        known = sorted({*line["versions"], *line["aliases"]}, key=_natural, reverse=True)
        raise UnknownImage(f"{framework} has no version {version!r}", known)
    return list(found)


def _of_version(line: Mapping[str, Any], version: str) -> list[Mapping[str, Any]] | None:
    found: list[Mapping[str, Any]] | None = line["versions"].get(line["aliases"].get(version, version))
    return found


_COLUMNS = {"py_version": "py", "base_framework_version": "base"}


def _narrowed(
    rows: list[Mapping[str, Any]], argument: str, wanted: str | None, image: str
) -> list[Mapping[str, Any]]:
    """Rows whose ``argument`` is as wanted; with None, there must be at most one value to choose from."""
    column = _COLUMNS[argument]
    known = {row[column]: (row[column], *row.get(f"{column}_aliases", ())) for row in rows if column in row}
    # Like AWS's SDK: a version of Python says nothing where no build is made for one.
    ignored = not known and argument == "py_version"
    if ignored or (wanted is None and len(known) <= 1):
        return rows
    if wanted is None:
        raise UnknownImage(f"{image} exists in several flavours: {argument} must say which", sorted(known))
    matching = [row for row in rows if wanted in known.get(row.get(column, ""), ())]
    if not matching:
        raise UnknownImage(f"{image} has no {argument} {wanted!r}", sorted(known))
    return matching


def _tag(tags: Mapping[str, str], instance_type: str | None, image: str) -> str:
    for processor in _processors(instance_type):
        if processor in tags:
            return tags[processor]
    if instance_type is None and len(tags) == 1:
        return next(iter(tags.values()))
    here = "a serverless endpoint" if instance_type == SERVERLESS else instance_type
    there = " and ".join(_IN_WORDS[processor] for processor in tags)
    raise NoBuild(f"{image} has no image for {here}, only for {there}", tags)


# The table's names for processors. AWS Inferentia and Trainium run what the Neuron SDK compiles.
_IN_WORDS = {
    "cpu": "CPUs",
    "gpu": "GPUs",
    "inf": "Inferentia",
    "inf1": "Inferentia",
    "inf2": "Inferentia2",
    "neuronx": "Inferentia2 and Trainium",
}


def _processors(instance_type: str | None) -> tuple[str, ...]:
    """What the table may call an instance type's processor: the closest name first, an empty one last."""
    if instance_type in (None, SERVERLESS):
        return ("cpu", "")
    family = _family(str(instance_type))
    match family[:3]:
        case "inf" if family == "inf1":
            return (family, "inf", "")
        case "inf" | "trn" as kind:
            return (family, kind, "neuronx", "")
    return (family, "gpu" if family[:1] in ("g", "p") else "cpu", "")


def _family(instance_type: str) -> str:
    return instance_type.removeprefix("ml.").partition(".")[0]


def _natural(version: str) -> tuple[tuple[bool, int, str], ...]:
    """Sorts 1.9 before 1.10, and numbers before words."""
    pieces = re.findall(r"\d+|\D+", version)
    return tuple((not piece.isdigit(), int(piece) if piece.isdigit() else 0, piece) for piece in pieces)
