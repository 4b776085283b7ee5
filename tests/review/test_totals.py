"""What all endpoints cost together, and what old stacks cost until they are deleted."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.resolving import BASES, merged
from support.reviews import PRICES, write_spec

from inferstack.cli import main
from inferstack.cli.review.html import as_html
from inferstack.cli.review.markdown import markdown
from inferstack.cli.review.text import text
from inferstack.review import Review, review
from inferstack.sizing.prices import PriceFile, read_price_file


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("base", "specs"):
        Path(name).mkdir()


IMAGE = "111122223333.dkr.ecr.{}.amazonaws.com/net:1"


def put(folder: str, name: str, **changes: Any) -> None:
    """A spec of an endpoint on two instances of 7.00 USD an hour each."""
    whole = {"endpoint_name": name, **changes}
    write_spec(Path(folder, f"{name}.yaml"), merged(yaml.safe_load(BASES["single"]), whole))


def until_deleted(found: Review) -> Decimal | None:
    [total] = [it for it in found.totals if it.is_sum]
    old = total.until_deleted
    return None if old is None or old.per_hour is None else old.per_hour.max


def of_change(prices: PriceFile | None = None) -> Review:
    return review("specs", "base", region="us-east-1", prices=prices or PRICES)


SAID = "until the old stacks are deleted: + 14.00 USD an hour"


def test_a_removed_endpoint_costs_until_its_stack_is_deleted() -> None:
    put("base", "one")
    put("base", "two")
    put("specs", "two")
    found = of_change()
    assert until_deleted(found) == 14
    assert f"\n{SAID}\n" in text(found)
    assert f"\n{SAID}\n" in markdown(found)
    tile = (
        '<dt>Until the old stacks are deleted</dt>\n<dd><span class="figure">+ 14.00 USD an hour</span></dd>'
    )
    assert tile in as_html(found)


def test_a_moved_endpoint_costs_in_both_places_until_the_old_stack_is_deleted() -> None:
    for folder, region in (("base", "us-east-1"), ("specs", "eu-west-1")):
        put(folder, "one", env={"region": region}, model={"image": IMAGE.format(region)})
    found = of_change()
    assert [it.fate for it in found.endpoints] == ["moved"]
    assert until_deleted(found) == 14
    assert SAID in text(found)


def test_a_replaced_endpoint_costs_until_the_stack_of_its_old_name_is_deleted() -> None:
    put("base", "one")
    put("specs", "one", endpoint_name="uno")
    found = of_change()
    assert [it.fate for it in found.endpoints] == ["replaced"]
    assert until_deleted(found) == 14


def test_a_stack_whose_name_another_spec_takes_is_no_old_one() -> None:
    put("base", "one")
    put("base", "two")
    put("specs", "one", endpoint_name="uno")
    put("specs", "two", endpoint_name="one")
    found = of_change()
    assert {it.key: it.fate for it in found.endpoints} == {
        "uno": "replaced",
        "one": "unchanged",
        "two": "removed",
    }
    assert until_deleted(found) == 14


def test_what_is_updated_leaves_no_old_stack() -> None:
    put("base", "one")
    put("specs", "one", variant={"initial_instance_count": 3})
    found = of_change()
    assert [it.until_deleted for it in found.totals] == [None]
    for written in (text(found), markdown(found), as_html(found)):
        assert "old stacks" not in written


def test_old_stacks_of_an_unknown_size_are_not_counted_as_none() -> None:
    """A template may have a parameter for the number of instances."""
    put("specs", "one")
    assert main(["render", "specs", "--out", "templates"]) == 0
    file = Path("templates/one.template.json")
    template = json.loads(file.read_text("utf-8"))
    [variant] = template["Resources"]["EndpointConfig"]["Properties"]["ProductionVariants"]
    variant["InitialInstanceCount"] = {"Ref": "Count"}
    file.write_text(json.dumps(template | {"Parameters": {"Count": {"Type": "Number"}}}), "utf-8")
    Path("specs/one.yaml").unlink()
    put("specs", "two")
    found = review("specs", "templates", region="us-east-1", prices=PriceFile({}))
    assert "\nuntil the old stacks are deleted: + ? instances\n" in text(found)
    assert "+ ? instances" in as_html(found)


def test_old_stacks_without_a_price_are_counted() -> None:
    put("base", "one")
    found = of_change(PriceFile({}))
    assert "\nuntil the old stacks are deleted: + 2 instances\n" in text(found)
    put("base", "two", variant={"instance_type": "ml.g5.48xlarge"})
    said = "until the old stacks are deleted: + 14.00 USD an hour; not counted: ml.g5.48xlarge"
    assert said in " ".join(text(of_change()).split())
    put("specs", "one")
    assert "\nuntil the old stacks are deleted: + 2 instances\n" in text(of_change())


def test_amounts_in_several_currencies_are_named_each() -> None:
    region = read_price_file(PRICES).regions["us-east-1"]
    euro = type(region)(
        **{field: getattr(region, field) for field in region.__struct_fields__} | {"currency": "EUR"}
    )
    for name, region_name in (("one", "us-east-1"), ("two", "eu-west-1")):
        put("base", name, env={"region": region_name}, model={"image": IMAGE.format(region_name)})
    found = of_change(PriceFile({"us-east-1": region, "eu-west-1": euro}))
    assert "until the old stacks are deleted: + 14.00 USD and 14.00 EUR an hour" in text(found)


def test_each_stage_has_its_own_old_stacks() -> None:
    put(
        "base",
        "one",
        endpoint_name="one-${stage}",
        stages={"test": {}, "prod": {"variant": {"initial_instance_count": 4}}},
    )
    put("base", "two")
    put("specs", "two")
    found = of_change()
    assert {
        it.stage: it.until_deleted.per_hour.max
        for it in found.totals
        if it.until_deleted and it.until_deleted.per_hour and not it.is_sum
    } == {
        "test": 14,
        "prod": 28,
    }
    assert until_deleted(found) == 42
