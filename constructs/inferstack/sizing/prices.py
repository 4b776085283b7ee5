"""Prices of instances per hour, from a file next to the specs; nothing is built in.

``inferstack prices update`` writes the file. Its prices are text, so that no digit is lost, and each region
says when and where they were read.
"""

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from inferstack.endpoint.cost import NO_PRICES, Prices
from inferstack.problems import FilePlace, Problem, SpecError
from inferstack.problems.file_codes import UNREADABLE_PRICES
from inferstack.source.other_files import read_text

PRICE_FILE = "inferstack-prices.json"
"""The price file, in the working directory unless a command names another one."""
HOW_TO_GET_PRICES = f"`inferstack prices update --region REGION` writes {PRICE_FILE}"

PRICE, CURRENCY = r"[0-9]{1,9}(\.[0-9]{1,12})?", "[A-Z]{3}"
"""What a price and a currency look like."""
Price = Annotated[str, Meta(pattern=f"^{PRICE}$")]
Currency = Annotated[str, Meta(pattern=f"^{CURRENCY}$")]
Date = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class RegionPrices(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """On-demand prices of hosting in one region, per hour, by instance type."""

    currency: Currency
    read: Date
    source: str
    hosting: dict[str, Price]
    factor: Price | None = None
    """What all prices are multiplied by, such as 0.64 with a savings plan."""
    without_price: tuple[str, ...] | None = None
    """Types that the region has, too, but without a clear price. None if the region may have others, as in a
    file that was written by hand.
    """

    def named(self, region: str) -> Prices:
        """The prices, with a word on where they come from."""
        factor = Decimal(1 if self.factor is None else self.factor)
        per_hour = {name: Decimal(price) * factor for name, price in self.hosting.items()}
        times = "" if self.factor is None else f", times {self.factor}"
        return Prices(per_hour, self.currency, f"{region}, read on {self.read} from {self.source}{times}")


class PriceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Prices by region."""

    regions: dict[str, RegionPrices]

    def of(self, region: str | None) -> "Prices":
        """The prices of a region; none if the file does not have it, or the region is not known."""
        found = self.regions.get(region or "")
        return NO_PRICES if found is None or region is None else found.named(region)

    def with_region(self, region: str, prices: RegionPrices) -> "PriceFile":
        """The file with the prices of a region in place of any that it had."""
        return PriceFile(dict(sorted({**self.regions, region: prices}.items())))


def read_price_file(path: Path) -> PriceFile:
    """Reads a price file.

    Raises:
        SpecError: when it is not one, or cannot be read.
    """

    def stop(message: str, fix: str) -> SpecError:
        return SpecError([Problem(FilePlace(path.as_posix()), message, fix, UNREADABLE_PRICES)])

    text = read_text(path, stop, wanted=f"a price file: {HOW_TO_GET_PRICES}", if_large=HOW_TO_GET_PRICES)
    try:
        return msgspec.json.decode(text, type=PriceFile)
    except msgspec.MsgspecError as error:
        raise stop(f"this is not a price file: {error}", HOW_TO_GET_PRICES) from None


def prices_for(region: str | None, path: Path | None) -> Prices:
    """The prices of a region from a file; without ``path`` from the usual one, if there is any.

    Raises:
        SpecError: when the file cannot be used.
    """
    usual = Path(PRICE_FILE)
    if path is None and not usual.is_file():
        return NO_PRICES
    return read_price_file(usual if path is None else path).of(region)


def written(prices: PriceFile) -> str:
    """The text of a price file: one line for each price, sorted, so that a diff shows what has changed."""
    return msgspec.json.format(msgspec.json.encode(prices, order="sorted"), indent=1).decode() + "\n"
