"""Which line of a text is the answer, whatever the text is wrapped in."""

import gzip
import json
from io import BytesIO
from typing import Any

import pytest

from inferstack.diagnosis.clues import clues_in
from inferstack.diagnosis.in_spec import SpecBeside
from inferstack.diagnosis.reading import LONGEST_LINE, NoTextError, lines_of
from inferstack.diagnosis.verdict import Diagnosis, diagnosed
from inferstack.problems import FilePlace, Problem, Severity
from inferstack.source.compose import compose
from inferstack.source.document import Document

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
SPEC = """\
kind: single-model
endpoint_name: chat
model:
  image: {framework: vllm, version: "0.30.0"}
  environment: {SM_VLLM_MAX_MODEL_LEN: "8192"}
variant: {instance_type: ml.g5.xlarge, initial_instance_count: 1}
"""
NO_GPU = SPEC.replace("ml.g5.xlarge", "ml.m5.xlarge")


def told(text: str | bytes, beside: SpecBeside | None = None) -> Diagnosis:
    content = text if isinstance(text, bytes) else text.encode()
    return diagnosed(clues_in(lines_of(BytesIO(content))), beside)


def beside(text: str = SPEC, *problems: Problem) -> SpecBeside:
    return SpecBeside(Document("spec.yaml", compose("spec.yaml", text)), problems)


ORDER = {
    "a banner before its consequence": (
        "ERROR: This container was built for NVIDIA Driver Release 575.51 or later, but\n"
        "       version 470.256.02 was detected and compatibility mode is UNAVAILABLE.\n"
        f"{OOM}\n",
        "driver-too-old",
    ),
    "a cause before the symptom that others report": (f"Error: ShardCannotStart\n{OOM}\n", "gpu-memory"),
    "the first start before its restarts": (
        "text_generation_launcher: Args { model_id: x }\n"
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nValueError: first\n'
        f"text_generation_launcher: Args {{ model_id: x }}\n{OOM}\n",
        "exception",
    ),
    "a known line before an exception of the same start": (
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nValueError: first\n'
        f"{OOM}\n",
        "gpu-memory",
    ),
    "the first exception of a chain": (
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nKeyError: 0\n'
        "During handling of the above exception, another exception occurred:\n"
        'Traceback (most recent call last):\n  File "b.py", line 1, in <module>\n    g()\nValueError: second\n',
        "exception",
    ),
    "code in a traceback means nothing": (
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n'
        "    raise ValueError(\"CUDA out of memory\")\nImportError: cannot import name 'x' from 'y'\n",
        "import-error",
    ),
    "what was logged before a container served": (f"{OOM}\nINFO:     Application startup complete.\n", ""),
    "what is logged after it": (f"INFO:     Application startup complete.\n{OOM}\n", "gpu-memory"),
    "a killed process, if nothing says why": (
        "Worker (pid:17) was sent SIGKILL! Perhaps out of memory?\n",
        "killed",
    ),
    "a reason of Triton's table on three lines": (
        "+---+---+---+\n| Model | Version | Status |\n+---+---+---+\n"
        "| net   | 1       | UNAVAILABLE: Invalid argument: model 'net', tensor |\n"
        "|       |         | 'INPUT0': the model expects 2 dimensions           |\n+---+---+---+\n",
        "triton-model",
    ),
    "words of a table that a signature knows": (
        "| net | 1 | UNAVAILABLE: Not found: unable to find backend library for backend 'dali' |\n",
        "triton-backend",
    ),
    "a refused argument": (
        "usage: x [-h]\nx: error: argument --dtype: invalid choice: 'fp12'\n",
        "wrong-argument",
    ),
    "TGI's arguments": (
        "error: invalid value 'abc' for '--num-shard <NUM_SHARD>': invalid digit\n",
        "wrong-argument",
    ),
    "no arguments": (
        "vllm serve: error: the following arguments are required: model_tag\n",
        "missing-argument",
    ),
    "AWS's words in CloudFormation's frame": (
        'Resource handler returned message: "Quantum flux is not allowed for this variant (Service: SageMaker, '
        'Status Code: 400, Request ID: 1)" (RequestToken: 2, HandlerErrorCode: InvalidRequest)\n',
        "refused",
    ),
    "a frame around what a signature knows": (
        "Resource handler returned message: \"The account-level service limit 'ml.g5.xlarge for endpoint usage' is 0 "
        'Instances, with current utilization of 0 Instances and a request delta of 1 Instances." (RequestToken: 2, '
        "HandlerErrorCode: ServiceLimitExceeded)\n",
        "quota",
    ),
    "a traceback as CloudWatch exports it": (
        '1614272221253,"12:00:00 Traceback (most recent call last):",AllTraffic/i-03af43d35aa1655b6\n'
        '1614272221253,"  File ""a.py"", line 1, in <module>",AllTraffic/i-03af43d35aa1655b6\n'
        "1614272221253,KeyError: 0,AllTraffic/i-03af43d35aa1655b6\n",
        "exception",
    ),
    "a traceback that is indented as a whole": (
        '    Traceback (most recent call last):\n      File "a.py", line 1, in <module>\n        f()\n    KeyError: 0\n',
        "exception",
    ),
    "an exception from where pickles are read": (
        'Traceback (most recent call last):\n  File "/usr/lib/python3.7/pickle.py", line 1088, in load\n'
        "    dispatch[key[0]](self)\nKeyError: 0\n",
        "pickle-version",
    ),
    "memory that PyTorch says how to save in the same line": (
        "RuntimeError: CUDA out of memory. Tried to allocate 128.00 MiB (GPU 0; 8.00 GiB total capacity) If reserved "
        "memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.\n",
        "gpu-memory",
    ),
    "an error that says how to debug it": (f"{OOM}; set CUDA_LAUNCH_BLOCKING=1 to debug\n", "gpu-memory"),
    "the driver that hosts with GPUs lend": (
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n'
        "OSError: libcuda.so.1: cannot open shared object file: No such file or directory\n",
        "no-gpu",
    ),
    "a script with Windows' line ends, and what follows from it": (
        "ModuleNotFoundError: No module named 'wsgi'\n/app/entry.sh: line 2: $'\\r': command not found\n",
        "no-program",
    ),
    "a sentence of AWS's that a terminal broke": (
        "Error: creating SageMaker AI model: operation error SageMaker: CreateModel,\nhttps response error StatusCode: "
        "400, RequestID: 1,\napi error ValidationException: Could not find model data at\ns3://acme/m.tar.gz.\n",
        "model-data-not-found",
    ),
    "why SageMaker's SDK says that a deployment failed": (
        "ClientError: Error hosting endpoint\n chat: Failed. Reason: Unable to locate at\n least 2 availability zone(s).\n",
        "refused",
    ),
    "two lines that are not one sentence": (
        f"An error occurred (ThrottlingException) when calling the InvokeEndpoint operation: Rate exceeded\n  {OOM}\n",
        "throttled",
    ),
    "requests that fail, though pings are answered": (
        '10.32.0.2 - - "GET /ping HTTP/1.1" 200 1\n[CRITICAL] WORKER TIMEOUT (pid:309)\n'
        '10.32.0.2 - - "GET /ping HTTP/1.1" 200 1\n',
        "worker-timeout",
    ),
    "a container that serves anew": (
        f'10.32.0.2 - - "GET /ping HTTP/1.1" 200 1\n{OOM}\n[INFO] Starting gunicorn 20.1.0\n'
        '10.32.0.2 - - "GET /ping HTTP/1.1" 200 1\n',
        "",
    ),
    "a model type that Transformers looks up": (
        'Traceback (most recent call last):\n  File "/opt/conda/lib/python3.8/site-packages/transformers/models/auto/'
        "configuration_auto.py\", line 372, in __getitem__\n    raise KeyError(key)\nKeyError: 'gpt_neox'\n",
        "architecture-not-known",
    ),
    "an exception of LMI's that only wraps another": (
        "Caused by: ai.djl.engine.EngineException: Failed to initialize model: invoke handler failure\n"
        "The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache\n",
        "kv-cache-too-small",
    ),
    "an exception of a client": (
        'Traceback (most recent call last):\n  File "/usr/lib/python3/httpx/_models.py", line 763, in raise_for_status\n'
        "    raise HTTPStatusError(message)\nhttpx.HTTPStatusError: Client error '400 Bad Request'\n",
        "exception-of-client",
    ),
    "IAM's sentence on two lines": (
        "User: arn:aws:sts::123456789012:assumed-role/a/b\n      is not authorized to perform: sagemaker:UpdateEndpoint\n",
        "not-authorized",
    ),
    "an exception from where a tokenizer is read": (
        'Traceback (most recent call last):\n  File "/opt/conda/lib/sentencepiece/__init__.py", line 310, in LoadFromFile\n'
        "    return Load(self, arg)\nTypeError: not a string\n",
        "no-tokenizer",
    ),
    "an exception without its traceback": (
        "ValueError: the model takes 4 features, not 3\n",
        "exception-alone",
    ),
    "an exception that the answer's code wraps": (
        "W-model-2-stdout com.amazonaws.ml.mms.wlm.WorkerLifeCycle - mms.service.PredictionException: model_fn() "
        "takes 1 positional argument but 2 were given : 400\n",
        "exception",
    ),
    "the last exception of Java's": (
        "java.util.concurrent.CompletionException: ai.djl.ModelException: no engine\n"
        "\tat java.base/java.util.concurrent.CompletableFuture.run(CompletableFuture.java:1)\n"
        "Caused by: java.io.FileNotFoundException: model.pt not found in: /opt/ml/model\n",
        "file-not-found",
    ),
    "what vLLM's settings lack is below the exception": (
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n'
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n"
        "  Value error, No model architectures are specified [type=value_error, input_value=ArgsKwargs(())]\n",
        "config-refused",
    ),
    "a symptom that says more before one that says less": (
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n"
        "  Value error, Model architectures ['A'] failed to be inspected. Please check the logs [type=value_error]\n",
        "architecture-not-inspected",
    ),
    "a frame that says nothing": (
        "Resource handler returned message: \"Error occurred during operation 'CREATE'.\" (RequestToken: 2, "
        "HandlerErrorCode: GeneralServiceException)\n",
        "",
    ),
    "a port that only a rule makes a cause": ("INFO: Uvicorn running on http://0.0.0.0:8000\n", ""),
}


@pytest.mark.parametrize(("text", "code"), ORDER.values(), ids=ORDER)
def test_the_answer_is(text, code):
    assert told(text).code == code


def test_the_reason_of_a_table_is_whole_and_names_the_model():
    found = told(ORDER["a reason of Triton's table on three lines"][0])
    assert "`net`: Invalid argument" in found.message
    assert "expects 2 dimensions" in found.message


EVENTS = [
    {"LogicalResourceId": "Alarm", "ResourceType": "AWS::CloudWatch::Alarm", "ResourceStatus": "CREATE_FAILED",
     "Timestamp": "2026-11-01T10:00:02Z", "ResourceStatusReason": "busy already exists in stack arn:aws:x"},
    {"LogicalResourceId": "Model", "ResourceType": "AWS::SageMaker::Model", "ResourceStatus": "CREATE_FAILED",
     "Timestamp": "2026-11-01T10:00:01Z", "ResourceStatusReason": "Could not find model data at s3://acme/m.tar.gz."},
]  # fmt: skip
LOG = {"events": [{"timestamp": 2, "message": "Worker died."}, {"timestamp": 1, "message": f"x\n{OOM}"}]}
WRAPPED: dict[str, tuple[Any, str]] = {
    "stack events, the newest first": ({"StackEvents": EVENTS}, "model-data-not-found"),
    "events of an operation": ({"OperationEvents": EVENTS}, "model-data-not-found"),
    "a list of events": (EVENTS, "model-data-not-found"),
    "a log group, in whichever order": (LOG, "gpu-memory"),
    "an endpoint that failed": (
        {"EndpointStatus": "Failed", "FailureReason": "InsufficientInstanceCapacity"},
        "capacity",
    ),
    "an endpoint whose update failed": (
        {"EndpointStatus": "InService", "FailureReason": "InsufficientInstanceCapacity"},
        "capacity",
    ),
    "an answer": (
        {"Error": {"Message": "Endpoint chat of account 111122223333 not found."}},
        "no-such-endpoint",
    ),
    "a status of a variant": (
        {"EndpointStatus": "Creating", "ProductionVariants": [{"VariantStatus": [{"StatusMessage": OOM}]}]},
        "gpu-memory",
    ),
}


@pytest.mark.parametrize(("data", "code"), WRAPPED.values(), ids=WRAPPED)
@pytest.mark.parametrize("indent", [None, 4])
def test_answers_of_the_aws_cli_are_read(data, code, indent):
    assert told(json.dumps(data, indent=indent)).code == code


PACKED = {
    "gzip": gzip.compress(OOM.encode(), mtime=0),
    "UTF-16, as PowerShell writes it": OOM.encode("utf-16"),
    "a byte order mark": OOM.encode("utf-8-sig"),
    "colors": f"\x1b[2m2024-11-26T19:35:36Z\x1b[0m \x1b[31mERROR\x1b[0m {OOM}".encode(),
    "colors that CloudWatch wrote out": f"#033[2m2024-11-26T19:35:36Z#033[0m #033[31mERROR#033[0m {OOM}".encode(),
    "bytes that are not UTF-8": b"\xff\xfa\n" + OOM.encode(),
    "lines of JSON": f'{json.dumps({"fields": {"message": OOM}})}\n{{"a": 1}}\n'.encode(),
    "a line of JSON": json.dumps({"level": "ERROR", "message": OOM}).encode(),
    "JSON that is cut off": json.dumps(LOG, indent=1).encode()[:-5],
    "a prefix of a tool": f"2024-01-01T00:00:00 AllTraffic/i-0cb527de76ac4f29a {OOM}".encode(),
    "a very long line before it": b"x" * 10 * LONGEST_LINE + b"\n" + OOM.encode(),
    "Windows' lines": f"one\r\n{OOM}\r\n".encode(),
}


@pytest.mark.parametrize("content", PACKED.values(), ids=PACKED)
def test_a_text_is_found_in_whatever_it_is_packed(content):
    assert told(content).code == "gpu-memory"


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04\0\0", b"\x7fELF\0", b"a\0b", gzip.compress(b"\0" * 100, mtime=0)]
)
def test_what_is_no_text_is_refused(content):
    with pytest.raises(NoTextError):
        told(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"{",
        b"[" * 100_000,
        b'{"events": 5}',
        b'{"StackEvents": [1, null]}',
        PACKED["gzip"][:20],
    ],
)
def test_nothing_is_made_of_nothing(content):
    assert told(content).verdict == "cannot-tell"


def test_a_log_of_a_hundred_thousand_lines_takes_no_search_for_each():
    lines = b"".join(
        b"12:00:00 request %d took %d ms\n" % (it + 10_000, it + 10_000) for it in range(100_000)
    )
    assert told(lines + OOM.encode()).line_number == 100_001


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"code":424, "message":"prediction failure", "error":"bad \\\\"x\\\\""}', 'bad \\\\"x\\\\"'),
        ('{\\"error\\": \\"Model chat has no worker\\"}', "Model chat has no worker"),
    ],
)
def test_the_error_says_more_than_the_message(body, said):
    found = told(f'Received client error (424) from primary with message "{body}". See https://x')
    assert found.message == f"the container answered 424: {said}"


@pytest.mark.parametrize("brace", ["{", "\n{"])
def test_what_a_container_answers_is_quoted_from_its_json(brace):
    error = f'Received client error (400) from primary with message "{brace}\n  "code": 400,\n  "message": "Bad shape"\n}}\n".'
    found = told(f"one\n{error}\ntwo\n")
    assert (found.verdict, found.message) == ("symptom", "the container answered 400: Bad shape")
    assert found.line_number == 2
    assert told(f"{error}\n{OOM}").line_number == 6 + brace.count("\n")


# ---------------------------------------------------------------- with the spec


def test_a_line_leads_to_the_key_that_it_means():
    found = told("User-specified max_model_len (8192) is greater than the derived max_model_len", beside())
    assert found.place == FilePlace("spec.yaml", 5, 40)


def test_a_line_that_may_mean_several_keys_leads_to_none():
    two = (
        SPEC.replace("variant: ", "variants:\n- ")
        + "- {instance_type: ml.g5.2xlarge, initial_instance_count: 1}\n"
    )
    assert told(OOM, beside(two)).place is None
    assert told(f"{OOM} on ml.g5.2xlarge", beside(two)).place == FilePlace("spec.yaml", 8, 19)


WARNING = "x.py:1: UserWarning: The NVIDIA driver on your system is too old"


def test_a_problem_of_the_spec_makes_certain_what_a_line_suggests():
    problem = Problem(FilePlace("spec.yaml", 4, 3), "old", "write this", "IS270", Severity.WARNING)
    assert not told(WARNING, beside()).certain
    found = told(WARNING, beside(SPEC, problem))
    assert (found.certain, found.rule, found.fix, found.place) == (True, "IS270", "write this", problem.place)


def test_a_problem_makes_a_cause_of_a_line_that_is_none_by_itself():
    problem = Problem(FilePlace("spec.yaml", 4, 3), "port", "remove it", "IS377", Severity.WARNING)
    assert told("INFO: Uvicorn running on http://0.0.0.0:8000", beside(SPEC, problem)).code == "wrong-port"


def test_a_spec_that_cannot_have_made_the_log_makes_it_uncertain():
    found = told(OOM, beside(NO_GPU))
    assert not found.certain
    assert "is it the spec of this log?" in found.message


def test_a_sentence_without_a_reason_says_which_log_to_read():
    text = "The primary container for production variant main did not pass the ping health check."
    found = told(text, beside())
    assert (found.verdict, found.certain) == ("cannot-tell", False)
    assert "--log-group-name /aws/sagemaker/Endpoints/chat --log-stream-name-prefix main/" in found.fix
