"""The tool that makes the tables reads sources without running them, and says so if they have changed their form."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from tools import engine_tables
from tools.clap_options import clap_options
from tools.sglang_flags import sglang_flags
from tools.vllm_flags import vllm_table

VLLM = {
    "vllm/config/model.py": """
import nothing_of_this_is_run
Size = Literal["s", "m"]
@config
class ModelConfig:
    model: str = "x"
    size: Size = "s"
    sizes: list[Size] | None = None
    max_model_len: int | None = Field(default=None, ge=1)
    tokens: int = Field(default=1, gt=0)
    quantization: "Methods | str | None" = None
    eager: bool = False
    caching: bool | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    other: OtherConfig | None = None
@config
class OtherConfig:
    a: int = 1
""",
    "vllm/engine/arg_utils.py": """
class EngineArgs:
    model: str = "x"
    max_model_len: int | None = None
def get_kwargs():
    if name == "max_model_len":
        kwargs["type"] = human_readable_int_or_auto
    elif name in {"tokens"}:
        kwargs[name]["type"] = human_readable_int
def add_cli_args(parser):
    model_kwargs = get_kwargs(ModelConfig)
    model_kwargs["extra"]["type"] = json.loads
    for name in ():
        pass
    group.add_argument("--model", **model_kwargs["model"])
    group.add_argument("--size", **model_kwargs["size"])
    group.add_argument("--sizes", **model_kwargs["sizes"])
    group.add_argument("--max-model-len", **model_kwargs["max_model_len"])
    group.add_argument("--tokens", **{**model_kwargs["tokens"], "default": None})
    group.add_argument("--quantization", "-q", **model_kwargs["quantization"])
    group.add_argument("--eager", **model_kwargs["eager"])
    group.add_argument("--caching", **model_kwargs["caching"])
    group.add_argument("--extra", **model_kwargs["extra"])
    group.add_argument("--other", **model_kwargs["other"])
    group.add_argument("--count", type=int, default=1)
    group.add_argument("--quiet", action="store_true")
""",
    "vllm/entrypoints/openai/cli_args.py": "class FrontendArgs:\n    tool_call_parser: str | None = None\n",
    "vllm/entrypoints/cli/serve.py": "",
    "vllm/tool_parsers/__init__.py": '_PARSERS = {"hermes": 1}',
    "vllm/reasoning/__init__.py": '_PARSERS = {"qwen3": 1}',
    "vllm/model_executor/layers/quantization/__init__.py": 'QuantizationMethods = Literal["awq"]',
    "vllm/envs.py": 'read("VLLM_PORT"), read("VLLM_")',
}
SGLANG = {
    "sglang/srt/server_args.py": """
KINDS = ["a", "b"]
class ServerArgs:
    tp_size: A[int, Arg(help="x", cli_name="--tensor-parallel-size", aliases=["--tp"])] = 1
    hidden: A[int, Arg(no_cli=True)] = 1
    kind: A[Optional[str], Arg(choices=KINDS + ["c"])] = None
    names: A[List[str], "help"] = None
    on: A[bool, "help"] = False
parser.add_argument("--parser", type=str, choices=["auto"] + list(FunctionCallParser.ToolCallParserEnum.keys()))
parser.add_argument("--old", action=DeprecatedAction)
""",
    "sglang/srt/function_call/function_call_parser.py": 'class P:\n    ToolCallParserEnum: Dict = {"qwen": 1}\n',
}
RUST = """
#[derive(Clone, ValueEnum)]
enum Quantization {
    /// of activations
    Awq,
    #[clap(name = "fp8-x")]
    Fp8X,
    BitsandbytesNf4,
}
/// Options
struct Args {
    /// The model
    #[clap(default_value = "x", long, env)]
    model_id: String,
    #[clap(long, env, value_enum)]
    quantize: Option<Quantization>,
    #[clap(long, env = "SHARDS")]
    num_shard: Option<u16>,
    #[clap(long, env)]
    graphs: Vec<usize>,
    #[clap(long, env)]
    trust: bool,
    #[clap(long)]
    version: bool,
}
"""


def wheel(path: Path, files: dict[str, str]) -> ZipFile:
    with ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return ZipFile(path)


def test_vllm(tmp_path: Path) -> None:
    flags, environment = vllm_table(wheel(tmp_path / "vllm-0.1.0-py3.whl", VLLM))
    assert environment == {"VLLM_PORT"}
    assert flags == {
        "tool-call-parser": {"kind": "text", "optional": True, "choices": ["hermes"], "server": True},
        "model": {"kind": "text"},
        "size": {"kind": "text", "choices": ["m", "s"], "server": True},
        "sizes": {"kind": "text", "many": True, "choices": ["m", "s"], "server": True},
        "max-model-len": {"kind": "size-or-auto", "least": 1, "optional": True},
        "tokens": {"kind": "size", "above": 0, "server": True},
        "quantization": {"kind": "text", "optional": True, "choices": ["awq"], "server": True},
        "eager": {"kind": "flag", "server": True},
        "caching": {"kind": "flag", "on": True, "server": True},
        "extra": {"kind": "json", "server": True},
        "other": {"kind": "object", "optional": True, "server": True},
        "count": {"kind": "int", "server": True},
        "quiet": {"kind": "switch", "server": True},
    }


def test_sglang(tmp_path: Path) -> None:
    assert sglang_flags(wheel(tmp_path / "sglang-0.1.0-py3.whl", SGLANG)) == {
        "tensor-parallel-size": {"kind": "int"},
        "tp": {"kind": "int"},
        "kind": {"kind": "text", "choices": ["a", "b", "c"]},
        "names": {"kind": "text", "many": True},
        "on": {"kind": "switch"},
        "parser": {"kind": "text", "choices": ["auto", "qwen"]},
        "old": {"kind": "any"},
    }


def test_rust() -> None:
    assert clap_options(RUST) == {
        "MODEL_ID": {"kind": "text"},
        "QUANTIZE": {"kind": "text", "choices": ["awq", "bitsandbytes-nf4", "fp8-x"]},
        "SHARDS": {"kind": "count", "most": 65535},
        "GRAPHS": {"kind": "text"},
        "TRUST": {"kind": "true-or-false"},
    }


def test_sources_of_another_form_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="has nothing like"):
        vllm_table(wheel(tmp_path / "vllm-0.1.0-py3.whl", {"vllm/other.py": ""}))
    with pytest.raises(LookupError, match="no `struct Args`"):
        clap_options("fn main() {}")


def test_what_build_lacks_stays_in_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_tables, "BUILD", tmp_path)
    for path, text in engine_tables.generate().items():
        assert path.read_text("utf-8") == text, path


def test_a_newer_wheel_adds_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_tables, "BUILD", tmp_path)
    wheel(tmp_path / "sglang-9.8.7.post1-py3-none-any.whl", SGLANG)
    text = engine_tables.generate()[engine_tables.DATA / "sglang.json"]
    assert isinstance(text, str)
    assert '"9.8.7"]' in text
    assert '"old": [{"from":' in text
