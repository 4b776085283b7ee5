"""The website: built from the pages as they are, complete without a network, and strict about links."""

import json
import re
import shutil
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import lxml.html
import pytest
from support.site import DOCS, SITE, build, build_site

from inferstack.check.every_code import every_code


@pytest.fixture(scope="module")
def site() -> Path:
    shutil.rmtree(SITE, ignore_errors=True)
    assert build_site("--fresh-env") == ""
    return SITE


class Links(HTMLParser):
    """What a page loads, where it links to, and the places that others may link to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.places: list[str] = []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value}
        self.places += [given["id"]] if "id" in given else []
        self.loaded += [given["src"]] if "src" in given else []
        if "href" in given and tag != "use":
            (self.loaded if tag == "link" else self.links).append(given["href"])


@cache
def parsed(page: Path) -> Links:
    return Links(page)


def broken(site: Path) -> Iterator[str]:
    """Links within the site that lead to no page, or to no place of it."""
    for page in site.rglob("*.html"):
        for link in (*parsed(page).links, *parsed(page).loaded):
            parts = urlsplit(link)
            target = (page.parent / unquote(parts.path)) if parts.path else page
            if parts.scheme:
                continue
            if not target.is_file() or (
                parts.fragment and target.suffix == ".html" and parts.fragment not in parsed(target).places
            ):
                yield f"{page.relative_to(site)}: {link}"


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    assert [it for it in broken(site) if not it.endswith(": #")] == []


def test_every_page_is_in_the_site(site: Path) -> None:
    pages = {page.relative_to(DOCS).with_suffix(".html") for page in DOCS.rglob("*.md")}
    assert {page for page in pages if not (site / page).is_file()} == set()


def test_the_site_needs_no_network(site: Path) -> None:
    loaded = {it for page in site.rglob("*.html") for it in parsed(page).loaded}
    assert [it for it in loaded if "//" in it] == []
    assert (site / "_static" / "mermaid.tiny.js").stat().st_size > 1_000_000


def test_a_diagram_is_text_for_the_script_that_only_its_page_loads(site: Path) -> None:
    (fence,) = re.findall(r"```mermaid\n(.+?)\n```", (DOCS / "design.md").read_text("utf-8"), re.DOTALL)
    (diagram,) = lxml.html.parse(site / "design.html").xpath("//pre[contains(@class, 'mermaid')]")
    assert (diagram.text_content().strip(), len(diagram)) == (fence, 0)
    loading = {page.name for page in site.glob("*.html") if "_static/mermaid" in str(parsed(page).loaded)}
    assert loading == {"design.html"}


def test_files_are_shown_by_the_repository(site: Path) -> None:
    found = parsed(site / "spec.html").links
    assert "https://git.example.com/acme/blob/main/model_specs/bert-large.yaml" in found
    assert "https://git.example.com/acme/blob/main/tests/shapes" in found
    assert not (site / "_downloads").exists()


def test_links_show_titles_of_pages_not_names_of_files(site: Path) -> None:
    to_pages = "//article//a[contains(@href, '.html') and not(contains(@href, '//'))]"
    shown = {
        it.text_content() for page in site.rglob("*.html") for it in lxml.html.parse(page).xpath(to_pages)
    }
    assert [it for it in shown if it.endswith(".md")] == []
    title = (DOCS / "elsewhere.md").read_text("utf-8").splitlines()[0].removeprefix("# ")
    assert f"name: see {title}." in text_of(site / "spec.html")


def test_the_anchors_of_the_pages_are_those_of_the_site(site: Path) -> None:
    assert "is510" in parsed(site / "codes.html").places
    assert "singlemodelspec" in parsed(site / "spec.html").places
    assert re.search(r"\bautoscaling\b", (site / "searchindex.js").read_text("utf-8"))


# ---------------------------------------------------------------- a page for each code


def text_of(page: Path) -> str:
    (article,) = lxml.html.parse(page).xpath("//article")
    return " ".join(article.text_content().split())


def test_every_code_has_a_page_to_which_the_list_links(site: Path) -> None:
    pages = {f"codes/{code}.html" for code in every_code()}
    assert {it.relative_to(site).as_posix() for it in (site / "codes").iterdir()} == pages
    assert pages <= {*parsed(site / "codes.html").links}


def test_the_page_of_a_code_says_what_to_do(site: Path) -> None:
    warning, error = (text_of(site / "codes" / f"{code}.html") for code in ("IS270", "IS104"))
    assert "NVIDIA driver should be new enough for the CUDA of the image" in warning
    assert "ignore: - {code: IS270, reason: …}" in warning
    assert "No spec can ignore an error." in error
    assert every_code()["IS270"].source in parsed(site / "codes" / "IS270.html").links


def test_a_code_that_a_page_mentions_leads_to_its_own(site: Path) -> None:
    assert "codes/IS860.html" in parsed(site / "updates.html").links
    assert not [it for it in parsed(site / "updates.html").links if "codes.html#is" in it]
    assert "../codes/IS865.html" in parsed(site / "decisions" / "no-physical-names.html").links
    assert "IS860.html" not in parsed(site / "codes" / "IS860.html").links


def test_the_search_knows_each_code(site: Path) -> None:
    index = json.loads((site / "searchindex.js").read_text("utf-8").partition("(")[2].rstrip(");\n"))
    titles = dict(zip(index["docnames"], index["titles"], strict=True))
    assert [it for it in every_code() if not titles[f"codes/{it}"].startswith(f"{it}: ")] == []
    # The neighbors of a code are on its page, too, but that is not about them.
    (near,) = (index["docnames"].index(f"codes/{code}") for code in ("IS271",))
    found = index["terms"]["nvme"]
    assert near not in (found if isinstance(found, list) else [found])


# ---------------------------------------------------------------- what is wrong is reported

WRONG = ("[x](other.md#nowhere)", "[x](nowhere.md)", "[x](#nowhere)", "[x](../nowhere.yaml)")


def test_a_link_that_leads_nowhere_is_reported(tmp_path: Path) -> None:
    source = tmp_path / "pages"
    source.mkdir()
    text = "\n\n".join(WRONG)
    (source / "index.md").write_text(
        f"# A\n\n[right](other.md#there)\n\n{text}\n\n```{{toctree}}\nother\n```\n"
    )
    (source / "other.md").write_text('# B\n\n<a id="there"></a>Here. [right](index.md#a)\n')
    warnings = build(source, tmp_path / "site", "-D", "html_static_path=").splitlines()
    assert [line.split(":")[1] for line in warnings] == ["5", "7", "9", "11"]
    assert all("nowhere" in line for line in warnings)


def test_without_an_address_links_lead_to_the_clone(tmp_path: Path) -> None:
    source = tmp_path / "pages"
    source.mkdir()
    (source / "index.md").write_text("# A\n\n[folder](../specs), [file](../specs/a.yaml)\n")
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "a.yaml").touch()
    assert build(source, tmp_path / "build" / "site", "-D", "html_static_path=") == ""
    assert {"../../specs", "../../specs/a.yaml"} <= {
        *parsed(tmp_path / "build" / "site" / "index.html").links
    }
