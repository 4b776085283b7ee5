"""The files of Llama 3 8B: plain attention, whose memory can be computed exactly."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}
OF_8B = 16_060_522_496
"""The bytes of its weights."""


def write_model(folder: Path, config: Mapping[str, Any], size: int | None = OF_8B) -> None:
    """Writes the files of a model like it, with other keys, or weights of another size."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({**LLAMA, **config}))
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": size}}))
