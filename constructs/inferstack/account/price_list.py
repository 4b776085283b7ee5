"""AWS's price list, asked for the prices of hosting in one region.

It takes ``pricing:GetProducts``, which knows no resource.
https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html
"""

from collections.abc import Iterator

from inferstack.account.connection import AccountError, Connection, explained
from inferstack.sizing.offers import Line, from_products

_SERVICE = "AmazonSageMaker"
_SERVED_FROM = {"aws": "us-east-1", "aws-cn": "cn-northwest-1"}
"""By partition, a region that has the price list; it is the same in all of them."""
_RIGHTS = "reading prices needs pricing:GetProducts"
_FILTERS = {"productFamily": "ML Instance", "component": "Hosting"}


def price_list(connection: Connection, region: str) -> Iterator[Line]:
    """The lines of the price list for hosting in a region.

    Raises:
        AccountError: when the list cannot be read, or the region's partition has none.
    """
    partition = connection.session.get_partition_for_region(region)
    if partition not in _SERVED_FROM:
        fix = "write the price file by hand, or use `--offer` with a price list from there"
        raise AccountError(f"the partition {partition} of {region} has no price list; {fix}")
    with explained("the price list cannot be read", rights=_RIGHTS):
        pages = connection.pricing(_SERVED_FROM[partition]).get_paginator("get_products")
        wanted = {**_FILTERS, "regionCode": region}
        filters = [{"Type": "TERM_MATCH", "Field": name, "Value": it} for name, it in wanted.items()]
        for page in pages.paginate(ServiceCode=_SERVICE, FormatVersion="aws_v1", Filters=filters):
            try:
                lines = [*from_products(page.get("PriceList", ()))]
            except ValueError as error:
                raise AccountError(
                    f"the price list cannot be read: {error}; read the file of the public one with `--offer`"
                ) from None
            yield from lines
