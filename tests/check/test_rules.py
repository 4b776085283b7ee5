"""The rules as a catalog, and whatever a table of wrong specs cannot express."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from support.checking import check_file

from inferstack.check.load import parse_spec
from inferstack.check.rules import RULES
from inferstack.problems import Severity, SpecError
from inferstack.problems.rules import Rule

OTHER_SOURCES = {"user reports", "inferstack's spec format"}
AWS_PAGES = "https://docs.aws.amazon.com/"
# DJL is AWS's own, with the container for language models; vLLM is in most of AWS's others.
OTHER_PAGES = (
    *("https://docs.djl.ai/", "https://docs.nvidia.com/", "https://docs.vllm.ai/", "https://github.com/aws/"),
)
# What Triton refuses is documented there, and rehearsals compare it with a server.
TRITON_PAGES = "https://github.com/triton-inference-server/"
SINGLE = {
    "kind": "single-model",
    "endpoint_name": "churn",
    "model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/churn:1"},
    "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
}


def those_that(are_wrong: Callable[[Rule], bool]) -> list[str]:
    """The codes of all rules of which this is true."""
    return [rule.code for rule in RULES.values() if are_wrong(rule)]


def test_a_rule_rests_on_a_page_of_aws_or_says_that_it_does_not() -> None:
    pages = (AWS_PAGES, TRITON_PAGES, *OTHER_PAGES)
    assert those_that(lambda it: not it.source.startswith(pages) and it.source not in OTHER_SOURCES) == []


def test_what_aws_does_not_document_is_never_an_error() -> None:
    found = those_that(lambda it: it.source.startswith(OTHER_PAGES) and it.severity is not Severity.WARNING)
    assert found == []


def test_what_only_users_report_is_never_an_error() -> None:
    found = those_that(lambda it: it.source == "user reports" and it.severity is not Severity.WARNING)
    assert found == []


def test_a_rule_is_one_sentence() -> None:
    assert those_that(lambda it: not re.fullmatch(r"[A-Z0-9`].+\.", it.sentence)) == []
    assert those_that(lambda it: not it.check.__doc__) == []


def test_every_rule_is_one_function_and_says_something_of_its_own() -> None:
    assert len({rule.check for rule in RULES.values()}) == len(RULES)
    assert len({rule.sentence for rule in RULES.values()}) == len(RULES)


def test_a_code_cannot_be_taken_twice() -> None:
    with pytest.raises(ValueError, match="IS500 is taken: `min_capacity` cannot be above"):
        RULES.enter(RULES["IS500"])


@pytest.mark.parametrize("code", [rule.code for rule in RULES.values() if rule.severity is Severity.WARNING])
def test_a_warning_can_be_ignored(code: str) -> None:
    assert parse_spec({**SINGLE, "ignore": [code]}).warnings == ()


@pytest.mark.parametrize("code", ["IS011", "IS103", "IS110", "IS501", "IS901"])
def test_an_error_cannot_be_ignored_whoever_finds_it(code: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec({**SINGLE, "ignore": [code]})
    assert [problem.code for problem in caught.value.problems] == ["IS291"]


@pytest.mark.parametrize("code", ["IS000", "IS999"])
def test_a_code_that_nothing_has_is_said_not_to_be_there(code: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec({**SINGLE, "ignore": [code]})
    assert [problem.code for problem in caught.value.problems] == ["IS290"]


def test_an_ignored_warning_is_not_reported() -> None:
    narrow = {**SINGLE, "autoscaling": {"min_capacity": 3, "max_capacity": 4}}
    assert [problem.code for problem in parse_spec(narrow).warnings] == ["IS504", "IS505"]
    assert [problem.code for problem in parse_spec({**narrow, "ignore": ["IS504"]}).warnings] == ["IS505"]


def test_every_problem_of_a_spec_is_reported_at_once() -> None:
    wrong = {
        **SINGLE,
        "autoscaling": {"min_capacity": 5, "max_capacity": 4},
        "alarms": {"rules": [{"metric": "ModelLatency", "threshold": 5}]},
        "tags": {"aws:x": "y"},
    }
    with pytest.raises(SpecError) as caught:
        parse_spec(wrong)
    assert {problem.code for problem in caught.value.problems} == {"IS221", "IS500", "IS505", "IS803"}


@pytest.mark.parametrize(
    ("key", "wrong", "at"),
    [
        ("tags", '{"aws:team": x}', "aws:team"),
        ("tags", "{team: x, Team: y}", "Team"),
        ("tags", '{"te;am": x}', "te;am"),
        ("tags", '{team: "x;y"}', "x;y"),
        (
            "execution_role",
            '{statements: [{action: [a:b], resource: ["*"], condition: {StringEquals: {"Ref": x}}}]}',
            "Ref",
        ),
        (
            "model",
            "{image: 111122223333.dkr.ecr.us-east-1.amazonaws.com/churn:1, environment: {? A-B : x}}",
            "A-B",
        ),
    ],
)
def test_what_is_wrong_with_a_key_stands_at_the_key(key: str, wrong: str, at: str, tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    others = yaml.safe_dump({name: value for name, value in SINGLE.items() if name != key}, sort_keys=False)
    last = f"{key}: {wrong}"
    file.write_text(f"{others}{last}\n", encoding="utf-8")
    (problem,) = (it for it in check_file(file) if it.severity is Severity.ERROR)
    assert problem.line == others.count("\n") + 1
    assert last[problem.column - 1 :].lstrip('"').startswith(at)


def test_a_text_that_is_none_in_utf_8_is_looked_at_all_the_same() -> None:
    data = {"kind": "single-model", "endpoint_name": "one", "variant": {}, "tags": {"x": "\ud800"}}
    with pytest.raises(SpecError, match="IS142"):
        parse_spec({**data, "model": {"environment": {"A": "${parameter:P}"}}})
    with pytest.raises(SpecError, match="the environment has 33001 bytes"):
        parse_spec({**data, "model": {"environment": {"A": "\ud800" * 11_000}}})
