"""What AWS offers, as data: CloudFormation shapes, instance types, images, metrics and regions.

Each module looks things up in files of ``data/`` that ``tools/catalog_data.py`` generates from
AWS's own models. Nothing here judges a spec, and nothing here needs AWS.
"""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

# Not `importlib.resources`, which takes as long to import as all other modules of this package together.
_FOLDER = Path(__file__).with_name("data")


def text(name: str) -> str:
    """The content of a file in ``data/``."""
    return _FOLDER.joinpath(name).read_text(encoding="utf-8")


@cache
def document(name: str) -> Any:
    """A JSON file in ``data/``. Callers share the result and must not change it."""
    return msgspec.json.decode(text(name))
