"""Model repositories on disk, and archives made by hand, including hostile ones."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from inferstack.problems import FilePlace, Place

CONFIG = """\
backend: "python"
input { name: "X" data_type: TYPE_FP32 dims: 1 }
output { name: "Y" data_type: TYPE_FP32 dims: 1 }
"""
ENSEMBLE = """\
platform: "ensemble"
input { name: "X" data_type: TYPE_FP32 dims: 1 }
output { name: "Y" data_type: TYPE_FP32 dims: 1 }
ensemble_scheduling {
  step {
    model_name: "net" model_version: -1
    input_map { key: "X" value: "X" }
    output_map { key: "Y" value: "Y" }
  }
}
"""
MODEL = {"net/config.pbtxt": CONFIG, "net/1/model.py": "pass\n"}
"""A repository of one model: content by path, where a path that ends in a slash is an empty folder."""
PIPE = {**MODEL, "pipe/config.pbtxt": ENSEMBLE, "pipe/1/": ""}
"""A repository of an ensemble and its model."""


def locate(place: Place) -> FilePlace:
    """Finds places in a spec that has no file."""
    return place if isinstance(place, FilePlace) else FilePlace("/".join(map(str, place)))


def names(archive: Path) -> list[str]:
    """Names of an archive's files and folders, in its order."""
    with tarfile.open(archive) as tar:
        return tar.getnames()


def lay_out(folder: Path, contents: Mapping[str, str]) -> Path:
    """Writes files and, for paths that end in a slash, empty folders."""
    for path, content in contents.items():
        target = folder / path
        if path.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, "utf-8")
    return folder


def member(name: str, kind: bytes = tarfile.REGTYPE, content: bytes = b"", **fields: object) -> bytes:
    """A tar member with its content, padded; ``fields`` are those of ``TarInfo``."""
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(content)
    for key, value in fields.items():
        setattr(info, key, value)
    return info.tobuf(tarfile.PAX_FORMAT) + content + bytes(-len(content) % 512)


def tar_of(contents: Mapping[str, str]) -> bytes:
    """A tar as the tar command makes it."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for path, content in contents.items():
            info = tarfile.TarInfo(path)
            info.type = tarfile.DIRTYPE if path.endswith("/") else tarfile.REGTYPE
            info.size = len(content.encode())
            tar.addfile(info, io.BytesIO(content.encode()))
    return made.getvalue()
