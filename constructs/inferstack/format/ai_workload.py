"""What AIPerf does in a job of SageMaker: the keys of a workload specification.

AWS refuses keys that are not on this page, and so does the schema. Of several names for
one key, it has the first.
https://docs.aws.amazon.com/sagemaker/latest/dg/generative-ai-inference-recommendations-workload-config.html
"""

from typing import Annotated

from msgspec import Meta

from inferstack.format.base import Block, Number, form

# AWS gives no bounds for these.
Count = Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": 2**31 - 1})]

SecretArn = Annotated[str, form(r"^arn:aws[a-z\-]*:secretsmanager:[a-z0-9\-]+:[0-9]{12}:secret:.+$")]


class AiTooling(Block):
    """The API that the model answers by, and the version of the tool."""

    api_standard: str | None = None
    """`openai`, for endpoints that answer by its API."""
    version: str | None = None
    """Version of AIPerf; if left out, the latest."""


class AiSecrets(Block):
    """Secrets that the tool needs."""

    hf_token: SecretArn
    """ARN of a secret in Secrets Manager with a token for Hugging Face, for gated models and tokenizers."""


class AiParameters(Block):
    """What is sent: made-up prompts of a length, or a dataset, how often and for how long."""

    prompt_input_tokens_mean: Count | None = None
    """Mean number of tokens of a prompt."""
    prompt_input_tokens_stddev: Number | None = None
    """Standard deviation of the tokens of a prompt."""
    output_tokens_mean: Count | None = None
    """Mean number of tokens of an answer."""
    output_tokens_stddev: Number | None = None
    """Standard deviation of the tokens of an answer."""
    concurrency: Count | None = None
    """Number of simultaneous requests."""
    request_count: Count | None = None
    """Number of requests in all."""
    request_rate: Number | None = None
    """Requests per second."""
    benchmark_duration: Count | None = None
    """Length of the benchmark, in seconds."""
    max_concurrency: Count | None = None
    """Maximum number of simultaneous requests."""
    request_rate_mode: str | None = None
    """How the arrivals of requests are spread."""
    arrival_smoothness: Number | None = None
    """How smooth the traffic is; lower values make bursts."""
    prefill_concurrency: Count | None = None
    """Number of prompts that are processed at the same time."""
    streaming: bool | None = None
    """Whether answers are streamed; if left out, they are."""
    tokenizer: str | None = None
    """Name of the tokenizer on Hugging Face that counts tokens."""
    request_timeout_seconds: Count | None = None
    """Seconds that a request may take."""
    goodput: str | None = None
    """Latencies that count as good, such as `time_to_first_token:100 inter_token_latency:10`, in
    milliseconds."""
    benchmark_grace_period: Count | None = None
    """Seconds that requests may take to finish after the end."""
    extra_inputs: str | None = None
    """More for each request, such as `ignore_eos:true temperature:0`."""
    random_seed: Count | None = None
    """Seed of the random numbers; if left out, 42."""
    verbose: bool | None = None
    """Whether more is logged."""
    num_conversations: Count | None = None
    """Number of conversations with several turns."""
    model_selection_strategy: str | None = None
    """How a model is chosen where the endpoint has several: `round_robin` or `random`."""
    warmup_duration: Count | None = None
    """Length of the warm-up, in seconds."""
    warmup_request_count: Count | None = None
    """Number of requests of the warm-up."""
    warmup_concurrency: Count | None = None
    """Number of simultaneous requests during the warm-up."""
    warmup_prefill_concurrency: Count | None = None
    """Number of prompts that are processed at the same time during the warm-up."""
    warmup_request_rate: Number | None = None
    """Requests per second during the warm-up."""
    warmup_arrival_pattern: str | None = None
    """How the arrivals of requests are spread during the warm-up."""
    warmup_grace_period: Number | None = None
    """Seconds that requests of the warm-up may take to finish."""
    num_warmup_sessions: Count | None = None
    """Number of conversations of the warm-up."""
    public_dataset: str | None = None
    """Name of a public dataset with prompts."""
    custom_dataset_type: str | None = None
    """Form of your own dataset, such as `single_turn`."""
    input_file: str | None = None
    """Path of your own dataset: `/opt/ml/input/data/` and then the channel's name and the file's."""
    dataset_sampling_strategy: str | None = None
    """`shuffle` or `sequential`."""
    image_width_mean: Number | None = None
    """Mean width of made-up images, in pixels."""
    image_width_stddev: Number | None = None
    """Standard deviation of the width."""
    image_height_mean: Number | None = None
    """Mean height of made-up images, in pixels."""
    image_height_stddev: Number | None = None
    """Standard deviation of the height."""
    image_batch_size: Count | None = None
    """Number of images of a request."""
    image_format: str | None = None
    """`png`, `jpeg`, …"""
    video_batch_size: Count | None = None
    """Number of videos of a request."""
    video_duration: Number | None = None
    """Length of made-up videos, in seconds."""
    video_fps: Count | None = None
    """Frames per second."""
    video_width: Count | None = None
    """Width in pixels."""
    video_height: Count | None = None
    """Height in pixels."""
    video_synth_type: str | None = None
    """How videos are made up."""
    video_format: str | None = None
    """Format of the videos."""
    video_codec: str | None = None
    """Codec of the videos."""
    video_audio_sample_rate: Count | None = None
    """Sample rate of the sound, in Hz."""
    video_audio_num_channels: Count | None = None
    """Number of channels of the sound."""
    video_audio_codec: str | None = None
    """Codec of the sound."""
    video_audio_depth: str | None = None
    """Bit depth of the sound."""
