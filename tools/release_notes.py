"""Prints what the changelog says about a version, or fails: ``python -m tools.release_notes v1.2.0``."""

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"


def notes(tag: str, changelog: str) -> str:
    """The section about a version.

    Raises:
        SystemExit: there is none, or it has no date.
    """
    version = re.escape(tag.removeprefix("v"))
    found = re.search(rf"^## \[{version}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z|^\[)", changelog, re.M | re.S)
    if found is None:
        sys.exit(f"{CHANGELOG.name} has no section '## [{tag.removeprefix('v')}] - YYYY-MM-DD'")
    return found[1].strip()


if __name__ == "__main__":
    print(notes(sys.argv[1], CHANGELOG.read_text("utf-8")))
