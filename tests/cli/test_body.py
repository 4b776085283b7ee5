"""``inferstack body`` as a user meets it: from files to a body and the command that sends it, and back."""

import json
import os
import signal
import struct
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
import yaml
from support.program import ENDED, SOURCE_ROOT, Command, Run

from inferstack.cli import main
from inferstack.triton.protocol import BINARY

SPEC = """\
kind: single-model
endpoint_name: one
env: {region: eu-west-1}
model:
  image: {framework: triton, version: "25.09"}
  model_data_url: s3://bucket-one/one/model.tar.gz
variant: {instance_type: ml.c5.xlarge, initial_instance_count: 2}
triton:
  models:
    net:
      backend: python
      max_batch_size: 4
      input: [{name: X, data_type: TYPE_FP32, dims: [2]}, {name: T, data_type: TYPE_STRING, dims: [1]}]
      output: [{name: Y, data_type: TYPE_FP32, dims: [1]}]
      files: {1/model.py: net.py}
"""


@pytest.fixture
def body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """``body("one.yaml", …)`` in a folder with a spec and arrays."""
    monkeypatch.chdir(tmp_path)
    Path("one.yaml").write_text(SPEC)
    Path("net.py").write_text("pass\n")
    np.save("x.npy", np.array([[1, 2]], np.float32))
    np.savez("both.npz", X=np.array([[1, 2]], np.float32), T=np.array([["hi"]]))
    Path("both.json").write_text('{"X": [[1, 2]], "T": [["hi"]]}')
    Path("t.json").write_text('[["hi"]]')
    return lambda *arguments: main(["body", *arguments])


@pytest.mark.parametrize(
    "inputs", [("X=x.npy", "T=t.json"), ("both.npz",), ("both.json",)], ids=["by name", "npz", "json"]
)
def test_the_same_arrays_make_the_same_body(
    body: Command, inputs: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [part for one in inputs for part in ("--input", one)]
    assert body("one.yaml", *arguments) == 0
    content = Path("request.bin").read_bytes()
    values = np.array([1, 2], np.float32).tobytes() + b"\2\0\0\0hi"
    kinds = content.removesuffix(values)
    assert {it["name"] for it in json.loads(kinds)["inputs"]} == {"X", "T"}
    said = capsys.readouterr().out
    lines = said.splitlines()
    assert lines[0] == "request.bin"
    assert lines[2] == f"  content type  {BINARY}{len(kinds)}"
    shell = f'aws() {{ printf "%s\\n" "$@"; }}; {said[said.index("aws ") :]}'
    assert subprocess.check_output(["bash", "-c", shell], text=True).splitlines() == [
        *("sagemaker-runtime", "invoke-endpoint", "--endpoint-name", "one", "--region", "eu-west-1"),
        *("--content-type", f"{BINARY}{len(kinds)}", "--body", "fileb://request.bin", "answer.bin"),
    ]
    assert max(map(len, lines)) <= 100


def test_json_is_written_where_it_is_asked_for(body: Command) -> None:
    assert (
        body("one.yaml", "--input", "both.npz", "--json", "--parameter", "sequence_id=7", "--out", "b") == 0
    )
    written = json.loads(Path("b").read_text())
    assert written["parameters"] == {"sequence_id": 7}
    assert [it["data"] for it in written["inputs"]] == [[1, 2], ["hi"]]


def test_everything_wrong_is_said_and_nothing_is_written(
    body: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save("x.npy", np.zeros((5, 2)))
    assert body("one.yaml", "--input", "X=x.npy") == 1
    said = capsys.readouterr().err
    assert "inferstack: `X` is declared FP32, but the array is float64" in said
    assert "`X` has a batch of 5; allowed: 1 to 4" in said
    assert "the input `T` is missing: BYTES [1..4, 1]" in said
    assert not Path("request.bin").exists()


def test_who_gives_no_input_is_told_how(body: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert body("one.yaml") == 1
    assert capsys.readouterr().err.endswith(
        "inferstack: name a file of arrays for each input: --input NAME=FILE\n"
    )


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("X=nowhere.npy", "nowhere.npy: it cannot be read: No such file or directory"),
        ("x.npy", "x.npy: write NAME=FILE.npy"),
        ("X=both.npz", "both.npz: write NAME=FILE.npy"),
        ("X=net.npy", "net.npy: it cannot be read"),
        ("net.npz", "net.npz: it cannot be read"),
        ("t.json", "t.json: it does not map input names to values"),
        ("broken.json", "broken.json: it is not JSON: line 2, column 1: Expecting value\n"),
    ],
)
def test_a_file_that_is_no_array_is_named(
    body: Command, written: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("net.npy").write_text("no array")
    Path("net.npz").write_text("no arrays")
    Path("broken.json").write_text('{"X":\n}')
    assert body("one.yaml", "--input", written) == 1
    assert said in capsys.readouterr().err


def npy(header: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()


DAMAGED = {
    "X=lies.npy": npy("{'descr':'<f4','fortran_order':False,'shape':(100000000000000,)}\n"),
    "X=long.npy": npy("{'descr':'<f4','fortran_order':False,'shape':(99999999999999999999,)}\n"),
    "X=open.npy": npy("{'descr':'<f4'\n"),
    "X=set.npy": npy("{{}}\n"),
    "X=deep.npy": npy("-" * 9000 + "1"),
    "X=spaces.npy": npy(" " * 60_000 + "{}\n"),
    "T=no_character.npy": npy("{'descr':'<U1','fortran_order':False,'shape':(1,1)}\n") + b"\xff\xff\xff\x7f",
    "X=deep.json": b"[" * 200_000,
}


@pytest.mark.parametrize("written", DAMAGED)
def test_a_damaged_file_is_no_bug_of_ours(
    body: Command, written: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written.partition("=")[2]
    Path(file).write_bytes(DAMAGED[written])
    assert body("one.yaml", "--input", written) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith(f"inferstack: {file}: it cannot be read: ")
    assert len(said) == 1


@pytest.mark.parametrize("damage", ["no array", "encrypted", "unknown compression", "cut off"])
def test_a_damaged_collection_is_no_bug_of_ours(
    body: Command, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with ZipFile("bad.npz", "w") as made:
        made.writestr("X.npy", b"text" if damage == "no array" else Path("x.npy").read_bytes())
    content = bytearray(Path("bad.npz").read_bytes())
    entry = content.find(b"PK\x01\x02")
    content[entry + 8] = damage == "encrypted"
    content[entry + 10] = 77 if damage == "unknown compression" else 0
    Path("bad.npz").write_bytes(content[:40] if damage == "cut off" else content)
    assert body("one.yaml", "--input", "bad.npz") == 1
    assert capsys.readouterr().err.startswith("inferstack: bad.npz: it cannot be read: ")


def test_a_name_twice_in_one_file_is_refused(body: Command, capsys: pytest.CaptureFixture[str]) -> None:
    Path("twice.json").write_text('{"X": [[1, 2]], "X": [[3, 4]]}')
    with ZipFile("twice.npz", "w") as made:
        made.writestr("X.npy", Path("x.npy").read_bytes())
        made.writestr("X", Path("x.npy").read_bytes())
    assert body("one.yaml", "--input", "twice.json", "--input", "twice.npz") == 1
    assert capsys.readouterr().err.count("the input `X` is given twice") == 2


@pytest.mark.parametrize(("name", "found"), [("x.npz", "x.npy"), ("both.npy", "both.npz")])
def test_a_file_is_what_its_name_says(
    body: Command, name: str, found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(found).rename(name)
    assert body("one.yaml", "--input", name if name == "x.npz" else f"X={name}") == 1
    assert "despite its name" in capsys.readouterr().err


def test_a_pipe_is_not_waited_for(body: Command, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe.npy")
    assert body("one.yaml", "--input", "X=pipe.npy") == 1
    assert "not a regular file" in capsys.readouterr().err


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_half_a_character_is_refused(
    body: Command, form: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("t.json").write_text('[["\\ud83d"]]')
    assert body("one.yaml", "--input", "X=x.npy", "--input", "T=t.json", *form) == 1
    assert "`T`: '\\ud83d' has half a character" in capsys.readouterr().err


def test_names_from_files_do_nothing_to_a_terminal(body: Command, capsys: pytest.CaptureFixture[str]) -> None:
    Path("red.json").write_text('{"\\u001b[31mX": [[1, 2]]}')
    assert body("one.yaml", "--input", "red.json") == 1
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize("out", [".", "/", ".."])
def test_a_folder_is_not_written_over(body: Command, out: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert body("one.yaml", "--input", "both.npz", "--out", out) == 1
    assert capsys.readouterr().err.startswith(f"inferstack: {out}: ")


def test_nothing_is_unpickled(body: Command, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("evil.npy", np.array([Path("x")], dtype=object), allow_pickle=True)
    assert body("one.yaml", "--input", "X=evil.npy") == 1
    assert "allow_pickle=False" in capsys.readouterr().err


def test_a_component_is_asked_by_its_name(body: Command, capsys: pytest.CaptureFixture[str]) -> None:
    models = SPEC.partition("triton:\n")[2]
    parts = "".join(
        f"""\
  {name}:
    specification:
      container:
        image: {{framework: triton, version: "25.09"}}
        artifact_url: s3://acme-models/{name}/model.tar.gz
        triton:
{"".join(f"        {line}" for line in models.splitlines(keepends=True))}\
      compute_resource_requirements: {{min_memory_required_in_mb: 1024}}
"""
        for name in ("a", "b")
    )
    head = "kind: inference-components\nendpoint_name: two\n"
    variant = "variant: {instance_type: ml.c5.xlarge, initial_instance_count: 2}\n"
    Path("two.yaml").write_text(f"{head}{variant}inference_components:\n{parts}")
    assert body("two.yaml", "--input", "both.npz", "--component", "b") == 0
    assert "--inference-component-name b \\\n" in capsys.readouterr().out
    assert body("two.yaml", "--input", "both.npz") == 1
    assert "add --component: `a` or `b`" in capsys.readouterr().err


def test_the_component_is_asked_whose_model_has_the_repository(
    body: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "kind: inference-components\nendpoint_name: one\n"
    variant = "variant: {instance_type: ml.c5.xlarge, initial_instance_count: 1}\n"
    model = """\
models:
  net: {image: {framework: triton, version: "25.09"}, model_data_url: s3://acme-models/net/model.tar.gz}
inference_components:
  chat: {specification: {model_name: net, compute_resource_requirements: {min_memory_required_in_mb: 1024}}}
"""
    Path("modelled.yaml").write_text(
        f"{head}{variant}{model}triton:\n{SPEC.partition('triton:' + chr(10))[2]}"
    )
    assert body("modelled.yaml", "--input", "both.npz") == 0
    assert "--inference-component-name chat \\\n" in capsys.readouterr().out


MODELLED = """\
kind: inference-components
endpoint_name: two
variant: {instance_type: ml.c5.xlarge, initial_instance_count: 2}
models:
  small: &model
    image: {framework: triton, version: "25.09"}
    model_data_url: s3://acme-models/small/model.tar.gz
    triton: &triton
      models:
        net: &net
          backend: python
          max_batch_size: 4
          input: [{name: X, data_type: TYPE_FP32, dims: [2]}]
          output: [{name: Y, data_type: TYPE_FP32, dims: [1]}]
          files: {1/model.py: net.py}
  large:
    <<: *model
    model_data_url: s3://acme-models/large/model.tar.gz
    triton: {models: {bignet: *net}}
inference_components:
"""
NEEDS = "compute_resource_requirements: {min_memory_required_in_mb: 1024}"


def runs(component: str, model: str) -> str:
    return f"  {component}: {{specification: {{model_name: {model}, {NEEDS}}}}}\n"


@pytest.mark.parametrize(("component", "model"), [("a", "net"), ("b", "net"), ("c", "bignet")])
def test_the_model_is_asked_that_the_named_component_runs(
    body: Command, component: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("two.yaml").write_text(MODELLED + runs("a", "small") + runs("b", "small") + runs("c", "large"))
    assert body("two.yaml", "--input", "X=x.npy", "--component", component) == 0
    said = capsys.readouterr().out
    assert f"model         {model}\n" in said
    assert f"--inference-component-name {component} \\\n" in said


UNCLEAR = {
    "no component": (
        (),
        "the request could be for any of several components; add --component: `a`, `b` or `c`",
    ),
    "a model": (
        ("--component", "small"),
        "no inference component `small`; it is a model, run by `a` and `b`",
    ),
}


@pytest.mark.parametrize(("arguments", "said"), UNCLEAR.values(), ids=UNCLEAR)
def test_which_of_several_models_is_asked_is_not_guessed(
    body: Command, arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("two.yaml").write_text(MODELLED + runs("a", "small") + runs("b", "small") + runs("c", "large"))
    assert body("two.yaml", "--input", "X=x.npy", *arguments) == 1
    assert said in capsys.readouterr().err


def test_a_model_that_no_component_runs_is_not_asked(
    body: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("two.yaml").write_text(MODELLED + runs("c", "large"))
    assert body("two.yaml", "--input", "X=x.npy") == 0
    assert "model         bignet\n" in capsys.readouterr().out


BY_TYPE = f"""\
  one:
    specifications:
      - {{instance_type: ml.c5.xlarge, model_name: small, {NEEDS}}}
      - {{instance_type: ml.c6i.xlarge, model_name: large, {NEEDS}}}
"""
POOLS = "instance_pools: [{instance_type: ml.c5.xlarge, priority: 1}, {instance_type: ml.c6i.xlarge, priority: 2}]"


@pytest.mark.parametrize("arguments", [(), ("--component", "one")], ids=["the only one", "by name"])
def test_a_component_with_a_model_for_each_instance_type_is_asked_as_one(
    body: Command, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    text = MODELLED.replace("instance_type: ml.c5.xlarge", POOLS) + BY_TYPE
    Path("two.yaml").write_text(text)
    assert body("two.yaml", "--input", "X=x.npy", *arguments) == 0
    assert "--inference-component-name one \\\n" in capsys.readouterr().out
    Path("two.yaml").write_text(text.replace("{bignet: *net}", "{bignet: {<<: *net, max_batch_size: 2}}"))
    assert body("two.yaml", "--input", "X=x.npy", *arguments) == 1
    both = "`one` runs `models/small/model.tar.gz` and `models/large/model.tar.gz`"
    assert f"{both}, which differ in their inputs or outputs" in capsys.readouterr().err


def test_an_archive_of_a_multi_model_endpoint_is_asked_by_its_name(
    body: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    models = SPEC.partition("  models:\n")[2]
    inner = "".join(f"    {line}" for line in models.splitlines(keepends=True))
    text = (
        SPEC.partition("triton:\n")[0]
        .replace("single-model", "multi-model")
        .replace("one/model.tar.gz", "many/")
    )
    archives = "".join(f"    {name}.tar.gz:\n      models:\n{inner}" for name in ("a", "b"))
    Path("many.yaml").write_text(f"{text}triton:\n  archives:\n{archives}")
    assert body("many.yaml", "--input", "both.npz", "--target-model", "b.tar.gz") == 0
    assert "--target-model b.tar.gz \\\n" in capsys.readouterr().out
    assert body("many.yaml", "--input", "both.npz") == 1
    assert "name the archive to ask; " in capsys.readouterr().err


def test_an_answer_is_shown_and_written(body: Command, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = [
        {"name": "file", "datatype": "FP32", "shape": [1, 2], "parameters": {"binary_data_size": 8}},
        {"name": "W", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": 6}},
    ]
    header = json.dumps({"outputs": outputs}).encode()
    Path("answer.bin").write_bytes(header + np.array([1, 2], np.float32).tobytes() + b"\2\0\0\0hi")
    answer = ("--read", "answer.bin", "--content-type", f"{BINARY}{len(header)}")
    assert body(*answer, "--out", "a.npz") == body(*answer, "--out", "a.json") == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["file FP32 [1, 2] = 1, 2", "W BYTES [1] = 'hi'"]
    with np.load("a.npz") as found:
        assert (found["file"].tolist(), found["W"].tolist()) == ([[1, 2]], [b"hi"])
    assert json.loads(Path("a.json").read_text()) == {"file": [[1, 2]], "W": ["hi"]}
    assert body(*answer, "--out", "a.csv") == 1
    assert "ends in .npz or .json" in capsys.readouterr().err


def test_nan_is_not_written_as_json_which_has_none(body: Command, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = [{"name": "Y", "datatype": "FP32", "shape": [1], "parameters": {"binary_data_size": 4}}]
    header = json.dumps({"outputs": outputs}).encode()
    Path("answer.bin").write_bytes(header + np.array([np.nan], np.float32).tobytes())
    answer = ("--read", "answer.bin", "--content-type", f"{BINARY}{len(header)}")
    assert (body(*answer, "--out", "a.npz"), body(*answer, "--out", "a.json")) == (0, 1)
    assert "write a .npz file" in capsys.readouterr().err
    assert not Path("a.json").exists()


def test_an_answer_is_held_against_what_the_spec_declares(
    body: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    def read(outputs: list[dict[str, object]]) -> int:
        Path("answer.json").write_text(json.dumps({"outputs": outputs}))
        written = ("--read", "answer.json", "--content-type", "application/json", "--out", "a.json")
        return body("one.yaml", *written)

    assert read([{"name": "Z", "datatype": "FP32", "shape": [2, 1], "data": [1, 2]}]) == 1
    said = capsys.readouterr()
    assert said.out == "Z FP32 [2, 1] = 1, 2\n"
    assert said.err.splitlines() == [
        "inferstack: `Y` is declared, but not in the answer",
        "inferstack: `Z` is in the answer, but not declared",
    ]
    assert not Path("a.json").exists()
    assert read([{"name": "Y", "datatype": "FP32", "shape": [2, 1], "data": [1, 2]}]) == 0
    assert json.loads(Path("a.json").read_text()) == {"Y": [[1], [2]]}


def test_an_answer_is_not_held_against_nothing(body: Command, capsys: pytest.CaptureFixture[str]) -> None:
    Path("model", "net", "1").mkdir(parents=True)
    Path("model", "net", "1", "model.onnx").write_text("")
    Path("auto.yaml").write_text(
        f"{SPEC.partition('triton:')[0]}triton: {{repository: model, default_model: net}}\n"
    )
    Path("answer.json").write_text('{"outputs": []}')
    assert body("auto.yaml", "--read", "answer.json", "--content-type", "application/json") == 1
    assert "net declares no outputs: omit the SPEC" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("one.yaml", "--read", "a"),
        ("--read", "a"),
        ("one.yaml", "--input", ""),
        *[
            ("--read", "a", "--content-type", "b", *more)
            for more in (("--json",), ("--stage", "x"), ("--input", "c"))
        ],
    ],
)
def test_wrong_usage_is_said(body: Command, arguments: tuple[str, ...]) -> None:
    if arguments == ("one.yaml", "--input", ""):
        assert body(*arguments) == 1
        return
    with pytest.raises(SystemExit):
        body(*arguments)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_that_was_not_finished_leaves_nothing(
    ending: signal.Signals, body: Command, run: Run
) -> None:
    before = sorted(Path().iterdir())
    done = run("body", "one.yaml", "--input", "both.npz", program=ENDED.format(ending=ending))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "inferstack: interrupted\n")
    assert sorted(Path().iterdir()) == before


def test_without_numpy_the_extra_is_named(body: Command) -> None:
    without = "import sys; sys.modules['numpy'] = None; from inferstack.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", without, "body", "one.yaml", "--input", "both.npz"],
        env={"PYTHONPATH": str(SOURCE_ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "pip install 'inferstack[arrays]'" in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr


# ---------------------------------------------------------------- samples for load tests


def members(file: str) -> dict[str, bytes]:
    with tarfile.open(file) as archive:
        return {it.name: archive.extractfile(it).read() for it in archive}  # type: ignore[union-attr]


def test_a_sample_payload_is_an_archive_of_the_body(
    body: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert body("one.yaml", "--input", "both.npz") == 0
    capsys.readouterr()
    assert body("one.yaml", "--input", "both.npz", "--sample-payload", "payload.tar.gz") == 0
    assert members("payload.tar.gz") == {"sample-0001.bin": Path("request.bin").read_bytes()}
    said = capsys.readouterr().out
    written = yaml.safe_load(said[said.index("  load_test:") :])["load_test"]
    assert written["sample_payload_url"].endswith("/payload.tar.gz")
    assert written["supported_content_types"][0].startswith(BINARY)
    before = Path("payload.tar.gz").read_bytes()
    assert body("one.yaml", "--input", "both.npz", "--sample-payload", "payload.tar.gz") == 0
    assert Path("payload.tar.gz").read_bytes() == before


def test_rows_of_arrays_become_several_samples(body: Command) -> None:
    # More rows than one request may have.
    Path("many.json").write_text(json.dumps({"X": [[it, it] for it in range(5)], "T": [["hi"]] * 5}))
    packed = ("--input", "many.json", "--json", "--sample-payload", "payload.tar.gz")
    assert body("one.yaml", *packed, "--rows", "2") == 0
    found = [json.loads(it)["inputs"] for it in members("payload.tar.gz").values()]
    assert [it[0]["shape"] for it in found] == [[2, 2], [2, 2], [1, 2]]
    assert found[2][0]["data"] == [4, 4]


@pytest.mark.parametrize(
    ("inputs", "arguments", "said"),
    [
        (
            {"X": [[1, 1]] * 2, "T": [["hi"], ["hello, world"]]},
            ("--rows", "1"),
            "the bodies have different content types",
        ),
        ({"X": [[1, 1]] * 2, "T": [["hi"]]}, ("--rows", "1"), "all inputs must have the same number of rows"),
        ({"X": [[1, 1]] * 5, "T": [["hi"]] * 5}, (), "has a batch of 5; allowed: 1 to 4"),
    ],
)
def test_what_is_no_sample_is_refused(
    inputs: dict[str, list[object]],
    arguments: tuple[str, ...],
    said: str,
    body: Command,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("many.json").write_text(json.dumps(inputs))
    assert body("one.yaml", "--input", "many.json", "--sample-payload", "payload.tar.gz", *arguments) == 1
    assert said in capsys.readouterr().err
    assert not Path("payload.tar.gz").exists()


def test_a_model_without_batches_has_no_rows(body: Command, capsys: pytest.CaptureFixture[str]) -> None:
    Path("one.yaml").write_text(SPEC.replace("max_batch_size: 4", "max_batch_size: 0"))
    Path("one.json").write_text('{"X": [1, 2], "T": ["hi"]}')
    assert body("one.yaml", "--input", "one.json", "--sample-payload", "p.tar.gz", "--rows", "1") == 1
    assert "the model takes no batches" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--rows", "1"),
        ("--sample-payload", "p.tar.gz", "--out", "b"),
        ("--sample-payload", "p", "--rows", "0"),
    ],
)
def test_options_of_samples_go_together(body: Command, arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        body("one.yaml", "--input", "both.npz", *arguments)
