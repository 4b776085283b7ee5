"""AWS's public price list, which takes neither an account nor boto3.

https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api-fetching-price-list-files-manually.html
"""

from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin
from urllib.request import urlopen

import msgspec

from inferstack.account.connection import AccountError
from inferstack.catalog import regions

_AWS = "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws"
# The list of `aws` has the regions of GovCloud, too.
_LISTS = {
    "aws": _AWS,
    "aws-us-gov": _AWS,
    "aws-cn": "https://pricing.cn-north-1.amazonaws.com.cn/offers/v1.0/cn",
}
_SERVICE = "AmazonSageMaker"
# All regions together had some 70 MB in 2026.
_MOST_BYTES = 512 * 1024 * 1024
_SECONDS = 60
_BY_HAND = "use `--offer` with a price list that you have"


class _Region(msgspec.Struct, frozen=True, rename="camel"):
    current_version_url: str


class _RegionIndex(msgspec.Struct, frozen=True):
    regions: dict[str, _Region]


def price_list(region: str) -> tuple[bytes, str]:
    """The current offer file of SageMaker in a region, and its URL.

    Raises:
        AccountError: when the list cannot be read or does not have the region.
    """
    partition = regions.partition(region)
    if partition not in _LISTS:
        known = f"the partition {partition} of {region} has no public price list that is known"
        raise AccountError(f"{known}; {_BY_HAND}")
    index = f"{_LISTS[partition]}/{_SERVICE}/current/region_index.json"
    try:
        files = msgspec.json.decode(_fetched(index), type=_RegionIndex).regions
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        # Such as the page of a proxy that wants a password.
        raise AccountError(f"{index} is no list of regions: {error}; {_BY_HAND}") from None
    if region not in files:
        raise AccountError(f"the price list has no prices for {region}; check the region's name")
    url = urljoin(index, files[region].current_version_url)
    if not url.startswith(urljoin(index, "/offers/")):
        raise AccountError(f"{index} names {url} for {region}, which is not from AWS; {_BY_HAND}")
    return _fetched(url), url


def _fetched(url: str) -> bytes:
    try:
        with urlopen(url, timeout=_SECONDS) as answer:
            content: bytes = answer.read(_MOST_BYTES + 1)
    except HTTPError as error:
        raise AccountError(f"{url} answers {error.code} {error.reason}; try again, or {_BY_HAND}") from None
    except (OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        helps = "check the network, HTTPS_PROXY, and for a certificate of your own SSL_CERT_FILE"
        raise AccountError(f"{url} cannot be read: {reason}; {helps}, or {_BY_HAND}") from None
    if len(content) > _MOST_BYTES:
        raise AccountError(f"{url} has more than {_MOST_BYTES >> 20} MiB; {_BY_HAND}")
    return content
