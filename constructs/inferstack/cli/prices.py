"""``inferstack prices``: a region's prices of instances, in a small file to commit."""

import argparse
import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from inferstack.account.connection import AccountError
from inferstack.account.price_list import price_list
from inferstack.cli.arguments import region_name
from inferstack.cli.terminal import Refusal, tell
from inferstack.problems import printable
from inferstack.problems.words import counted
from inferstack.sizing.offers import Offer, offer_of
from inferstack.sizing.prices import PRICE, PRICE_FILE, PriceFile, RegionPrices, read_price_file, written
from inferstack.source.whole_files import complete_or_absent

_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument(
        "action", choices=("update",), help="read AWS's public price list, and write the file"
    )
    region = "the region, such as us-east-1"
    parser.add_argument("--region", type=region_name, required=True, metavar="REGION", help=region)
    source = "read this file of the public price list instead of the current one"
    parser.add_argument("--offer", type=Path, metavar="FILE", help=source)
    factor = "multiply all prices of the region by this, for a savings plan; stays until another is given"
    parser.add_argument("--price-factor", type=_factor, metavar="FACTOR", help=factor)
    parser.add_argument("--out", type=Path, default=Path(PRICE_FILE), metavar="FILE", help=f"({PRICE_FILE})")


def _factor(text: str) -> str:
    if not re.fullmatch(PRICE, text) or not 0 < Decimal(text) <= 1:
        raise argparse.ArgumentTypeError("must be above 0 and at most 1, such as 0.64")
    return text


def run(options: argparse.Namespace) -> int:
    """Write what an hour of each instance type costs in a region.

    Other regions in the file stay. What is left out, such as prices by quantity, is reported.
    """
    before = read_price_file(options.out) if options.out.is_file() else PriceFile({})
    offer, source = _offer(options)
    if not offer.hosting:
        _say(offer)
        raise Refusal(f"the price list has no hosting prices for {options.region}; check the region's name")
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    factor, known = options.price_factor, before.regions.get(options.region)
    if factor is None and known is not None:
        factor = known.factor
    prices = RegionPrices(
        currency=offer.currency,
        read=today,
        source=source,
        hosting=offer.hosting,
        factor=factor,
        without_price=offer.without_price,
    )
    with complete_or_absent(options.out) as file:
        file.write(written(before.with_region(options.region, prices)).encode())
    _say(offer)
    count = counted(len(offer.hosting), "instance type")
    times = "" if factor is None else f", times {factor}"
    tell(f"{options.out}: {count} in {options.region}, in {offer.currency}{times}; commit the file")
    return 0


def _offer(options: argparse.Namespace) -> tuple[Offer, str]:
    source = str(options.offer)
    try:
        if options.offer is None:
            content, source = price_list(options.region)
        else:
            content, source = options.offer.read_bytes(), options.offer.name
        return offer_of(content, options.region), source
    except AccountError as error:
        raise Refusal(str(error)) from None
    except ValueError as error:
        raise Refusal(f"{source}: this is not a price list: {error}") from None


def _say(offer: Offer) -> None:
    for it in offer.left_out[:_SHOWN]:
        tell(printable(f"left out: {it}"))
    if len(offer.left_out) > _SHOWN:
        tell(f"left out: {len(offer.left_out) - _SHOWN} more")
