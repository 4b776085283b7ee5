"""`inferstack fit` and `inferstack describe-model`."""

import json
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from inferstack.cli import main

CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
}
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


def write_model(config: dict[str, Any], size: int = 16_060_522_496) -> None:
    Path("model").mkdir(exist_ok=True)
    Path("model/config.json").write_text(json.dumps({**CONFIG, **config}))
    Path("model/model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": size}}))


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


def test_the_table_says_what_to_write(capsys):
    Path("chat.yaml").write_text(SPEC)
    assert main(["fit", "chat.yaml"]) == 0
    shown = capsys.readouterr().out
    assert "model: LlamaForCausalLM, 15.0 GiB of weights, vLLM 0.30.0" in shown
    assert "in the spec, for ml." in shown
    assert "what would change it:" in shown


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["chat.yaml"], 1, "no container names a `model_config`"),
        (["--model-config", "none"], 1, "IS355: the file cannot be read"),
        (["--model-config", "model/config.json"], 1, "no index beside it says how large the weights are"),
        ([], 2, "name a SPEC, or add --model-config PATH"),
        (["--model-config", "model", "--instance-type", "ml.g5.xlrge"], 2, "did you mean `ml.g5.xlarge`?"),
        (["--model-config", "model", "--vllm", "newest"], 2, "is not a version of vLLM"),
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
    (source / "config.json").write_text(json.dumps(CONFIG))
    (source / "tokenizer_config.json").write_text('{"model_max_length": 4096, "chat_template": "long"}')
    (source / "a.safetensors").write_bytes(tensors(100, 20))
    (source / "b.safetensors").write_bytes(tensors(8))
    (source / "consolidated.safetensors").write_bytes(tensors(128))
    return source


def described(folder: Path) -> dict[str, Any]:
    return {it.name: json.loads(it.read_text()) for it in folder.iterdir()}


EXPECTED = {
    "config.json": CONFIG,
    "model.safetensors.index.json": {"metadata": {"total_size": 128}},
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
        ("none", "none is not a folder"),
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
