"""`inferstack fit` and `inferstack describe-model`."""

import gzip
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from moto import mock_aws
from support import llama
from support.llama import OF_8B

from inferstack.cli import main

PRICES = {
    "regions": {
        "us-east-1": {
            "currency": "USD",
            "read": "2026-11-01",
            "source": "a list",
            "hosting": {"ml.g6e.xlarge": "2", "ml.g5.12xlarge": "3", "ml.g6.12xlarge": "7"},
        }
    }
}
SPEC = """\
kind: single-model
endpoint_name: chat
model:
  image: {framework: vllm, version: "0.30.0"}
  environment: {HF_MODEL_ID: org/model, SM_VLLM_MAX_MODEL_LEN: "8192"}
  model_config: model
variant: {instance_type: ml.g6e.xlarge, initial_instance_count: 1}
env: {region: us-east-1}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_model({})
    return tmp_path


def write_model(config: dict[str, Any], size: int = OF_8B) -> None:
    llama.write_model(Path("model"), {"max_position_embeddings": 131072, **config}, size)


def fitting(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    main(["fit", *words, "--format", "json"])
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


def test_a_type_is_divided_over_as_few_gpus_as_it_takes(capsys):
    asked = ("--model-config", "model", "--context", "8192", "--concurrency", "8")
    rows = {it["instance_type"]: it for it in fitting(capsys, *asked)}
    assert {rows["ml.g5.xlarge"]["fits"], rows["ml.g4dn.xlarge"]["fits"]} == {"no"}
    two = rows["ml.g5.12xlarge"]
    assert (two["fits"], two["tensor_parallel"], two["copies"]) == ("yes", 2, 2)
    assert two["requests"][0] >= 8
    assert two["concurrency_target"] == int(two["requests"][0] * 0.7)
    one = rows["ml.g6e.xlarge"]
    assert (one["fits"], one["tensor_parallel"], one["copies"]) == ("yes", 1, 1)


def test_without_a_spec_the_vllm_of_the_newest_image_serves_it(capsys):
    main(["fit", "--model-config", "model", "--context", "8192", "--instance-type", "ml.g6e.xlarge"])
    assert capsys.readouterr().out.startswith("LlamaForCausalLM, 15.0 GiB of weights, vLLM 0.30.0\n")


@pytest.mark.parametrize(("size", "said"), [(16_060_522_496, "1 to 3"), (141_107_412_992, "5 to 24")])
def test_it_says_how_long_a_copy_needs_to_wake_up(size: int, said: str, capsys):
    write_model({}, size)
    main(["fit", "--model-config", "model", "--context", "8192", "--instance-type", "ml.p5.48xlarge"])
    assert f"reads its weights for {said} minutes" in capsys.readouterr().out


def test_heads_decide_over_how_many_gpus(capsys):
    write_model({"num_attention_heads": 36, "num_key_value_heads": 4}, 60_000_000_000)
    rows = fitting(
        capsys, "--model-config", "model", "--context", "8192", "--instance-type", "ml.g6e.48xlarge"
    )
    assert rows[0]["tensor_parallel"] in (2, 4)


def test_what_is_not_exact_is_unknown(capsys):
    write_model({"sliding_window": 4096})
    rows = fitting(capsys, "--model-config", "model")
    assert {it["fits"] for it in rows} == {"no", "perhaps"}
    assert {it["tokens"] is None and it["concurrency_target"] is None for it in rows} == {True}
    assert all("`sliding_window`" in it["unknown"] for it in rows)


def test_the_cheapest_copy_comes_first(capsys):
    Path("inferstack-prices.json").write_text(json.dumps(PRICES))
    asked = ("--model-config", "model", "--context", "8192", "--region", "us-east-1")
    names = [it["instance_type"] for it in fitting(capsys, *asked)]
    # Two copies for 3 are cheaper than one for 2.
    assert names[:3] == ["ml.g5.12xlarge", "ml.g6e.xlarge", "ml.g6.12xlarge"]


def test_a_spec_says_how_its_model_is_served(capsys):
    Path("chat.yaml").write_text(SPEC)
    (row,) = fitting(capsys, "chat.yaml", "--instance-type", "ml.g6e.xlarge")
    assert row["container"] == "model"
    assert row["requests"][0] == pytest.approx(row["tokens"][0] / 8192, abs=0.01)
    Path("chat.yaml").write_text(SPEC.replace("SM_VLLM_MAX", "SM_VLLM_KV_CACHE_DTYPE: fp8, SM_VLLM_MAX"))
    (of_bytes,) = fitting(capsys, "chat.yaml", "--instance-type", "ml.g6e.xlarge")
    assert of_bytes["tokens"][0] == pytest.approx(2 * row["tokens"][0], rel=0.01)


@pytest.mark.parametrize(("longest", "verdict"), [("8192", "yes"), ("200000", "perhaps"), ("400000", "yes")])
def test_a_longest_request_that_may_have_no_room_makes_it_uncertain(capsys, longest, verdict):
    # What can have no room is set to the planned length, with which it surely fits.
    Path("chat.yaml").write_text(SPEC.replace("8192", longest))
    (row,) = fitting(capsys, "chat.yaml", "--context", "1024", "--instance-type", "ml.g6e.xlarge")
    assert row["fits"] == verdict


LOG = "INFO 10-21 09:11:57 [kv_cache_utils.py:1087] GPU KV cache size: {} tokens\n"


def test_the_cache_that_a_log_shows_counts(capsys):
    Path("chat.yaml").write_text(SPEC.replace("ml.g6e.xlarge", "ml.g5.2xlarge"))
    Path("start.log").write_text(f"Starting\n{LOG.format('25,424')}")
    rows = {it["instance_type"]: it for it in fitting(capsys, "chat.yaml", "--log", "start.log")}
    own, other = rows["ml.g5.2xlarge"], rows["ml.g6.xlarge"]
    assert (own["fits"], own["tokens"], own["requests"]) == ("yes", [25424, 25424], [3.1, 3.1])
    assert own["concurrency_target"] == 2
    assert (other["fits"], other["tokens"][0]) == ("perhaps", 0)
    # A token takes 128 KiB.
    assert own["kv_cache_gib"] == pytest.approx([25424 / 8192] * 2, abs=0.01)


NO_CACHE: dict[str, tuple[str, str]] = {
    "another model's": (
        LOG.format("425,424"),
        "a KV cache of 425424 tokens is not that of model on ml.g5.2xlarge, which has one of 0-53k tokens",
    ),
    "not vLLM's": ("Starting", "it has no line `GPU KV cache size: … tokens` for one instance type"),
}


@pytest.mark.parametrize(("log", "message"), NO_CACHE.values(), ids=NO_CACHE)
def test_a_log_without_the_cache_of_the_model_is_refused(capsys, log, message):
    Path("chat.yaml").write_text(SPEC.replace("ml.g6e.xlarge", "ml.g5.2xlarge"))
    Path("start.log").write_text(log)
    assert main(["fit", "chat.yaml", "--log", "start.log"]) == 1
    assert f"start.log: {message}" in capsys.readouterr().err


WRONG_ELSEWHERE = SPEC.replace("count: 1}", "count: 1, autoscaling: {min_capacity: 3, max_capacity: 1}}")


def test_an_error_elsewhere_is_no_hindrance(capsys):
    Path("chat.yaml").write_text(WRONG_ELSEWHERE)
    assert main(["fit", "chat.yaml", "--context", "8192"]) == 0
    said = capsys.readouterr()
    assert said.err.count("chat.yaml: 1 error elsewhere in it, which `inferstack validate` shows\n") == 1
    assert "ml.g6e.xlarge" in said.out


def test_an_error_of_the_model_is_the_only_one_that_is_shown(capsys):
    Path("chat.yaml").write_text(WRONG_ELSEWHERE.replace("model_config: model", "model_config: none"))
    assert main(["fit", "chat.yaml", "--context", "8192"]) == 1
    said = capsys.readouterr().err
    assert "there is no none" in said
    assert "max_capacity" not in said


def test_an_engine_that_divides_no_model_needs_one_gpu_for_it(capsys):
    tei = "763104351884.dkr.ecr.us-east-1.amazonaws.com/tei:2.0.1-tei1.8.2-gpu-py310-cu122-ubuntu22.04"
    Path("chat.yaml").write_text(SPEC.replace('{framework: vllm, version: "0.30.0"}', tei))
    write_model({}, 40_000_000_000)
    rows = {it["instance_type"]: it for it in fitting(capsys, "chat.yaml")}
    assert (rows["ml.g6e.12xlarge"]["fits"], rows["ml.g6e.12xlarge"]["tensor_parallel"]) == ("perhaps", 1)
    assert rows["ml.g5.12xlarge"]["fits"] == "no"
    assert main(["fit", "chat.yaml"]) == 0
    shown = capsys.readouterr().out
    assert "in the spec, for ml." in shown
    assert "tensor parallelism" not in shown
    assert "quantized" not in shown


def test_the_table_says_what_to_write(capsys):
    Path("chat.yaml").write_text(SPEC)
    assert main(["fit", "chat.yaml"]) == 0
    shown = capsys.readouterr().out
    assert "model: LlamaForCausalLM, 15.0 GiB of weights, vLLM 0.30.0" in shown
    assert "in the spec, for ml." in shown
    assert "what would change it:" in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(
    ("own", "line"),
    [
        ("ml.g6e.xlarge", "ml.g6e.xlarge*  "),
        ("ml.g5.4xlarge", "ml.g5.4xlarge*  "),
        ("ml.g4dn.2xlarge", "too small: ml.g4dn.xlarge, ml.g4dn.2xlarge*"),
    ],
)
def test_the_type_of_the_spec_is_always_shown(capsys, own, line):
    Path("chat.yaml").write_text(SPEC.replace("ml.g6e.xlarge", own))
    # Also where it is an error that it is too small.
    assert main(["fit", "chat.yaml"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert sum(it.startswith(line) for it in shown) == 1
    assert "* the spec's instance type" in shown
    # Another of the same GPUs only where it comes first.
    assert not any(it.startswith(("ml.g6e.2xlarge", "ml.g5.8xlarge")) for it in shown)


SGLANG = ('framework: vllm, version: "0.30.0"', 'framework: sglang, version: "0.5.12"')
# Of a spec, or of the model alone: the first that surely holds it, else the spec's own type, else the first that
# surely holds the weights. None of the types that perhaps do is better known than the others.
PROPOSED = {
    "the first that surely does": (
        ("chat.yaml", "--concurrency", "8"),
        ("", ""),
        {},
        "ml.g6e.xlarge (--write",
    ),
    "the spec's own of those that perhaps do": (("chat.yaml",), SGLANG, {}, "ml.g6e.xlarge (--write"),
    "a cache of unknown form": (
        ("--model-config", "model"),
        ("", ""),
        {"sliding_window": 4096},
        "ml.g7.2xlarge:",
    ),
}


@pytest.mark.parametrize(("words", "replaced", "config", "expected"), PROPOSED.values(), ids=PROPOSED)
def test_no_type_is_proposed_that_most_likely_is_too_small(capsys, words, replaced, config, expected):
    write_model(config)
    Path("chat.yaml").write_text(SPEC.replace(*replaced))
    assert main(["fit", *words]) == 0
    shown = capsys.readouterr().out
    assert f"in the spec, for {expected}" in shown
    assert "what would change it:\n  " in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_nothing_is_said_to_change_a_table_that_nothing_changes(capsys):
    write_model({"quantization_config": {"quant_method": "fp8"}})
    Path("chat.yaml").write_text(SPEC.replace(*SGLANG))
    assert main(["fit", "chat.yaml"]) == 0
    assert "what would change it" not in capsys.readouterr().out


def test_what_makes_the_memory_unknown_is_named(capsys):
    offload = SPEC.replace('"0.30.0"', '"0.17.1"').replace(
        "SM_VLLM_MAX", 'SM_VLLM_CPU_OFFLOAD_GB: "4", SM_VLLM_MAX'
    )
    Path("chat.yaml").write_text(offload)
    assert main(["fit", "chat.yaml"]) == 0
    printed = capsys.readouterr()
    assert "what SM_VLLM_CPU_OFFLOAD_GB does to its memory is not known: judged as vLLM 0.17.1" in printed.err
    assert "GiB of weights, vLLM 0.17.1\n" in printed.out


# ---------------------------------------------------------------- --write

FLEET = """\
kind: inference-components
endpoint_name: chat
variant: {instance_type: ml.g5.12xlarge, initial_instance_count: 1}  # four GPUs
inference_components:
  chat:
    specification:
      container:
        image: {framework: vllm, version: "0.30.0"}
        environment: {HF_MODEL_ID: org/model}
        model_config: model
      compute_resource_requirements: {number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 1024}
      startup_parameters: {container_startup_health_check_timeout_in_seconds: 1800}
    autoscaling: {min_capacity: 0, max_capacity: 2}
env: {region: us-east-1}
"""
POLICY = """\
{min_capacity: 1, max_capacity: 2, policies:
      [{metric: SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution, target_value: 1}]}"""
LMI = ('framework: vllm, version: "0.30.0"', 'framework: djl-lmi, version: "0.36.0"')
ASKED = ("--context", "8192", "--concurrency", "8")
COMPONENT = "inference_components.chat.specification"
IN_COMPONENT = {
    f"{COMPONENT}.compute_resource_requirements.number_of_accelerator_devices_required": 2,
    f"{COMPONENT}.compute_resource_requirements.min_memory_required_in_mb": 88064,
    f"{COMPONENT}.startup_parameters.model_data_download_timeout_in_seconds": 600,
    f"{COMPONENT}.container.environment.SM_VLLM_MAX_MODEL_LEN": "8192",
}
SPLIT = {f"{COMPONENT}.container.environment.SM_VLLM_TENSOR_PARALLEL_SIZE": "2"}
TARGET = "inference_components.chat.autoscaling.policies"
BY_DEFAULT = {
    f"{TARGET}.0.metric": "SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution",
    f"{TARGET}.0.scale_in_cooldown": 300,
    f"{TARGET}.0.scale_out_cooldown": 300,
}
TIMES = {
    "variant.model_data_download_timeout_in_seconds": 600,
    "variant.container_startup_health_check_timeout_in_seconds": 600,
}
# A spec with one text replaced, further words, and what becomes of the spec, by path.
WRITTEN: dict[str, tuple[str, tuple[str, str], tuple[str, ...], dict[str, Any]]] = {
    "a component, with the target that it has by default": (
        FLEET,
        ("", ""),
        (),
        {
            **IN_COMPONENT,
            **SPLIT,
            **BY_DEFAULT,
            f"{TARGET}.0.target_value": 8,
        },
    ),
    "a target of its own": (
        FLEET,
        ("{min_capacity: 0, max_capacity: 2}", POLICY),
        (),
        {**IN_COMPONENT, **SPLIT, f"{TARGET}.0.target_value": 8},
    ),
    "a target of something else": (
        FLEET,
        (
            "0, max_capacity: 2}",
            "1, max_capacity: 2, policies: [{metric: SageMakerInferenceComponentInvocationsPerCopy, target_value: 60}]}",
        ),
        (),
        {**IN_COMPONENT, **SPLIT},
    ),
    "a variable under a shorter name": (
        FLEET,
        ("HF_MODEL_ID: org/model", 'HF_MODEL_ID: org/model, SM_VLLM_TENSOR_PARALLEL: "1"'),
        (),
        {
            **IN_COMPONENT,
            **BY_DEFAULT,
            f"{COMPONENT}.container.environment.SM_VLLM_TENSOR_PARALLEL": "2",
            f"{TARGET}.0.target_value": 8,
        },
    ),
    "LMI, which uses all GPUs that it is given, and works on 32 requests": (
        FLEET,
        LMI,
        ("--context", "512", "--choose", "ml.g6e.xlarge"),
        {
            "variant.instance_type": "ml.g6e.xlarge",
            f"{COMPONENT}.compute_resource_requirements.min_memory_required_in_mb": 28672,
            f"{COMPONENT}.startup_parameters.model_data_download_timeout_in_seconds": 600,
            **BY_DEFAULT,
            f"{TARGET}.0.target_value": 22,
            "inference_components.chat.objective.tokens_per_request": 512,
        },
    ),
    "a variant, whose container has all GPUs": (
        SPEC,
        ("ml.g6e.xlarge", "ml.g5.12xlarge"),
        (),
        {
            "model.environment.SM_VLLM_TENSOR_PARALLEL_SIZE": "4",
            **TIMES,
        },
    ),
    "SGLang, of whose cache nothing is known": (
        FLEET,
        ('vllm, version: "0.30.0"', 'sglang, version: "0.5.12"'),
        (),
        {
            f"{COMPONENT}.compute_resource_requirements.min_memory_required_in_mb": 44032,
            f"{COMPONENT}.startup_parameters.model_data_download_timeout_in_seconds": 600,
        },
    ),
    "a length of the spec's, for which there may be room": (
        SPEC,
        ("ml.g6e.xlarge", "ml.g5.xlarge"),
        ("--context", "1024"),
        TIMES,
    ),
    "a length of the spec's, for which there is no room": (
        SPEC.replace('"8192"', '"131072"'),
        ("ml.g6e.xlarge", "ml.g5.xlarge"),
        ("--context", "1024"),
        {"model.environment.SM_VLLM_MAX_MODEL_LEN": "1024", **TIMES},
    ),
    "a cache of another type": (
        SPEC,
        ("", ""),
        ("--kv-cache-dtype", "fp8"),
        {
            "model.environment.SM_VLLM_KV_CACHE_DTYPE": "fp8",
            **TIMES,
        },
    ),
}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar of a document, by its path."""
    if isinstance(value, dict | list):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(below, f"{path}.{key}")
    else:
        yield path.removeprefix("."), value


@pytest.mark.parametrize(("spec", "replaced", "words", "expected"), WRITTEN.values(), ids=WRITTEN)
def test_what_fits_is_written(capsys, spec, replaced, words, expected):
    before = spec.replace(*replaced)
    Path("chat.yaml").write_text(before)
    assert main(["fit", "chat.yaml", *ASKED, *words, "--write"]) == 0
    after = Path("chat.yaml").read_text()
    was, now = (dict(leaves(yaml.safe_load(it))) for it in (before, after))
    assert {path: it for path, it in now.items() if was.get(path) != it} == expected
    assert not was.keys() - now.keys()
    assert after.count("# four GPUs") == before.count("# four GPUs")
    shown = capsys.readouterr().out
    assert "+++ chat.yaml (edited)" in shown
    assert (", which perhaps holds it:" in shown) == ("ml.g5.xlarge" in after or "sglang" in after)
    shortens = any(it.endswith("MAX_MODEL_LEN") for it in expected)
    assert (" tokens are refused from then on: 131072 may have no room\n" in shown) == shortens
    assert main(["fit", "chat.yaml", *ASKED, *words, "--write"]) == 0
    assert "chat.yaml: unchanged" in capsys.readouterr().err


NOT_WRITTEN: dict[str, tuple[tuple[str, str], tuple[str, ...], str]] = {
    "its own type is too small": (
        ("ml.g5.12xlarge", "ml.g5.xlarge"),
        (),
        "ml.g5.xlarge does not hold the model with these requests; add `--choose ml.g6e.xlarge`",
    ),
    "the chosen type is too small": (
        (" 1}", " 1}"),
        ("--choose", "ml.g5.xlarge"),
        "ml.g5.xlarge does not hold",
    ),
    "a variable of which it is not known what it takes": (
        ("HF_MODEL_ID: org/model", 'HF_MODEL_ID: org/model, SM_VLLM_CPU_OFFLOAD_GB: "8"'),
        (),
        "not written, because what its engine and its variables take of the GPUs is not known",
    ),
    "another number that divides the model": (
        ("HF_MODEL_ID: org/model", 'HF_MODEL_ID: org/model, SM_VLLM_PIPELINE_PARALLEL_SIZE: "2"'),
        (),
        "`SM_VLLM_PIPELINE_PARALLEL_SIZE` divides the model, too",
    ),
    "pools of several types": (
        (
            "{instance_type: ml.g5.12xlarge, ",
            "{instance_pools: [{instance_type: ml.g5.12xlarge, priority: 1}, {instance_type: ml.g6.12xlarge, priority: 2}], ",
        ),
        (),
        "it runs on `ml.g5.12xlarge` and `ml.g6.12xlarge`, but what fits is written for one instance type",
    ),
    "what breaks a rule": (
        ("memory_required_in_mb: 1024", "memory_required_in_mb: 1024, max_memory_required_in_mb: 2048"),
        (),
        "not written, because the edited spec would be wrong",
    ),
}


@pytest.mark.parametrize(("replaced", "words", "message"), NOT_WRITTEN.values(), ids=NOT_WRITTEN)
def test_what_cannot_be_written_is_said(capsys, replaced, words, message):
    before = FLEET.replace(*replaced)
    Path("chat.yaml").write_text(before)
    assert main(["fit", "chat.yaml", *ASKED, *words, "--write"]) == 1
    assert message in capsys.readouterr().err
    assert Path("chat.yaml").read_text() == before


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["chat.yaml"], 1, "no container names a `model_config`"),
        (
            ["--model-config", "org/none"],
            1,
            "IS355: the file cannot be read: No such file or directory; name a model's config.json, or the folder",
        ),
        (["--model-config", "model/config.json"], 1, "no index beside it says how large the weights are"),
        ([], 2, "name a SPEC, or add --model-config PATH"),
        (["--model-config", "model", "--instance-type", "ml.g5.xlrge"], 2, "did you mean `ml.g5.xlarge`?"),
        (["--model-config", "model", "--vllm", "newest"], 2, "is not a version of vLLM"),
        (["--model-config", "model", "--vllm", "0.30.x"], 2, "is not a version of vLLM"),
        (["--model-config", "model", "--write"], 2, "--write edits a SPEC: name one"),
        (["--model-config", "model", "--log", "x"], 2, "--log is of a start of a SPEC: name one"),
        (["chat.yaml", "--write", "--format", "json"], 2, "--write shows a diff, which is not json"),
    ],
)
def test_what_is_missing_is_said(capsys, words, status, message):
    Path("chat.yaml").write_text(SPEC.replace("  model_config: model\n", ""))
    if status == 2:
        with pytest.raises(SystemExit) as caught:
            main(["fit", *words])
        assert caught.value.code == 2
    else:
        assert main(["fit", *words]) == status
    assert message in capsys.readouterr().err


def test_a_model_that_fits_nowhere_is_a_failure(capsys):
    write_model({}, 10**13)
    assert main(["fit", "--model-config", "model"]) == 1
    assert "too small: " in capsys.readouterr().out


# ---------------------------------------------------------------- describe-model


def tensors(*sizes: int, length: int | None = None, **entries: Any) -> bytes:
    """A safetensors file with tensors of these sizes."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for size in sizes:
        header[f"w{at}"] = {"dtype": "BF16", "shape": [size // 2], "data_offsets": [at, at + size]}
        at += size
    text = json.dumps({**header, **entries}).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + bytes(at)


def whole_model() -> Path:
    source = Path("whole")
    source.mkdir()
    (source / "config.json").write_text(json.dumps(llama.LLAMA))
    (source / "tokenizer_config.json").write_text('{"model_max_length": 4096, "chat_template": "long"}')
    (source / "quant_config.json").write_text('{"w_bit": 4}')
    (source / "a.safetensors").write_bytes(tensors(100, 20))
    (source / "b.safetensors").write_bytes(tensors(8))
    (source / "consolidated.safetensors").write_bytes(tensors(128))
    return source


def described(folder: Path) -> dict[str, Any]:
    return {it.name: json.loads(it.read_text()) for it in folder.iterdir()}


EXPECTED = {
    "config.json": llama.LLAMA,
    "model.safetensors.index.json": {"metadata": {"total_size": 128}},
    "quant_config.json": {"w_bit": 4},
    "tokenizer_config.json": {"model_max_length": 4096},
}


def test_a_folder_is_described(capsys):
    whole_model()
    assert main(["describe-model", "whole", "--output", "small"]) == 0
    assert described(Path("small")) == EXPECTED
    assert "wrote small/config.json" in capsys.readouterr().out


def test_an_index_says_it_without_the_files(capsys):
    (whole_model() / "model.safetensors.index.json").write_text('{"metadata": {"total_size": 7}}')
    assert main(["describe-model", "whole", "--output", "small"]) == 0
    assert described(Path("small"))["model.safetensors.index.json"] == {"metadata": {"total_size": 7}}


def test_an_adapter_is_described():
    Path("adapter").mkdir()
    Path("adapter/adapter_config.json").write_text('{"r": 8}')
    assert main(["describe-model", "adapter", "--output", "small"]) == 0
    assert described(Path("small")) == {"adapter_config.json": {"r": 8}}


@pytest.mark.parametrize("inside", ["", "./", "whole/"])
def test_an_archive_is_described(inside):
    source = whole_model()
    with tarfile.open("small.tar.gz", "w:gz") as archive:
        for it in source.iterdir():
            archive.add(it, f"{inside}{it.name}")
    assert main(["describe-model", "small.tar.gz"]) == 0
    assert described(Path("small")) == EXPECTED


@pytest.mark.parametrize("has_config", [True, False])
def test_the_properties_of_lmi_are_copied(has_config):
    source = whole_model() if has_config else Path("properties")
    source.mkdir(exist_ok=True)
    (source / "serving.properties").write_text("option.dtype=bf16\n")
    assert main(["describe-model", str(source), "--output", "small"]) == 0
    assert Path("small/serving.properties").read_text() == "option.dtype=bf16\n"
    assert Path("small/config.json").exists() == has_config


def test_a_broken_archive_is_a_message(capsys):
    Path("a.tar.gz").write_bytes(gzip.compress(b"x" * 3000)[:40])
    assert main(["describe-model", "a.tar.gz"]) == 1
    assert "a.tar.gz is not a folder or an archive" in capsys.readouterr().err


HOSTILE: dict[str, tuple[bytes, str]] = {
    "a length beyond everything": (
        tensors(8, length=2**63),
        "it says that its header has 9223372036854775808 bytes",
    ),
    "a length beyond the file": (tensors(8, length=5000), "it says that its header has 5000 bytes"),
    "too short": (b"\0\0", "is not a safetensors file"),
    "no JSON": ((4).to_bytes(8, "little") + b"{]}}", "the header of a.safetensors is not a JSON object"),
    "negative offsets": (
        tensors(8, x={"data_offsets": [-8, 0]}),
        "places the tensor `x` outside of the file",
    ),
    "offsets beyond the file": (tensors(8, x={"data_offsets": [0, 10**30]}), "outside of the file"),
    "offsets in reverse": (tensors(8, x={"data_offsets": [8, 0]}), "outside of the file"),
    "no offsets": (tensors(8, x={"data_offsets": None}), "outside of the file"),
    "no entry": (tensors(8, x=[]), "outside of the file"),
}


@pytest.mark.parametrize(("content", "message"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_header_is_a_message(capsys, content, message):
    (whole_model() / "a.safetensors").write_bytes(content)
    assert main(["describe-model", "whole", "--output", "small"]) == 1
    assert message in capsys.readouterr().err
    assert not Path("small").exists()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("none", "none is not a folder or an archive; name that of a model's files, or its s3:// URL\n"),
        (
            "org/none",
            "; `hf download org/none --include '*.json' --local-dir DIR` gets what it needs from the hub",
        ),
        ("model", "model exists; choose where to write with --output DIR"),
        ("empty", "it has no config.json"),
        ("s3://", "is not the URL of a folder in S3"),
    ],
)
def test_what_cannot_be_described_is_said(capsys, source, message):
    Path("empty").mkdir()
    assert main(["describe-model", source]) == 1
    assert message in capsys.readouterr().err


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="acme-models")
        yield client


def test_a_folder_in_s3_is_described(bucket):
    source = whole_model()
    for it in source.iterdir():
        bucket.put_object(Bucket="acme-models", Key=f"m/{it.name}", Body=it.read_bytes())
    bucket.put_object(Bucket="acme-models", Key="m/original/c.safetensors", Body=tensors(64))
    assert main(["describe-model", "s3://acme-models/m", "--output", "small"]) == 0
    assert described(Path("small")) == EXPECTED


def test_a_bucket_that_is_not_there_is_said(bucket, capsys):
    assert main(["describe-model", "s3://acme-others/m/"]) == 1
    assert "the bucket acme-others cannot be used" in capsys.readouterr().err
    assert not Path("m").exists()
