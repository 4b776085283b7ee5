"""An archive in words: name, size, digests, and what is inside."""

from collections.abc import Iterable, Sequence

from inferstack.spec.problem import printable
from inferstack.triton.archive.packing import Packed
from inferstack.triton.archive.sources import LeftOut

_MOST_SHOWN = 100
_UNITS = ("bytes", "kB", "MB", "GB", "TB")

Content = tuple[str, int | None]
"""A path and its size in bytes, None for a folder."""


def described(packed: Packed, contents: Sequence[Content], left_out: Iterable[LeftOut] = ()) -> str:
    """Several lines, each ended, about an archive. Folders are only shown when nothing is in them."""
    lines = [
        str(packed.path),
        f"  size     {_whole_size(packed.size)}",
        f"  sha256   {packed.file_sha256}",
        f"  content  {packed.tar_sha256}",
        "           (sha256 of the tar inside, which no compression changes)",
        *_inside(contents),
        *(f"  left out {left.name} ({left.reason})" for left in left_out),
    ]
    return "".join(f"{printable(line)}\n" for line in lines)


def _inside(contents: Sequence[Content]) -> list[str]:
    full = _full_folders(name for name, _ in contents)
    shown = [(name, size) for name, size in contents if size is not None or name not in full]
    sizes = [_size(size) for _, size in shown[:_MOST_SHOWN]]
    width = max(map(len, sizes), default=0)
    lines = [f"    {size:>{width}}  {name}" for size, (name, _) in zip(sizes, shown, strict=False)]
    more = len(shown) - _MOST_SHOWN
    return ["  holds", *lines, *([f"    and {more} more"] if more > 0 else [])]


def _whole_size(size: int) -> str:
    exact, rounded = f"{size} bytes", _in_units(size)
    return exact if exact == rounded else f"{exact} ({rounded})"


def _size(size: int | None) -> str:
    return "empty folder" if size is None else _in_units(size)


def _full_folders(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        folder = name.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _in_units(size: int) -> str:
    """Bytes as a person reads them: ``1.5 GB``, in powers of 1000."""
    value, unit = float(size), 0
    while value >= 999.95 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{size} bytes" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"
