"""Where a container image is stored, according to its URI."""

import re
from functools import lru_cache

import msgspec

from inferstack.catalog.dynamic_references import REFERENCE

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
    """Whether a URI looks as if its image were in Amazon ECR, but what is before that is no account."""
    found = _REGION.search(uri.partition("/")[0])
    return found is not None and re.fullmatch("[0-9]{12}", uri[: found.start()]) is None


def region_of_images(text: str) -> str | None:
    """The region of the first Amazon ECR image in a text, if the region is written out."""
    found = _REGION.search(text)
    return None if found is None else found["region"]


def name_in_registry(uri: str) -> str:
    """Repository and tag, without the registry, whose name says nothing about what runs in an image."""
    return uri.split("/", 1)[-1]
