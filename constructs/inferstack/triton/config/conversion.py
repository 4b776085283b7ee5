"""Triton's ``ModelConfig``, made from a model of a spec.

Some things are shorter in a spec than in ``config.pbtxt``: parameters are plain values (``true``, ``12``),
maps are mappings, and a model's name is the key that holds it. ``files`` is not Triton's at all.
"""

from collections.abc import Mapping
from typing import Any

from inferstack.triton.config.messages import parse_mapping

_NOT_TRITONS = frozenset({"files"})
_ACCELERATORS = ("gpu_execution_accelerator", "cpu_execution_accelerator")


def config_from_spec(mapping: Mapping[str, Any]) -> Any:
    """The ``ModelConfig`` that a model of a spec's ``triton`` block stands for.

    Its ``name`` stays empty unless it is written: Triton then takes the folder's.

    Raises:
        ConfigError: when a value does not fit, such as a number beyond its field's range.
    """
    return parse_mapping(_without_sugar(mapping))


def _without_sugar(mapping: Mapping[str, Any]) -> dict[str, Any]:
    data = {key: value for key, value in mapping.items() if key not in _NOT_TRITONS}
    if "parameters" in data:
        data["parameters"] = {key: _parameter(value) for key, value in data["parameters"].items()}
    if "optimization" in data:
        data["optimization"] = _optimization(data["optimization"])
    if "model_repository_agents" in data:
        data["model_repository_agents"] = _agents(data["model_repository_agents"])
    return data


def _parameter(value: Any) -> dict[str, str]:
    plain = value["string_value"] if isinstance(value, Mapping) else value
    return {"string_value": _as_text(plain)}


def _as_text(value: object) -> str:
    """A plain value as Triton's backends read it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _optimization(policy: Mapping[str, Any]) -> dict[str, Any]:
    if "execution_accelerators" not in policy:
        return dict(policy)
    accelerators = dict(policy["execution_accelerators"])
    for kind in _ACCELERATORS:
        if kind in accelerators:
            accelerators[kind] = [_with_texts(accelerator) for accelerator in accelerators[kind]]
    return {**policy, "execution_accelerators": accelerators}


def _agents(agents: Mapping[str, Any]) -> dict[str, Any]:
    return {key: [_with_texts(agent) for agent in found] for key, found in agents.items()}


def _with_texts(holder: Mapping[str, Any]) -> dict[str, Any]:
    """An accelerator or agent, whose parameters Triton wants as plain texts."""
    texts = {key: _as_text(value) for key, value in holder.get("parameters", {}).items()}
    return {**holder, "parameters": texts}
