"""What Triton knows about its own backends: their platforms, and the file that each loads.

https://github.com/triton-inference-server/core/blob/main/src/constants.h
"""

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.problems.words import slip_of


class Backend(msgspec.Struct, frozen=True):
    """A backend, its platforms with the file that each loads, and what it does by itself."""

    platforms: dict[str, str]
    file: str
    completes: bool
    """Whether it can add inputs, outputs and batch size that a configuration leaves out."""
    uses_gpus: bool
    """Whether it runs models on GPUs by itself. A Python model decides that itself."""


BACKENDS: dict[str, Backend] = {
    "tensorrt": Backend({"tensorrt_plan": "model.plan"}, "model.plan", completes=True, uses_gpus=True),
    "onnxruntime": Backend({"onnxruntime_onnx": "model.onnx"}, "model.onnx", completes=True, uses_gpus=True),
    "pytorch": Backend(
        {"pytorch_libtorch": "model.pt", "torch_aoti": "model.pt2"},
        "model.pt",
        completes=False,
        uses_gpus=True,
    ),
    "tensorflow": Backend(
        {"tensorflow_graphdef": "model.graphdef", "tensorflow_savedmodel": "model.savedmodel"},
        "model.savedmodel",
        completes=True,
        uses_gpus=True,
    ),
    "python": Backend({}, "model.py", completes=True, uses_gpus=False),
    "openvino": Backend({}, "model.xml", completes=True, uses_gpus=False),
}
"""Backends whose files and platforms Triton itself knows."""

ENSEMBLE = "ensemble"
PLATFORMS: dict[str, str] = {
    platform: name for name, backend in BACKENDS.items() for platform in backend.platforms
}
"""The backend of each platform."""
# Another spelling of a platform: Triton fills in the backend from it, though it is not a platform itself.
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
"""Names that people use for a backend that is called otherwise."""


# The order in which Triton looks for files where a configuration says nothing.
_LOOKED_FOR = ("tensorflow", "tensorrt", "onnxruntime", "openvino", "pytorch", "python")


@lru_cache
def meant_backend(name: str) -> str | None:
    """The backend of Triton's that an unknown name probably means."""
    own = (*BACKENDS, "tensorrtllm")
    return None if name in own else _CALLED_OTHERWISE.get(name.lower(), slip_of(name, own))


def is_ensemble(config: Any) -> bool:
    """Whether the configuration is, or is meant to be, an ensemble."""
    return config.platform == ENSEMBLE or bool(config.HasField("ensemble_scheduling"))


class Chosen(msgspec.Struct, frozen=True):
    """What Triton runs a model with; fields are empty or None where only the backend knows.

    ``file`` is what the backend loads from a version folder. ``by_name``: the model's name ends in it.
    """

    backend: str
    platform: str
    file: str | None = None
    by_name: bool = False


def _by_files() -> Iterator[Chosen]:
    for name in _LOOKED_FOR:
        backend = BACKENDS[name]
        yield from (Chosen(name, platform, file) for platform, file in backend.platforms.items())
        if not backend.platforms:
            yield Chosen(name, "", backend.file)


_BY_FILE = tuple(_by_files())


def chosen(config: Any, name: str, contents: Collection[str]) -> Chosen:
    """The backend of a model, from its configuration, otherwise from the files in its first folder, otherwise
    from the end of its name: the order of Triton's ``AutoCompleteBackendFields``.
    """
    choice = _by_configuration(config)
    if choice.backend or config.platform or config.default_model_filename:
        return _with_file(config, choice)
    found = next((choice for choice in _BY_FILE if choice.file in contents), None)
    if found is not None:
        return _with_file(config, found)
    ending = name.partition(".")[2]
    return Chosen(ending, "", by_name=True) if ending else choice


def _by_configuration(config: Any) -> Chosen:
    if config.backend:
        return Chosen(str(config.backend), str(config.platform))
    if config.platform == _LIBTORCH:
        return Chosen("pytorch", _LIBTORCH)
    if config.platform:
        return Chosen(PLATFORMS.get(config.platform, ""), str(config.platform))
    named = config.default_model_filename
    return next((choice for choice in _BY_FILE if choice.file == named), Chosen("", ""))


def _with_file(config: Any, choice: Chosen) -> Chosen:
    return replace(choice, file=_file(config, choice))


def _file(config: Any, choice: Chosen) -> str | None:
    if config.default_model_filename:
        return str(config.default_model_filename)
    backend = BACKENDS.get(choice.backend)
    if backend is None or config.runtime or config.cc_model_filenames:
        return None
    if choice.backend == "tensorflow" and not choice.platform:
        return None
    return backend.platforms.get(choice.platform, backend.file)


def backends_of_file(filename: str) -> Iterator[str]:
    """Triton's own backends that load a file of this name by default."""
    yield from dict.fromkeys(choice.backend for choice in _BY_FILE if choice.file == filename)
