"""How many requests at once the KV caches of language models have room for, as a review shows it."""

from pathlib import Path
from typing import Any

import pytest
from support.resolving import merged
from support.reviews import write_spec

from inferstack.cli import main
from inferstack.cli.review.html import as_html
from inferstack.cli.review.markdown import markdown
from inferstack.cli.review.text import text
from inferstack.review import review
from tests.support.llama import write_model

SPEC: dict[str, Any] = {
    "kind": "single-model",
    "endpoint_name": "chat",
    "model": {
        "image": {"framework": "vllm", "version": "0.30.0"},
        "environment": {"HF_MODEL_ID": "org/model", "SM_VLLM_MAX_MODEL_LEN": "8192"},
        "model_config": "model",
    },
    "variant": {"instance_type": "ml.g6e.xlarge", "initial_instance_count": 1},
    "env": {"region": "us-east-1"},
}
WAS = "19 to 27 of 8192 tokens on ml.g6e.xlarge"
# What is changed, and what there is room for then; None where that is the same, or not known.
CHANGES: dict[str, tuple[dict[str, Any], str | None]] = {
    "longer requests": (
        {"model": {"environment": {"SM_VLLM_MAX_MODEL_LEN": "32768"}}},
        "4 to 6 of 32768 tokens on ml.g6e.xlarge",
    ),
    "another type": ({"variant": {"instance_type": "ml.g5.xlarge"}}, "0 to 6 of 8192 tokens on ml.g5.xlarge"),
    "planned with": (
        {"objective": {"tokens_per_request": 1024}},
        "156 to 216 of 1024 tokens on ml.g6e.xlarge",
    ),
    "numbers of another size": (
        {"model": {"environment": {"SM_VLLM_KV_CACHE_DTYPE": "fp8"}}},
        "39 to 54 of 8192 tokens on ml.g6e.xlarge",
    ),
    "more instances": ({"variant": {"initial_instance_count": 2}}, None),
    "no longer known": ({"model": {"environment": {"SM_VLLM_CPU_OFFLOAD_GB": "4"}}}, None),
    "no files of the model": ({"model": {"model_config": None}}, None),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("was", "is"):
        write_model(Path(name, "model"), {"max_position_embeddings": 131072})
    write_spec(Path("was/chat.yaml"), SPEC)


@pytest.mark.parametrize(("change", "room"), CHANGES.values(), ids=CHANGES)
def test_what_there_is_room_for_is_a_change_of_its_own(change: dict[str, Any], room: str | None) -> None:
    write_spec(Path("is/chat.yaml"), merged(SPEC, change))
    found = review("is", "was")
    rooms = [it for it in found.findings if it.message == "requests at once in the KV cache of `model`"]
    assert [(it.effect, it.before, it.after) for it in rooms] == (
        [] if room is None else [("capacity", WAS, room)]
    )
    for written in (text(found), markdown(found), as_html(found)) if room else ():
        assert room.partition(" on ")[0] in " ".join(written.split())


def test_of_a_template_nothing_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    write_spec(Path("is/chat.yaml"), merged(SPEC, CHANGES["another type"][0]))
    assert main(["render", "was/chat.yaml", "--out", "templates"]) == 0
    assert not [it for it in review("is", "templates").findings if "KV cache" in it.message]
