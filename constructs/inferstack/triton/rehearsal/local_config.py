"""A model's configuration for a server without GPU and with the Python backend only.

What is changed is listed, so that the report can say what the rehearsal cannot show.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from inferstack.triton.model import TritonModel, is_map
from inferstack.triton.rehearsal.server import SERVER_RELEASE, RunnerModule
from inferstack.triton.rehearsal.stand_in import FILE, RUN_BY
from inferstack.triton.rules.releases import FIRST_RELEASE

# For models that PyTorch compiled ahead of time; a stand-in treats it like the other platform.
_NEWER_PLATFORM = "torch_aoti"
_RELEASE = "{}.{:02}".format(*SERVER_RELEASE)


@dataclass(frozen=True, slots=True)
class LocalConfig:
    """A configuration as the local server gets it.

    ``changes`` says in words how it differs where that matters, ``stand_in`` is the backend that is replaced,
    and ``runner`` what computes instead of it. Without a runner, answers are zeros.
    """

    config: Any
    changes: tuple[str, ...]
    changed: bool
    stand_in: str | None
    runner: RunnerModule | None = None


def stand_in_backend(model: TritonModel) -> str | None:
    """The backend that the local server lacks and this model needs; None where it runs for real."""
    if model.is_ensemble:
        return None
    return None if model.backend in {"", "python"} else model.backend


def local_config(model: TritonModel, runner: RunnerModule | None = None) -> LocalConfig:
    """The configuration of a model, changed where the local server could not load it.

    ``runner`` is what computes instead of its backend.
    """
    config = type(model.config)()
    config.CopyFrom(model.config)
    changes = [said for change in _CHANGES for said in change(config)]
    stand_in = stand_in_backend(model)
    if stand_in is not None:
        _run_by(config, runner, model.model_file)
        _fit_stand_in(config)
    return LocalConfig(config, tuple(dict.fromkeys(changes)), config != model.config, stand_in, runner)


def _without_gpus(config: Any) -> Iterator[str]:
    kinds = type(config).DESCRIPTOR.fields_by_name["instance_group"].message_type.enum_types_by_name["Kind"]
    for group in config.instance_group:
        if group.kind == kinds.values_by_name["KIND_GPU"].number or group.gpus:
            group.kind = kinds.values_by_name["KIND_CPU"].number
            yield "its instances run on the CPU"
        for field in ("gpus", "secondary_devices"):
            group.ClearField(field)


def _without_newer_fields(config: Any) -> Iterator[str]:
    for message in _messages(config):
        for field, _ in message.ListFields():
            since = FIRST_RELEASE.get(f"{message.DESCRIPTOR.name}.{field.name}")
            if since is not None and since > SERVER_RELEASE:
                message.ClearField(field.name)
                yield f"`{field.name}` is left out: the local Triton is {_RELEASE}, which does not know it"
    if config.platform == _NEWER_PLATFORM:
        config.platform = "pytorch_libtorch"
        yield f"`{_NEWER_PLATFORM}` is loaded as `pytorch_libtorch`: the local Triton is {_RELEASE}"


def _messages(message: Any) -> Iterator[Any]:
    """A message and those in it, except in maps, whose values have no fields that came later."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is None or is_map(field):
            continue
        for inner in (value,) if hasattr(value, "ListFields") else value:
            yield from _messages(inner)


def _without_agents(config: Any) -> Iterator[str]:
    if config.HasField("model_repository_agents"):
        config.ClearField("model_repository_agents")
        yield "`model_repository_agents` is left out: the local server has none"


def _without_brain_floats(config: Any) -> Iterator[str]:
    """numpy has no such type, so no Python model can answer with it; half floats have the same size."""
    types = config.DESCRIPTOR.file.enum_types_by_name["DataType"].values_by_name
    brain, half = types["TYPE_BF16"].number, types["TYPE_FP16"].number
    for tensor in (*config.input, *config.output):
        if tensor.data_type == brain:
            tensor.data_type = half
            yield "TYPE_BF16 is rehearsed as TYPE_FP16"
    for warmup in config.model_warmup:
        for tensor in warmup.inputs.values():
            if tensor.data_type == brain:
                tensor.data_type = half


_CHANGES: tuple[Callable[[Any], Iterator[str]], ...] = (
    _without_gpus,
    _without_newer_fields,
    _without_agents,
    _without_brain_floats,
)


def _run_by(config: Any, runner: RunnerModule | None, file: str | None) -> None:
    if runner is not None:
        config.parameters[RUN_BY].string_value = runner.module.stem
        config.parameters[FILE].string_value = file or ""


def _fit_stand_in(config: Any) -> None:
    """Removes what only means something to the real backend, and all but one instance of a group."""
    for field in ("runtime", "default_model_filename", "cc_model_filenames", "optimization"):
        config.ClearField(field)
    for group in config.instance_group:
        group.count = 1
        group.ClearField("profile")
