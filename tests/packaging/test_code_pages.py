"""The texts of the pages of codes; tests/site looks at what a browser gets."""

import re

import pytest

from inferstack.check.every_code import TOPICS, every_code, examples
from inferstack.check.ignore import may_be_ignored
from tools.code_pages import page, why

PAGES = {code: page(code) for code in every_code()}


def test_a_page_has_what_the_list_has() -> None:
    for code, text in PAGES.items():
        entry = every_code()[code]
        first, _, others = entry.sentence.partition(". ")
        assert f"\n# {code}: {first.removesuffix('.')}\n\n**{entry.severity.capitalize()}**: it " in text
        assert others in text
        assert (
            f"## Source\n\n{entry.source if entry.source_url is None else f'<{entry.source_url}>'}\n" in text
        )
        assert f"All of [{code[:3]}xx: {TOPICS[code[:3]]}]" in text


def test_most_pages_say_why() -> None:
    assert sum(bool(why(entry)) for entry in every_code().values()) > len(PAGES) / 2
    assert why(every_code()["IS600"]) == ["The schema checks the range, 1024 to 6144."]
    # Of a row of keys.py the docstring is that of all rows.
    assert not [code for code, text in PAGES.items() if "Every key that is set" in text]
    assert not [code for code, text in PAGES.items() if re.search(r":\w+:`", text)]


def test_a_page_shows_how_to_turn_off_what_can_be_turned_off() -> None:
    assert {code for code, text in PAGES.items() if f"{{code: {code}, reason: …}}" in text} == {
        code for code in every_code() if may_be_ignored(code)
    }


@pytest.mark.parametrize("code", ["IS104", "IS270"])
def test_an_example_shows_both_sides(code: str) -> None:
    blocks = re.findall(r"```{code-block} yaml\n(?::[^\n]*\n)*\n(.*?)\n```", PAGES[code], re.DOTALL)
    lines = examples()[code].lines
    sides = ["\n".join(it[1:] for it in lines if it[0] in side) for side in ("- ", "+ ")]
    assert blocks == sides[: len(blocks)]


def test_a_page_names_its_neighbors_and_the_pages_about_it() -> None:
    codes = list(every_code())
    at = codes.index("IS861")
    for neighbor in (*codes[at - 2 : at], *codes[at + 1 : at + 3]):
        assert f"[{neighbor}](../codes.md#{neighbor.lower()})" in PAGES["IS861"]
    assert "[Safe updates](../updates.md)" in PAGES["IS861"]
