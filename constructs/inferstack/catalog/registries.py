"""Where a container image lies, as its URI says."""

import re
from functools import lru_cache

import msgspec

from inferstack.catalog.dynamic_references import REFERENCE

# Amazon ECR as it is called everywhere, in FIPS regions, and where it has addresses of both kinds (dkr-ecr).
# https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-requests.html
_HOST = r"\.dkr[.-]ecr(?:-fips)?\."
# What only the deployment knows has dots, colons and slashes of its own.
_HELD = rf"\$\{{[^{{}}]*\}}|{REFERENCE}"
_ECR = re.compile(
    rf"(?P<account>(?:{_HELD}|[^./{{}}])+){_HOST}(?P<region>(?:{_HELD}|[^./{{}}])+)\.(?:{_HELD}|[^/{{}}])+/"
    rf"(?P<repository>(?:{_HELD}|[^:@{{}}])+)(?:[:@].*)?"
)
_REGION = re.compile(rf"{_HOST}(?P<region>[a-z0-9-]+)\.")


class EcrImage(msgspec.Struct, frozen=True):
    """An image in Amazon ECR. What only the deployment knows stands as ``${AWS::…}``, as a token or
    as a dynamic reference."""

    account: str
    region: str
    repository: str


# Half a dozen rules ask for the same one.
@lru_cache(maxsize=64)
def ecr_image(uri: str) -> EcrImage | None:
    """What the URI of an image in Amazon ECR says; None for an image of any other registry."""
    found = _ECR.fullmatch(uri)
    return None if found is None else EcrImage(**found.groupdict())


def region_of_images(text: str) -> str | None:
    """The region of the first image in Amazon ECR that a text names, where it is plain."""
    found = _REGION.search(text)
    return None if found is None else found["region"]


def name_in_registry(uri: str) -> str:
    """Repository and tag: the registry's own name says nothing of what runs in an image."""
    return uri.split("/", 1)[-1]
