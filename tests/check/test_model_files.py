"""The files of a model that a spec names, and the rules that compare it with them."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.llama import OF_8B, write_model

from inferstack.check.files import check_files
from inferstack.check.load import load_spec
from inferstack.check.rules.language_models.model_files import OF_MODELS
from inferstack.engines.start import DOWNLOAD, HEALTH_CHECK
from inferstack.problems import Problem, Severity, SpecError

MODEL = Path("specs/model")
VLLM = {"framework": "vllm", "version": "0.30.0"}
LMI = {"framework": "djl-lmi", "version": "0.36.0"}
AWS = "763104351884.dkr.ecr.us-east-1.amazonaws.com"
SGLANG = f"{AWS}/sglang:0.5.12-gpu-py312"
TGI = f"{AWS}/huggingface-pytorch-tgi-inference:2.7.0-tgi3.3.6-gpu-py311"
TEI = f"{AWS}/tei:2.0.1-tei1.8.2-gpu-py310-cu122-ubuntu22.04"
OF_7B, OF_70B = 15_231_233_024, 141_107_412_992
AT_ONCE = "SageMakerVariantConcurrentRequestsPerModelHighResolution"
ON_G5: dict[str, Any] = {"on": "ml.g5.xlarge", "environment": {"SM_VLLM_MAX_MODEL_LEN": "8192"}}
LMI_ON_G6E: dict[str, Any] = {"image": LMI, "environment": {"OPTION_TENSOR_PARALLEL_DEGREE": "1"}}
UNTIED: dict[str, Any] = {"config": {"tie_word_embeddings": False}}
ENOUGH = {HEALTH_CHECK: 3600}
LMI_OF_70B = {"image": LMI, "size": OF_70B, "on": "ml.p5.48xlarge"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project/specs/model").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def spec_of(
    environment: dict[str, str], instance_type: str, image: object, named: str | None = "model"
) -> dict[str, Any]:
    model: dict[str, Any] = {"image": image, "environment": {"HF_MODEL_ID": "org/model", **environment}}
    return {
        "kind": "single-model",
        "endpoint_name": "chat",
        "model": model if named is None else {**model, "model_config": named},
        "variant": {"instance_type": instance_type, "initial_instance_count": 1},
        "env": {"region": "us-east-1"},
    }


def problems_of(spec: dict[str, Any]) -> list[Problem]:
    path = Path("specs/chat.yaml")
    path.write_text(json.dumps(spec))
    try:
        found = load_spec(path).warnings
    except SpecError as error:
        found = error.problems
    return [it for it in found if it.code in {*OF_MODELS, "IS355"}]


def found_in(
    config: dict[str, Any] | None = None,
    environment: dict[str, str] | None = None,
    *,
    size: int | None = OF_8B,
    on: str = "ml.g6e.xlarge",
    image: object = VLLM,
    variant: dict[str, int] = ENOUGH,
    files: str | None = None,
    target: int | None = None,
    planned: int | None = None,
) -> list[Problem]:
    write_model(MODEL, config or {}, size)
    spec = spec_of(environment or {}, on, image)
    if target is not None:
        policy = {"metric": AT_ONCE, "target_value": target}
        spec["autoscaling"] = {"min_capacity": 1, "max_capacity": 2, "policies": [policy]}
    if planned is not None:
        spec["objective"] = {"tokens_per_request": planned}
    spec["variant"] |= variant
    if files is not None:
        spec["model"]["model_data_url"] = files
    return problems_of(spec)


def tp(degree: int | str) -> dict[str, str]:
    return {"SM_VLLM_TENSOR_PARALLEL_SIZE": str(degree)}


# What is wrong, with a part of its message; and its right neighbor.
PAIRS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "IS356 an architecture that came later": (
        {
            "config": {"architectures": ["Qwen3_5ForConditionalGeneration"]},
            "image": {**VLLM, "version": "0.15.1"},
        },
        "vLLM 0.15.1 does not have Qwen3_5ForConditionalGeneration: 0.17 is the first known to; "
        "use an image with vLLM 0.17 or newer",
        {"config": {"architectures": ["Qwen3_5ForConditionalGeneration"]}},
    ),
    "IS356 an architecture that is gone": (
        {"config": {"architectures": ["QWenLMHeadModel"], "model_type": "qwen"}},
        "vLLM 0.30.0 does not have QWenLMHeadModel any more",
        {
            "config": {"architectures": ["QWenLMHeadModel"], "model_type": "qwen"},
            "image": {**VLLM, "version": "0.15.1"},
        },
    ),
    "IS356 an architecture that nobody has": (
        {"config": {"architectures": ["LlamaForCausalML"], "model_type": "ours"}},
        "no version of vLLM that is known here has the architecture LlamaForCausalML",
        {"config": {"architectures": ["LlamaForCausalML", "LlamaForCausalLM"], "model_type": "ours"}},
    ),
    "IS357 code that is not trusted": (
        {"config": {"auto_map": {}, "model_type": "ours"}},
        "`auto_map` in config.json names code of the model: `ours` is not built in; "
        'write `SM_VLLM_TRUST_REMOTE_CODE: "true"`, if you trust it',
        {
            "config": {"auto_map": {}, "model_type": "ours"},
            "environment": {"SM_VLLM_TRUST_REMOTE_CODE": "true"},
        },
    ),
    "IS357 code of a type that is built in": (
        {"config": {"auto_map": {}, "model_type": "ours"}, "image": LMI},
        'write `OPTION_TRUST_REMOTE_CODE: "true"`, if you trust it',
        {"config": {"auto_map": {}}, "image": LMI},
    ),
    "IS358 heads": (
        {"environment": tp(3), "on": "ml.g6e.12xlarge"},
        "32 attention heads cannot be divided over 3 GPUs of ml.g6e.12xlarge; "
        "write `SM_VLLM_TENSOR_PARALLEL_SIZE` as one of 1, 2, 4",
        {"environment": tp(4), "on": "ml.g6e.12xlarge"},
    ),
    "IS358 heads in LMI, which takes all GPUs": (
        {
            "config": {"num_attention_heads": 36, "num_key_value_heads": 4},
            "on": "ml.g6e.48xlarge",
            "image": LMI,
        },
        "36 attention heads cannot be divided over 8 GPUs",
        {
            "config": {"num_attention_heads": 36, "num_key_value_heads": 4},
            "on": "ml.g6e.12xlarge",
            "image": LMI,
        },
    ),
    "IS359 context": (
        {"environment": {"SM_VLLM_MAX_MODEL_LEN": "8193"}},
        "8193 tokens are more than the 8192 that the model's files allow; write 8192 or less",
        {"environment": {"SM_VLLM_MAX_MODEL_LEN": "8193", "VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1"}},
    ),
    "IS359 context, with room for more in the cache": (
        {"environment": {"SM_VLLM_MAX_MODEL_LEN": "300000"}},
        "300000 tokens are more than the 8192",
        {"environment": {"SM_VLLM_MAX_MODEL_LEN": "8192"}},
    ),
    "IS361 a context that is allowed, and has no room": (
        {"environment": {"SM_VLLM_MAX_MODEL_LEN": "300000", "VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1"}},
        "but a request may have 300000",
        {"environment": {"SM_VLLM_MAX_MODEL_LEN": "30000", "VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1"}},
    ),
    "IS360 weights": (
        {"size": OF_70B, "on": "ml.g6e.12xlarge"},
        "the weights take at least 118.3 GiB on each of 1 GPU, but one of ml.g6e.12xlarge has 44.5; "
        'write `SM_VLLM_TENSOR_PARALLEL_SIZE: "4"`, or choose',
        {"size": OF_70B, "on": "ml.g6e.12xlarge", "environment": tp(4)},
    ),
    "IS360 weights in float32 are served in 16 bits": (
        {"config": {"torch_dtype": "float32"}, "size": 110_000_000_000},
        "the weights take at least 46.1 GiB",
        {"config": {"torch_dtype": "float32"}, "size": 64_000_000_000},
    ),
    "IS360 weights in 16 bits may be served in 32": (
        {"environment": {"SM_VLLM_DTYPE": "float32"}, "on": "ml.g5.xlarge"},
        "the weights take at least 26.9 GiB",
        {"environment": {"SM_VLLM_DTYPE": "float32"}, "on": "ml.g6e.xlarge"},
    ),
    "IS360 weights in SGLang, which uses one GPU of itself": (
        {"size": OF_70B, "on": "ml.g6e.12xlarge", "image": SGLANG},
        'write `SM_SGLANG_TENSOR_PARALLEL_SIZE: "4"`, or choose',
        {
            "size": OF_70B,
            "on": "ml.g6e.12xlarge",
            "image": SGLANG,
            "environment": {"SM_SGLANG_TP_SIZE": "4"},
        },
    ),
    "IS360 weights in TGI, which uses all GPUs": (
        {"size": OF_70B, "on": "ml.g5.12xlarge", "image": TGI},
        "the weights take at least 29.6 GiB on each of 4 GPUs, but one of ml.g5.12xlarge has 22.3",
        {"size": OF_70B, "on": "ml.g6e.12xlarge", "image": TGI},
    ),
    "IS360 weights in TEI": (
        {"size": 29_000_000_000, "on": "ml.g5.12xlarge", "image": TEI},
        "the weights take at least 24.3 GiB on each of 1 GPU",
        {"size": 16_000_000_000, "on": "ml.g5.12xlarge", "image": TEI},
    ),
    "IS361 SGLang's share of a GPU": (
        {"on": "ml.g5.xlarge", "image": SGLANG, "environment": {"SM_SGLANG_MEM_FRACTION_STATIC": "0.5"}},
        "the engine takes 11.2 GiB of a GPU of ml.g5.xlarge, but needs 13.5 or more beside the KV cache",
        {"on": "ml.g5.xlarge", "image": SGLANG, "environment": {"SM_SGLANG_MEM_FRACTION_STATIC": "0.8"}},
    ),
    "IS360 weights that fit, but not into vLLM's share": (
        {**UNTIED, "size": OF_7B, "on": "ml.g4dn.xlarge"},
        "the weights take at least 14.0 GiB on each of 1 GPU, but one of ml.g4dn.xlarge has 14.6, of which "
        "vLLM takes 13.4; choose an instance type with more memory",
        {**UNTIED, "size": OF_7B, "on": "ml.g5.xlarge"},
    ),
    "IS360 weights, and a small share": (
        {"environment": {"SM_VLLM_GPU_MEMORY_UTILIZATION": "0.3"}},
        "has 44.5, of which vLLM takes 13.4; raise `SM_VLLM_GPU_MEMORY_UTILIZATION`, or choose",
        {"environment": {"SM_VLLM_GPU_MEMORY_UTILIZATION": "0.6"}},
    ),
    "IS361 nothing is left": (
        {"size": OF_7B, "on": "ml.g4dn.xlarge", "environment": {"SM_VLLM_GPU_MEMORY_UTILIZATION": "0.9"}},
        "the engine takes 13.1 GiB of a GPU of ml.g4dn.xlarge, but needs 13.3 or more beside the KV cache",
        {"on": "ml.g4dn.12xlarge", "environment": tp(2)},
    ),
    "IS361 one request is too long": (
        {"config": {"max_position_embeddings": 131072}, "on": "ml.g5.xlarge"},
        "but a request may have 131072; write `SM_VLLM_MAX_MODEL_LEN: ",
        {
            "config": {"max_position_embeddings": 131072},
            "on": "ml.g5.xlarge",
            "environment": {"SM_VLLM_MAX_MODEL_LEN": "8192"},
        },
    ),
    "IS361 experts that are distributed weigh the same": (
        {
            "environment": {
                "SM_VLLM_ENABLE_EXPERT_PARALLEL": "true",
                "SM_VLLM_GPU_MEMORY_UTILIZATION": "0.31",
            },
        },
        "the engine takes 13.8 GiB of a GPU of ml.g6e.xlarge, but needs 14.0 or more beside the KV cache; raise",
        {"environment": {"SM_VLLM_ENABLE_EPLB": "true", "SM_VLLM_GPU_MEMORY_UTILIZATION": "0.31"}},
    ),
    "IS394 a target above what the cache holds": (
        {**ON_G5, "target": 7},
        "the target is 7 requests at once, but the KV cache on ml.g5.xlarge has room for 0 to 6 of 8192 tokens; "
        "write 4 or less, or if most requests are shorter, write their `tokens_per_request` into the `objective`",
        {**ON_G5, "target": 6},
    ),
    "IS394 requests of a length that is planned with": (
        {**ON_G5, "target": 60, "planned": 1024},
        "has room for 0 to 52 of 1024 tokens",
        {**ON_G5, "target": 50, "planned": 1024},
    ),
    "IS394 caches of LMI, of which each GPU has one": (
        {**LMI_ON_G6E, "target": 28},
        "the KV cache on ml.g6e.xlarge has room for 19 to 27 of 8192 tokens",
        {**LMI_ON_G6E, "target": 28, "on": "ml.g6e.12xlarge"},
    ),
    "IS365 no time is written": (
        {"size": OF_70B, "on": "ml.g6e.12xlarge", "environment": tp(4), "variant": {}},
        "reading 141 GB of weights may take 1412 s, but only 480 are allowed; "
        "write `container_startup_health_check_timeout_in_seconds: 2880`",
        {"size": 48_000_000_000, "on": "ml.g6e.12xlarge", "environment": tp(4), "variant": {}},
    ),
    "IS365 longer than SageMaker waits": (
        {"size": 400_000_000_000, "on": "ml.p5.48xlarge", "environment": tp(8), "variant": {}},
        "reading 400 GB of weights may take 4000 s, but only 480 are allowed; write "
        "`container_startup_health_check_timeout_in_seconds: 3600`, the longest that SageMaker waits",
        {"size": 400_000_000_000, "on": "ml.p5.48xlarge", "environment": tp(8)},
    ),
    "IS365 a time that is too short": (
        {"variant": {HEALTH_CHECK: 120, DOWNLOAD: 60}},
        "reading 16 GB of weights may take 161 s, but only 120 are allowed",
        {"variant": {HEALTH_CHECK: 180, DOWNLOAD: 60}},
    ),
    "IS365 a download that is too short": (
        {"variant": {HEALTH_CHECK: 180, DOWNLOAD: 60}, "files": "s3://acme-models/m.tar.gz"},
        "write `model_data_download_timeout_in_seconds: 600`",
        {"variant": {HEALTH_CHECK: 180, DOWNLOAD: 180}, "files": "s3://acme-models/m.tar.gz"},
    ),
    "IS392 longer than LMI waits": (
        {**LMI_OF_70B, "size": 240_000_000_000},
        "LMI may take 2400 s to read 240 GB of weights, but ends after 1200; "
        'write `OPTION_MODEL_LOADING_TIMEOUT: "3600"`',
        {**LMI_OF_70B, "size": 120_000_000_000},
    ),
    "IS392 a time that is written": (
        {**LMI_OF_70B, "environment": {"OPTION_MODEL_LOADING_TIMEOUT": "600"}},
        'but ends after 600; write `OPTION_MODEL_LOADING_TIMEOUT: "2880"`',
        {**LMI_OF_70B, "environment": {"OPTION_MODEL_LOADING_TIMEOUT": "2880"}},
    ),
    "IS362 a GPU that is too old": (
        {
            "config": {"quantization_config": {"quant_method": "mxfp4"}},
            "on": "ml.g4dn.xlarge",
            "size": 5 * 10**9,
        },
        "mxfp4 needs compute capability 8.0; ml.g4dn.xlarge has 7.5",
        {
            "config": {"quantization_config": {"quant_method": "mxfp4"}},
            "on": "ml.g5.xlarge",
            "size": 5 * 10**9,
        },
    ),
    "IS362 a method that is gone": (
        {"config": {"quantization_config": {"quant_method": "bitsandbytes"}}, "size": 5 * 10**9},
        "the model is quantized with bitsandbytes, which vLLM 0.30.0 does not have",
        {"config": {"quantization_config": {"quant_method": "awq"}}, "size": 5 * 10**9},
    ),
    "IS362 files that are not quantized": (
        {"environment": {"SM_VLLM_QUANTIZATION": "awq"}},
        "looks for awq's settings, but the model's files are not quantized",
        {
            **{"environment": {"SM_VLLM_QUANTIZATION": "awq"}, "size": 5 * 10**9},
            "config": {"quantization_config": {"quant_method": "awq"}},
        },
    ),
    "IS362 files that are not quantized, in LMI": (
        {"environment": {"OPTION_QUANTIZE": "gptq"}, "image": LMI},
        "or write `fp8`, to which vLLM quantizes what it loads",
        {"environment": {"OPTION_QUANTIZE": "fp8"}, "image": LMI},
    ),
}


@pytest.mark.parametrize(("wrong", "message", "right"), PAIRS.values(), ids=PAIRS)
def test_a_rule_finds_its_mistake_and_not_its_neighbor(request, wrong, message, right):
    (problem,) = found_in(**wrong)
    code = request.node.callspec.id.partition(" ")[0]
    assert problem.code == code
    assert message in f"{problem.message}; {problem.fix}"
    assert problem.severity == (Severity.ERROR if code == "IS360" else Severity.WARNING)
    assert not found_in(**right)


@pytest.mark.parametrize(
    "right",
    [
        {"environment": {"SM_VLLM_CPU_OFFLOAD_GB": "200"}, "size": 141_107_412_992},
        {"environment": {"SM_VLLM_QUANTIZATION": "fp8"}, "size": 80_000_000_000},
        {"environment": {"SM_VLLM_KV_CACHE_MEMORY_BYTES": "1000000"}, "size": OF_7B, "on": "ml.g4dn.xlarge"},
        {"environment": tp("two"), "size": 141_107_412_992},
        {"environment": {"SM_SGLANG_KT_METHOD": "AMXINT4"}, "size": OF_70B, "image": SGLANG},
        {"environment": {"SM_SGLANG_CPU_OFFLOAD_GB": "200"}, "size": OF_70B, "image": SGLANG},
        {"environment": {"QUANTIZE": "eetq"}, "size": 60_000_000_000, "image": TGI},
        {"size": None, "on": "ml.g4dn.xlarge"},
        {"image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/own:1", "size": 141_107_412_992},
        {"config": {"layer_types": ["full_attention", "linear_attention"], "max_position_embeddings": 10**6}},
        {"config": {"architectures": ["Olmo3ForCausalLM"], "model_type": "olmo3"}},
        {"config": {"architectures": ["OursForCausalLM"], "auto_map": {}}},
        {"config": {"architectures": ["DeepseekV3ForCausalLM"], "auto_map": {}, "model_type": "kimi_k2"}},
    ],
    ids=str,
)
def test_what_is_not_known_is_not_reported(right):
    assert not found_in(**right)


def adapter_spec(environment: dict[str, str]) -> dict[str, Any]:
    needs = {"min_memory_required_in_mb": 20000, "number_of_accelerator_devices_required": 1}
    served = {"HF_MODEL_ID": "org/base", "SM_VLLM_ENABLE_LORA": "true", **environment}
    adapter = {"artifact_url": "s3://models/a.tar.gz", "model_config": "model"}
    return {
        "kind": "inference-components",
        "endpoint_name": "chat",
        "variant": {"instance_type": "ml.g6e.xlarge", "initial_instance_count": 1},
        "inference_components": {
            "base": {
                "specification": {
                    "container": {"image": VLLM, "environment": served},
                    "compute_resource_requirements": needs,
                }
            },
            "tuned": {"specification": {"container": adapter, "base_inference_component_name": "base"}},
        },
        "env": {"region": "us-east-1"},
    }


@pytest.mark.parametrize(
    ("adapter", "environment", "expected"),
    [
        ({"r": 16, "base_model_name_or_path": "org/base"}, {}, []),
        ({"r": 32}, {}, ["IS363"]),
        ({"r": 32}, {"SM_VLLM_MAX_LORA_RANK": "32"}, []),
        ({"r": 16, "base_model_name_or_path": "org/other"}, {}, ["IS364"]),
        ({"r": 16, "base_model_name_or_path": "/data/base"}, {}, []),
    ],
)
def test_adapters_are_compared_with_their_base(adapter, environment, expected):
    Path("specs/model/adapter_config.json").write_text(json.dumps(adapter))
    found = problems_of(adapter_spec(environment))
    assert [it.code for it in found] == expected
    if expected == ["IS363"]:
        assert 'write `SM_VLLM_MAX_LORA_RANK: "32"`' in found[0].fix


def test_an_adapter_without_its_file_is_an_error():
    (problem,) = problems_of(adapter_spec({}))
    assert "specs/model has no adapter_config.json" in problem.message


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (
            "none",
            "there is no specs/none; name a folder next to the spec; `inferstack describe-model` writes one",
        ),
        ("modle", "there is no specs/modle; did you mean `model`?"),
        ("../../secret", "the file is outside of the project"),
        ("/etc", "the file is outside of the project"),
        ("model/broken.json", "this is not JSON: "),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error(named, message):
    write_model(MODEL, {})
    Path("specs/model/broken.json").write_text("{")
    (problem,) = problems_of(spec_of({}, "ml.g6e.xlarge", VLLM, named))
    assert problem.code == "IS355"
    assert message in f"{problem.message}; {problem.fix}"
    assert problem.path == (() if "broken" in named else ("model", "model_config"))


def test_a_model_can_be_tried():
    write_model(MODEL, {}, 141_107_412_992)
    path = Path("specs/chat.yaml")
    path.write_text(json.dumps(spec_of({}, "ml.g6e.12xlarge", VLLM, None)))
    assert "IS360" not in {it.code for it in check_files([path])}
    assert "IS360" in {it.code for it in check_files([path], model_config=Path("specs/model"))}
