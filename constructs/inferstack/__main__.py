"""``python -m inferstack`` is ``inferstack``: for machines whose path lacks the folder of scripts."""

import sys

from inferstack.cli import program

if __name__ == "__main__":
    sys.exit(program())
