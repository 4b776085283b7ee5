"""Variables of engines: real mistakes and their right neighbors, many of them from reports about the engines."""

from typing import Any

import pytest

from inferstack.check.load import parse_spec
from inferstack.check.rules import RULES
from inferstack.problems import Problem, Severity

CODES = (*(f"IS34{number}" for number in range(9)), "IS387", "IS388", "IS389")
AWS = "763104351884.dkr.ecr.us-east-1.amazonaws.com"
OWN = "111122223333.dkr.ecr.us-east-1.amazonaws.com"
VLLM_15, VLLM_20, VLLM_23, VLLM_26, VLLM_27, VLLM_30 = (
    f"{AWS}/vllm:{version}-gpu-py312-{cuda}-ubuntu22.04-sagemaker"
    for version, cuda in (
        *(("0.15.1", "cu129"), ("0.20.2", "cu130"), ("0.23.0", "cu130")),
        *(("0.26.0", "cu130"), ("0.27.1", "cu130"), ("0.30.0", "cu130")),
    )
)
VLLM_31, VLLM_99 = f"{AWS}/vllm:0.31.0-gpu-py312", f"{AWS}/vllm:0.99.0-gpu-py312"
SERVER = f"{AWS}/vllm:server-sagemaker-cuda-v2.5"
OMNI = f"{AWS}/vllm:omni-sagemaker-cuda-v1.7"
HF_VLLM = f"{AWS}/huggingface-vllm:0.25.1-transformers5.10.2-gpu-py312-cu130-ubuntu22.04"
SGLANG_5, SGLANG_12, SGLANG_19 = (f"{AWS}/sglang:0.5.{patch}-gpu-py312" for patch in (5, 12, 19))
LMI_20, LMI_28 = (
    f"{AWS}/djl-inference:0.36.0-lmi{number}.0.0-cu{cuda}" for number, cuda in ((20, 128), (28, 130))
)
LMI_18 = f"{AWS}/djl-inference:0.36.0-lmi18.0.0-cu128"
TGI_1, TGI_3 = (
    f"{AWS}/huggingface-pytorch-tgi-inference:{tag}-gpu-py311" for tag in ("2.1.1-tgi1.4.5", "2.7.0-tgi3.3.6")
)
TEI_CPU = f"{AWS}/tei-cpu:2.0.1-tei1.8.2-cpu-py310-ubuntu22.04"
TEI = f"{AWS}/tei:2.0.1-tei1.8.2-gpu-py310-cu122-ubuntu22.04"
LLAMA_CPP = f"{AWS}/llama-cpp:server-sagemaker-cuda-v1"


def found(image: object, environment: dict[str, str], **container: str) -> list[tuple[str, Problem]]:
    data: dict[str, Any] = {
        **{"kind": "single-model", "endpoint_name": "chat"},
        "model": {"image": image, "environment": environment, **container},
        "variant": {"instance_type": "ml.g6e.12xlarge", "initial_instance_count": 1},
    }
    spec = parse_spec(data).spec
    return [(code, problem) for code in CODES for problem in RULES[code].check(spec)]


MISTAKES = {
    # ------------------------------------------------------------ vLLM: no such option
    "a letter too much": (VLLM_27, {"SM_VLLM_MAX_MODEL_LENS": "8192"}, "IS340", "SM_VLLM_MAX_MODEL_LEN`"),
    "British": (VLLM_26, {"SM_VLLM_GPU_MEMORY_UTILISATION": "0.9"}, "IS340", "SM_VLLM_GPU_MEMORY_UTILIZATION"),
    "SGLang's word": (VLLM_30, {"SM_VLLM_CONTEXT_LENGTH": "8192"}, "IS340", "`SM_VLLM_MAX_MODEL_LEN`"),
    "SGLang's short name": (VLLM_30, {"SM_VLLM_TP_SIZE": "4"}, "IS340", "`SM_VLLM_TENSOR_PARALLEL_SIZE`"),
    "LMI's word": (VLLM_23, {"SM_VLLM_TENSOR_PARALLEL_DEGREE": "4"}, "IS340", "`SM_VLLM_TENSOR_PARALLEL_SIZE`"),
    "TGI's word": (VLLM_23, {"SM_VLLM_NUM_SHARD": "4"}, "IS340", "`SM_VLLM_TENSOR_PARALLEL_SIZE`"),
    "a beginning of several": (VLLM_27, {"SM_VLLM_MAX_NUM": "8"}, "IS340", "SM_VLLM_MAX_NUM_SEQS"),
    "the model's id": (VLLM_27, {"SM_VLLM_MODEL_ID": "Qwen/Qwen3-8B"}, "IS340", "SM_VLLM_"),
    "letters of the prefix": (VLLM_27, {"SM_VLMM_MAX_MODEL_LEN": "8192"}, "IS340", "`SM_VLLM_MAX_MODEL_LEN`"),
    "a prefix too short": (VLLM_27, {"SM_VLM_DTYPE": "auto"}, "IS340", "`SM_VLLM_DTYPE`"),
    "on a server image": (SERVER, {"SM_VLLM_ENABLE_LORAS": "true"}, "IS340", "`SM_VLLM_ENABLE_LORA`"),
    "in Hugging Face's image": (HF_VLLM, {"SM_VLLM_MAX_LEN": "8192"}, "IS340", "Hugging Face's vLLM 0.25.1"),
    "a slip in vLLM-Omni": (OMNI, {"SM_VLLM_MAX_MODEL_LEM": "8192"}, "IS340", "`SM_VLLM_MAX_MODEL_LEN`"),
    "between two tables": (VLLM_31, {"SM_VLLM_MAX_SEQ_LEN": "8"}, "IS340", "0.31.0 (judged by 0.30 and 0.33)"),
    "after all tables": (VLLM_99, {"SM_VLLM_MAX_SEQ_LEN": "8"}, "IS340", "0.99.0 (judged by 0.33)"),
    # ------------------------------------------------------------ not in this version
    "vllm#37133": (VLLM_20, {"SM_VLLM_SWAP_SPACE": "16"}, "IS341", "which 0.13 to 0.17 have"),
    "vllm#42399 the other way": (VLLM_15, {"SM_VLLM_REASONING_CONFIG": "{}"}, "IS341", "choose an image with vLLM"),
    "since 0.33 only": (VLLM_30, {"SM_VLLM_DISABLE_PREFIX_CACHING": "true"}, "IS341", "with vLLM 0.33 or newer"),
    "SGLang, not yet": (SGLANG_5, {"SM_SGLANG_DSA_PREFILL_BACKEND": "tilelang"}, "IS341", "with SGLang 0.5."),
    "LMI, vLLM's is gone": (LMI_28, {"OPTION_SWAP_SPACE": "4"}, "IS341", "LMI 28 with vLLM 0.26.0"),
    # ------------------------------------------------------------ values
    "vllm#9312 today": (VLLM_27, {"SM_VLLM_TOOL_CALL_PARSER": "llama3"}, "IS342", "llama3_json"),
    "glm45#58: a parser of a newer version": (VLLM_15, {"SM_VLLM_TOOL_CALL_PARSER": "gemma4"}, "IS342", "vLLM 0.15.1"),
    "a hyphen": (VLLM_27, {"SM_VLLM_REASONING_PARSER": "deepseek-r1"}, "IS342", "`deepseek_r1`"),
    "an underscore": (SGLANG_12, {"SM_SGLANG_REASONING_PARSER": "deepseek_r1"}, "IS342", "`deepseek-r1`"),
    "a short word": (VLLM_27, {"SM_VLLM_DTYPE": "fp16"}, "IS342", "float16"),
    "a word for weights": (VLLM_27, {"SM_VLLM_DTYPE": "int8"}, "IS342", "allowed: "),
    "a method that is gone": (VLLM_30, {"SM_VLLM_QUANTIZATION": "bitsandbytes"}, "IS342", "vLLM 0.30.0"),
    "a fraction": (VLLM_27, {"SM_VLLM_MAX_MODEL_LEN": "32768.0"}, "IS342", "a whole number, also as `32k`"),
    "a comma": (VLLM_27, {"SM_VLLM_MAX_MODEL_LEN": "32,768"}, "IS342", "32,768"),
    "no sequences": (VLLM_27, {"SM_VLLM_MAX_NUM_SEQS": "0"}, "IS342", "at least 1"),
    "percent": (VLLM_27, {"SM_VLLM_GPU_MEMORY_UTILIZATION": "90"}, "IS342", "at most 1"),
    "a percent sign": (VLLM_27, {"SM_VLLM_GPU_MEMORY_UTILIZATION": "90%"}, "IS342", "a number"),
    "all GPUs": (VLLM_27, {"SM_VLLM_TENSOR_PARALLEL_SIZE": "max"}, "IS342", "a whole number"),
    "of old": (VLLM_27, {"SM_VLLM_LIMIT_MM_PER_PROMPT": "image=4"}, "IS342", "JSON"),
    "single quotes": (VLLM_27, {"SM_VLLM_SPECULATIVE_CONFIG": "{'method': 'mtp'}"}, "IS342", "JSON"),
    "JSON that ends early": (VLLM_27, {"SM_VLLM_COMPILATION_CONFIG": '{"level": 3'}, "IS342", "JSON object"),
    "no value": (VLLM_27, {"SM_VLLM_MAX_MODEL_LEN": ""}, "IS342", "it takes one value"),
    "a flag's word": (VLLM_27, {"SM_VLLM_MAX_MODEL_LEN": "true"}, "IS342", "it takes one value"),
    "the supervisor's": (SERVER, {"LOG_LEVEL": "verbose"}, "IS342", "debug"),
    "very many restarts": (SERVER, {"PROCESS_MAX_START_RETRIES": "1000"}, "IS342", "at most 100"),
    "in SGLang": (SGLANG_19, {"SM_SGLANG_MEM_FRACTION_STATIC": "high"}, "IS342", "a number"),
    "sglang: vLLM's backend": (SGLANG_19, {"SM_SGLANG_ATTENTION_BACKEND": "FLASH_ATTN"}, "IS342", "flashinfer"),
    "LMI's words": (LMI_28, {"OPTION_DTYPE": "half"}, "IS342", "allowed: auto, bf16"),
    "LMI's words, before the tables": (LMI_18, {"OPTION_DTYPE": "half"}, "IS342", "LMI 18 does not accept; allowed: auto, bf16"),
    "no pipelines, before the tables": (LMI_18, {"OPTION_PIPELINE_PARALLEL_DEGREE": "2"}, "IS342", "allowed: 1"),
    "taken for auto": (LMI_28, {"OPTION_TASK": "embedding"}, "IS342", "`text-embedding`"),
    "gone with vLLM 0.12": (VLLM_27, {"SM_VLLM_ATTENTION_BACKEND": "XFORMERS"}, "IS342", "flashinfer"),
    "in LMI, a backend": (LMI_28, {"OPTION_ATTENTION_BACKEND": "FLASH_ATTENTION"}, "IS342", "flash_attn,"),
    "a form of messages": (VLLM_27, {"SM_VLLM_CHAT_TEMPLATE_CONTENT_FORMAT": "json"}, "IS342", "auto, openai or string"),
    "in LMI: no pipelines": (LMI_28, {"OPTION_PIPELINE_PARALLEL_DEGREE": "2"}, "IS342", "allowed: 1"),
    "in LMI, of vLLM": (LMI_28, {"OPTION_KV_CACHE_DTYPE": "int4"}, "IS342", "LMI 28 with vLLM 0.26.0"),
    "in LMI, by an alias": (LMI_28, {"TENSOR_PARALLEL_DEGREE": "auto"}, "IS342", "`max`"),
    "djl: rolling batch": (LMI_28, {"OPTION_ROLLING_BATCH": "deepspeed"}, "IS342", "vllm"),
    "Python's word": (TGI_3, {"HF_MODEL_TRUST_REMOTE_CODE": "True"}, "IS342", "`true` or `false`"),
    "a 1": (TGI_3, {"HF_MODEL_TRUST_REMOTE_CODE": "1"}, "IS342", "`true` or `false`"),
    "TGI: a method of vLLM": (TGI_3, {"HF_MODEL_QUANTIZE": "int8"}, "IS342", "bitsandbytes"),
    "TGI: not yet": (TGI_1, {"QUANTIZE": "fp8"}, "IS342", "TGI 1.4.5"),
    "TGI: thousands": (TGI_3, {"MAX_BATCH_PREFILL_TOKENS": "4k"}, "IS342", "whole number"),
    "TEI: as in its API": (TEI, {"POOLING": "last_token"}, "IS342", "last-token"),
    "TEI on CPUs": (TEI_CPU, {"POOLING": "mena"}, "IS342", "did you mean `mean`?"),
    "TEI: less than none": (TEI, {"MAX_BATCH_TOKENS": "-1"}, "IS342", "0 or more"),
    # ------------------------------------------------------------ another engine's
    "TGI's on vLLM": (VLLM_27, {"SM_NUM_GPUS": "4"}, "IS343", "`SM_VLLM_TENSOR_PARALLEL_SIZE`"),
    "LMI's on vLLM": (VLLM_27, {"OPTION_MAX_MODEL_LEN": "8192"}, "IS343", "`SM_VLLM_MAX_MODEL_LEN`"),
    "vLLM's on SGLang": (SGLANG_12, {"SM_VLLM_MAX_MODEL_LEN": "8192"}, "IS343", "`SM_SGLANG_CONTEXT_LENGTH`"),
    "vLLM's on LMI": (LMI_28, {"SM_VLLM_MAX_NUM_SEQS": "64"}, "IS343", "`OPTION_MAX_ROLLING_BATCH_SIZE`"),
    "TGI's on LMI": (LMI_28, {"MAX_TOTAL_TOKENS": "4096"}, "IS343", "`OPTION_MAX_MODEL_LEN`"),
    "LMI's on TGI": (TGI_3, {"OPTION_QUANTIZE": "awq"}, "IS343", "write `QUANTIZE`"),
    "TGI's on TEI": (TEI, {"SM_NUM_GPUS": "1"}, "IS343", "remove it"),
    "vLLM's on llama.cpp": (LLAMA_CPP, {"SM_VLLM_MODEL": "x"}, "IS343", "llama.cpp"),
    # ------------------------------------------------------------ flags
    "not switched off": (VLLM_27, {"SM_VLLM_ENABLE_PREFIX_CACHING": "false"}, "IS344", "NO_ENABLE_PREFIX_CACHING"),
    "the number 1": (VLLM_27, {"SM_VLLM_ENABLE_AUTO_TOOL_CHOICE": "1"}, "IS344", 'write "true"'),
    "yes": (SGLANG_12, {"SM_SGLANG_ENABLE_METRICS": "yes"}, "IS344", 'write "true"'),
    "the number 0": (VLLM_27, {"SM_VLLM_ENABLE_CHUNKED_PREFILL": "0"}, "IS344", "NO_ENABLE_CHUNKED_PREFILL"),
    "in LMI, a number": (LMI_28, {"OPTION_ENABLE_PREFIX_CACHING": "1"}, "IS344", 'write "true"'),
    "switched off what cannot be": (LMI_28, {"OPTION_DISABLE_LOG_STATS": "False"}, "IS344", "does not load a model with"),
    "in an older LMI": (LMI_20, {"OPTION_ENABLE_PREFIX_CACHING": "false"}, "IS344", "LMI 27 or newer"),
    # ------------------------------------------------------------ what vLLM reads itself
    "gpustack#1420": (VLLM_27, {"VLLM_USER_V1": "1"}, "IS345", "VLLM_USER_V1"),
    "ProxmoxVED#2047": (VLLM_27, {"VLLM_MODEL": "Qwen/Qwen2.5-0.5B"}, "IS345", "`SM_VLLM_MODEL`"),
    "no variable, but an option": (VLLM_27, {"VLLM_MAX_MODEL_LEN": "8192"}, "IS345", "`SM_VLLM_MAX_MODEL_LEN`"),
    "gone": (LMI_20, {"VLLM_ATTENTION_BACKEND": "XFORMERS"}, "IS345", "`OPTION_ATTENTION_BACKEND`"),
    "misspelt": (VLLM_30, {"VLLM_LOGING_LEVEL": "DEBUG"}, "IS345", "`VLLM_LOGGING_LEVEL`"),
    # ------------------------------------------------------------ LMI drops, or does not load
    "dropped": (LMI_28, {"OPTION_MAX_MODEL_LENGTH": "8192"}, "IS340", "`OPTION_MAX_MODEL_LEN`"),
    "dropped, British": (LMI_28, {"OPTION_GPU_MEMORY_UTILISATION": "0.8"}, "IS340", "drops it without a word"),
    "AWS's own notebooks": (LMI_28, {"OPTION_LORA_EXTRA_VOCAD_SIZE": "256"}, "IS340", "LMI 28"),
    "the server's": (LMI_28, {"OPTION_ENABLE_LOG_REQUESTS": "true"}, "IS340", "LMI replaces"),
    "both have a value": (LMI_28, {"OPTION_TENSOR_PARALLEL_SIZE": "4"}, "IS346", "`OPTION_TENSOR_PARALLEL_DEGREE`"),
    "both, before the tables": (LMI_18, {"OPTION_MAX_NUM_SEQS": "64"}, "IS346", "LMI 18 does not load"),
    "both, of sequences": (LMI_20, {"OPTION_MAX_NUM_SEQS": "64"}, "IS346", "`OPTION_MAX_ROLLING_BATCH_SIZE`"),
    # ------------------------------------------------------------ TGI and TEI: names
    "TGI, letters swapped": (TGI_3, {"MAX_INPUT_LENGHT": "1024"}, "IS340", "`MAX_INPUT_LENGTH`"),
    "TGI, no s": (TGI_3, {"MAX_TOTAL_TOKEN": "2048"}, "IS340", "`MAX_TOTAL_TOKENS`"),
    "TEI, a letter": (TEI, {"MAX_BATCH_TOKEN": "16384"}, "IS340", "`MAX_BATCH_TOKENS`"),
    # ------------------------------------------------------------ from threads about other versions
    "vllm#18538": (VLLM_27, {"SM_VLLM_ENABLE_REASONING": "true"}, "IS340", "write `SM_VLLM_REASONING_PARSER`"),
    "sglang#4116": (SGLANG_12, {"SM_SGLANG_ENABLE_REASONING": "true"}, "IS340", "`SM_SGLANG_REASONING_PARSER`"),
    "vllm#13669": (VLLM_27, {"SM_VLLM_LORA_PATH": "/opt/ml/model/a"}, "IS340", "write `SM_VLLM_LORA_MODULES`"),
    "decoding of old": (VLLM_23, {"SM_VLLM_GUIDED_DECODING_BACKEND": "outlines"}, "IS340", "STRUCTURED_OUTPUTS_CONFIG`"),
    "a task": (VLLM_27, {"SM_VLLM_TASK": "embed"}, "IS340", "write `SM_VLLM_RUNNER`"),
    "longer by rope": (VLLM_30, {"SM_VLLM_ROPE_SCALING": "{}"}, "IS340", "write `SM_VLLM_HF_OVERRIDES`"),
    "a model that speculates": (VLLM_27, {"SM_VLLM_SPECULATIVE_MODEL": "a/b"}, "IS340", "write `SM_VLLM_SPECULATIVE_CONFIG`"),
    "as a command line": (VLLM_27, {"SM_VLLM_ADDITIONAL_ARGS": "--dtype auto"}, "IS340", "SM_VLLM_ADDITIONAL_ARGS"),
    "there and gone and there": (VLLM_27, {"SM_VLLM_DISABLE_LOG_REQUESTS": "true"}, "IS341", "0.13 to 0.16 and 0.33 have"),
    "hub-docs#1409": (TGI_3, {"HF_MODEL_QUANTIZE": "true"}, "IS342", "bitsandbytes"),
    "images, as before JSON, in LMI": (LMI_28, {"OPTION_LIMIT_MM_PER_PROMPT": "image=2"}, "IS342", "JSON"),
    "YAML for JSON": (VLLM_27, {"SM_VLLM_COMPILATION_CONFIG": "{cudagraph_mode: PIECEWISE}"}, "IS342", "a JSON object"),
    "8 bits in LMI of old": (LMI_28, {"OPTION_QUANTIZE": "bitsandbytes8"}, "IS342", "`bitsandbytes`"),
    "SGLang's cache": (SGLANG_12, {"SM_SGLANG_KV_CACHE_DTYPE": "fp8"}, "IS342", "`fp8_e4m3`"),
    "a capital, in Rust": (TEI, {"AUTO_TRUNCATE": "True"}, "IS342", "`true` or `false`"),
    "a name without a part": (LMI_28, {"OPTION_MAX_ROLLING_BATCH": "32"}, "IS340", "`OPTION_MAX_ROLLING_BATCH_SIZE`"),
    "a slip of what LMI refuses": (LMI_28, {"OPTION_MAX_NUM_SEQ": "64"}, "IS340", "`OPTION_MAX_ROLLING_BATCH_SIZE`"),
    "of LMI's server": (LMI_28, {"OPTION_JOB_QUEUE_SIZE": "50"}, "IS340", "write `SERVING_JOB_QUEUE_SIZE`"),
    "tools in LMI": (LMI_28, {"OPTION_ENABLE_AUTO_TOOL_CHOICE": "true"}, "IS348", "add `OPTION_TOOL_CALL_PARSER`"),
    "verl's batches": (
        VLLM_27,
        {"SM_VLLM_MAX_NUM_BATCHED_TOKENS": "448", "SM_VLLM_MAX_NUM_SEQS": "1024"},
        *("IS387", "write 1024 or more"),
    ),
    "in LMI, by its own names": (
        LMI_28,
        {"OPTION_MAX_ROLLING_BATCH_PREFILL_TOKENS": "32", "OPTION_MAX_ROLLING_BATCH_SIZE": "64"},
        *("IS387", "write 64 or more"),
    ),
    "reasoning in LMI": (LMI_28, {"OPTION_ENABLE_REASONING": "true"}, "IS348", "add `OPTION_REASONING_PARSER`"),
    "by vLLM's name, which LMI takes": (LMI_28, {"OPTION_QUANTIZATION": "awqq"}, "IS342", "did you mean `awq`?"),
    "a word that becomes a flag": (LMI_28, {"OPTION_REVISION": "true"}, "IS342", "it takes one value"),
    "and its opposite": (LMI_28, {"OPTION_HF_TOKEN": "false"}, "IS342", "allowed: text"),
    # ------------------------------------------------------------ of requests
    "how it writes": (VLLM_27, {"SM_VLLM_TEMPERATURE": "0.7"}, "IS340", "remove it: each request says that itself"),
    "how much it writes": (LMI_28, {"OPTION_MAX_NEW_TOKENS": "512"}, "IS340", "remove it: each request says"),
    "swiss-ai: whether it thinks": (LMI_28, {"OPTION_ENABLE_THINKING": "true"}, "IS340", "remove it: each request says"),
    "small letters": (VLLM_27, {"sm_vllm_dtype": "auto"}, "IS340", "did you mean `SM_VLLM_DTYPE`?"),
    "TensorRT-LLM's in LMI": (LMI_28, {"OPTION_MAX_INPUT_LEN": "4096"}, "IS340", "write `OPTION_MAX_MODEL_LEN`"),
    "Neuron's in LMI": (LMI_20, {"OPTION_N_POSITIONS": "4096"}, "IS340", "only its handler of Neuron reads"),
    "Transformers' in LMI": (
        LMI_28,
        {"OPTION_ROLLING_BATCH": "vllm", "OPTION_LOAD_IN_4BIT": "true"},
        *("IS340", "write `OPTION_QUANTIZE`"),
    ),
    "LMI keeps fewer adapters than it has by default": (
        LMI_28,
        {"OPTION_ENABLE_LORA": "true", "OPTION_MAX_CPU_LORAS": "2"},
        *("IS389", "`OPTION_MAX_LORAS` is 4, unless it is set; write 4 or more"),
    ),
    "fewer adapters, before the tables": (
        LMI_18,
        {"OPTION_MAX_LORAS": "8", "OPTION_MAX_CPU_LORAS": "4"},
        *("IS389", "write 8 or more"),
    ),
    # ------------------------------------------------------------ no prefix
    "LMI's batches": (LMI_28, {"ROLLING_BATCH": "vllm"}, "IS388", "write `OPTION_ROLLING_BATCH`"),
    "llm_model_hub": (VLLM_27, {"MAX_MODEL_LEN": "8192"}, "IS388", "write `SM_VLLM_MAX_MODEL_LEN`"),
    "llm_model_hub, SGLang": (SGLANG_12, {"TENSOR_PARALLEL_SIZE": "4"}, "IS388", "`SM_SGLANG_TENSOR_PARALLEL_SIZE`"),
    "SGLang's own word": (SGLANG_12, {"CONTEXT_LENGTH": "8192"}, "IS388", "write `SM_SGLANG_CONTEXT_LENGTH`"),
    "in LMI, no prefix": (LMI_28, {"GPU_MEMORY_UTILIZATION": "0.9"}, "IS388", "write `OPTION_GPU_MEMORY_UTILIZATION`"),
    # ------------------------------------------------------------ set twice
    "by two names": (SGLANG_12, {"SM_SGLANG_TP": "2", "SM_SGLANG_TP_SIZE": "4"}, "IS347", "different values"),
    "by an alias": (LMI_28, {"SM_NUM_GPUS": "2", "OPTION_TENSOR_PARALLEL_DEGREE": "4"}, "IS347", "keep one"),
    "on and off": (
        VLLM_27,
        {"SM_VLLM_ENABLE_PREFIX_CACHING": "true", "SM_VLLM_NO_ENABLE_PREFIX_CACHING": "true"},
        *("IS347", "keep one"),
    ),
}  # fmt: skip

SPECULATION = '{"method": "eagle3", "num_speculative_tokens": 3}'
RIGHT = {
    "the usual": (
        VLLM_27,
        {
            **{"SM_VLLM_MODEL": "Qwen/Qwen3-32B", "SM_VLLM_TENSOR_PARALLEL_SIZE": "4", "SM_VLLM_DTYPE": "bfloat16"},
            **{"SM_VLLM_MAX_MODEL_LEN": "32k", "SM_VLLM_ENABLE_PREFIX_CACHING": "true", "HF_TOKEN": "x"},
        },
    ),
    "a beginning that is clear": (VLLM_27, {"SM_VLLM_TENSOR_PARALLEL_SIZ": "4"}),
    "the context of the model": (VLLM_27, {"SM_VLLM_MAX_MODEL_LEN": "auto"}),
    "a negative number": (VLLM_27, {"SM_VLLM_MAX_MODEL_LEN": "-1"}),
    "a bare flag": (VLLM_15, {"SM_VLLM_ENFORCE_EAGER": ""}),
    "capitals": (VLLM_27, {"SM_VLLM_ENABLE_LORA": "TRUE"}),
    "a flag that is off anyway": (VLLM_27, {"SM_VLLM_ENFORCE_EAGER": "false"}),
    "what an older image does with true is in doubt": (VLLM_15, {"SM_VLLM_ENABLE_LORA": "true"}),
    "switched off": (VLLM_27, {"SM_VLLM_NO_ENABLE_PREFIX_CACHING": "true"}),
    "JSON": (VLLM_27, {"SM_VLLM_SPECULATIVE_CONFIG": SPECULATION}),
    "JSON over lines": (VLLM_27, {"SM_VLLM_COMPILATION_CONFIG": '{\n "cudagraph_capture_sizes": [1, 2]\n}'}),
    "several images": (VLLM_27, {"SM_VLLM_LIMIT_MM_PER_PROMPT": '{"image": 4}'}),
    "a list of one": (VLLM_30, {"SM_VLLM_SERVED_MODEL_NAME": "chat"}),
    "a list": (SERVER, {"SM_VLLM_SERVED_MODEL_NAME": '["chat", "default"]'}),
    "numbers in a list": (SERVER, {"SM_VLLM_CUDAGRAPH_CAPTURE_SIZES": "[1, 2, 4]"}),
    "a parser of one's own": (
        VLLM_27,
        {"SM_VLLM_TOOL_CALL_PARSER": "mine", "SM_VLLM_TOOL_PARSER_PLUGIN": "/opt/ml/model/mine.py"},
    ),
    "still there in 0.15": (VLLM_15, {"SM_VLLM_SWAP_SPACE": "4"}),
    "what one neighbor has": (VLLM_31, {"SM_VLLM_DISABLE_PREFIX_CACHING": "true"}),
    "what one neighbor accepts": (VLLM_31, {"SM_VLLM_REASONING_PARSER": "none"}),
    "only the deployment knows": (VLLM_27, {"SM_VLLM_MAX_NUM_SEQS": "${AWS::Region}"}),
    "vLLM's own variables": (VLLM_27, {"VLLM_LOGGING_LEVEL": "DEBUG", "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1"}),
    "the supervisor's": (SERVER, {"LOG_LEVEL": "INFO", "PROCESS_AUTO_RECOVERY": "false"}),
    "no supervisor yet": (VLLM_15, {"LOG_LEVEL": "verbose"}),
    "vLLM-Omni's own": (OMNI, {"SM_VLLM_STAGE_CONFIGS_PATH": "/opt/ml/model/stages.yaml"}),
    "Hugging Face's own": (HF_VLLM, {"HF_ENABLE_LMCACHE": "0", "SM_VLLM_MAX_MODEL_LEN": "8192"}),
    "SGLang": (
        SGLANG_12,
        {
            **{"SM_SGLANG_MODEL_PATH": "/opt/ml/model", "SM_SGLANG_TP": "4", "SM_SGLANG_CONTEXT_LENGTH": "8192"},
            **{"SM_SGLANG_ENABLE_METRICS": "true", "SM_SGLANG_REASONING_PARSER": "qwen3"},
        },
    ),
    "which engine SGLang starts": (SGLANG_19, {"SM_SGLANG_ENGINE": "llm"}),
    "SGLang's own variables": (SGLANG_19, {"SGLANG_ENABLE_SPEC_V2": "1"}),
    "LMI": (
        LMI_28,
        {
            **{"HF_MODEL_ID": "Qwen/Qwen3-32B", "TENSOR_PARALLEL_DEGREE": "max", "OPTION_DTYPE": "bf16"},
            **{"OPTION_MAX_ROLLING_BATCH_SIZE": "64", "OPTION_ENABLE_LORA": "True", "OPTION_ROLLING_BATCH": "auto"},
            **{"OPTION_MAX_MODEL_LEN": "8192", "OPTION_GPU_MEMORY_UTILIZATION": "0.9", "SERVING_FAIL_FAST": "true"},
        },
    ),
    "LMI's words, before the tables": (LMI_18, {"OPTION_DTYPE": "fp16", "OPTION_PIPELINE_PARALLEL_DEGREE": "1"}),
    "before LMI 15": (f"{AWS}/djl-inference:0.32.0-lmi14.0.0-cu126", {"OPTION_DTYPE": "half"}),
    "a task of Transformers": (LMI_28, {"OPTION_TASK": "token-classification", "OPTION_LOAD_IN_8BIT": "true"}),
    "a backend in small letters": (VLLM_27, {"SM_VLLM_ATTENTION_BACKEND": "flashinfer"}),
    "as many adapters as LMI has by default": (LMI_28, {"OPTION_ENABLE_LORA": "true", "OPTION_MAX_CPU_LORAS": "4"}),
    "TensorRT-LLM's with its handler": (LMI_28, {"OPTION_ROLLING_BATCH": "trtllm", "OPTION_MAX_INPUT_LEN": "4096"}),
    "batches of something else": (VLLM_27, {"ROLLING_BATCH": "vllm"}),
    "LMI switches off": (LMI_28, {"OPTION_ENABLE_PREFIX_CACHING": "false"}),
    "LMI of old leaves out": (LMI_20, {"OPTION_DISABLE_LOG_STATS": "false", "OPTION_HF_TOKEN": "false"}),
    "LMI skips what is empty": (LMI_28, {"OPTION_QUANTIZE": "", "OPTION_MAX_MODEL_LEN": ""}),
    "LMI reads TGI's": (LMI_28, {"SM_NUM_GPUS": "4", "MAX_CONCURRENT_REQUESTS": "64", "HF_MODEL_QUANTIZE": "awq"}),
    "twice the same": (LMI_28, {"SM_NUM_GPUS": "4", "OPTION_TENSOR_PARALLEL_DEGREE": "4"}),
    "LMI with a handler of one's own": (LMI_28, {"OPTION_ENTRYPOINT": "model.py", "OPTION_TOP_N": "3"}),
    "LMI's parsers": (
        LMI_28,
        {
            **{"OPTION_ENABLE_AUTO_TOOL_CHOICE": "true", "OPTION_TOOL_CALL_PARSER": "hermes"},
            **{"OPTION_ENABLE_REASONING": "true", "OPTION_REASONING_PARSER": "qwen3"},
        },
    ),
    "TGI": (
        TGI_3,
        {
            **{"HF_MODEL_ID": "mistralai/Mistral-7B", "SM_NUM_GPUS": "4", "HF_MODEL_QUANTIZE": "bitsandbytes-nf4"},
            **{"MAX_INPUT_TOKENS": "4095", "MAX_TOTAL_TOKENS": "4096", "HF_MODEL_TRUST_REMOTE_CODE": "true"},
            **{"CUDA_GRAPHS": "1,2,4", "LOG_FORMAT": "json"},
        },
    ),
    "TGI, the old name": (TGI_1, {"MAX_INPUT_LENGTH": "1024", "QUANTIZE": "gptq"}),
    "TEI": (TEI, {"HF_MODEL_ID": "BAAI/bge-m3", "POOLING": "cls", "MAX_BATCH_TOKENS": "16384", "DTYPE": "float16"}),
    "llama.cpp": (LLAMA_CPP, {"SM_LLAMA_CPP_N_GPU_LAYERS": "99", "SM_LLAMA_CPP_MODEL": "/opt/ml/model/a.gguf"}),
    # ------------------------------------------------------------ of public definitions
    "a recipe of SageMaker's own tuning": (
        f"{AWS}/djl-inference:0.36.0-lmi20.0.0-cu128",
        {
            **{"OPTION_ASYNC_MODE": "true", "OPTION_ENTRYPOINT": "djl_python.lmi_vllm.vllm_async_service"},
            **{"OPTION_MAX_ROLLING_BATCH_SIZE": "4", "OPTION_ROLLING_BATCH": "disable"},
            **{"OPTION_TENSOR_PARALLEL_DEGREE": "1", "SAGEMAKER_ENABLE_LOAD_AWARE": "1"},
        },
    ),
    "an agent on LMI": (
        LMI_28,
        {
            **{"OPTION_ROLLING_BATCH": "vllm", "OPTION_ENABLE_AUTO_TOOL_CHOICE": "true", "OPTION_DTYPE": "fp16"},
            **{"OPTION_TOOL_CALL_PARSER": "llama3_json", "OPTION_MAX_MODEL_LEN": "8192"},
        },
    ),
    "a classifier, as JumpStart sets it": (
        LMI_18,
        {
            **{"HF_MODEL_ID": "/opt/ml/model", "MAX_BATCH_SIZE": "128", "MAX_CONCURRENT_REQUESTS": "256"},
            **{"OPTION_DTYPE": "fp16", "OPTION_ENABLE_CHUNKED_PREFILL": "true", "OPTION_MAX_MODEL_LEN": "40960"},
            **{"OPTION_MAX_NUM_BATCHED_TOKENS": "81920", "OPTION_MAX_ROLLING_BATCH_SIZE": "128"},
            **{"OPTION_TENSOR_PARALLEL_DEGREE": "1", "TENSOR_PARALLEL_DEGREE": "1"},
            **{"OPTION_TOOL_CALL_PARSER": "hermes", "VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1"},
        },
    ),
    "Hugging Face's adapters": (
        HF_VLLM,
        {
            **{"SM_VLLM_MODEL": "mistralai/Mistral-7B-v0.1", "SM_VLLM_HOST": "0.0.0.0", "SM_VLLM_ENABLE_LORA": "true"},
            **{"SM_VLLM_MAX_LORA_RANK": "16", "SM_VLLM_MAX_LORAS": "4", "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "true"},
        },
    ),
    "llama.cpp on CPUs, from the hub": (
        f"{AWS}/llama-cpp:server-sagemaker-cpu-v1",
        {
            **{"SM_LLAMA_CPP_HF_REPO": "Qwen/Qwen2.5-0.5B-Instruct-GGUF", "SM_LLAMA_CPP_CTX_SIZE": "4096"},
            "SM_LLAMA_CPP_HF_FILE": "qwen2.5-0.5b-instruct-q4_0.gguf",
        },
    ),
    "LLM Engineer's Handbook": (
        TGI_3,
        {
            **{"HF_MODEL_ID": "mlabonne/TwinLlama-3.1-8B-DPO", "SM_NUM_GPUS": "1", "MAX_INPUT_LENGTH": "2048"},
            **{"MAX_TOTAL_TOKENS": "4096", "MAX_BATCH_TOTAL_TOKENS": "4096", "MAX_BATCH_PREFILL_TOKENS": "4096"},
            "HF_MODEL_QUANTIZE": "bitsandbytes",
        },
    ),
    "LMI's server": (LMI_28, {"SERVING_MIN_WORKERS": "1", "SERVING_LOAD_MODELS": "test::Python=/opt/ml/model"}),
    "a model by vLLM's name in LMI": (LMI_28, {"OPTION_MODEL": "openai/gpt-oss-20b", "OPTION_ASYNC_SCHEDULING": "true"}),
    "off, in Python's word": (LMI_28, {"OPTION_ENABLE_PREFIX_CACHING": "False", "OPTION_KV_CACHE_DTYPE": "fp8"}),
    "Mistral's formats": (
        VLLM_27,
        {
            **{"SM_VLLM_TOKENIZER_MODE": "mistral", "SM_VLLM_LOAD_FORMAT": "mistral"},
            **{"SM_VLLM_CONFIG_FORMAT": "mistral", "SM_VLLM_TOOL_CALL_PARSER": "mistral"},
        },
    ),
    "EmbeddingGemma": (VLLM_27, {"SM_VLLM_RUNNER": "pooling", "SM_VLLM_MAX_MODEL_LEN": "2048"}),
    "DeepSeek V4": (
        VLLM_27,
        {
            **{"SM_VLLM_TOOL_CALL_PARSER": "deepseek_v4", "SM_VLLM_BLOCK_SIZE": "256"},
            **{"SM_VLLM_NO_ENABLE_FLASHINFER_AUTOTUNE": "true", "SM_VLLM_ENABLE_EXPERT_PARALLEL": "true"},
        },
    ),
    "a file of options": (VLLM_27, {"SM_VLLM_CONFIG": "/opt/ml/model/vllm.yaml"}),
    "a beginning that AWS uses": (SGLANG_19, {"SM_SGLANG_SPECULATIVE_ALGO": "EAGLE"}),
    "GLM on SGLang": (SGLANG_19, {"SM_SGLANG_FP8_GEMM_BACKEND": "triton", "SM_SGLANG_CUDA_GRAPH_MAX_BS": "32"}),
    "terraform-aws-llm-sagemaker": (
        TGI_3,
        {"MAX_INPUT_TOKENS": "4000", "MAX_TOTAL_TOKENS": "4096", "MESSAGES_API_ENABLED": "true"},
    ),
    "TGI's other variables": (TGI_3, {"USE_PREFIX_CACHING": "0", "ATTENTION": "flashdecoding"}),
    "what other programs read": (
        VLLM_27,
        {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "MODEL_NAME": "x", "MAX_LENGTH": "5", "SEED": "1"},
    ),
    "files of the hub on llama.cpp": (LLAMA_CPP, {"SM_LLAMA_CPP_HF_REPO": "Qwen/Qwen2.5-3B-Instruct-GGUF"}),
    "as many tokens as sequences": (VLLM_27, {"SM_VLLM_MAX_NUM_BATCHED_TOKENS": "64", "SM_VLLM_MAX_NUM_SEQS": "64"}),
    "whole prompts in a step": (
        VLLM_27,
        {
            **{"SM_VLLM_MAX_NUM_BATCHED_TOKENS": "8192", "SM_VLLM_MAX_MODEL_LEN": "8192"},
            "SM_VLLM_NO_ENABLE_CHUNKED_PREFILL": "true",
        },
    ),
    "an image of one's own": (f"{OWN}/vllm:0.27.1", {"SM_VLLM_FOO": "1", "OPTION_BAR": "2", "VLLM_X": "3"}),
    "an older LMI than the tables": (f"{AWS}/djl-inference:0.32.0-lmi14.0.0-cu126", {"OPTION_FOO": "1"}),
    "an LMI that may not compare": (f"{AWS}/djl-inference:0.32.0-lmi14.0.0-cu126", {"OPTION_MAX_NUM_SEQS": "64"}),
    "another framework": ({"framework": "triton", "version": "25.04"}, {"SM_VLLM_FOO": "1", "OPTION_X": "1"}),
    "a version that is not known": (f"{AWS}/vllm:server-sagemaker-cuda-v2", {"SM_VLLM_FOO": "1"}),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_reported_with_its_way_out(case: str) -> None:
    image, environment, code, says = MISTAKES[case]
    problems = found(image, environment)
    assert [code for code, _ in problems] == [code]
    [(_, problem)] = problems
    assert says in f"{problem.message}; {problem.fix}"
    assert problem.path[:2] == ("model", "environment")
    assert problem.fix


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_right_is_not(case: str) -> None:
    image, environment = RIGHT[case]
    assert found(image, environment) == []


def test_there_are_many() -> None:
    assert len(MISTAKES) >= 110
    assert len(RIGHT) >= 60


def test_all_are_warnings_that_name_what_was_looked_at() -> None:
    for image, environment, code, _ in MISTAKES.values():
        [(_, problem)] = found(image, environment)
        assert RULES[code].severity is Severity.WARNING
        assert any(it in problem.message for it in ("vLLM", "SGLang", "LMI", "TGI", "TEI", "llama.cpp"))


def test_a_handler_among_the_files_may_read_any_option() -> None:
    files = {"model_data_url": "s3://acme/model.tar.gz"}
    assert found(LMI_28, {"OPTION_ANSWER_STYLE": "short"}, **files) == []
    assert found(LMI_28, {"OPTION_TEMPERATURE": "0.7"}, **files) == []
    assert [code for code, _ in found(LMI_28, {"OPTION_ANSWER_STYLE": "short"})] == ["IS340"]
    assert [code for code, _ in found(LMI_28, {"OPTION_MAX_MODEL_LENGTH": "1"}, **files)] == ["IS340"]
