"""What docs/security.md shows works exactly as shown."""

import re
from pathlib import Path

import pytest
import yaml
from support.checking import check_file
from support.pages import code_blocks

from inferstack.check.every_code import every_code

FILE = Path(__file__).parents[2] / "docs" / "security.md"
PAGE = FILE.read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the page's spec in `model_specs`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model_specs").mkdir()
    (spec,) = code_blocks(FILE, "yaml")
    (tmp_path / "model_specs" / "churn.yaml").write_text(spec)
    return tmp_path


def run(program: str) -> None:
    exec(compile(program, "docs/security.md", "exec"), {})


def test_the_spec_has_no_problem(folder: Path) -> None:
    assert check_file("model_specs/churn.yaml") == []


def test_the_spec_passes_cdk_nag_with_the_reasons_of_the_page(folder: Path) -> None:
    (program,) = code_blocks(FILE, "python")
    run(program)
    assert (folder / "cdk.out" / "churn.template.json").exists()


@pytest.mark.parametrize("reason", ['"*"', "network-interface/*", "Endpoints/churn:*"])
def test_the_page_has_no_reason_too_many(folder: Path, reason: str) -> None:
    (program,) = code_blocks(FILE, "python")
    with pytest.raises(RuntimeError, match="AwsSolutions-IAM5"):
        run(program.replace(reason, reason.replace("*", "elsewhere")))


@pytest.mark.parametrize(
    ("line", "finding"),
    [("kms_key_id", "EndpointConfigurationKMSKeyConfigured"), ("ml-oncall", "CloudWatchAlarmAction")],
)
def test_the_page_has_no_line_too_many(folder: Path, line: str, finding: str) -> None:
    (program,), (spec,) = code_blocks(FILE, "python"), code_blocks(FILE, "yaml")
    shorter = "".join(text for text in spec.splitlines(keepends=True) if line not in text)
    (folder / "model_specs" / "churn.yaml").write_text(shorter)
    with pytest.raises(RuntimeError, match=finding):
        run(program)


@pytest.mark.parametrize("text", re.findall(r"^   ```yaml\n(.*?)^   ```", PAGE, re.DOTALL | re.MULTILINE))
def test_both_ways_without_a_secret_are_right(folder: Path, text: str) -> None:
    (spec,) = code_blocks(FILE, "yaml")
    data, more = yaml.safe_load(spec), yaml.safe_load(text)
    data["model"] |= {"environment": more.pop("environment"), "enable_network_isolation": False}
    (folder / "model_specs" / "churn.yaml").write_text(yaml.safe_dump(data | more))
    assert check_file("model_specs/churn.yaml") == []


def test_every_code_that_the_page_mentions_is_one() -> None:
    mentioned = re.findall(r"\[(IS\d{3})\]\(codes\.md#(\w+)\)", PAGE)
    assert len(mentioned) >= 5
    assert all(code in every_code() and anchor == code.lower() for code, anchor in mentioned)
