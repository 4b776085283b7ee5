"""The small files that describe a model, from the folder of the whole model: nothing of its weights is read.

Without an index, the bytes of the weights are in the headers of the safetensors files: eight bytes with the
length of a JSON object, then the object. https://huggingface.co/docs/safetensors
"""

import json
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from inferstack.engines.model_config import ADAPTER, CONFIG, INDEX, QUANTIZATIONS, TOKENIZER
from inferstack.engines.properties import PROPERTIES
from inferstack.source.other_files import MOST_BYTES

_SUFFIX = ".safetensors"
_LENGTH = 8
# As the format's own library refuses longer ones.
_LONGEST_HEADER = 100_000_000
# What Mistral publishes next to the same weights in several files.
_TWINS = "consolidated"
# Of the tokenizer's file, which may have a hundred kilobytes of templates.
_OF_TOKENIZER = ("model_max_length", "tokenizer_class", "auto_map")


class CannotDescribeError(Exception):
    """Why a folder is not described, and what to do."""


class ModelFolder(Protocol):
    """A folder of a model, here or elsewhere."""

    def sizes(self) -> Mapping[str, int]:
        """The bytes of each file directly in it."""
        ...

    def read(self, name: str, start: int, length: int) -> bytes:
        """A part of a file; shorter at its end."""
        ...


class LocalArchive:
    """A `tar`, compressed or not, of this machine; if all is in one folder, that folder."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        found = {PurePosixPath(it.name): it for it in archive if it.isfile()}
        tops = {it.parts[0] for it in found if len(it.parts) > 1}
        inside = tops.pop() if len(tops) == 1 and all(len(it.parts) > 1 for it in found) else ""
        self._members = {
            it.name: member for it, member in found.items() if it.parent == PurePosixPath(inside)
        }

    def sizes(self) -> Mapping[str, int]:
        """The bytes of each file directly in it."""
        return {name: it.size for name, it in sorted(self._members.items())}

    def read(self, name: str, start: int, length: int) -> bytes:
        """A part of a file; shorter at its end."""
        file = self._archive.extractfile(self._members[name])
        if file is None:
            raise CannotDescribeError(f"{name} is not a file")
        file.seek(start)
        return file.read(length)


class LocalFolder:
    """A folder of this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def sizes(self) -> Mapping[str, int]:
        """The bytes of each file directly in it."""
        return {it.name: it.stat().st_size for it in sorted(self.path.iterdir()) if it.is_file()}

    def read(self, name: str, start: int, length: int) -> bytes:
        """A part of a file; shorter at its end."""
        with (self.path / name).open("rb") as file:
            file.seek(start)
            return file.read(length)


def described(folder: ModelFolder) -> dict[str, str]:
    """The text of each file that describes the model, or the adapter, in a folder.

    Raises:
        CannotDescribeError: when the folder has no such model, or a file in it is not what its name says.
    """
    sizes = folder.sizes()
    if ADAPTER in sizes and CONFIG not in sizes:
        return {ADAPTER: _written(_object(folder, sizes, ADAPTER))}
    copied = {PROPERTIES: _text(folder, sizes, PROPERTIES)} if PROPERTIES in sizes else {}
    if CONFIG not in sizes and copied:
        return copied
    if CONFIG not in sizes:
        raise CannotDescribeError(f"it has no {CONFIG}; name the folder of a model's files")
    files = {**copied, CONFIG: _written(_object(folder, sizes, CONFIG))}
    for name in (it for it in QUANTIZATIONS if it in sizes):
        files[name] = _written(_object(folder, sizes, name))
    total = _total_size(folder, sizes)
    if total is not None:
        files[INDEX] = _written({"metadata": {"total_size": total}})
    if TOKENIZER in sizes:
        tokenizer = _object(folder, sizes, TOKENIZER)
        files[TOKENIZER] = _written({key: tokenizer[key] for key in _OF_TOKENIZER if key in tokenizer})
    return files


def _written(content: Mapping[str, Any]) -> str:
    return f"{json.dumps(content, indent=2)}\n"


def _object(folder: ModelFolder, sizes: Mapping[str, int], name: str) -> dict[str, Any]:
    return _parsed(_content(folder, sizes, name), name)


def _content(folder: ModelFolder, sizes: Mapping[str, int], name: str) -> bytes:
    if sizes[name] > MOST_BYTES:
        raise CannotDescribeError(f"{name} is larger than 16 MiB; it is not a model's {name}")
    return folder.read(name, 0, sizes[name])


def _text(folder: ModelFolder, sizes: Mapping[str, int], name: str) -> str:
    try:
        return _content(folder, sizes, name).decode("utf-8")
    except UnicodeError:
        raise CannotDescribeError(f"{name} is not UTF-8 text; save it as UTF-8") from None


def _parsed(content: bytes, what: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise CannotDescribeError(f"{what} is not a JSON object; download it again")
    return found


# ---------------------------------------------------------------- bytes of the weights


def _total_size(folder: ModelFolder, sizes: Mapping[str, int]) -> int | None:
    """The bytes of all weights; None if there are none in safetensors files."""
    weights = [name for name in sizes if name.endswith(_SUFFIX)]
    if INDEX in sizes:
        index = _object(folder, sizes, INDEX)
        metadata = index.get("metadata")
        total = metadata.get("total_size") if isinstance(metadata, dict) else None
        if isinstance(total, int) and not isinstance(total, bool) and total > 0:
            return total
        places = index.get("weight_map")
        named = {it for it in places.values() if isinstance(it, str)} if isinstance(places, dict) else set()
        weights = [name for name in weights if name in named] or weights
    weights = [it for it in weights if not it.startswith(_TWINS)] or weights
    return sum(sum(_tensors(folder, name, sizes[name])) for name in weights) if weights else None


def _tensors(folder: ModelFolder, name: str, size: int) -> Iterator[int]:
    """The bytes of each tensor in a file."""
    length = int.from_bytes(folder.read(name, 0, _LENGTH), "little")
    if size < _LENGTH or length > min(_LONGEST_HEADER, size - _LENGTH):
        found = f"it says that its header has {length} bytes, and has {size} itself"
        raise CannotDescribeError(f"{name} is not a safetensors file: {found}; download it again")
    header = _parsed(folder.read(name, _LENGTH, length), f"the header of {name}")
    room = size - _LENGTH - length
    for tensor, entry in header.items():
        if tensor == "__metadata__":
            continue
        offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
        match offsets:
            case [int() as start, int() as end] if 0 <= start <= end <= room:
                yield end - start
            case _:
                where = f"the header of {name} places the tensor `{tensor[:60]}` outside of the file"
                raise CannotDescribeError(f"{where}; download it again")
