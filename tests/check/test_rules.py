"""The rules as a catalog, thresholds, and whatever a table of wrong specs cannot express."""

import re
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest
import yaml
from support.checking import check_file

from inferstack.catalog import metrics
from inferstack.catalog.metrics import Metric
from inferstack.check.load import parse_spec
from inferstack.check.rules import RULES
from inferstack.facts.quantity import (
    UnfitQuantity,
    absolute_threshold,
    is_time,
    is_utilization,
    parse_threshold,
)
from inferstack.facts.walk import (
    component_scalings,
    component_variants,
    components,
    containers,
    hosting_of,
    models,
    variant_scalings,
    variants,
)
from inferstack.format.kinds import ModelSpec, Spec
from inferstack.problems import Severity, SpecError
from inferstack.problems.rules import Rule

OTHER_SOURCES = {"user reports", "inferstack's spec format"}
AWS_PAGES = "https://docs.aws.amazon.com/"
# DJL is AWS's own, with the container for language models.
OTHER_PAGES = ("https://docs.djl.ai/", "https://docs.nvidia.com/", "https://github.com/aws/")
# What Triton refuses is documented there, and rehearsals compare it with a server.
TRITON_PAGES = "https://github.com/triton-inference-server/"
SINGLE = {
    "kind": "single-model",
    "endpoint_name": "churn",
    "model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/churn:1"},
    "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
}
LATENCY, GPUS, REQUESTS = (
    metrics.find(name)[0] for name in ("ModelLatency", "GPUUtilization", "Invocations")
)
SHARE = metrics.find("ServerlessProvisionedConcurrencyUtilization")[0]


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_a_rule_rests_on_a_page_of_aws_or_says_that_it_does_not(rule: Rule) -> None:
    assert rule.source.startswith((AWS_PAGES, TRITON_PAGES, *OTHER_PAGES)) or rule.source in OTHER_SOURCES


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_what_aws_does_not_document_is_never_an_error(rule: Rule) -> None:
    assert not rule.source.startswith(OTHER_PAGES) or rule.severity is Severity.WARNING


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_what_only_users_report_is_never_an_error(rule: Rule) -> None:
    assert rule.source != "user reports" or rule.severity is Severity.WARNING


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_a_rule_is_one_sentence(rule: Rule) -> None:
    assert re.fullmatch(r"[A-Z0-9`].+\.", rule.sentence)
    assert rule.check.__doc__


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


# ---------------------------------------------------------------- thresholds


@pytest.mark.parametrize(
    ("text", "metric", "devices", "expected"),
    [
        ("500 ms", LATENCY, 1, 500_000),
        ("500ms", LATENCY, 1, 500_000),
        ("2 s", LATENCY, 1, 2_000_000),
        ("1.5 min", LATENCY, 1, 90_000_000),
        ("0.5 us", LATENCY, 1, 0.5),
        ("0 ms", LATENCY, 1, 0),
        ("90 %", GPUS, 4, 360),
        ("92.5%", GPUS, 4, 370),
        ("0 %", GPUS, 8, 0),
        ("100 %", GPUS, 8, 800),
        (360, GPUS, 4, 360),
        ("70 %", SHARE, 1, 0.7),
        (0.7, SHARE, 1, 0.7),
        (0, REQUESTS, 1, 0),
        (2.5, REQUESTS, 1, 2.5),
    ],
)
def test_a_threshold_becomes_the_number_that_cloudwatch_counts(
    text: str | float, metric: Metric, devices: int, expected: float
) -> None:
    found = absolute_threshold(text, metric, devices)
    assert found == expected
    assert isinstance(found, type(expected))


@pytest.mark.parametrize("name", ["TotalProcessingTime", "ApproximateAgeOfOldestRequest", "ModelLatency"])
def test_a_time_becomes_the_unit_that_its_metric_has(name: str) -> None:
    metric = metrics.find(name)[0]
    seconds = {"Microseconds": 1_000_000, "Milliseconds": 1_000, "Seconds": 1}[metric.unit]
    assert absolute_threshold("2 s", metric) == 2 * seconds


@pytest.mark.parametrize(
    ("text", "metric", "says"),
    [
        (500, LATENCY, 'write a unit: "500 ms"'),
        (500, LATENCY, '500 ms"; allowed: us, ms, s, min; in CloudWatch the number is microseconds'),
        (5_000, LATENCY, 'write a unit: "5000 ms"; or "5 ms" if the number comes from CloudWatch'),
        (
            500_000,
            LATENCY,
            'write a unit: "500 ms" if the number comes from CloudWatch, which counts in microseconds',
        ),
        (500, metrics.find("ApproximateAgeOfOldestRequest")[0], 'write a unit: "500 s"; allowed'),
        ("500", LATENCY, "500 ms"),
        ("50 %", LATENCY, "us, ms, s, min"),
        ("5 ms", REQUESTS, "or unit"),
        ("5", REQUESTS, "without quotes"),
        ("101 %", GPUS, "0 % to 100 %"),
        ("5 ms", GPUS, "90 %"),
        ("-5 %", GPUS, "90 %"),
        ("", GPUS, "90 %"),
        ("1e3 ms", LATENCY, "500 ms"),
        ("\u0665 ms", LATENCY, "500 ms"),
        (float("inf"), GPUS, "finite"),
        (float("nan"), REQUESTS, "finite"),
    ],
)
def test_a_threshold_that_does_not_fit_its_metric_is_refused(
    text: str | float, metric: Metric, says: str
) -> None:
    with pytest.raises(UnfitQuantity) as caught:
        parse_threshold(text, metric)
    assert says in caught.value.fix


def test_a_threshold_that_only_the_deployment_knows_stays_as_it_is() -> None:
    token = "${Token[TOKEN.17]}"
    assert absolute_threshold(token, LATENCY) == token


def test_a_metric_is_a_time_or_a_share_but_never_both() -> None:
    table = [metric for name in metrics.names() for metric in metrics.find(name)]
    assert [metric.name for metric in table if is_time(metric) and is_utilization(metric)] == []
    assert {metric.unit for metric in table if is_utilization(metric)} == {"Percent", "None"}


def test_a_share_is_exact() -> None:
    assert absolute_threshold("0.1 %", GPUS, 3) == float(Fraction(3, 10))


# ---------------------------------------------------------------- walking


def spec_of(data: dict[str, object]) -> ModelSpec:
    return msgspec.convert(data, Spec)


def test_one_variant_and_several_are_walked_alike() -> None:
    one = spec_of(SINGLE)
    several = spec_of(
        {**{k: v for k, v in SINGLE.items() if k != "variant"}, "variants": [SINGLE["variant"]]}
    )
    assert [variant for _, variant in variants(one)] == [variant for _, variant in variants(several)]
    assert [path for path, _ in variants(several)] == [("variants", 0)]


def test_scaling_at_the_top_is_the_only_variants_scaling() -> None:
    scaling = {"min_capacity": 1, "max_capacity": 2}
    assert [path for path, _, _ in variant_scalings(spec_of({**SINGLE, "autoscaling": scaling}))] == [
        ("autoscaling",)
    ]
    inside = {**SINGLE, "variant": {**SINGLE["variant"], "autoscaling": scaling}}
    assert [path for path, _, _ in variant_scalings(spec_of(inside))] == [("variant", "autoscaling")]


def test_a_container_knows_the_instance_types_of_the_variants_that_host_it() -> None:
    spec = spec_of(
        {
            "kind": "single-model",
            "endpoint_name": "ab",
            "models": {"a": {"image": "a"}, "b": {"image": "b"}},
            "variants": [
                {"variant_name": "x", "model_name": "a", "instance_type": "ml.m5.large"},
                {"variant_name": "y", "model_name": "b", "instance_type": "ml.g5.xlarge"},
            ],
        }
    )
    assert {it.image: it.instance_types for it in containers(spec)} == {
        "a": ("ml.m5.large",),
        "b": ("ml.g5.xlarge",),
    }
    assert [name for _, name, _ in models(spec)] == ["a", "b"]


def test_a_component_is_on_the_variant_that_it_names() -> None:
    spec = spec_of(
        {
            "kind": "inference-components",
            "endpoint_name": "chat",
            "variants": [{"variant_name": "x"}, {"variant_name": "y"}],
            "inference_components": {
                "a": {"variant_name": "y", "autoscaling": {"min_capacity": 0, "max_capacity": 1}},
                "b": {"variant_name": "z"},
                "c": {},
            },
        }
    )
    hosts = {
        name: [it.variant_name for it in component_variants(spec, component)]
        for _, name, component in components(spec)
    }
    assert hosts == {"a": ["y"], "b": [], "c": ["x"]}
    assert [name for _, name, _, _ in component_scalings(spec)] == ["a"]


@pytest.mark.parametrize(
    ("change", "hosting"),
    [
        ({}, "instances"),
        ({"kind": "multi-model"}, "multi-model"),
        ({"variant": {"serverless_config": {"memory_size_in_mb": 1024, "max_concurrency": 1}}}, "serverless"),
        ({"endpoint_config": {"async_inference_config": {"output_config": {}}}}, "async"),
    ],
)
def test_what_an_endpoint_publishes_follows_from_its_hosting(change: dict[str, object], hosting: str) -> None:
    assert hosting_of(spec_of({**SINGLE, **change})) == hosting


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
