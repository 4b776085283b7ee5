"""What can run a model's file for real in place of a backend that the server lacks: packages of the Python in
which it runs. The stand-in has the other half of it, inside the server.
"""

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from inferstack.triton.model import TritonModel, enum_name
from inferstack.triton.model_files import onnx_graph
from inferstack.triton.rules.pytorch import is_torchscript
from inferstack.triton.rules.tensors import tensors


class Runner(msgspec.Struct, frozen=True):
    """A package, the format that it runs, and which models and files it can take."""

    package: str
    format: str
    takes: Callable[[TritonModel], bool]
    holds: Callable[[Path], bool]
    """Whether a file has the format."""


def _is_onnx(model: TritonModel) -> bool:
    config = model.config
    # The backend would fill in what is not declared.
    odd = config.runtime or config.HasField("model_operations") or not (config.input and config.output)
    odd = odd or any(tensor.allow_ragged_batch for tensor in config.input)
    # numpy has no such numbers.
    brain = any(enum_name(tensor, "data_type") == "TYPE_BF16" for _, tensor in tensors(model))
    return model.backend == "onnxruntime" and not odd and not brain


def _holds_onnx(file: Path) -> bool:
    return onnx_graph(_file_in(file)) is not None


def _file_in(path: Path) -> Path:
    """A model may be a folder, with a file of the same name in it."""
    return path / path.name if path.is_dir() else path


def _holds_torchscript(file: Path) -> bool:
    """TorchScript is a zip with code and constants in it; what `torch.save` writes has neither."""
    if not zipfile.is_zipfile(file):
        return False
    with zipfile.ZipFile(file) as content:
        return any(name.endswith("/constants.pkl") for name in content.namelist())


RUNNERS = (
    Runner("torch", "TorchScript", is_torchscript, _holds_torchscript),
    Runner("onnxruntime", "ONNX", _is_onnx, _holds_onnx),
)
"""All of them; no two take the same model."""


def _runner_of(model: TritonModel) -> Runner | None:
    config = model.config
    # What Triton gives to a model besides its inputs, or computes of its outputs, is not imitated.
    plain = not (config.HasField("sequence_batching") or config.batch_input or config.batch_output)
    known = plain and model.model_file is not None
    return next((it for it in RUNNERS if known and it.takes(model)), None)


def may_run(model: TritonModel, packages: Mapping[str, str]) -> bool:
    """Whether the packages are enough to try running the model in place of its backend."""
    runner = _runner_of(model)
    return runner is not None and runner.package in packages


def runner_for(
    model: TritonModel, folder: Path, packages: Mapping[str, str]
) -> tuple[str | None, tuple[str, ...]]:
    """The package, with its version, that runs the files in a model's folder for real; if none does, what is
    missing, as text.
    """
    runner = _runner_of(model)
    if runner is None:
        return None, ()
    package, form = runner.package, runner.format
    if package not in packages:
        how = f"with `{package}` in the rehearsal's Python (pip install {package})"
        return None, (f"{form} runs for real {how}",)
    files = [f"{version}/{model.model_file}" for version in model.versions]
    if any(_is_elsewhere(model, path, folder) for path in model.files):
        return None, ()
    strange = [file for file in files if not runner.holds(folder / file)]
    wrong = [file for file in strange if _file_in(folder / file).is_file()]
    found = None if strange else f"{package} {packages[package]}"
    return found, tuple(f"{file} is not {form}: the real backend cannot load it" for file in wrong)


def _is_elsewhere(model: TritonModel, path: str, folder: Path) -> bool:
    """Whether weights are not on this machine: they are packed as empty files, and reported by others."""
    unpacked = folder / path
    return unpacked.is_file() and not unpacked.stat().st_size and not model.files[path].exists()
