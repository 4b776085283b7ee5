"""Lists what the rules say about the wrong specs of the tests, so that a review shows each new wording.

    python -m tools.update_messages            writes the list if it has changed
    python -m tools.update_messages --check    writes nothing, exits 1 if it is out of date

Each message is there once, whichever cases get it.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from inferstack.check.files import check_files
from inferstack.check.rules import RULES
from tests.support.wrong_specs import WRONG
from tools import generated_files
from tools.generated_files import Contents

COMMAND = "python -m tools.update_messages"
MESSAGES_FILE = generated_files.ROOT / "tests" / "check" / "messages.txt"


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


def main(arguments: Sequence[str]) -> int:
    return generated_files.main(COMMAND, "Regenerate the list of messages.", generate, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
