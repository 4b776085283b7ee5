"""The formats of a report, down to the characters that need escaping."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from msgspec.structs import replace

from inferstack.cli.report import (
    FORMATS,
    LONGEST,
    Findings,
    as_json,
    github,
    gitlab,
    in_format,
    markdown,
    sarif,
    summary,
    text,
)
from inferstack.problems import LONGEST_TEXT, FilePlace, Problem, Severity

ERROR = Problem(
    ("variants", 0, "x"), "unknown key `x`", "did you mean `y`?", "IS101", at=FilePlace("a.yaml", 3, 5)
)
WARNING = Problem(FilePlace("b.yaml"), "100 %, no: two\r\nlines", "", "IS012", Severity.WARNING)
NO_SPECS = Problem(FilePlace("empty"), "the folder holds no spec file", "", "IS040")
TEMPLATE = Problem(FilePlace("old.template.json"), "there are no `Resources`", "", "IS851")
FIELDS = {"file", "line", "column", "code", "severity", "message", "fix", "path"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def at(file: str) -> Problem:
    return Problem(FilePlace(file), "there is no such file", "", "IS001")


def test_text_has_one_line_a_problem() -> None:
    assert text([ERROR, WARNING]).splitlines() == [
        "a.yaml:3:5: IS101: unknown key `x`; did you mean `y`?",
        r"b.yaml:1:1: IS012: warning: 100 %, no: two\r\nlines",
    ]


def test_a_stage_is_chosen_in_the_readers_way() -> None:
    needed = replace(ERROR, code="IS034", fix="choose `test` or `prod`")
    line = "a.yaml:3:5: IS034: unknown key `x`; choose `test` or `prod` with "
    assert text([needed]) == f"{line}`--stage`\n"
    assert text([needed], stage_by="-c stage=…") == f"{line}`-c stage=…`\n"


@pytest.mark.parametrize(
    ("found", "shown"),
    [("\x1b[31mred", r"\x1b[31mred"), ("a\u202eb", r"a\u202eb"), ("\u00e9 日本 😀", "\u00e9 日本 😀")],
)
def test_text_cannot_command_the_terminal(found: str, shown: str) -> None:
    problem = Problem(FilePlace("a.yaml"), found, "", "IS101")
    assert text([problem]) == f"a.yaml:1:1: IS101: {shown}\n"
    assert github([problem]) == f"::error file=a.yaml,line=1,col=1,title=IS101::{shown}\n"


@pytest.mark.parametrize("form", FORMATS)
def test_a_long_message_is_cut_in_every_format(form: str, here: Path) -> None:
    long = Problem(
        FilePlace("a.yaml"), f"found {'x' * 300_000} here", f"did you mean {'y' * 300_000}?", "IS101"
    )
    shown = in_format(form, Findings([long]))
    assert len(shown) < 5_000
    for words in ("found x", "x here", "did you mean y", "y?"):
        assert words in shown
    assert (len(long.message), len(long.fix)) == (LONGEST_TEXT, LONGEST_TEXT)
    assert "…" in long.message
    assert "…" in long.fix


def test_a_message_that_just_fits_is_whole() -> None:
    assert Problem(FilePlace("a.yaml"), "x" * LONGEST_TEXT, "", "IS101").message == "x" * LONGEST_TEXT


def test_json_has_every_field_of_a_problem() -> None:
    [first, second] = json.loads(as_json([ERROR, WARNING]))
    assert set(first) == set(second) == FIELDS
    assert first["path"] == ["variants", 0, "x"]
    assert (first["line"], first["column"], first["severity"]) == (3, 5, "error")
    assert (second["severity"], second["fix"]) == ("warning", "")


def test_a_format_that_is_none_is_not_taken_for_another() -> None:
    with pytest.raises(KeyError, match="plain"):
        in_format("plain", Findings([]))


def test_no_problems_are_an_empty_report_in_every_format(here: Path) -> None:
    assert {name: in_format(name, Findings([])) for name in FORMATS if name != "sarif"} == {
        "text": "",
        "json": "[]\n",
        "github": "",
        "gitlab": "[]\n",
        "markdown": "### inferstack: 0 specs: no problems\n",
    }
    assert json.loads(sarif([]))["runs"][0]["results"] == []


def test_github_commands_are_escaped(here: Path) -> None:
    assert github([WARNING]) == (
        "::warning file=b.yaml,line=1,col=1,title=IS012::100 %25, no: two%0D%0Alines\n"
    )
    assert github([at("a,b:c%.yaml")]).startswith("::error file=a%2Cb%3Ac%25.yaml,line=1,")


def test_files_are_named_from_the_working_directory_on(here: Path) -> None:
    assert github([at(str(here / "specs" / "a.yaml"))]).startswith("::error file=specs/a.yaml,")


def run_of(problems: list[Problem]) -> Any:
    log = json.loads(sarif(problems))
    assert (log["version"], set(log)) == ("2.1.0", {"$schema", "version", "runs"})
    [run] = log["runs"]
    return run


def test_sarif_results_point_to_their_rules_and_places(here: Path) -> None:
    run = run_of([ERROR, WARNING, ERROR])
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["IS012", "IS101"]
    for rule in rules:
        assert rule["shortDescription"]["text"]
        assert rule["helpUri"].startswith("https://")
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert [result["level"] for result in run["results"]] == ["error", "warning", "error"]
    assert run["results"][0]["message"] == {"text": "unknown key `x`; did you mean `y`?"}
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "a.yaml"},
        "region": {"startLine": 3, "startColumn": 5},
    }


@pytest.mark.parametrize("name", ["a b.yaml", "100%.yaml", "x#y?.yaml", "a:b.yaml", "größe.yaml"])
def test_sarif_uris_are_percent_encoded(name: str, here: Path) -> None:
    [result] = run_of([at(name)])["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert not set(uri) & set(" #?:")
    assert uri.isascii()
    assert unquote(uri) == name


def test_a_file_elsewhere_has_an_absolute_uri(here: Path) -> None:
    [result] = run_of([at(str(here.parent / "a b.yaml"))])["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == (here.parent / "a b.yaml").as_uri()


@pytest.mark.parametrize(
    ("problems", "files", "said"),
    [
        ([], 4, "4 specs: no problems"),
        ([], 1, "1 spec: no problems"),
        ([ERROR, ERROR, ERROR, WARNING], 4, "3 errors, 1 warning in 2 of 4 specs"),
        ([WARNING, WARNING], 1, "2 warnings in 1 of 1 spec"),
        ([NO_SPECS], 0, "1 error, and no spec was found"),
        ([NO_SPECS, TEMPLATE], 0, "2 errors, and no spec was found"),
        ([TEMPLATE], 3, "1 error in 1 other path, none in 3 specs"),
        (
            [replace(WARNING, place=FilePlace(f"old/{name}.template.json"), code="IS854") for name in "abc"],
            1,
            "3 warnings in 3 other paths, none in 1 spec",
        ),
        ([ERROR, TEMPLATE], 1, "2 errors in 1 of 1 spec and in 1 other path"),
        (
            [
                ERROR,
                replace(ERROR, at=FilePlace("a.lock.json")),
                replace(ERROR, at=FilePlace("m/config.pbtxt")),
            ],
            1,
            "3 errors in 1 of 1 spec and in 2 other paths",
        ),
        (
            [replace(ERROR, at=FilePlace("m/config.json"), code="IS355"), replace(ERROR, code="IS355")],
            1,
            "2 errors in 1 of 1 spec and in 1 other path",
        ),
        ([replace(ERROR, at=FilePlace("a.lock.json"), code="IS056")], 1, "1 error in 1 of 1 spec"),
        ([ERROR, TEMPLATE, NO_SPECS], 3, "3 errors in 1 of 3 specs and in 2 other paths"),
    ],
)
def test_the_summary_counts(problems: list[Problem], files: int, said: str) -> None:
    assert summary(problems, files) == said


def test_gitlab_findings_have_what_its_format_requires(here: Path) -> None:
    [error, warning] = json.loads(gitlab([ERROR, WARNING]))
    assert error.pop("fingerprint") != warning.pop("fingerprint")
    assert error == {
        "description": "unknown key `x`; did you mean `y`?",
        "check_name": "IS101",
        "severity": "major",
        "location": {"path": "a.yaml", "lines": {"begin": 3}},
    }
    assert warning["severity"] == "minor"


def test_a_finding_that_moved_to_another_line_is_no_new_one_for_gitlab(here: Path) -> None:
    moved = replace(ERROR, at=FilePlace(ERROR.file, ERROR.line + 7, ERROR.column))
    prints = [finding["fingerprint"] for finding in json.loads(gitlab([ERROR, moved]))]
    assert json.loads(gitlab([moved]))[0]["fingerprint"] == prints[0]
    assert len(set(prints)) == 2, "two that say the same are still two"


def test_markdown_says_what_is_wrong_and_what_deploying_does(here: Path) -> None:
    notes = ["a.yaml (prod) against old/a.template.json: replaced Model; updated Endpoint"]
    assert markdown(Findings([ERROR, WARNING], 2, notes)) == (
        "### inferstack: 1 error, 1 warning in 2 of 2 specs\n\n"
        "- a.yaml (prod) against old/a.template.json: replaced Model; updated Endpoint\n\n"
        "| Severity | Where | What |\n"
        "| --- | --- | --- |\n"
        "| error | `a.yaml:3` | **IS101** unknown key `x`; did you mean `y`? |\n"
        r"| warning | `b.yaml:1` | **IS012** 100 %, no: two\\r\\nlines |"
        "\n"
    )


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ("a | b", "a &#124; b"),
        ("<script>", r"\<script\>"),
        ("no * where", r"no \* where"),
        ("`a|b` and <c>", r"<code>a&#124;b</code> and \<c\>"),
        ("a lone ` is no code <c>", r"a lone &#96; is no code \<c\>"),
        ("unknown key ```<img src=x>` in", r"unknown key &#96;&#96;&#96;\<img src=x\>&#96; in"),
        ("[text](https://example.com)", r"\[text\](`https://example.com`)"),
    ],
)
def test_markdown_shows_what_was_found_and_is_not_commanded_by_it(found: str, shown: str, here: Path) -> None:
    [row] = markdown(Findings([Problem(FilePlace("a.yaml"), found, "", "IS101")], 1)).splitlines()[-1:]
    assert row == f"| error | `a.yaml:1` | **IS101** {shown} |"


def test_markdown_fits_into_a_comment_and_says_what_is_left_out(here: Path) -> None:
    many = [Problem(FilePlace("a.yaml", line, 1), "x" * 900, "", "IS101") for line in range(1, 101)]
    shown = markdown(Findings(many, 1))
    rows = shown.count("| error |")
    assert len(shown) < LONGEST + 1_000
    assert shown.endswith(f"\n… and {100 - rows} more\n")
