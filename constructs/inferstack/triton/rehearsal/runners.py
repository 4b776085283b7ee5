"""What can run a model's file for real where the server lacks its backend, given a package in its Python."""

import zipfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from inferstack.triton.model import TritonModel
from inferstack.triton.rules.pytorch import is_torchscript


@dataclass(frozen=True, slots=True)
class RunnerModule:
    """The module that runs files of a ``form``, the package that it needs, and what recognizes such files."""

    module: Path
    package: str
    form: str
    takes: Callable[[TritonModel], bool]
    knows: Callable[[Path], bool]


def _runner_of(model: TritonModel) -> RunnerModule | None:
    """What could run a model for real, if its package is there and its file has the form."""
    return next((runner for runner in RUNNERS if runner.takes(model)), None)


def runs(model: TritonModel, packages: Collection[str]) -> bool:
    """Whether the packages suffice to try running the model."""
    runner = _runner_of(model)
    return runner is not None and runner.package in packages


def runner_for(
    model: TritonModel, folder: Path, packages: Collection[str]
) -> tuple[RunnerModule | None, tuple[str, ...]]:
    """What runs a model for real, by the files in its folder; else None and, in words, what is missing."""
    runner = _runner_of(model)
    if runner is None:
        return None, ()
    if runner.package not in packages:
        how = f"with `{runner.package}` in the rehearsal's Python (pip install {runner.package})"
        return None, (f"{runner.form} runs for real {how}",)
    files = [f"{version}/{model.model_file}" for version in model.versions]
    strange = [file for file in files if not runner.knows(folder / file)]
    if not strange:
        return runner, ()
    # Weights that are not there are packed as empty files, and reported elsewhere.
    wrong = [file for file in strange if (folder / file).is_file() and (folder / file).stat().st_size]
    return None, tuple(f"{file} is no {runner.form}: the real backend cannot load it" for file in wrong)


def _is_torchscript(model: TritonModel) -> bool:
    config = model.config
    # What Triton gives to a model besides its inputs is not imitated.
    plain = not config.HasField("sequence_batching") and not config.batch_input
    return plain and is_torchscript(model) and model.model_file is not None


def _holds_torchscript(file: Path) -> bool:
    """TorchScript is a zip with code and constants in it; what `torch.save` writes has neither."""
    if not zipfile.is_zipfile(file):
        return False
    with zipfile.ZipFile(file) as content:
        return any(name.endswith("/constants.pkl") for name in content.namelist())


RUNNERS = (
    RunnerModule(
        Path(__file__).with_name("run_torchscript.py"),
        "torch",
        "TorchScript",
        _is_torchscript,
        _holds_torchscript,
    ),
)
"""All runners."""
