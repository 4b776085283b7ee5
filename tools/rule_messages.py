"""Lists what the rules say about the wrong specs of the tests, so that a review shows each new wording.

Each message is there once, whichever cases get it.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from inferstack.check.files import check_files
from inferstack.check.rules import RULES
from tests.support.wrong_specs import WRONG
from tools.generated_files import ROOT, Contents

MESSAGES_FILE = ROOT / "tests" / "check" / "messages.txt"


def generate() -> Contents:
    """Each message once, sorted by code, as rules of one topic stand side by side."""
    with tempfile.TemporaryDirectory() as folder:
        said = sorted({*_said(Path(folder) / "spec.yaml")})
    return {MESSAGES_FILE: "".join(f"{it}\n" for it in said)}


def _said(file: Path) -> Iterator[str]:
    for case in WRONG:
        file.write_text(case.text(), "utf-8")
        found = (it for it in check_files([file]) if it.code in RULES)
        yield from (f"{it.code} {'.'.join(map(str, it.path))}: {it.message}; {it.fix}" for it in found)
