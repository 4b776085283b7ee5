"""Arrays in files: `.npy` for one, `.npz` for several by name, `.json` for lists by name."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

import numpy as np

from inferstack.source.whole_files import complete_or_absent
from inferstack.triton.arrays import Array, from_json
from inferstack.triton.protocol import BodyError, data_type

_ONLY = ""


def read_inputs(config: Any, files: Iterable[tuple[str | None, Path]]) -> dict[str, Array]:
    """The inputs in some files, each given with the name of its input, or None for a file that has the names.

    `.npy` takes a name, `.npz` none, `.json` either. Lists in JSON get the type that the model declares.
    Nothing is unpickled.

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
        problems += [f"{file}: the input `{twice}` was given before" for twice in arrays if twice in found]
        found.update(arrays)
    if problems:
        raise BodyError(problems)
    return found


def _read(config: Any, name: str | None, file: Path) -> dict[str, Array]:
    # Opening a pipe would wait for its other end.
    if file.exists() and not file.is_file():
        raise BodyError(["it is not a regular file"])
    match file.suffix:
        case ".npy" if name is not None:
            return {name: _by_name(file)[_ONLY]}
        case ".npz" if name is None:
            return _by_name(file)
        case ".json":
            values = _json(file)
            return _of_json(config, values if name is None else {name: values})
    raise BodyError(["write NAME=FILE.npy, NAME=FILE.json, FILE.npz or FILE.json"])


def _by_name(file: Path) -> dict[str, Array]:
    """What numpy wrote into a file: its first bytes say what that is, and its ending must agree."""
    try:
        # Opened here, since numpy leaves open what it cannot read.
        with file.open("rb") as opened:
            return _arrays(np.load(opened, allow_pickle=False), file.suffix)
    except BodyError:
        raise
    except Exception as error:
        # For a damaged file numpy raises nearly anything, and MemoryError if it lies about its size.
        raise BodyError([f"it cannot be read: {_why(error)}"]) from None


def _arrays(found: Any, suffix: str) -> dict[str, Array]:
    if isinstance(found, np.ndarray) != (suffix == ".npy"):
        raise ValueError(f"it is not {suffix}, despite its name")
    if isinstance(found, np.ndarray):
        return {_ONLY: _readable(found)}
    return _each_once((key, _readable(found[key])) for key in found.files)


def _readable(found: Any) -> Array:
    """An array whose values can all be read. If an entry is not an array, numpy gives its bytes."""
    if not isinstance(found, np.ndarray):
        raise ValueError("it holds something that is not an array")
    if found.dtype.kind == "U":
        # Only this shows whether all values are characters.
        found.tolist()
    return found


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=_each_once)
    except BodyError:
        raise
    except json.JSONDecodeError as error:
        raise BodyError([f"it is not JSON: line {error.lineno}, column {error.colno}: {error.msg}"]) from None
    except (OSError, ValueError, RecursionError) as error:
        raise BodyError([f"it cannot be read: {_why(error)}"]) from None


def _each_once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise BodyError([f"the input `{name}` is given twice"])
        found[name] = value
    return found


def _why(error: Exception) -> str:
    """The first line of the message; numpy's further lines advise trusting the file."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return (said or type(error).__name__).splitlines()[0]


def _of_json(config: Any, values: Any) -> dict[str, Array]:
    if not isinstance(values, dict):
        raise BodyError(["it does not map input names to values; name its input: NAME=FILE.json"])
    types = {tensor.name: data_type(tensor) for tensor in config.input}
    # An input that is not declared is reported later, with the rest; until then any array will do.
    return {name: from_json(it, types[name]) if name in types else np.array(0) for name, it in values.items()}


def write_arrays(arrays: Mapping[str, Array], file: Path) -> None:
    """Writes arrays by name, in the format of the file's ending: `.npz` or `.json`.

    Raises:
        BodyError: for another ending; for what JSON cannot carry (NaN, infinity, texts that are not UTF-8),
            or `.npz` cannot keep (texts that end in a zero byte).
        OSError: when the file cannot be written.
    """
    if file.suffix not in _WRITERS:
        raise BodyError([f"{file}: choose a name that ends in {' or '.join(_WRITERS)}"])
    with complete_or_absent(file) as out:
        _WRITERS[file.suffix](arrays, out)


def _write_npz(arrays: Mapping[str, Array], file: BinaryIO) -> None:
    # `numpy.savez` takes names as keywords, and an output may have the name of one of its parameters.
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
    try:
        text = json.dumps(_as_lists(arrays), allow_nan=False)
    except BodyError:
        raise
    except ValueError:
        raise BodyError(["JSON cannot carry NaN and infinity; write a .npz file"]) from None
    file.write(f"{text}\n".encode())


def _as_lists(arrays: Mapping[str, Array]) -> dict[str, Any]:
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
