"""Lines that look like a signature and mean something else, are harmless, or leave open which of two it is."""

import pytest
from diagnosis.test_verdicts import OOM, told

READY = "INFO:     Application startup complete."
TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n'

HARMLESS = {
    "a download that is tried again": "WARNING 06-02 00:52:37 [hub.py:1] 'HTTPSConnectionPool(host='huggingface.co', port=443): Read timed out.' thrown while requesting HEAD https://huggingface.co/a/b/resolve/main/config.json\nRetrying in 1s [Retry 1/5].",
    "a throttled download that is tried again": "429 Client Error: Too Many Requests for url: https://huggingface.co/a/b, retrying in 8 seconds",
    "pip without a connection at first": "WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError': /simple/numpy/",
    "packages that pip says do not fit": "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed. This behaviour is the source of the following dependency conflicts.\nbotocore 1.29 requires urllib3<1.27, but you have urllib3 2.0 which is incompatible.",
    "a wheel that pip then does without": "  Building wheel for fasttext (setup.py): finished with status 'error'\n  ERROR: Failed building wheel for fasttext\n  Running setup.py install for fasttext: finished with status 'done'\nSuccessfully installed fasttext-0.9",
    "a smaller batch after memory ran out": "CUDA out of memory with batch size 64, falling back to 32",
    "memory that TensorFlow asks for again": "2023-01-01 10:00:00.000000: W tensorflow/core/common_runtime/bfc_allocator.cc:479] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.20GiB. The caller indicates that this is not a failure, but this may mean that there could be performance gains if more memory were available: CUDA_ERROR_OUT_OF_MEMORY, retrying",
    "memory that cannot be locked": "warning: failed to mlock 1024-byte buffer (after previously locking 0 bytes): Cannot allocate memory",
    "a warning of torch's": "/opt/conda/lib/python3.10/site-packages/torch/cuda/__init__.py:88: UserWarning: CUDA initialization: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
    "an older driver in a warning": "/usr/lib/torch/cuda/__init__.py:52: UserWarning: The NVIDIA driver on your system is too old (found version 11040).",
    "scikit-learn's warning of versions": "InconsistentVersionWarning: Trying to unpickle estimator Pipeline from version 1.0 when using version 1.2. This might lead to breaking code: node array from the pickle has an incompatible dtype",
    "a deprecation that quotes an error": "DeprecationWarning: ModuleNotFoundError: No module named 'imp' will be raised from Python 3.12 on",
    "a future warning that quotes an option": "FutureWarning: Passing `trust_remote_code=True` will be mandatory to load this dataset, as it contains custom code which must be executed",
    "vLLM's module that is not built in": "WARNING 05-23 09:31:22 [_custom_ops.py:20] Failed to import from vllm._C with ModuleNotFoundError: No module named 'vllm._C'",
    "an optional module": "INFO 05-23 09:31:22 [importing.py:53] ImportError: cannot import name 'triton_key' from 'triton'; some features are not available",
    "an architecture that vLLM runs in another way": "WARNING 05-23 09:31:22 [registry.py:100] FooForCausalLM has no vLLM implementation, falling back to Transformers implementation.",
    "weights in an older format": "2024-01-01T10:00:00.000000Z  WARN download: text_generation_launcher: No safetensors weights found for model a/b at revision None. Converting PyTorch weights to safetensors.",
    "generation settings that a model lacks": "INFO 05-23 09:31:22 [config.py:20] generation_config.json not found, using defaults",
    "an optional file": "INFO: optional file tokenizer_config.json: [Errno 2] No such file or directory: '/opt/ml/model/code/requirements.txt'",
    "a processor's settings that a model lacks": "Error loading processor_config.json: a/b does not appear to have a file named processor_config.json, skipping",
    "a worker that starts anew, and then serves": f"{TRACEBACK}ConnectionRefusedError: [Errno 111] Connection refused\n{READY}",
    "an OOM that a restart got over": f"{OOM}\nRestarting with a smaller cache\n{READY}",
    "nginx before the server": 'connect() to unix:/tmp/gunicorn.sock failed (2: No such file or directory)\n1.2.3.4 - - "GET /ping HTTP/1.1" 502 182\n1.2.3.4 - - "GET /ping HTTP/1.1" 200 1',
    "a warning after the server is up": f"{READY}\nWARNING 05-23 09:31:22 [scheduler.py:10] CUDA out of memory in warm-up of size 512, skipping it",
    "a prompt about memory": "INFO 05-23 09:31:22 [logger.py:43] Received request cmpl-1: prompt: 'Why do I get RuntimeError: CUDA out of memory. Tried to allocate 2 GiB?', params: SamplingParams(n=1)",
    "a prompt in JSON": '{"inputs": "What does `ModuleNotFoundError: No module named \'torch\'` mean?"}',
    "a prompt in a chat": '{"role": "user", "content": "my pod is OOMKilled and says exit code 137, why?"}',
    "a question in a log of the user's code": "question: how do I fix exec format error in Docker?",
    "an answer of the model": "generated text: {'generated_text': 'The error ResourceLimitExceeded means that a quota is reached'}",
    "advice in a log": "Tip: lower --max-model-len to avoid CUDA out of memory errors.",
    "advice of an allocator": "You may see CUDA out of memory if other processes use this GPU.",
    "advice about a token": "Set HF_TOKEN if you run into GatedRepoError for this model.",
    "a count of none": "health: 0 OOMKilled, 0 restarts, no CUDA out of memory",
    "help of a program": "  --swap-space SIZE  CPU swap space, raise it if CUDA out of memory occurs",
    "code": 'logger.error("CUDA out of memory. Tried to allocate %s", size)',
    "code that raises": 'raise RuntimeError("Found no NVIDIA driver on your system")',
    "code that handles": 'except ImportError: cannot import name = "x"',
    "a comment in a script": "# exec format error: build with --platform linux/amd64",
    "a path with the name of an error": "I0607 10:00:00.000000 1 model.cc:1] loading /models/OOMKilled-classifier/1/model.onnx: No space left on device is one of its labels",
    "a label of a classifier": "predicted label: NoSpaceLeft, text: 'No space left on device'",
    "Triton's level I": "I0607 10:00:00.000000 1 model_lifecycle.cc:579] model had failed to load 'net' version 1: Invalid argument: old; it was replaced",
    "Triton's level W": "W0607 10:00:00.000000 1 metrics.cc:631] Unable to get power limit: CUDA driver version is insufficient for CUDA runtime version",
    "an exception that Python drops": "Exception ignored in: <function Pool.__del__ at 0x7f> OSError: [Errno 28] No space left on device",
    "no change to deploy": "An error occurred (ValidationError) when calling the UpdateStack operation: No updates are to be performed.",
    "a level of logging in JSON": '{"level": "INFO", "message": "last night\'s run ended with: CUDA out of memory. Tried to allocate 2 GiB"}',
    "a warning in JSON": '{"level": "WARN", "fields": {"message": "Could not import Flash Attention: ImportError: libcudart.so.11.0: cannot open shared object file"}}',
    "a library that is not there, and ignored": "dlerror: libcuda.so.1: cannot open shared object file: No such file or directory; Ignoring above cudart dlerror if you do not have a GPU set up on your machine.",
    "an attempt out of three": "attempt 1/3: An error occurred (ThrottlingException) when calling the InvokeEndpoint operation (reached max retries: 0): Rate exceeded",
    "capacity that is asked for again": "2024-01-01 10:00:00 WARNING InsufficientInstanceCapacity in eu-west-1a, will retry in eu-west-1b",
    "a metric with the name of an error": "INFO - publishing metric ResourceLimitExceeded=0 InsufficientInstanceCapacity=0",
    "a heading of a manual": "### CUDA out of memory",
    "an item of a manual": '- Error: "No space left on device"',
    "words in backticks": "it then ends with `exec format error`, or with `ModuleNotFoundError: No module named 'a'`",
    "a row of a table in a manual": "| `GatedRepoError: 403` when it loads | ask for access |",
    "code that imports an exception": "from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError",
    "code that names an exception": "        errors.GatedRepoError,",
    "code that compares": """        is_full = "No space left on device" in str(error) or "CUDA out of memory" in str(error)""",
    "a table of errors in code": '    errors.put(ENOSPC, "No space left on device");',
    "a pattern in code": """    r"|Access to model .* is restricted|Cannot access gated repo",""",
    "a value of an enumeration": "return Err(ScanError::ResourceLimitExceeded {",
    "a field of a record": "    ResourceLimitExceeded {",
    "a chapter of a course": "Next: limits, OOMKilled and classes of quality",
    "a host that Java does not find for itself": "2021-01-01 10:00:00,000 [WARN ] main com.amazonaws.ml.mms.ModelServer - java.net.UnknownHostException: model.aws.local: model.aws.local: Name or service not known",
    "a name that pip resolves later": "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError': Failed to establish a new connection: [Errno -2] Name or service not known': /simple/numpy/",
    "a host that is asked again": "[Errno -3] Temporary failure in name resolution; retrying in 2 seconds",
    "a certificate in advice": "Set REQUESTS_CA_BUNDLE if you get CERTIFICATE_VERIFY_FAILED behind a proxy.",
    "pooling that TEI chooses": "2024-01-01T10:00:00.000000Z  WARN text_embeddings_router: router/src/lib.rs:458: The `--pooling` arg is not set and we could not find a pooling configuration (`1_Pooling/config.json`) for this model but the model is a BERT variant. Defaulting to `CLS` pooling.",
    "an opset that ONNX Runtime tries": "2024-01-01 10:00:00.000000 [W:onnxruntime:, model_load_utils.h:46] ONNX Runtime only *guarantees* support for models stamped with official released onnx opset versions. Current official support for domain ai.onnx is till opset 21.",
    "weights of a new head": "Some weights of BertForSequenceClassification were not initialized from the model checkpoint at /opt/ml/model and are newly initialized: ['classifier.weight']",
    "names of columns that are left out": "UserWarning: X does not have valid feature names, but RandomForestClassifier was fitted with feature names",
    "a slow tokenizer instead": "WARNING:transformers: T5Converter requires the protobuf library but it was not found in your environment; falling back to the slow tokenizer",
    "adapters that are off": "INFO 09-18 10:00:00 [config.py:20] LoRA is not enabled",
    "code that checks features": 'raise ValueError(f"X has {n} features, but Model is expecting {m} features")',
    "a bucket that is asked elsewhere": "WARNING: An error occurred (PermanentRedirect) when calling the HeadBucket operation: redirected to eu-west-1",
    "a GLIBC that a wheel names in a warning": "UserWarning: /lib/libm.so.6: version `GLIBC_2.34' not found; the CPU kernel is used",
    "a prompt about weights": '{"inputs": "What does Weights only load failed mean, and X has 5 features, but SVC is expecting 6 features?"}',
    "a model's answer about certificates": "generated text: 'The error CERTIFICATE_VERIFY_FAILED comes from a proxy'",
    "a template that may be missing": "Tip: use the completions API if default chat template is no longer allowed, so you must provide a chat template",
    "a Neuron core that is asked for again": "2023-Jan-01 10:00:00.0000 1:1 WARN  NRT:nrt_allocate_neuron_cores NeuronCore(s) not available - Requested:1 Available:0, retrying",
    "a busy endpoint that is waited for": 'Cannot update in-progress endpoint "arn:aws:sagemaker:eu-west-1:123456789012:endpoint/chat", retrying in 30 seconds',
    "a download that hf_transfer repeats": "RuntimeError: An error occurred while downloading using `hf_transfer`; retrying without it",
    "an operator that a converter replaces": "INFO - Unknown builtin op: torchvision::nms was found in the graph and is skipping the script",
    "a buffer that an allocator asks for again": "2024-01-01 10:00:00.000000 [W:onnxruntime:Default, bfc_arena.cc:376] Failed to allocate memory for requested buffer of size 67108864",
    "workers that were ended on purpose": "INFO: Killed 3 stale workers",
    "a tool that a script does without": "/bin/sh: 1: nvidia-smi: not found",
    "weights in another format": "2024-01-01T10:00:00.000000Z  WARN download: text_generation_launcher: No .safetensors weights found for model a/b and revision None. Converting",
    "numpy's warning": "FutureWarning: AttributeError: module 'numpy' has no attribute 'object' will be raised from 1.24 on",
    "code that a language model wrote": 'print(foo("CUDA out of memory. Tried to allocate 2 GiB"))',
    "a text that the tokenizer cuts off": "Token indices sequence length is longer than the specified maximum sequence length for this model (738 > 512). Running this sequence through the model will result in indexing errors",
    "credentials that are found later": "INFO - Unable to locate credentials in the environment, falling back to the role of the instance",
    "a quantization that is undone": "MXFP4 quantization is only supported on GPUs with compute capability >= 7.5 (e.g T4, A100, L4, H100, or B200). We will default to dequantizing the model to bf16.",
    "a comment beside a table": "// | OOMKilled | Running | exitCode: 137, Reason: OOMKilled |",
}  # fmt: skip

OPEN = {
    "a signal after a timeout of gunicorn's": "[2024-01-01 10:00:00 +0000] [8] [CRITICAL] WORKER TIMEOUT (pid:17)\n[2024-01-01 10:00:01 +0000] [8] [ERROR] Worker (pid:17) was sent SIGKILL! Perhaps out of memory?",
    "a GPU's illegal instruction": "RuntimeError: CUDA error: an illegal instruction was encountered",
    "a limit of requests of EC2's": "An error occurred (RequestLimitExceeded) when calling the DescribeSubnets operation: Request limit exceeded.",
    "throttled while deploying": "Rate exceeded (Service: AmazonCloudFormation; Status Code: 400)",
    "a limit of uploads in a table": "AlreadyExistsError: Resource default/table is already there",
    "a model that the user's code does not find": "Could not find model in registry, name resnet",
    "memory that is shared": f"{TRACEBACK}BrokenPipeError: [Errno 32] Broken pipe",
    "a peer that ended": f"{TRACEBACK}ConnectionResetError: [Errno 104] Connection reset by peer",
    "a process that ended, for the one that waits": f"{TRACEBACK}torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n",
    "an engine that refers to more": f"{TRACEBACK}RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {{}}",
    "a request that pydantic refuses": "pydantic_core._pydantic_core.ValidationError: 1 validation error for ChatCompletionRequest\n  Value error, you can not use `tools` here [type=value_error, input_value={'a': 1}, input_type=dict]",
    "heads of a layer of one's own": "AssertionError: embed_dim 10 and num_heads 3: embed_dim must be divisible by num_heads",
    "GPUs that a library leaves out": "Ignoring visible gpu device (device: 0) with Cuda compute capability 3.0. The minimum required Cuda capability is 3.5.",
    "a role that a script assumes": "botocore: Could not assume role from the profile `dev`",
    "a proxy that waited": "[error] 17#17: *4 upstream timed out (110: Connection timed out) while reading response header from upstream, client: 1.2.3.4",
    "a server that is started again": "WARNING:__main__:unexpected tensorflow serving exit (status: 6). restarting.",
    "a server with much to do": '{"error":"Model is overloaded","error_type":"overloaded"}',
    "a model without a version that loads": "E0101 10:00:00.000000 1 server.cc:100] failed to load 'net', no version is available",
    "an endpoint that Terraform waited for": "Error: waiting for SageMaker AI Endpoint (chat) to be in service: unexpected state 'Failed', wanted target 'InService'. last error: <nil>",
    "a size that no server refuses": "INFO request body 8123456 bytes, limit 25000000",
    "no resources in Kubernetes": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. Insufficient resources",
}  # fmt: skip

TWO = {
    "an exception, and memory later": (f"{TRACEBACK}KeyError: 'a'\nnext batch\n\n\n{OOM}\n", {"exception"}),
    "memory, and a full disk later": (f"{OOM}\nOSError: [Errno 28] No space left on device", {"gpu-memory"}),
    "a full disk, and memory later": (
        f"OSError: [Errno 28] No space left on device\nsaving\n\n\n{OOM}",
        {"disk-full"},
    ),
    "an exception, and a killed process later": (
        f"{TRACEBACK}ValueError: a\n\n\n\nWorker (pid:17) was sent SIGKILL! Perhaps out of memory?",
        {"exception"},
    ),
    "a module that unpickling needs": (
        'Traceback (most recent call last):\n  File "/usr/lib/python3.9/pickle.py", line 1, in find_class\n'
        "    __import__(module)\nModuleNotFoundError: No module named 'old_package'",
        {"pickle-version"},
    ),
    "a pickle that is not there": (
        'Traceback (most recent call last):\n  File "/usr/lib/joblib/numpy_pickle.py", line 1, in load\n'
        "    with open(filename) as f:\nFileNotFoundError: [Errno 2] No such file or directory: 'model.joblib'",
        {"exception", "file-not-found"},
    ),
    "a class of the script that saved": (
        f"{TRACEBACK}AttributeError: Can't get attribute 'Net' on <module '__main__' from '/usr/bin/serve'>",
        {"pickled-class"},
    ),
    "a full /dev/shm": ("unable to write to file </torch_1>: No space left on device: /dev/shm/torch_1", {"shared-memory"}),
}  # fmt: skip


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_what_is_harmless_is_not_blamed(text):
    assert told(text).verdict in (("healthy",) if READY in text else ("cannot-tell", "healthy"))


@pytest.mark.parametrize("text", OPEN.values(), ids=OPEN)
def test_what_says_no_cause_is_no_cause(text):
    found = told(text)
    assert found.verdict != "cause" or (found.code == "exception" and not found.certain)


@pytest.mark.parametrize(("text", "codes"), TWO.values(), ids=TWO)
def test_of_two_causes_the_first_is_named(text, codes):
    assert told(text).code in codes


def test_what_comes_after_another_cause_is_not_certain():
    assert told(OOM).certain
    found = told(f"[Errno 98] Address already in use\n\n\n{OOM}")
    assert (found.code, found.certain) == ("gpu-memory", False)


def test_a_line_after_which_the_program_goes_on_is_shown():
    found = told(f"WARNING 05-23 09:31:22 [a.py:1] {OOM}")
    assert (found.verdict, found.code, found.line_number) == ("cannot-tell", "", 1)
    assert "if it did not, this may be why: the GPU ran out of memory" in found.message


def test_there_are_a_hundred():
    assert len(HARMLESS) + len(OPEN) + len(TWO) >= 100


def test_other_versions_that_scikit_learn_warns_of_may_be_why():
    found = told(
        "UserWarning: Trying to unpickle estimator SVC from version 0.21.2 when using version 0.19.1. "
    )
    assert (found.verdict, found.code) == ("cannot-tell", "")
    assert "SVC was saved with scikit-learn 0.21.2, and the image has 0.19.1" in found.message
