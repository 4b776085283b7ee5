"""Writes the reviews that tests compare with, so that a review of a change here shows each new wording.

python -m tools.update_reviews            writes those that have changed
python -m tools.update_reviews --check    writes nothing, exits 1 if one is out of date
"""

import sys
from collections.abc import Sequence

from tests.support.reviews import golden
from tools import generated_files
from tools.generated_files import Contents

COMMAND = "python -m tools.update_reviews"


def generate() -> Contents:
    """Reviews of every example, and of changes to some of them."""
    return golden()


def main(arguments: Sequence[str]) -> int:
    return generated_files.main(COMMAND, "Regenerate the reviews of the tests.", generate, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
