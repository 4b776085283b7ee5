"""The option ``--picture``, and the file that it names."""

import argparse
from collections.abc import Callable
from pathlib import Path

from inferstack.cli.terminal import Refusal, tell
from inferstack.problems import printable
from inferstack.problems.words import listed
from inferstack.sizing.pictures import FORMATS, NoPictureError, Picture, drawn
from inferstack.source.whole_files import complete_or_absent

_ENDINGS = listed(FORMATS, quote="")


def add_picture(parser: argparse.ArgumentParser, what: str) -> None:
    """Adds the option to a command; ``what`` says what is drawn."""
    parser.add_argument("--picture", type=_file, metavar="FILE", help=f"{what}; the file ends in {_ENDINGS}")


def _file(text: str) -> Path:
    path = Path(text)
    if path.suffix not in FORMATS:
        raise argparse.ArgumentTypeError(f"{text}: the name must end in {_ENDINGS}")
    return path


def require_extra() -> None:
    """Says before long work that a picture could not be drawn.

    Raises:
        Refusal: without the extra.
    """
    try:
        import vl_convert  # noqa: F401, PLC0415 - comes with an extra
    except ModuleNotFoundError:
        message = "vl-convert-python is not installed; install it with: pip install 'inferstack[pictures]'"
        raise Refusal(message) from None


def draw(path: Path, picture: Callable[[], Picture]) -> None:
    """Writes a picture into a file.

    Raises:
        Refusal: when there is nothing to draw, or nothing to draw it with.
    """
    require_extra()
    try:
        content = drawn(picture(), path.suffix)
    except NoPictureError as error:
        raise Refusal(f"{path}: not drawn: {error}") from None
    with complete_or_absent(path) as file:
        file.write(content)
    tell(printable(f"{path}: drawn"))
