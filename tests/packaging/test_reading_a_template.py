"""docs/reading-a-template.md shows a template as it is rendered, in its order, and what the registry says of its types."""

import re
from pathlib import Path

from support.checking import check_file
from support.pages import ELLIPSIS, code_blocks

from inferstack.catalog.cloudformation import create_only
from inferstack.cli import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reading-a-template.md"
SPEC = ROOT / "docs" / "examples" / "review" / "before" / "answers.yaml"
_ROW = re.compile(r"^\| `(AWS::\S+)` \| (.*?) \|", re.MULTILINE)


def rendered(capsys) -> str:
    assert check_file(SPEC) == []
    assert main(["render", str(SPEC), "--format", "yaml"]) == 0
    return capsys.readouterr().out.replace(str(SPEC), SPEC.relative_to(ROOT).as_posix())


def place(excerpt: str, text: str) -> int:
    """Where a text has the excerpt's lines, in their order and with something left out where it says so."""
    start = end = -1
    for piece in re.split(rf"^ *{ELLIPSIS}\n", excerpt, flags=re.MULTILINE):
        found = text.find(f"\n{piece}", max(end, 0))
        assert found >= 0, f"the template does not have\n{piece}"
        # The next piece may begin with the line that follows.
        start, end = found if start < 0 else start, found + len(piece)
    return start


def test_every_excerpt_is_in_the_template_and_in_its_order(capsys, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    template = rendered(capsys)
    _, *excerpts = (place(it, template) for it in code_blocks(PAGE, "yaml"))
    assert len(excerpts) > 5
    assert excerpts == sorted(excerpts)


def test_the_table_says_what_the_registry_says_of_every_type(capsys, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    shown = {type_: {*re.findall("`(.*?)`", cell)} for type_, cell in _ROW.findall(PAGE.read_text("utf-8"))}
    assert shown == {type_: create_only(type_) for type_ in shown}
    assert {*re.findall(r"^    Type: (\S+)$", rendered(capsys), re.MULTILINE)} <= shown.keys()
