"""What a Python environment has for a rehearsal, as JSON on standard output.

A program of its own that runs in the environment in question, which need not have inferstack; Python 3.8
and the standard library are enough. Nothing that it looks for is imported.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

# What can run a model in place of the server's backend.
_RUNNING = ("torch", "onnxruntime")


def _package_folder() -> str | None:
    found = importlib.util.find_spec("pytriton")
    if found is None or not found.submodule_search_locations:
        return None
    return str(next(iter(found.submodule_search_locations)))


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _shared_python() -> str | None:
    """The shared library of this Python, which the server's stub loads."""
    name = "libpython{}.{}.so.1.0".format(*sys.version_info[:2])
    folders = [sysconfig.get_config_var("LIBDIR") or "", sys.base_prefix + "/lib"]
    multiarch = sysconfig.get_config_var("MULTIARCH")
    for parent in ("/usr/lib", "/lib"):
        folders += [f"{parent}/{multiarch}", parent]
    found = (str(Path(folder, name)) for folder in folders if Path(folder, name).is_file())
    return next(found, None)


def environment() -> dict[str, str | list[str] | dict[str, str] | None]:
    """What was found; None for what is missing."""
    packages = {name: _version(name) for name in _RUNNING}
    return {
        "python": "{}.{}".format(*sys.version_info[:2]),
        "executables": str(Path(sys.executable).parent),
        "folders": [path for path in (sys.prefix, sys.base_prefix, *sys.path) if Path(path).exists()],
        "package": _package_folder(),
        "numpy_version": _version("numpy"),
        "shared_python": _shared_python(),
        "packages": {name: version for name, version in packages.items() if version is not None},
    }


if __name__ == "__main__":
    json.dump(environment(), sys.stdout)
