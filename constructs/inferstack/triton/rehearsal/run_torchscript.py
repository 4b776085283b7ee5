"""Runs TorchScript in a stand-in for the PyTorch backend, which the local server lacks: on the CPU, by torch.

Triton loads a copy of this file beside that of `stand_in.py`, so it uses nothing of inferstack. Which input
goes where is decided as the backend does:
https://github.com/triton-inference-server/pytorch_backend/blob/main/src/pt/model_instance_state.cc
"""

from importlib import import_module
from typing import Any

_DIVIDER = "__"


class Runner:
    """A module loaded from ``file``, for a model with this configuration."""

    def __init__(self, file: str, config: dict[str, Any]) -> None:
        # Both exist only where Triton runs this.
        self._torch: Any = import_module("torch")
        self._triton: Any = import_module("triton_python_backend_utils")
        self._module = self._torch.jit.load(file, map_location="cpu").eval()
        self._outputs = {output["name"]: output["data_type"] for output in config["output"]}
        names = [tensor["name"] for tensor in config["input"]]
        arguments = [(one.name, one.type.kind()) for one in self._module.forward.schema.arguments[1:]]
        self._as_mapping = [kind for _, kind in arguments] == ["DictType"]
        if not self._as_mapping and len(arguments) != len(names):
            raise ValueError(f"configuration expects {len(names)} inputs, model provides {len(arguments)}")
        self._inputs = _in_order(names, [name for name, _ in arguments])

    def run(self, given: dict[str, Any]) -> dict[str, Any]:
        """The outputs by name, from the inputs by name; arrays of numpy."""
        tensors = {name: self._tensor(values) for name, values in given.items()}
        with self._torch.inference_mode():
            if self._as_mapping:
                answer = self._module(tensors)
            else:
                answer = self._module(*(tensors[name] for name in self._inputs))
        answers = answer if isinstance(answer, tuple) else (answer,)
        places = _places(list(self._outputs))
        return {name: self._array(name, answers, place) for name, place in places.items()}

    def _tensor(self, values: Any) -> Any:
        if values.dtype == object:
            return [text.decode() for text in values]
        # A copy, since the memory is Triton's and must not be written to.
        return self._torch.from_numpy(values.copy())

    def _array(self, name: str, answers: tuple[Any, ...], place: int) -> Any:
        if place >= len(answers):
            raise ValueError(f"output {name} refers to an output that is not there: there are {len(answers)}")
        answer = answers[place]
        if isinstance(answer, list):
            return import_module("numpy").array(answer, dtype=object)
        array = answer.contiguous().numpy()
        wanted = self._triton.triton_string_to_numpy(self._outputs[name])
        if array.dtype != wanted:
            expected = f"configuration expects {self._outputs[name]} for output '{name}'"
            raise ValueError(f"{expected}, model provides {array.dtype}")
        if array.ndim == 0:
            raise ValueError(f"output '{name}' is a scalar which is not supported")
        return array


def _in_order(names: list[str], arguments: list[str]) -> list[str]:
    """Names of inputs in the order of `forward`: by its arguments' names, else by the places in the names."""
    places = (
        {name: arguments.index(name) for name in names} if set(names) <= set(arguments) else _places(names)
    )
    return sorted(names, key=places.__getitem__)


def _places(names: list[str]) -> dict[str, int]:
    """`NAME__2` has the place 2; unless all names have one, the order of the configuration counts."""
    endings = [name.partition(_DIVIDER) for name in names]
    if all(divider and (not place or place.isdigit()) for _, divider, place in endings):
        return {name: int(place or 0) for name, (_, _, place) in zip(names, endings, strict=True)}
    return {name: place for place, name in enumerate(names)}
