"""A `serving.properties` next to a described model: rules read it as the variables that it stands for."""

import json
from pathlib import Path
from typing import Any

import pytest

from inferstack.check.files import check_files
from inferstack.check.load import load_spec
from inferstack.problems import Problem, SpecError

LMI = {"framework": "djl-lmi", "version": "0.36.0"}
FILES = {"model_data_url": "s3://acme/model.tar.gz"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)


def found_in(
    text: str,
    environment: dict[str, str] | None = None,
    *,
    image: object = LMI,
    files: dict[str, str] = FILES,
    **model: Any,
) -> list[Problem]:
    Path("model/serving.properties").write_text(text)
    data = {
        **{"kind": "single-model", "endpoint_name": "chat"},
        "model": {
            **{"image": image, "model_config": "model", **files, **model},
            **({"environment": environment} if environment else {}),
        },
        "variant": {"instance_type": "ml.g6e.12xlarge", "initial_instance_count": 1},
    }
    Path("chat.yaml").write_text(json.dumps(data, indent=1))
    try:
        return list(load_spec(Path("chat.yaml")).warnings)
    except SpecError as error:
        return list(error.problems)


# The file, the code, the line, and a part of what is said.
MISTAKES: dict[str, tuple[str, str, int, str]] = {
    "an unknown name": (
        "engine=Python\noption.max_model_length=8192",
        *(
            "IS340",
            2,
            "has no option like option.max_model_length, and drops it without a word; did you mean ",
        ),
    ),
    "gone with its version": ("option.swap_space=4", "IS341", 1, "has no option like option.swap_space"),
    "a word": ("option.dtype=half", "IS342", 1, 'option.dtype is "half"'),
    "a blank at the end": ("option.dtype=fp16 ", "IS342", 1, 'option.dtype is "fp16 "'),
    "a remark behind a number": (
        "option.gpu_memory_utilization=0.9\n\noption.max_model_len=8192 # tokens",
        *("IS342", 3, '"8192 # tokens"'),
    ),
    "a flag": ("option.enable_prefix_caching=1", "IS344", 1, "write `true`"),
    "vLLM's name": ("option.max_num_seqs=64", "IS346", 1, "write `option.max_rolling_batch_size` instead"),
    "more GPUs than there are": (
        "option.tensor_parallel_degree=8",
        *("IS273", 1, "`option.tensor_parallel_degree` is 8, but ml.g6e.12xlarge has 4 GPUs"),
    ),
    "no parser": ("option.enable_auto_tool_choice=true", "IS348", 1, "add `option.tool_call_parser`"),
    "the server's": (
        "option.job_queue_size=50",
        *("IS340", 1, "does not read option.job_queue_size, which is its server's; write `job_queue_size`"),
    ),
    "no prefix": ("rolling_batch=vllm", "IS383", 1, "write `option.rolling_batch`"),
    "hyphens": ("option.max-model-len=8192", "IS383", 1, "write `option.max_model_len`"),
    "twice": (
        "option.quantize=awq\noption.quantize=fp8",
        *("IS384", 2, "line 1 sets option.quantize to another value, which does not count"),
    ),
    "quotes": ('option.model_id="acme/m"', "IS385", 1, "write `option.model_id=acme/m`"),
    "a remark behind a name": ("option.model_id=acme/m # ours", "IS385", 1, "a line of its own"),
}
RIGHT = {
    "the usual": (
        "engine=Python\noption.model_id=s3://acme/model/\noption.dtype=bf16\noption.rolling_batch=vllm\n"
        "option.tensor_parallel_degree=max\noption.max_rolling_batch_size=64\noption.entryPoint=djl_python.huggingface"
    ),
    "the server's own": "minWorkers=1\nmaxWorkers=1\njob_queue_size=100\nload_on_devices=0\nbatch_size=4",
    "JSON": 'option.speculative_config={"method": "eagle3", "num_speculative_tokens": 3}',
    "JSON with a number sign": 'option.hf_overrides={"name": "model #2"}',
    "what a template fills in": "option.tensor_parallel_degree={{degree}}\noption.model_id={{s3url}}",
    "a handler's own": "option.entryPoint=model.py\noption.top_answers=3",
    "of a handler among the files": "option.answer_style=short",
    "twice the same": "option.dtype=bf16\noption.dtype=bf16",
    "more than an environment may hold": "\n".join(f"option.setting_{number}=x" for number in range(200)),
    "longer than a variable": f"option.chat_template={'x' * 20_000}",
    "names that no variable has": "option.a.b=1\noption.ä=2\noption.=3",
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_reported_at_its_line(case: str) -> None:
    text, code, line, says = MISTAKES[case]
    problems = [it for it in found_in(text) if it.code == code]
    assert [(it.file, it.line) for it in problems] == [("model/serving.properties", line)]
    assert says in f"{problems[0].message}; {problems[0].fix}"
    assert problems[0].fix


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_right_is_not(case: str) -> None:
    assert found_in(RIGHT[case]) == []


@pytest.mark.parametrize(
    ("text", "environment", "expected"),
    [
        ("option.max_model_len=8192", {"OPTION_MAX_MODEL_LEN": "4096"}, [("IS382", "chat.yaml")]),
        ("option.tensor_parallel_degree=2", {"SM_NUM_GPUS": "8"}, [("IS382", "chat.yaml")]),
        ("option.model_id=s3://acme/b/", {"HF_MODEL_ID": "acme/a"}, [("IS382", "chat.yaml")]),
        ("option.max_model_len=8192", {"OPTION_MAX_MODEL_LEN": "8192"}, []),
        ("option.dtype=bf16", {"OPTION_DTYP": "bf16"}, [("IS340", "chat.yaml")]),
    ],
)
def test_the_file_counts_and_not_the_variable(
    text: str, environment: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    assert [(it.code, it.file) for it in found_in(text, environment)] == expected


def test_rules_of_the_model_know_what_the_file_sets() -> None:
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "max_position_embeddings": 4096}
    Path("model/config.json").write_text(json.dumps(config))
    [problem] = found_in("option.max_model_len=8192")
    assert (problem.code, problem.file, problem.line) == ("IS359", "model/serving.properties", 1)


@pytest.mark.parametrize(
    ("image", "files", "says"),
    [
        (LMI, {}, "the container gets no files, so that LMI never sees model/serving.properties"),
        ({"framework": "vllm", "version": "0.30.0"}, FILES, "vLLM does not read model/serving.properties"),
    ],
)
def test_a_file_that_nobody_reads(image: object, files: dict[str, str], says: str) -> None:
    Path("model/config.json").write_text('{"architectures": ["LlamaForCausalLM"], "model_type": "llama"}')
    problems = found_in(
        "option.dtype=half\noption.dtype=bf16\nrolling_batch=vllm\noption.revision='main'",
        {"OPTION_REVISION": "v2", **({} if files else {"HF_MODEL_ID": "acme/m"})},
        image=image,
        files=files,
    )
    [problem] = [it for it in problems if it.code in ("IS342", *(f"IS38{number}" for number in range(2, 7)))]
    assert (problem.code, says in problem.message) == ("IS386", True)


def test_one_that_is_no_text_is_an_error() -> None:
    Path("model/serving.properties").write_bytes(b"\xff\xfe")
    found_in("x=1")
    Path("model/serving.properties").write_bytes(b"a=\xe9")
    problems = check_files([Path("chat.yaml")])
    assert [(it.code, it.file) for it in problems] == [("IS355", "model/serving.properties")]


def test_a_folder_can_be_tried() -> None:
    found_in("option.dtype=half")
    spec = json.loads(Path("chat.yaml").read_text())
    del spec["model"]["model_config"]
    Path("chat.yaml").write_text(json.dumps(spec))
    assert check_files([Path("chat.yaml")]) == []
    tried = check_files([Path("chat.yaml")], model_config=Path("model"))
    assert [(it.code, it.file) for it in tried] == [("IS342", "model/serving.properties")]
