"""Arrays in files: `.npy` for one, `.npz` for several by name, `.json` for lists by name."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile

import numpy as np

from inferstack.triton.archive.atomic import complete_or_absent
from inferstack.triton.invocation.arrays import Array, from_json
from inferstack.triton.invocation.errors import BodyError
from inferstack.triton.protocol import data_type


def read_inputs(config: Any, files: Iterable[tuple[str | None, Path]]) -> dict[str, Array]:
    """The inputs in some files, each with the name of the input that it is for, or None if it has the names.

    Lists in JSON get the type that the model declares. Nothing is unpickled.

    Raises:
        BodyError: with every file that cannot be read, and every input that comes twice.
    """
    found: dict[str, Array] = {}
    problems: list[str] = []
    for name, file in files:
        try:
            arrays = _read(config, name, file)
        except BodyError as error:
            problems += [f"{file}: {problem}" for problem in error.problems]
            continue
        problems += [f"{file}: the input `{twice}` came before" for twice in arrays if twice in found]
        found.update(arrays)
    if problems:
        raise BodyError(problems)
    return found


def _read(config: Any, name: str | None, file: Path) -> dict[str, Array]:
    try:
        match file.suffix:
            case ".npy" if name is not None:
                return {name: np.load(file, allow_pickle=False)}
            case ".npz" if name is None:
                with np.load(file, allow_pickle=False) as archive:
                    return {key: archive[key] for key in archive.files}
            case ".json":
                values = json.loads(file.read_text(encoding="utf-8"))
                return _of_json(config, values if name is None else {name: values})
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        if isinstance(error, BodyError):
            raise
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise BodyError([f"it cannot be read: {why}"]) from None
    raise BodyError(["write NAME=FILE.npy, NAME=FILE.json, FILE.npz or FILE.json"])


def _of_json(config: Any, values: Any) -> dict[str, Array]:
    if not isinstance(values, dict):
        raise BodyError(["it holds no mapping of inputs; name the one that it is: NAME=FILE.json"])
    types = {tensor.name: data_type(tensor) for tensor in config.input}
    # What is not declared is reported with the rest; until then any type will do.
    return {name: from_json(it, types[name]) if name in types else np.array(0) for name, it in values.items()}


def write_arrays(arrays: Mapping[str, Array], file: Path) -> None:
    """Writes arrays by name, as the ending of the file says: `.npz` or `.json`.

    Raises:
        BodyError: for another ending, or texts in JSON that are not UTF-8.
    """
    if file.suffix not in _WRITERS:
        raise BodyError([f"{file}: choose a name that ends in {' or '.join(_WRITERS)}"])
    with complete_or_absent(file) as out:
        _WRITERS[file.suffix](arrays, out)


def _write_npz(arrays: Mapping[str, Array], file: BinaryIO) -> None:
    # `numpy.savez` takes names as keywords, and an output may be called as one of its own.
    with ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.save(entry, _without_objects(name, array), allow_pickle=False)


def _without_objects(name: str, array: Array) -> Array:
    if array.dtype.kind != "O":
        return array
    if any(text.endswith(b"\0") for text in array.ravel()):
        raise BodyError([f"`{name}` has a text that ends in a zero byte, which .npz does not keep"])
    return array.astype("S")


def _write_json(arrays: Mapping[str, Array], file: BinaryIO) -> None:
    file.write(f"{json.dumps(as_lists(arrays))}\n".encode())


def as_lists(arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Arrays as nested lists; texts as `str`.

    Raises:
        BodyError: for texts that are not UTF-8.
    """
    try:
        return {name: _decoded(array.tolist()) for name, array in arrays.items()}
    except UnicodeDecodeError:
        raise BodyError(["JSON cannot carry texts that are not UTF-8; write a .npz file"]) from None


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(it) for it in value]
    return value.decode() if isinstance(value, bytes) else value


_WRITERS: dict[str, Callable[[Mapping[str, Array], BinaryIO], None]] = {
    ".npz": _write_npz,
    ".json": _write_json,
}
