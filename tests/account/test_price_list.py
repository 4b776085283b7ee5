"""Where the price list is read, and what is said when it cannot be had."""

import socket

import pytest
from support.price_list import INDEX, OFFERS, region_index, serving

from inferstack.account import price_list as module
from inferstack.account.connection import AccountError
from inferstack.account.price_list import price_list

FILE = f"{OFFERS}/20261007160901/eu-west-1/index.json"
WITH_IRELAND = region_index(eu_west_1=FILE)


def _read(monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes | int]) -> tuple[bytes, str]:
    with serving(files) as url:
        monkeypatch.setattr(module, "_LISTS", {"aws": f"{url}/offers/v1.0/aws"})
        content, source = price_list("eu-west-1")
        return content, source.removeprefix(url)


def test_the_file_is_the_one_that_the_index_of_regions_names(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _read(monkeypatch, {INDEX: WITH_IRELAND, FILE: b"{}"}) == (b"{}", FILE)


@pytest.mark.parametrize(
    ("region", "url"),
    [
        ("eu-west-1", f"https://pricing.us-east-1.amazonaws.com{INDEX}"),
        ("us-gov-west-1", f"https://pricing.us-east-1.amazonaws.com{INDEX}"),
        ("cn-north-1", f"https://pricing.cn-north-1.amazonaws.com.cn{INDEX.replace('/aws/', '/cn/')}"),
    ],
)
def test_each_partition_has_its_list(region: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetched(url: str) -> bytes:
        asked.append(url)
        return region_index()

    monkeypatch.setattr(module, "_fetched", fetched)
    with pytest.raises(AccountError, match=f"^the price list has no prices for {region}; check the region"):
        price_list(region)
    assert asked == [url]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, r"region_index\.json answers 404 Not Found; try again, or use `--offer`"),
        ({INDEX: 407}, r"region_index\.json answers 407 Proxy Authentication Required; try again, or use"),
        ({INDEX: b"<html>Log in</html>"}, r"region_index\.json is no list of regions: JSON is malformed"),
        ({INDEX: b"\xff"}, r"region_index\.json is no list of regions: "),
        ({INDEX: b"[" * 100_000}, r"region_index\.json is no list of regions: "),
        ({INDEX: b'{"regions": {"eu-west-1": {}}}'}, "is no list of regions: Object missing required field"),
        ({INDEX: region_index(us_east_1=FILE)}, "^the price list has no prices for eu-west-1; check the"),
        ({INDEX: region_index(eu_west_1="//example.com/offers/x")}, "names http://example.com/offers/x for"),
        ({INDEX: region_index(eu_west_1="file:///etc/passwd")}, "names file:///etc/passwd for eu-west-1"),
        ({INDEX: WITH_IRELAND, FILE: 503}, r"eu-west-1/index\.json answers 503 Service Unavailable"),
        ({INDEX: WITH_IRELAND, FILE: b"x" * 200_001}, r"eu-west-1/index\.json has more than 0 MiB; use"),
    ],
)
def test_what_keeps_the_list_away_is_said_with_a_way_out(
    files: dict[str, bytes | int], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_BYTES", 200_000)
    with pytest.raises(AccountError, match=said):
        _read(monkeypatch, files)


def test_a_network_that_does_not_answer_is_named_with_what_to_check(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as bound:
        # Bound, and not listening: nobody else gets the port, and whoever connects is refused.
        bound.bind(("127.0.0.1", 0))
        monkeypatch.setattr(module, "_LISTS", {"aws": f"http://127.0.0.1:{bound.getsockname()[1]}"})
        with pytest.raises(AccountError, match=r"cannot be read: .*refused; check the network, HTTPS_PROXY"):
            price_list("eu-west-1")


def test_a_server_that_is_silent_is_not_waited_for_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(module, "_LISTS", {"aws": f"http://127.0.0.1:{silent.getsockname()[1]}"})
        monkeypatch.setattr(module, "_SECONDS", 0.1)
        with pytest.raises(AccountError, match="cannot be read: timed out; check the network"):
            price_list("eu-west-1")


def test_a_partition_without_a_price_list_is_named_with_a_way_out() -> None:
    with pytest.raises(AccountError) as raised:
        price_list("us-iso-east-1")
    assert str(raised.value) == (
        "the partition aws-iso of us-iso-east-1 has no public price list that is known; use `--offer` with a "
        "price list that you have"
    )
