"""``inferstack body`` for engines of language models: each gets the body that it takes at /invocations."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.program import Command

from inferstack.cli import main

CHAT = {"messages": [{"role": "user", "content": "a"}]}
EMBED, RERANK = ("--embed", "a", "b"), ("--rerank", "q", "a", "b")
VLLM: dict[str, Any] = {"framework": "vllm", "version": "0.30.0"}
SGLANG = {"framework": "sglang", "version": "0.5.12"}
LMI = {"framework": "djl-lmi", "version": "0.36.0"}
TEI = {"framework": "huggingface-tei", "version": "1.9.3"}
_ECR = "763104351884.dkr.ecr.us-east-1.amazonaws.com"
TGI = f"{_ECR}/huggingface-pytorch-tgi-inference:2.4.0-tgi2.4.0-gpu-py311-cu124-ubuntu22.04"
OLD_TGI = f"{_ECR}/huggingface-pytorch-tgi-inference:2.3.0-tgi2.2.0-gpu-py310-cu121-ubuntu22.04"
LLAMA_CPP = f"{_ECR}/llama-cpp:server-sagemaker-cuda-v1"
HF_LLAMA_CPP = f"{_ECR}/huggingface-llamacpp:b9522"


@pytest.fixture
def body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: main(["body", "a.yaml", *arguments])


def write(image: object, environment: dict[str, str] | None = None, **more: object) -> None:
    """A spec with a model of this image."""
    model = {"image": image, "environment": {"HF_MODEL_ID": "org/model", **(environment or {})}}
    spec = {
        "kind": "single-model",
        "endpoint_name": "chat",
        "model": model,
        "variant": {"instance_type": "ml.g6e.xlarge", "initial_instance_count": 1},
        "env": {"region": "us-east-1"},
        **more,
    }
    Path("a.yaml").write_text(json.dumps(spec))


BODIES: list[tuple[object, dict[str, str], tuple[str, ...], dict[str, Any]]] = [
    (VLLM, {}, ("--chat", "a"), CHAT),
    (VLLM, {}, ("--chat", "a", "--stream"), {**CHAT, "stream": True}),
    (VLLM, {}, ("--complete", "a", "--parameter", "stop=[1]"), {"prompt": "a", "stop": [1]}),
    (VLLM, {}, EMBED, {"input": ["a", "b"]}),
    (VLLM, {"SM_VLLM_RUNNER": "pooling"}, RERANK, {"query": "q", "documents": ["a", "b"]}),
    (SGLANG, {"SM_SGLANG_MODEL_PATH": "org/model"}, ("--chat", "a"), CHAT),
    (LLAMA_CPP, {"SM_LLAMA_CPP_MODEL": "/opt/ml/model/a.gguf"}, ("--chat", "a"), CHAT),
    (LMI, {}, ("--chat", "a", "--parameter", "temperature=0.2"), {**CHAT, "temperature": 0.2}),
    (
        LMI,
        {},
        ("--complete", "a", "--parameter", "max_new_tokens=5", "--stream"),
        {"inputs": "a", "parameters": {"max_new_tokens": 5}, "stream": True},
    ),
    (LMI, {"OPTION_TASK": "embed"}, EMBED, {"inputs": ["a", "b"]}),
    (TGI, {}, ("--chat", "a"), CHAT),
    (TGI, {}, ("--complete", "a"), {"inputs": "a"}),
    (OLD_TGI, {}, ("--complete", "a"), {"inputs": "a"}),
    (OLD_TGI, {"MESSAGES_API_ENABLED": "true"}, ("--chat", "a"), CHAT),
    (TEI, {}, (*EMBED, "--parameter", "normalize=true"), {"inputs": ["a", "b"], "normalize": True}),
    (TEI, {}, RERANK, {"query": "q", "texts": ["a", "b"]}),
]


@pytest.mark.parametrize(("image", "environment", "asked", "made"), BODIES)
def test_each_engine_gets_the_body_that_it_takes(
    body: Command,
    image: object,
    environment: dict[str, str],
    asked: tuple[str, ...],
    made: dict[str, Any],
) -> None:
    write(image, environment)
    assert body(*asked) == 0
    assert json.loads(Path("request.json").read_text("utf-8")) == made


REFUSED: list[tuple[object, dict[str, str], tuple[str, ...], str]] = [
    (SGLANG, {}, EMBED, "at /invocations, SGLang 0.5.12 takes chats, and no --embed; write --chat"),
    (
        TEI,
        {},
        ("--chat", "a"),
        "takes texts to embed and texts to rank, and no --chat; write --embed, --rerank",
    ),
    (LMI, {"OPTION_TASK": "embed"}, ("--chat", "a"), "LMI 27 takes texts to embed, and no --chat"),
    (VLLM, {"SM_VLLM_RUNNER": "generate"}, EMBED, "takes chats and texts to complete, and no --embed"),
    (OLD_TGI, {}, ("--chat", "a"), "TGI 2.2.0 takes texts to complete, and no --chat"),
    (HF_LLAMA_CPP, {}, ("--chat", "a"), "it is not known which requests the container takes"),
    (
        "111122223333.dkr.ecr.us-east-1.amazonaws.com/own:1",
        {},
        ("--chat", "a"),
        "it is not known which requests",
    ),
    (VLLM, {}, ("--chat", "a", "--parameter", "messages=[]"), "the body has that from --chat; leave it out"),
    (VLLM, {}, ("--chat", "a", "--parameter", "stream=true"), "--parameter stream: the body has that"),
]


@pytest.mark.parametrize(("image", "environment", "asked", "said"), REFUSED)
def test_what_an_engine_does_not_answer_is_refused(
    body: Command,
    image: object,
    environment: dict[str, str],
    asked: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(image, environment)
    assert body(*asked) == 1
    assert said in capsys.readouterr().err
    assert not Path("request.json").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--stream",), "--stream needs --chat or --complete"),
        (("--embed", "a", "--stream"), "--stream needs --chat or --complete"),
        (("--rerank", "q"), "--rerank needs a query and at least one text"),
        (("--chat", "a", "--json"), "--json is about arrays, and cannot be used with --chat"),
        (("--chat", "a", "--complete", "b"), "not allowed with"),
        (("--chat", "file://nowhere.json"), "nowhere.json: it cannot be read: No such file or directory"),
        (("--chat", "file://no.json"), "it is not a list of messages"),
        (("--chat", "file://deep.json"), "it is not a list of messages"),
        (("--complete", "file://latin"), "'latin': it is not UTF-8"),
        (("--complete", "\udcff"), "it is not UTF-8"),
    ],
)
def test_wrong_use_says_how(
    body: Command, asked: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(VLLM)
    Path("no.json").write_text('{"role": "user"}')
    Path("deep.json").write_text("[" * 200_000)
    Path("latin").write_bytes(b"\xe4")
    with pytest.raises(SystemExit) as ended:
        body(*asked)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_messages_and_texts_come_from_files(body: Command) -> None:
    write(VLLM)
    messages = [{"role": "system", "content": "Grüße"}, {"role": "user", "content": "a"}]
    Path("m.json").write_text(json.dumps(messages))
    assert body("--chat", "file://m.json", "--out", "out.json") == 0
    assert json.loads(Path("out.json").read_text("utf-8")) == {"messages": messages}
    assert body("--complete", "file://m.json") == 0
    assert json.loads(Path("request.json").read_text("utf-8")) == {"prompt": json.dumps(messages)}


def test_an_asynchronous_endpoint_streams_nothing(body: Command, capsys: pytest.CaptureFixture[str]) -> None:
    output = {"output_config": {"s3_output_path": "s3://acme-models/x"}}
    write(VLLM, endpoint_config={"async_inference_config": output})
    assert body("--chat", "a", "--stream") == 1
    assert "streams nothing; remove --stream" in capsys.readouterr().err
    assert body("--chat", "a") == 0
    assert "invoke-endpoint-async" in capsys.readouterr().out


def _component(**specification: object) -> dict[str, object]:
    return {"specification": specification, "runtime_config": {"copy_count": 1}}


def test_a_component_or_an_adapter_is_named(body: Command, capsys: pytest.CaptureFixture[str]) -> None:
    needs = {"number_of_accelerator_devices_required": 1, "min_memory_required_in_mb": 1024}
    base = _component(container={"image": TGI}, compute_resource_requirements=needs)
    adapter = {
        "base_inference_component_name": "base",
        "container": {"artifact_url": "s3://acme-models/a.tar.gz"},
    }
    components = {"base": base, "adapter": {"specification": adapter}}
    spec = {"kind": "inference-components", "endpoint_name": "e", "inference_components": components}
    variant = {"instance_type": "ml.g6e.xlarge", "initial_instance_count": 1}
    Path("a.yaml").write_text(json.dumps({**spec, "variant": variant}))
    assert body("--chat", "a") == 1
    assert "add --component: `base` or `adapter`" in capsys.readouterr().err
    assert body("--chat", "a", "--component", "adapter") == 0
    assert "--inference-component-name adapter" in capsys.readouterr().out


def test_a_stream_is_printed_as_it_comes(
    body: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(VLLM)
    assert body("--chat", "a", "--stream") == 0
    program = capsys.readouterr().out.partition("python3 - <<'END'\n")[2].removesuffix("END\n")
    (tmp_path / "boto3.py").write_text(
        "class client:\n"
        "    def __init__(self, *given, **named): print(given, named)\n"
        "    def invoke_endpoint_with_response_stream(self, **named):\n"
        "        print(sorted(named))\n"
        "        return {'Body': [{'PayloadPart': {'Bytes': b'\\xc3'}}, {'PayloadPart': {'Bytes': b'\\xa4'}}]}\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, cwd=tmp_path)
    wanted = "('sagemaker-runtime',) {'region_name': 'us-east-1'}\n['Body', 'ContentType', 'EndpointName']\nä"
    assert said.stdout.decode() == wanted
