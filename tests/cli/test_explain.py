"""``inferstack explain``."""

import re
from argparse import Namespace

import pytest

from inferstack.catalog import metrics
from inferstack.check.every_code import every_code
from inferstack.cli import explain, main
from inferstack.cli.engine_options import options_called
from inferstack.cli.spec_keys import every_key
from inferstack.diagnosis.signature import every_signature
from inferstack.engines.engine import ENGINES
from inferstack.engines.tables import every_name
from inferstack.format.kinds import KINDS
from inferstack.format.schema import kind_definitions, shipped_schema
from inferstack.problems import Severity
from inferstack.problems.file_codes import LEFT_OVER
from inferstack.triton.archive.entries import JUNK_INSIDE

OF_NO_SPEC = {LEFT_OVER, JUNK_INSIDE}


def test_every_code_is_explained_and_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for code, entry in every_code().items():
        assert main(["explain", code]) == 0
        out = capsys.readouterr().out
        assert [it for it in out.splitlines() if len(it) > 80 and not it.startswith("Source: https://")] == []
        first, *sentence = out.partition("\nSource: ")[0].splitlines()
        assert (first, " ".join(sentence)) == (f"{code} ({entry.severity})", entry.sentence)
        assert f"\nSource: {entry.source}\n" in out
        of_a_spec = code not in OF_NO_SPEC
        assert ("ignore: [" in out) is (entry.severity is not Severity.ERROR and of_a_spec)


def test_in_a_terminal_the_list_is_as_wide_as_that(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
    assert all(
        re.match("IS[0-9]{3} |[a-z0-9-]+ (cause|symptom|cannot-tell) |" + " " * 10, line) for line in lines
    )
    assert [line.split()[0] for line in lines if line.startswith("IS")] == list(every_code())


@pytest.mark.parametrize(("columns", "widest"), [("1", 40), ("nonsense", 80)])
def test_a_terminal_without_a_width_is_no_trouble(
    columns: str, widest: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["explain", "IS041"]) == 0
    sentence = capsys.readouterr().out.splitlines()[1]
    assert widest - 15 < len(sentence) <= widest


def test_an_example_has_in_its_margin_what_is_wrong_and_what_is_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "IS306"]) == 0
    assert capsys.readouterr().out.endswith("""

For example, scaling may leave one instance:

       kind: multi-model
       autoscaling:
wrong    min_capacity: 1
right    min_capacity: 2
""")


def test_a_code_without_an_example_is_explained_without(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "IS001"]) == 0
    assert "example" not in capsys.readouterr().out


def test_every_code_of_diagnose_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for code, signatures in every_signature().items():
        out = explained(code, capsys)
        assert out.startswith(f"{code} (diagnose: {signatures[0].verdict})\n")
        assert [it for it in out.splitlines() if len(it) > 80 and not it.startswith("Source: https://")] == []
        assert out.count("\nSource: https://") == len(signatures)
        assert "{" not in out.partition("\nKeys\n")[0]
    assert "Certainty: likely; certain if IS270 or IS272 of `validate` agrees.\n" in explained(
        "driver-too-old", capsys
    )
    assert "Certainty: counts only if IS377 of `validate` agrees.\n" in explained("wrong-port", capsys)


def test_a_code_may_be_written_in_small_letters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "is012"]) == 0
    assert capsys.readouterr().out.startswith("IS012 (error)\n")


def test_without_a_code_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*every_code(), *every_signature()]
    assert lines[0] == "IS001 error   There is no such file."


ALL = "; `inferstack explain` lists all codes\n"


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("IS0122", "did you mean IS012?"),
        ("012", "did you mean IS012?"),
        ("IS12", "did you mean IS012?"),
        ("IS-O12", "did you mean IS012?"),
        ("ISO12", "did you mean IS012?"),
        ("IS0l2", "did you mean IS012?"),
        ("IS092", "did you mean IS029 or IS902?"),
        ("IS091", "did you mean IS019 or IS901?"),
        ("IS999", ALL),
        ("IS0123", ALL),
    ],
)
def test_an_unknown_code_is_one_line_with_a_hint(
    code: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", code]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"inferstack: there is no code {code}; ")
    assert hint in err
    assert err.count("\n") == 1


def explained(subject: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["explain", subject]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "subject",
    [
        "autoscaling.target_value",
        "autoscaling.policies.target_value",
        "autoscaling.policies[0].target_value",
        "autoscaling.policies.0.target_value",
        "policies.TargetValue",
        "target_value",
    ],
)
def test_a_key_is_found_by_its_path_and_by_parts_of_it(
    subject: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = explained(subject, capsys)
    assert out.startswith("autoscaling.policies[].target_value (a number, required)\nThe value to hold, in ")
    assert "inference_components.NAME.autoscaling.policies[].target_value\n" in out
    assert "Codes: IS513, " in out


@pytest.mark.parametrize(
    ("subject", "wanted"),
    [
        ("alarms.rules.threshold", "alarms.rules[].threshold (a number or a string, required)\n"),
        ("variant.variant_name", "Default: AllTraffic\n"),
        ("memory_size_in_mb", "Allowed: 1024 to 6144\n"),
        ("model_cache_setting", "Allowed: `Disabled` or `Enabled`\n"),
        ("shadow_variants", "Only for: `kind: single-model`, "),
        ("capture_options", "\nKeys of each entry: capture_mode (required)\n"),
        ("deployment_config.auto_rollback_configuration", "\nKeys: alarms (required)\n"),
        ("archives", "\nKeys of each: models, repository\n"),
        ("inference_components.chat.autoscaling", "inference_components.NAME.autoscaling (a mapping)\n"),
        ("cooldown", "See also: scale_in_cooldown, scale_out_cooldown and cooldown_in_minutes\n"),
        ("name", "12 blocks have a key of this name; name one by its path:\n"),
    ],
)
def test_a_key_is_explained_as_the_format_says(
    subject: str, wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wanted in explained(subject, capsys)


@pytest.mark.parametrize("kind", kind_definitions())
def test_a_kind_is_explained_by_what_it_is_for_and_its_keys(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = explained(kind.upper(), capsys)
    assert out.startswith(f"{kind} (kind)\n")
    assert "\nKeys: kind (required), endpoint_name (required), " in out
    assert f"\n`inferstack init DIR --kind {kind}` writes a spec" in out


def test_a_kind_that_is_also_a_word_leads_to_what_there_is_about_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "model.containers" in explained("pipeline", capsys)


def test_every_key_and_metric_is_explained_in_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    for subject in {*(place for key in every_key() for place in key.places[:2]), *metrics.names()}:
        # Without the command line, which takes longer to parse than an answer to find.
        assert explain.run(Namespace(subject=[subject])) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in lines if len(line) > 80] == [], subject


def test_every_block_is_somewhere() -> None:
    blocks = {key.block for key in every_key()} - {""}
    with_keys = {name for name, it in shipped_schema()["$defs"].items() if it.get("properties")}
    assert with_keys - blocks == {kind.__name__ for kind in KINDS}


def test_a_metric_is_explained_with_all_that_follows_from_its_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = explained("gpuutilization", capsys)
    assert out.startswith("GPUUtilization (metric)\n")
    assert "Unit: Percent, a sum over an instance's GPUs. Usual statistic: Average.\n" in out
    assert "In CloudWatch: /aws/sagemaker/Endpoints, by EndpointName, VariantName\n" in out
    assert explained("Invocations", capsys).count("Invocations (metric)\n") == 2
    assert "Follows: InvocationsPerInstance\n" in explained("SageMakerVariantInvocationsPerInstance", capsys)


def test_a_word_leads_to_keys_metrics_and_codes(capsys: pytest.CaptureFixture[str]) -> None:
    out = explained("serverless", capsys)
    assert re.findall(r"^\w+$", out, re.MULTILINE) == ["Keys", "Metrics", "Codes", "Diagnoses"]
    assert "  variant.serverless_config\n      Serverless inference instead of instances.\n" in out
    assert "  IS603\n      A serverless endpoint cannot be in a VPC.\n" in out
    assert re.search(r"^  … and \d+ more$", out, re.MULTILINE)


def test_of_several_words_all_are_looked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "scale", "to", "zero"]) == 0
    assert capsys.readouterr().out.startswith("Keys\n  autoscaling.min_capacity\n")
    found = re.findall(r"^  (\S+)$", explained("in cooldown scale", capsys), re.MULTILINE)
    assert found[0] == "autoscaling.policies[].scale_in_cooldown", "what has them in its name comes first"
    assert "autoscaling.step_policies[].cooldown" not in found


@pytest.mark.parametrize(
    ("subject", "hint"),
    [
        ("instance_tpye", "did you mean `instance_type`?"),
        ("gpu-memry", "did you mean `gpu-memory`?"),
        ("GPUUtilisation", "did you mean `GPUUtilization`?"),
        ("SageMakerVariantInvocationPerInstance", "did you mean `SageMakerVariantInvocationsPerInstance`?"),
        ("??", ALL),
        ("IS", ALL),
        ("", ALL),
    ],
)
def test_what_nobody_knows_is_one_line_with_a_hint(
    subject: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", subject]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"inferstack: nothing is known about {subject}; {hint.removeprefix('; ')}")


# ---------------------------------------------------------------- options of engines

# What is asked, and for each engine that has it the title with what the asked or the newest version accepts.
OPTIONS = {
    "SM_VLLM_BLOCK_SIZE 0.17": {"SM_VLLM_BLOCK_SIZE (vLLM)": "In 0.17: 1, 128, 16, 256, 32, 64, 8"},
    "SM_VLLM_BLOCK_SIZE 0.30.0": {"SM_VLLM_BLOCK_SIZE (vLLM)": "In 0.30.0: a whole number, more than 0"},
    "SM_VLLM_BLOCK_SIZE 0.12": {"SM_VLLM_BLOCK_SIZE (vLLM)": "In 0.12: not known"},
    "sm_vllm_swap_space": {"SM_VLLM_SWAP_SPACE (vLLM)": "In 0.17: a number, at least 0"},
    "SM_VLLM_SWAP_SPACE 0.30.0": {"SM_VLLM_SWAP_SPACE (vLLM)": "In 0.30.0: there is none"},
    "max_model_len": {
        "SM_VLLM_MAX_MODEL_LEN (vLLM)": "In 0.33: `auto`, or a whole number, also as `32k`, at least -1",
        "SM_SGLANG_CONTEXT_LENGTH (SGLang)": "In 0.5.23: text",
        "OPTION_MAX_MODEL_LEN (LMI)": "In 0.33: `auto`, or a whole number, also as `32k`, at least -1",
        "MAX_TOTAL_TOKENS (TGI)": "In 3.3.7: a whole number, 0 or more",
    },
    # By the name that LMI takes.
    "OPTION_MAX_NUM_SEQS": {"OPTION_MAX_ROLLING_BATCH_SIZE (LMI)": "LMI's own: a whole number"},
    "option.dtype": {
        "SM_VLLM_DTYPE (vLLM)": "In 0.33: auto, bfloat16, float, float16, float32, half",
        "SM_SGLANG_DTYPE (SGLang)": "In 0.5.23: auto, bfloat16, float, float16, float32, half",
        "OPTION_DTYPE (LMI)": "LMI's own: auto, bf16, bfloat16, float16, float32, fp16, fp32",
        "DTYPE (TGI)": "In 3.3.7: bfloat16, float16",
        "DTYPE (TEI)": "In 1.9.3: bfloat16, float16, float32",
    },
    # Of vLLM's HTTP server, which LMI does not start.
    "uvicorn-log-level": {
        "SM_VLLM_UVICORN_LOG_LEVEL (vLLM)": "In 0.33: critical, debug, error, info, trace, warning"
    },
    "enable-chunked-prefill": {
        "SM_VLLM_ENABLE_CHUNKED_PREFILL (vLLM)": 'In 0.33: a flag, which "true" switches on; '
        "the same with NO_ in its name switches it off; it may be on by default",
        "OPTION_ENABLE_CHUNKED_PREFILL (LMI)": 'In 0.33: a flag, which "true" switches on; '
        "the same with NO_ in its name switches it off; it may be on by default",
    },
}


@pytest.mark.parametrize("asked", OPTIONS)
def test_an_option_has_its_variable_in_each_image(asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *asked.split()]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    blocks = [it.partition("\n") for it in out.split("\n\n")]
    assert [title for title, _, _ in blocks] == list(OPTIONS[asked])
    for title, _, below in blocks:
        assert OPTIONS[asked][title] in " ".join(below.split())


def test_every_option_has_an_explanation() -> None:
    for key, engine in ENGINES.items():
        for option in every_name(engine.table) if engine.table else ():
            known = options_called(engine.variable(option))
            # LMI has no HTTP server of vLLM's, and for some of its options names of its own.
            assert known or key == "lmi"


def test_a_slip_in_a_variable_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "SM_VLLM_MAX_MODEL_LENN"]) == 1
    assert "did you mean `SM_VLLM_MAX_MODEL_LEN`?" in capsys.readouterr().err
