"""Programs and specs that a page shows."""

import re
from pathlib import Path


def code_blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in this language, in the page's order; there must be some."""
    found = re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert found, f"{page.name} shows no {language}"
    return found
