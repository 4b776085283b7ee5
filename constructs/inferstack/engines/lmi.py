"""LMI's own options, with what it accepts, and its names for options of vLLM.

https://github.com/deepjavalibrary/djl-serving/tree/master/engines/python/setup/djl_python/properties_manager
"""

from collections.abc import Mapping

from inferstack.engines.values import EngineOption

_ANY, _WHOLE, _NUMBER, _BOOLEAN = (
    EngineOption("any"),
    EngineOption("int"),
    EngineOption("float"),
    EngineOption("boolean"),
)


def _one_of(*words: str) -> EngineOption:
    return EngineOption("text", choices=words)


_READ: Mapping[str, EngineOption] = {
    "tensor_parallel_degree": EngineOption("count-or-max"),
    "pipeline_parallel_degree": _one_of("1"),
    "max_rolling_batch_size": _WHOLE,
    "max_rolling_batch_prefill_tokens": _WHOLE,
    "batch_size": _WHOLE,
    "max_loras": _WHOLE,
    "cluster_size": _WHOLE,
    "max_num_batched_tokens": _WHOLE,
    "spec_length": _WHOLE,
    "waiting_steps": _WHOLE,
    "cpu_offload_gb_per_gpu": _NUMBER,
    "cpu_offload_gb": _NUMBER,
    "enable_streaming": EngineOption("text", choices=("true", "false", "huggingface"), folded=True),
    "dtype": _one_of("auto", "bf16", "bfloat16", "float16", "float32", "fp16", "fp32"),
    # Of the handler of vLLM, which takes any other word for `auto`; and of Transformers.
    "task": _one_of(
        *("auto", "classify", "feature-extraction", "generate", "text-embedding", "text-generation"),
        *("conversational", "fill-mask", "question-answering", "summarization", "text-classification"),
        *("text2text-generation", "token-classification", "translation", "zero-shot-image-classification"),
    ),
    "rolling_batch": _one_of("auto", "disable", "lmi-dist", "trtllm", "vllm"),
    "chat_template_content_format": _one_of("auto", "openai", "string"),
    "trust_remote_code": _BOOLEAN,
    "enable_lora": _BOOLEAN,
    "enable_auto_tool_choice": _BOOLEAN,
    "enable_reasoning": _BOOLEAN,
    "mpi_mode": _BOOLEAN,
    "tgi_compat": _BOOLEAN,
    "bedrock_compat": _BOOLEAN,
    "lmcache_auto_config": _BOOLEAN,
    "normalize": _BOOLEAN,
}
# Of LMI's server and of its handlers: what they accept depends on the handler.
_UNCHECKED = (
    *("adapters", "async_mode", "awq_block_size", "awq_ignore_layers", "backend"),
    *("baichuan_model_version", "batch_scheduler_policy", "calib_batch_size", "calib_size"),
    *("chat_template", "chatglm_model_version", "checkpoint", "data_type", "default_accept"),
    *("device", "device_id", "device_map", "disable_flash_attn", "draft_model_id"),
    *("draft_model_tp_size", "enable_kv_cache_reuse", "enable_saturate_infinity"),
    *("enable_stateful_sessions", "enable_trt_overlap", "engine", "entrypoint", "env"),
    *("gpt_model_version", "group_query_attention", "input_formatter", "is_peft_model"),
    *("kv_cache_free_gpu_mem_fraction", "kwargs", "lmcache_config_file"),
    *("load_in_4bit", "load_in_8bit", "long_lora_scaling_factors"),
    *("low_cpu_mem_usage", "max_draft_len", "max_input_len", "max_num_tokens"),
    *("max_output_len", "max_seq_len", "maxworkers", "minworkers", "max_workers", "min_workers"),
    *("model_dir", "model_id", "model_loading_timeout", "model_name", "modelname"),
    *("multi_block_mode", "n_positions", "output_formatter", "parallel_loading"),
    *("partition_schema", "predict_timeout", "pythonexecutable", "python_executable", "q_format"),
    *("quantization", "quantize", "reasoning_parser", "record_acceptance_rate"),
    *("retry_threshold", "revision", "rotary_base"),
    *("rotary_dim", "rotary_scaling_factor", "rotary_scaling_type", "s3url"),
    *("save_mp_checkpoint_path", "sessions_expiration", "sessions_path", "smoothquant_alpha"),
    *("speculative_draft_model", "speculative_length", "stop_sequence", "tokenizer"),
    *("tokens_per_block", "tool_call_parser", "trtllm_checkpoint_path", "trtllm_python_backend"),
    *("trust_insecure_model_files", "use_custom_all_reduce", "use_fused_mlp"),
)
LMI_OPTIONS: Mapping[str, EngineOption] = {**dict.fromkeys(sorted(_UNCHECKED), _ANY), **_READ}
"""Every option that LMI reads itself; those of vLLM are passed on."""

OF_SERVER = frozenset(
    {"job_queue_size", "load_on_devices", "max_batch_delay", "max_idle_time", "reserved_memory_mb"}
)
"""What LMI's server reads as its own, and not as an option of the engine: `SERVING_JOB_QUEUE_SIZE`."""

CALLED: Mapping[str, str] = {
    "max_num_seqs": "max_rolling_batch_size",
    "tensor_parallel_size": "tensor_parallel_degree",
    "pipeline_parallel_size": "pipeline_parallel_degree",
}
"""Options of vLLM with another name in LMI, which compares both as text and number, and ends if both have a
value: its own always has one."""
PASSED_ON: Mapping[str, str] = {
    "quantize": "quantization",
    "max_rolling_batch_prefill_tokens": "max_num_batched_tokens",
    "cpu_offload_gb_per_gpu": "cpu_offload_gb",
    **{
        name: name
        for name in (
            *("quantization", "max_num_batched_tokens", "cpu_offload_gb", "revision", "tokenizer"),
            *("tool_call_parser", "reasoning_parser"),
        )
    },
}
"""Options of LMI whose value is one of vLLM's."""

OF_LMI_15 = (0, 8, 4)
"""Its vLLM, which is older than the tables. Since then LMI compares its own names with vLLM's."""
REFUSED_SINCE_LMI_15 = ("dtype", "pipeline_parallel_degree")
"""Own options whose values have been the same since then."""
ADAPTERS_IN_A_BATCH = 4
"""LMI's `max_loras` if nothing sets it; vLLM's is 1."""

TRANSFORMERS, _TRT_LLM, _NEURON = "Hugging Face's Transformers", "TensorRT-LLM", "Neuron"
OF_HANDLERS: Mapping[str, tuple[str, str]] = {
    "load_in_4bit": (TRANSFORMERS, "quantize"),
    "load_in_8bit": (TRANSFORMERS, "quantize"),
    "data_type": (TRANSFORMERS, "dtype"),
    "max_input_len": (_TRT_LLM, "max_model_len"),
    "max_seq_len": (_TRT_LLM, "max_model_len"),
    "max_num_tokens": (_TRT_LLM, "max_rolling_batch_prefill_tokens"),
    "kv_cache_free_gpu_mem_fraction": (_TRT_LLM, "gpu_memory_utilization"),
    "enable_kv_cache_reuse": (_TRT_LLM, "enable_prefix_caching"),
    "n_positions": (_NEURON, "max_model_len"),
}
"""Options that LMI's handler of vLLM drops, with the one that reads them and what vLLM has for it."""
