"""``inferstack review --format html``: a page that is whole by itself, and in which a spec is only text."""

import base64
import hashlib
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any

import lxml.html
import pytest
import yaml
from msgspec.structs import replace
from support.hostile import command_in
from support.hostile_specs import assert_only_text, for_hostile_specs, reviewed
from support.resolving import BASES, merged
from support.reviews import CASES, PRICES, ROOT, all_examples, example_review

from inferstack.cli import main
from inferstack.cli.review import words
from inferstack.cli.review.html import as_html, bars, source_url
from inferstack.endpoint.components import Needs
from inferstack.endpoint.counts import Counts, counted
from inferstack.review import Review, review
from inferstack.review.policies import broken, policy_of

URL = source_url("https://git.example.com/acme/blob/main/{file}#L{line}")
LINKED = re.compile(r"https://git\.example\.com/acme/blob/main/[\w./%~-]+#L\d+")
MADE: dict[str, Callable[[], Review]] = {"all examples": all_examples} | {it.title: it.review for it in CASES}


@cache
def made(title: str) -> Review:
    return MADE[title]()


def everything() -> list[Review]:
    return [made(it) for it in MADE]


def parsed(html: str) -> Any:
    return lxml.html.document_fromstring(html)


def tags(html: str) -> set[str]:
    return {str(it.tag) for it in parsed(html).iter()}


def attributes(html: str) -> Iterator[tuple[str, str, str]]:
    for it in parsed(html).iter():
        yield from ((str(it.tag), name, value) for name, value in it.attrib.items())


def said(html: str, path: str) -> list[str]:
    return [" ".join(it.text_content().split()) for it in parsed(html).xpath(path)]


def in_class(name: str) -> str:
    return f"[contains(concat(' ', @class, ' '), ' {name} ')]"


# ---------------------------------------------------------------- whole, and the same everywhere


@pytest.mark.parametrize("title", MADE)
def test_a_page_loads_nothing_and_has_no_more_than_its_own_style_and_script(title: str) -> None:
    html = as_html(made(title), URL)
    assert html.isascii()
    assert not [
        it for it in attributes(html) if it[1] in ("src", "style", "action") or it[1].startswith("on")
    ]
    links = {value for _, name, value in attributes(html) if name == "href" and not value.startswith("#")}
    assert [it for it in links if LINKED.fullmatch(it) is None] == ["data:,"]
    [policy] = parsed(html).xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    [style], [script] = (parsed(html).xpath(f"//{it}/text()") for it in ("style", "script"))
    digests = [base64.b64encode(hashlib.sha256(it.encode()).digest()).decode() for it in (style, script)]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_every_shape_of_endpoint_has_a_page() -> None:
    found = review([ROOT / "tests/shapes", ROOT / "docs/examples/kinds"], region="us-east-1", prices=PRICES)
    html = as_html(found)
    assert len(said(html, "//h3")) == len(found.endpoints)
    for it in found.endpoints:
        assert it.after is not None
        told = " ".join(of(found, it.key, ""))
        names = [*it.after.containers, *it.after.components, *it.after.fleets]
        assert [one.name for one in names if one.name not in told] == []
        assert "serverless, 2,048 MB" in told or it.after.hosting != "serverless"


def test_every_link_within_a_page_leads_somewhere() -> None:
    for found in everything():
        html = as_html(found)
        ids = parsed(html).xpath("//@id")
        assert len(ids) == len(set(ids))
        assert {it[1:] for it in parsed(html).xpath("//a/@href")} <= set(ids)


def test_what_was_found_is_told_once_the_worst_first() -> None:
    for found in everything():
        html = as_html(found)
        told = said(html, f"//li{in_class('finding')}/p[2]")
        assert sorted(told) == sorted(it.message.replace("`", "") for it in words.findings_of(found))
        severities = parsed(html).xpath(f"//ul[@class='findings']/li{in_class('finding')}/@class")
        assert severities == sorted(severities)


def test_the_endpoint_with_the_worst_finding_comes_first() -> None:
    [case] = [it for it in CASES if it.title == "without VPC, key and isolation"]
    found = case.review()
    keys = [it.key for it in found.endpoints if it.fate == "updated"]
    assert len(keys) == 2
    for worst in keys:
        findings = tuple(replace(it, endpoints=(worst,)) for it in found.findings)
        assert said(as_html(replace(found, findings=findings)), "//h3")[0] == worst


def test_without_its_script_everything_is_there() -> None:
    html = as_html(all_examples())
    assert {it.tag for it in parsed(html).xpath("//*[@hidden]")} == {"form"}
    keys = [it.key for it in all_examples().endpoints]
    assert sorted(said(html, "//h3")) == sorted(keys)


def test_a_small_page_reads_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    whole = yaml.safe_load(BASES["single"])
    for name, data in (("base", whole), ("specs", merged(whole, {"variant": {"initial_instance_count": 3}}))):
        Path(name).mkdir()
        Path(name, "one.yaml").write_text(yaml.safe_dump(data))
    html = as_html(review("specs", "base", region="us-east-1"))
    assert said(html, "//h1") == ["\u2713 No errors, no warnings"]
    assert said(html, "//dl[@class='tiles']/div") == [
        "1 endpoint updated1",
        "Instances, always from 2 \u2192 to 3",
        "Quota needed 5 ml.g5.12xlarge for endpoint usage while updating, 3 otherwise in us-east-1",
    ]
    assert said(html, "//figure") == [
        "AllTraffic ml.g5.12xlarge: 4 x a10g, 48 vCPUs, 192 GiB host memory line 6 "
        "before: ml.g5.12xlarge, 2 instances 3 instances, and 3 more while updating (blue/green)"
    ]


def test_what_moves_at_the_fewest_and_the_most_is_at_the_top(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = yaml.safe_load(BASES["single"])
    for name, most in (("base", 4), ("specs", 6)):
        Path(name).mkdir()
        scaling = {"autoscaling": {"min_capacity": 1, "max_capacity": most}}
        Path(name, "one.yaml").write_text(yaml.safe_dump(merged(whole, scaling)))
    found = review("specs", "base")
    assert said(as_html(found), "//dl[@class='tiles']/div")[1] == (
        "Instances, at the start 2 1 at least, from 4 \u2192 to 6 at most"
    )


# ---------------------------------------------------------------- pictures


def of(found: Review, key: str, path: str) -> list[str]:
    index = [it.key for it in found.endpoints].index(key)
    return said(as_html(found), f"//details[@id='e{index}']{path}")


def test_copies_are_blocks_on_the_instances_of_each_level() -> None:
    found = example_review("travel-chat")
    assert of(found, "travel-chat", "//ul[@class='keys']/li") == [
        "A llama2-europe: 0 to 4 copies (1 at the start), each with 2 accelerators and 16 GiB host memory",
        "B llama2-america: 0 to 4 copies (1 at the start), each with 2 accelerators and 16 GiB host memory",
    ]
    assert of(found, "travel-chat", f"//div{in_class('level')}/p[1]") == [
        "At least: 1 instance, none with copies",
        "At the start: 1 instance",
        "At most: 4 instances",
    ]
    pictures = of(found, "travel-chat", f"//li{in_class('box')}//title")
    assert pictures[:2] == [
        "1 instance with nothing; accelerators: 4 of 4 free, host memory: 192 of 192 GiB free",
        "1 instance with 1 of llama2-america and 1 of llama2-europe; accelerators: 0 of 4 free, "
        "host memory: 160 of 192 GiB free",
    ]


def test_copies_without_room_are_shown_on_instances_that_are_not_there() -> None:
    [case] = [it for it in CASES if it.title == "copies that find no room"]
    found = case.review()
    missing = of(found, "catalog-search", f"//li{in_class('missing')}//title")
    assert [it.partition(";")[0] for it in missing] == [
        "8 instances that are not there, each with 4 of query-encoder"
    ]
    assert of(found, "catalog-search", "//p[@class='lack']") == [
        "\u25b2 warning no room for 32 of query-encoder"
    ]


def test_a_copy_that_never_fits_is_drawn_beyond_the_instance() -> None:
    """Specs in which one does not are refused, so that only a deployed stack can have it."""
    [one] = example_review("travel-chat").endpoints
    assert one.after is not None
    large = Needs(accelerators=8, vcpus=0, host_memory_mib=16384)
    components = (replace(one.after.components[0], name="large", needs=large), *one.after.components)
    fleets = (replace(one.after.fleets[0], never_fits=("large",)),)
    after = replace(one.after, components=components, fleets=fleets)
    html = as_html(replace(example_review("travel-chat"), endpoints=(replace(one, after=after),)))
    path = f"//div{in_class('level')}[p[text()[contains(., 'never fits')]]]"
    [level] = parsed(html).xpath(path)
    has, wants = (float(level.xpath(f".//rect[@class='{it}']/@width")[0]) for it in ("empty", "beyond"))
    assert wants == 2 * has
    assert said(html, "//p[@class='said']") == [
        "accelerators: needs 8, an instance has 4; host memory: needs 16 GiB, an instance has 192 GiB"
    ]


@pytest.mark.parametrize(
    ("counts", "update", "squares", "each"),
    [
        (Counts(2, 2, 2), 0, {"always": 2}, 1),
        (Counts(1, 2, 4), 4, {"always": 1, "start": 1, "most": 2, "update": 4}, 1),
        (Counts(0, 0, 3), 0, {"most": 3}, 1),
        (Counts(100, 100, 500), 0, {"always": 20, "most": 80}, 5),
    ],
)
def test_instances_are_squares_in_a_row(
    counts: Counts, update: int, squares: dict[str, int], each: int
) -> None:
    [one] = example_review("travel-chat").endpoints
    assert one.after is not None
    found = bars.row(replace(one.after.fleets[0], instances=counts), update)
    assert found is not None
    assert Counter(it.what for it in found.squares) == squares
    assert found.each == each
    assert max(it.x for it in found.squares) < found.width <= 280


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        (Counts(1, 1, 1), "1 copy"),
        (Counts(2, 2, 2), "2 copies"),
        (Counts(1, 1, 4), "1 to 4 copies"),
        (Counts(0, 2, 4), "0 to 4 copies (2 at the start)"),
    ],
)
def test_counts_are_said_as_people_say_them(counts: Counts, text: str) -> None:
    assert counted(counts, "copy", "copies") == text


def test_a_legend_says_what_the_squares_are_that_are_drawn() -> None:
    entries = said(as_html(example_review("bert-large")), "//ul[@class='legend']/li")
    assert entries == [
        "Each square is an instance:",
        "always there",
        "there at the start",
        "beside the others while updating",
    ]
    assert said(as_html(review(ROOT / "tests/shapes/serverless.yaml")), "//ul[@class='legend']/li") == []


def test_the_cost_of_pools_is_at_the_most_that_of_their_dearest_type() -> None:
    found = review(ROOT / "tests/shapes/pools.yaml", prices=PRICES)
    [it] = found.endpoints
    assert it.after is not None
    counted_as = "instance pools count as ml.g6.2xlarge, at the most as their dearest type"
    cost = dict(words.lines_of(it.after))["cost"]
    assert cost == f"2.50-3.00 USD an hour, 1,825.00-2,190.00 a month; {counted_as}"
    assert f"Cost in USD; {counted_as}</caption>" in as_html(found)
    assert [*broken([policy_of("cost-per-hour=2.99")], found)] == [
        "cost-per-hour=2.99: any-gpu: up to 3.00 USD an hour"
    ]
    assert [*broken([policy_of("cost-per-hour=3")], found)] == []


def test_a_type_of_a_pool_without_a_price_may_be_the_dearest(tmp_path: Path) -> None:
    whole = yaml.safe_load((ROOT / "tests/shapes/pools.yaml").read_text("utf-8"))
    whole["variant"]["instance_pools"][1]["instance_type"] = "ml.g5.4xlarge"
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(whole, sort_keys=False))
    found = review(tmp_path / "one.yaml", prices=PRICES)
    [broken_] = broken([policy_of("cost-per-hour=1000")], found)
    assert broken_.endswith("no price of ml.g5.4xlarge, so it may cost too much")
    [it] = found.endpoints
    assert it.after is not None
    assert dict(words.lines_of(it.after))["cost"].endswith("; not counted: ml.g5.4xlarge")


def test_boxes_of_pools_are_of_their_preferred_type() -> None:
    html = as_html(review(ROOT / "tests/shapes/packed.yaml"))
    assert "At most, if all instances are ml.g6.12xlarge: 6 instances, 1 with copies" in said(
        html, "//div[@class='level']/p"
    )
    assert said(html, "//span[@class='times']")[0] == "1 \N{MULTIPLICATION SIGN} ml.g6.12xlarge"


def test_instances_that_copies_bring_are_told_of(tmp_path: Path) -> None:
    whole = yaml.safe_load((ROOT / "model_specs/travel-chat.yaml").read_text("utf-8"))
    for it in whole["inference_components"].values():
        it["runtime_config"] = {"copy_count": 2}
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(whole, sort_keys=False))
    found = review(tmp_path / "one.yaml")
    assert "At the start: 2 instances; SageMaker adds 1 instance for the copies" in said(
        as_html(found), "//div[@class='level']/p"
    )
    [it] = found.endpoints
    assert it.after is not None
    told = [line for label, line in words.lines_of(it.after) if label == "capacity"]
    assert [line.endswith("; SageMaker adds 1 instance for the copies") for line in told] == [
        False,
        True,
        False,
    ]


def test_an_image_whose_region_is_named_now_is_not_marked_as_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = yaml.safe_load((ROOT / "model_specs/bert-large.yaml").read_text("utf-8"))
    other = merged(whole, {"model": {"image": {"version": "25.09"}}})
    runs = f"//h4[text()='Runs']/..//span{in_class('updated')}"
    for before, marks in ((whole, []), (other, ["changed"])):
        for folder, data in (("base", before), ("specs", {**whole, "env": {"region": "us-east-1"}})):
            Path(folder).mkdir(exist_ok=True)
            Path(folder, "one.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        assert said(as_html(review("specs", "base")), runs) == marks


def test_a_page_without_endpoints_says_so(tmp_path: Path) -> None:
    html = as_html(review(tmp_path))
    assert said(html, "//dl[@class='tiles']/div") == ["0 endpoints nothing to show"]
    assert said(html, "//h1")[0].endswith("Cannot be deployed: 1 error")


def test_bars_of_all_endpoints_have_one_scale() -> None:
    html = as_html(made(CASES[0].title))
    rows = parsed(html).xpath("//table[contains(@class, 'wide')]/tbody/tr[.//rect]")
    longest = [float(row.xpath(".//rect[@class='most']/@width")[-1]) for row in rows]
    assert longest[0] == 150
    assert 0 < longest[1] < 10


# ---------------------------------------------------------------- links


def links_to(path: Path, template: str, *, base: str | None = None) -> list[str]:
    html = as_html(review(path, base, region="us-east-1"), source_url(template))
    return list(parsed(html).xpath("//p[@class='from']/a/@href"))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    here = tmp_path / "some where"
    here.mkdir()
    monkeypatch.chdir(here)
    (here / "a:b#c?.yaml").write_text(BASES["single"])
    return here


def test_a_link_starts_at_the_top_of_the_repository(repository: Path) -> None:
    found = links_to(Path("a:b#c?.yaml"), "https://git.example.com/{file}?at={line}")
    assert found == ["https://git.example.com/some%20where/a%3Ab%23c%3F.yaml?at=3"]


def test_a_relative_link_stays_a_path(repository: Path) -> None:
    assert links_to(Path("a:b#c?.yaml"), "{file}#L{line}") == ["some%20where/a%3Ab%23c%3F.yaml#L3"]


def test_what_is_not_in_the_repository_has_no_link(repository: Path, tmp_path_factory: Any) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "one.yaml"
    elsewhere.write_text(BASES["single"])
    assert links_to(elsewhere, "{file}#L{line}") == []
    assert links_to(Path(os.path.relpath(elsewhere)), "{file}#L{line}") == []


def test_a_link_is_no_detour(repository: Path) -> None:
    assert links_to(Path("../some where/a:b#c?.yaml"), "{file}") == ["some%20where/a%3Ab%23c%3F.yaml"]


def test_files_of_the_base_have_no_link() -> None:
    [case] = [it for it in CASES if it.title == "a spec that is gone"]
    html = as_html(case.review(), source_url("{file}#L{line}"))
    assert "base/resnet-mme.yaml:1" in said(html, f"//span{in_class('place')}")
    assert not [it for it in parsed(html).xpath("//a/@href") if "base" in it]


def test_a_folder_with_the_name_of_a_revision_has_links(repository: Path) -> None:
    found = review(Path("a:b#c?.yaml"), region="us-east-1")
    for base, commit, links in (
        ("a", None, 0),
        ("a:b#c?.yaml", None, 0),
        ("a", "1" * 40, 0),
        ("a:b#c?.yaml", "1" * 40, 1),
        ("b", None, 1),
    ):
        html = as_html(replace(found, base=base, base_commit=commit), source_url("{file}#L{line}"))
        assert len(parsed(html).xpath("//p[@class='from']/a")) == links
    folder = repository / "main"
    folder.mkdir()
    (folder / "one.yaml").write_text(BASES["single"])
    found = review("main", region="us-east-1")
    for commit, links in ((None, []), ("1" * 40, ["some%20where/main/one.yaml#L3"])):
        html = as_html(replace(found, base="main", base_commit=commit), source_url("{file}#L{line}"))
        assert parsed(html).xpath("//p[@class='from']/a/@href") == links


def test_standard_input_has_no_link(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BASES["single"].encode())))
    assert links_to(Path("-"), "{file}#L{line}") == []


def test_without_an_address_places_are_text() -> None:
    html = as_html(all_examples())
    assert parsed(html).xpath("//a[@class='place']") == []
    assert "model_specs/travel-chat.yaml:3" in said(html, "//span[@class='place']")


@pytest.mark.parametrize(
    "wrong",
    [
        "https://git.example.com/",
        "https://git.example.com/{file}#L{row}",
        "javascript:alert({file})",
        "data:text/html,{file}",
        "//git.example.com/{file}",
        "https:{file}",
        "\\\\git\\{file}",
        "https://git.example.com/{file} {line}",
        "java\tscript:{file}",
    ],
)
def test_an_address_that_is_none_of_a_file_is_wrong_usage(
    wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["review", "--format", "html", "--source-url", wrong])
    assert "https://github.com/OWNER/REPOSITORY/blob/COMMIT/{file}#L{line}" in capsys.readouterr().err


def test_only_a_page_has_links(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["review", "--source-url", "{file}"])
    assert "--source-url needs --format html" in capsys.readouterr().err


# ---------------------------------------------------------------- hostile specs

# Values of attributes that a page may have, whatever the specs say; of these, only `href` quotes a file's name.
FREE = {"href", "content", "data-of", "data-is", "id", "x", "y", "x1", "x2", "y1", "y2", "width", "height"}


def shapes(html: str) -> set[tuple[str, str, str]]:
    return {(tag, name, "" if name in FREE else value) for tag, name, value in attributes(html)}


@cache
def of_harmless() -> tuple[set[str], set[tuple[str, str, str]]]:
    """The tags and shapes of all pages without hostile texts."""
    pages = [as_html(it, URL) for it in everything()]
    return set[str]().union(*map(tags, pages)), set[tuple[str, str, str]]().union(*map(shapes, pages))


@for_hostile_specs
def test_a_hostile_spec_is_only_text_in_every_format(change: dict[str, Any], name: str) -> None:
    found = reviewed(change, name)
    assert_only_text(found)
    html = as_html(found, URL)
    assert html.isascii()
    usual_tags, usual_shapes = of_harmless()
    assert tags(html) <= usual_tags
    assert shapes(html) <= usual_shapes
    links = {value for _, name, value in attributes(html) if name == "href"}
    assert [it for it in links if not re.fullmatch(r"#\w+|data:,", it) and not LINKED.fullmatch(it)] == []
    assert all(it.isprintable() or it == "\n" for it in parsed(html).text_content())
    assert not [line for line in html.splitlines() if command_in(line)]


def test_what_looks_like_markup_is_told_as_it_is(tmp_path: Path) -> None:
    rule = {"metric_name": "<b onclick=x>@me", "namespace": "Own", "statistic": "Sum", "threshold": 1}
    (tmp_path / "one.yaml").write_text(
        yaml.safe_dump(merged(yaml.safe_load(BASES["single"]), {"alarms": {"rules": [rule]}}))
    )
    with chdir(tmp_path):
        html = as_html(review("one.yaml"))
    assert "Sum of &lt;b onclick=x&gt;@me of the endpoint" in html
    assert "Sum of <b onclick=x>@me of the endpoint" in parsed(html).text_content()
