"""What is wrong with a single spec file."""

from pathlib import Path

from inferstack.check.files import check_files
from inferstack.problems import Problem


def check_file(path: Path | str) -> list[Problem]:
    """Everything wrong with it, as it stands and at each of its stages."""
    return check_files([Path(path)])
