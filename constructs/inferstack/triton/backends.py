"""What Triton knows of its own backends: which platform belongs to which, and the file that each loads.

https://github.com/triton-inference-server/core/blob/main/src/constants.h
"""

from functools import lru_cache
from typing import Any

import msgspec

from inferstack.spec.problem.words import slip_of


class Backend(msgspec.Struct, frozen=True):
    """A backend, its platforms with the file that each loads, and whether it can complete a configuration."""

    platforms: dict[str, str]
    file: str
    completes: bool
    """It can add inputs, outputs and batch size that a configuration leaves out."""


BACKENDS: dict[str, Backend] = {
    "tensorrt": Backend({"tensorrt_plan": "model.plan"}, "model.plan", completes=True),
    "onnxruntime": Backend({"onnxruntime_onnx": "model.onnx"}, "model.onnx", completes=True),
    "pytorch": Backend(
        {"pytorch_libtorch": "model.pt", "torch_aoti": "model.pt2"}, "model.pt", completes=False
    ),
    "tensorflow": Backend(
        {"tensorflow_graphdef": "model.graphdef", "tensorflow_savedmodel": "model.savedmodel"},
        "model.savedmodel",
        completes=True,
    ),
    "python": Backend({}, "model.py", completes=True),
    "openvino": Backend({}, "model.xml", completes=True),
}
"""Backends whose files and platforms Triton itself knows."""

ENSEMBLE = "ensemble"
PLATFORMS: dict[str, str] = {
    platform: name for name, backend in BACKENDS.items() for platform in backend.platforms
}
"""The backend of each platform."""
# Another spelling that fills in the backend, and is then no platform of it.
_LIBTORCH = "libtorch"


_CALLED_OTHERWISE = {
    **PLATFORMS,
    **dict.fromkeys(("onnx", "onnxrt", "ort"), "onnxruntime"),
    **dict.fromkeys(("torch", "torchscript", _LIBTORCH), "pytorch"),
    **dict.fromkeys(("trt", "plan"), "tensorrt"),
    **dict.fromkeys(("trtllm", "tensorrt_llm"), "tensorrtllm"),
    **dict.fromkeys(("tf", "savedmodel", "graphdef"), "tensorflow"),
    "py": "python",
}
"""What people call a backend that has another name."""


@lru_cache
def meant_backend(name: str) -> str | None:
    """The backend of Triton's own that is probably meant by a name that none of them has."""
    own = (*BACKENDS, "tensorrtllm")
    return None if name in own else _CALLED_OTHERWISE.get(name.lower(), slip_of(name, own))


def is_ensemble(config: Any) -> bool:
    """Whether the configuration is, or is meant to be, an ensemble."""
    return config.platform == ENSEMBLE or bool(config.HasField("ensemble_scheduling"))


def backend_of(config: Any) -> str:
    """The backend that runs a model, as far as its configuration tells; empty if it does not."""
    if config.backend:
        return str(config.backend)
    if config.platform == _LIBTORCH:
        return "pytorch"
    if config.platform in PLATFORMS:
        return PLATFORMS[config.platform]
    return _backend_of_file(config.default_model_filename) if not config.platform else ""


def _backend_of_file(filename: str) -> str:
    for name, backend in BACKENDS.items():
        if filename and filename in (backend.file, *backend.platforms.values()):
            return name
    return ""


def backend_of_files(files: set[str]) -> str:
    """The backend that Triton takes for a model without any word of it, from the files of a version."""
    return next((name for name in map(_backend_of_file, sorted(files)) if name), "")


def model_file(config: Any) -> str | None:
    """The file that the backend loads from a version folder; None if only the backend knows."""
    if config.default_model_filename:
        return str(config.default_model_filename)
    backend = BACKENDS.get(backend_of(config))
    if backend is None or config.runtime or config.cc_model_filenames:
        return None
    if backend_of(config) == "tensorflow" and not config.platform:
        return None
    return backend.platforms.get(config.platform, backend.file)
