"""`validate --fix`: what has one right answer is written where it stands, and everything else stays as it is."""

import re
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from support.program import ENDED, Run
from support.wrong_specs import WRONG, Case, marks

from inferstack.check.files import check_files
from inferstack.check.load import check_document
from inferstack.cli import fixing, main
from inferstack.source.document import Document, read_document

COMPONENTS = Path(__file__).parents[2] / "docs" / "examples" / "kinds" / "inference-components.yaml"

RIGHT = """\
# The product search.
kind: multi-model   # one archive for each shop
endpoint_name: search-${stage}

model:
  image: {framework: triton, version: "26.05"}   # as of May
  model_data_url: s3://acme-${stage}/search/     # with a slash
  environment:
    PORT: &port "8080"  # quoted
    "ALSO": *port
    MASK: '0x1F'
    ON: "true"
  vpc_config:
    subnets: [subnet-0a1b2c3d]
    security_group_ids:
      - sg-0a1b2c3d

variant:
  instance_type: ml.g4dn.4xlarge
  initial_instance_count: 2
  inference_ami_version: al2023-ami-sagemaker-inference-gpu-4-1

autoscaling: {min_capacity: 2, max_capacity: 5, policies: [
  {metric: GPUUtilization, target_value: 60, scale_in_cooldown: 600},   # ten minutes
]}

execution_role: &role
  permissions_boundary: "arn:aws:iam::111122223333:policy/boundary"

alarms:
  actions: [arn:aws:sns:us-east-1:111122223333:on-call]
  rules:
    - {metric: Invocations, threshold: 9000, comparison_operator: GreaterThanThreshold}

stages:
  test: {}
  prod:
    variant: {initial_instance_count: 3}
"""

# What is right, and what is written instead of it.
MISTAKES = {
    "a number without quotes": ('&port "8080"', "&port 8080"),
    "a number in another base": ("MASK: '0x1F'", "MASK: 0x1F"),
    "a version": ('"26.05"', "26.05"),
    "a word that is a boolean": ('ON: "true"', "ON: true"),
    "a number in quotes": ("target_value: 60", 'target_value: "60"'),
    "a number in single quotes, in a stage": ("initial_instance_count: 3", "initial_instance_count: '3'"),
    "a whole number with a point": ("target_value: 60, scale_in_cooldown: 600", "target_value: 60, scale_in_cooldown: 600.0"),
    "a time": ("scale_in_cooldown: 600}", "scale_in_cooldown: 600s}"),
    "minutes where seconds belong": ("scale_in_cooldown: 600}", 'scale_in_cooldown: "10 min"}'),
    "a count in quotes": ("threshold: 9000", "threshold: '9000'"),
    "a list of one": ("[subnet-0a1b2c3d]", "subnet-0a1b2c3d"),
    "a list of one ARN": ("[arn:aws:sns:us-east-1:111122223333:on-call]", "arn:aws:sns:us-east-1:111122223333:on-call"),
    "no prefix": ("ml.g4dn.4xlarge", "g4dn.4xlarge"),
    "a kind in other words": ("kind: multi-model", "kind: MultiModel"),
    "an option in small letters": ("GreaterThanThreshold", "greater_than_threshold"),
    "a metric in other letters": ("GPUUtilization", "gpu-utilization"),
    "a framework in capitals": ("framework: triton", "framework: Triton"),
    "a key in capitals": ("instance_type:", "InstanceType:"),
    "a key that begins an item": ("- {metric:", "- {Metric:"),
    "a key of another name": ("  environment:", "  env:"),
    "a block in capitals, and a value in it": ("autoscaling: {min_capacity: 2", 'Autoscaling: {minCapacity: "2"'),
    "no slash, with the stage": ("s3://acme-${stage}/search/ ", "s3://acme-${stage}/search "),
    "the stage in capitals": ("search-${stage}", "search-${Stage}"),
    "several in one line": (
        "{framework: triton, version: \"26.05\"}   # as of May",
        "{Framework: Triton, version: 26.05}   # as of May",
    ),
}  # fmt: skip

# What is written instead of what is right, and has no or more than one answer.
LEFT = {
    "a typo": ("GPUUtilization", "GPUUtilisation"),
    "a typo in a key": ("instance_type:", "instance_typ:"),
    "quotes do not make it right": ('"26.05"', "26.99"),
    "two ways to make it whole": ("target_value: 60, scale_in_cooldown: 600", "target_value: 60, scale_in_cooldown: 0.5"),
    "it would be an error elsewhere: the same metric twice": (
        "{metric: GPUUtilization, target_value: 60",
        "{metric: gpu-utilization, target_value: 60, policy_name: a},\n  {policy_name: b, metric: GPUUtilization, target_value: 60",
    ),
    "the key is there, too": ("instance_type:", "InstanceType: ml.g4dn.4xlarge\n  instance_type:"),
    "an alias needs the number": ("initial_instance_count: 2", "initial_instance_count: *port"),
    "a tag": ('&port "8080"', "&port !!int 8080"),
    "text of several lines": ("[subnet-0a1b2c3d]", ">-\n      subnet-0a1b2c3d"),
    "a version without its point": ('"26.05"', '"2605"'),
    "a threshold without its unit": ("metric: Invocations, threshold: 9000", 'metric: ModelLatency, threshold: "500"'),
    "not YAML": ("{framework: triton", "{{framework: triton"),
}  # fmt: skip


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("search.yaml")


def test_the_right_spec_is_right(spec: Path) -> None:
    spec.write_text(RIGHT)
    assert check_files([spec]) == []


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_with_one_answer_is_fixed_where_it_stands(
    name: str, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right, wrong = MISTAKES[name]
    assert RIGHT.count(right) == 1
    spec.write_text(RIGHT.replace(right, wrong))
    assert main(["validate", "--strict", "search.yaml"]) == 1
    assert "--fix writes it" in capsys.readouterr().err
    assert main(["validate", "--fix", "--strict", "search.yaml"]) == 0
    assert _in_double_quotes(spec.read_text()) == _in_double_quotes(RIGHT)
    assert re.search(r"^search.yaml: \d problems? fixed$", capsys.readouterr().err, re.MULTILINE)


def _in_double_quotes(text: str) -> str:
    """The text with double quotes only: where there were none, a fix writes these."""
    return text.replace("'", '"')


@pytest.mark.parametrize("name", LEFT)
def test_what_has_another_answer_or_none_is_left(name: str, spec: Path) -> None:
    right, wrong = LEFT[name]
    assert RIGHT.count(right) == 1
    text = RIGHT.replace(right, wrong)
    spec.write_text(text)
    assert main(["validate", "--fix", "search.yaml"]) == 1
    assert spec.read_text() == text


def test_a_number_does_not_get_a_unit_that_it_may_not_have(spec: Path) -> None:
    text = COMPONENTS.read_text("utf-8").replace("min_memory_required_in_mb:", "memory:")
    spec.write_text(text)
    assert main(["validate", "--fix", "search.yaml"]) == 1
    assert spec.read_text() == text


@pytest.mark.parametrize(
    ("right", "wrong", "fixed"),
    [
        (
            "instance_type: ml.g4dn.4xlarge\n  initial_instance_count: 2",
            "instance_type: g4dn.4xlarge\n  initial_instance_count: *port",
            "instance_type: ml.g4dn.4xlarge\n  initial_instance_count: *port",
        ),
        (
            "GPUUtilization, target_value: 60, scale_in_cooldown: 600",
            "gpu-utilization, target_value: 60, scale_in_cooldown: '-5'",
            "GPUUtilization, target_value: 60, scale_in_cooldown: '-5'",
        ),
    ],
    ids=["elsewhere", "later in the line"],
)
def test_what_can_be_fixed_is_fixed_beside_what_cannot(
    right: str, wrong: str, fixed: str, spec: Path
) -> None:
    spec.write_text(RIGHT.replace(right, wrong))
    assert main(["validate", "--fix", "search.yaml"]) == 1
    assert spec.read_text() == RIGHT.replace(right, fixed)


def test_a_diff_writes_nothing(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = RIGHT.replace('&port "8080"', "&port 8080")
    spec.write_text(text)
    assert main(["validate", "--diff", "search.yaml"]) == 1
    out, err = capsys.readouterr()
    assert [line for line in out.splitlines() if line[0] in "+-"] == [
        "--- search.yaml",
        "+++ search.yaml (edited)",
        "-    PORT: &port 8080  # quoted",
        '+    PORT: &port "8080"  # quoted',
    ]
    assert err == "2 errors in 1 of 1 spec\n"
    assert spec.read_text() == text


def test_the_report_of_a_program_has_no_diff_in_it(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text(RIGHT.replace('&port "8080"', "&port 8080"))
    assert main(["validate", "--fix", "--format", "json", "search.yaml"]) == 0
    out, err = capsys.readouterr()
    assert out == "[]\n"
    assert '\n+    PORT: &port "8080"' in err


def test_standard_input_is_shown_and_not_written(run: Run) -> None:
    spec = RIGHT.replace("600}", "600s}").replace("'", '"')
    done = run("validate", "--fix", "-", shell=f"printf '%s' '{spec}' | \"$@\"")
    assert done.returncode == 1
    assert "IS103" in done.stdout
    assert "+  {metric: GPUUtilization, target_value: 60, scale_in_cooldown: 600}, " in done.stderr
    assert "<stdin>: 1 problem would be fixed in a file\n" in done.stderr


def test_a_file_is_never_half_written(run: Run, folder: Path) -> None:
    text = RIGHT.replace("600}", "600s}")
    (folder / "search.yaml").write_text(text)
    done = run("validate", "--fix", "search.yaml", program=ENDED.format(ending=9))
    assert done.returncode != 0
    assert (folder / "search.yaml").read_text() == text
    assert main(["validate", "--fix", "search.yaml"]) == 0
    assert (folder / "search.yaml").read_text() == RIGHT


def test_mark_line_ends_permissions_and_links_stay(spec: Path) -> None:
    def as_bytes(text: str) -> bytes:
        return b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()

    spec.write_bytes(as_bytes(RIGHT.replace("600}", "600s}")))
    spec.chmod(0o640)
    Path("link.yaml").symlink_to(spec)
    assert main(["validate", "--fix", "link.yaml"]) == 0
    assert spec.read_bytes() == as_bytes(RIGHT)
    assert stat.S_IMODE(spec.stat().st_mode) == 0o640
    assert Path("link.yaml").is_symlink()


def test_a_stage_alone_is_fixed_alone(spec: Path) -> None:
    """The other stage has a mistake, too, which nobody has asked about."""
    text = RIGHT.replace("test: {}", "test: {variant: {initial_instance_count: '2'}}")
    spec.write_text(text)
    assert main(["validate", "--fix", "--stage", "prod", "search.yaml"]) == 0
    assert spec.read_text() == text
    assert main(["validate", "--fix", "search.yaml"]) == 0
    assert spec.read_text() == text.replace("'2'", "2")


def test_a_file_full_of_mistakes_is_checked_a_limited_number_of_times(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = list[str]()

    def check(document: Document, **how: Any) -> Any:
        checked.append(document.file)
        return check_document(document, **how)

    monkeypatch.setattr(fixing, "check_document", check)
    monkeypatch.setattr(fixing, "_MOST_CHECKS", 10)
    # Each is text here and a number there, so no quotes help.
    variables = "".join(f"    V{it}: &v{it} {it}\n" for it in range(8))
    stages = "".join(f"  v{it}: {{variant: {{initial_instance_count: *v{it}}}}}\n" for it in range(8))
    spec.write_text(
        RIGHT.replace("    ON:", f"{variables}    ON:").replace("  test: {}\n", f"  test: {{}}\n{stages}")
    )
    main(["validate", "--fix", "search.yaml"])
    assert 10 <= len(checked) <= 14


# ---------------------------------------------------------------- whatever is wrong


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.title)
def test_a_fixed_spec_differs_only_where_its_problems_are(case: Case, spec: Path) -> None:
    spec.write_text(case.text(), "utf-8")
    _assert_fixed_only_in(spec, {line for line, _ in marks(case.text())})


_ENTRY = re.compile(r"([\w-]+): (\"?)([\w.:/-]+)(\"?)(?=[,}\n ])")


def _spelled(found: re.Match[str], way: int) -> str:
    """An entry of the spec as somebody may spell it, which is sometimes right."""
    key, value = found[1], found[3]
    in_capitals = re.sub("_([a-z])", lambda it: it[1].upper(), key)
    return (
        f"{key}: {value}",
        f'{key}: "{value}"',
        f"{key}: '{value}'",
        f"{key}: [{value}]",
        f"{key}: {value.upper()}",
        f"{key}: {value.removesuffix('/').removeprefix('ml.')}",
        f"{in_capitals}: {found[2]}{value}{found[4]}",
    )[way]


@settings(max_examples=75, deadline=None, derandomize=True)
@given(st.data())
def test_however_a_spec_is_spelled_the_rest_stays(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = RIGHT.split("\n")
    numbers = [number for number, line in enumerate(lines) if _ENTRY.search(line)]
    for number in data.draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=6, unique=True)):
        found = data.draw(st.sampled_from(list(_ENTRY.finditer(lines[number]))))
        spelled = _spelled(found, data.draw(st.integers(0, 6)))
        lines[number] = f"{found.string[: found.start()]}{spelled}{found.string[found.end() :]}"
    spec = tmp_path_factory.mktemp("specs") / "search.yaml"
    spec.write_text("\n".join(lines))
    changed = {
        it for it, pair in enumerate(zip(lines, RIGHT.split("\n"), strict=True), 1) if len(set(pair)) > 1
    }
    _assert_fixed_only_in(spec, changed)


def _assert_fixed_only_in(spec: Path, numbers: set[int]) -> None:
    before = spec.read_text("utf-8")
    main(["validate", "--fix", str(spec)])
    after = spec.read_text("utf-8")
    lines = list(zip(before.split("\n"), after.split("\n"), strict=True))
    assert {it for it, (old, new) in enumerate(lines, 1) if old != new} <= numbers
    assert all(_comment(old) == _comment(new) for old, new in lines)
    if after != before:
        read_document(spec)
    main(["validate", "--fix", str(spec)])
    assert spec.read_text("utf-8") == after, "a second run changes nothing"


def _comment(line: str) -> list[str]:
    return re.findall(r"(?:^|\s)#.*$", line)
