"""``inferstack size --endpoint``: what an endpoint did, by answers of AWS in forms that botocore's models allow."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support import answers
from support.answers import Answers, Refused, optional

from inferstack.cli import main

aws = answers.aws

ARN = "arn:aws:sagemaker:us-east-1:123456789012"
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
SPEC = """\
kind: single-model
endpoint_name: ranker
model: {image: "123456789012.dkr.ecr.us-east-1.amazonaws.com/ranker:1", model_data_url: s3://models/r.tar.gz}
variant: {instance_type: ml.m5.large, initial_instance_count: 1}
env: {region: us-east-1}
objective: {requests_per_minute: 100, latency: {percentile: P95, value_in_milliseconds: 500}, safety_factor: 0.5}
"""
VARIANT = {"VariantName": "AllTraffic", "InstanceType": "ml.m5.xlarge", "InitialInstanceCount": 2}
OTHER = {**VARIANT, "VariantName": "Other"}
SERVERLESS = {"VariantName": "AllTraffic", "ServerlessConfig": {"MemorySizeInMB": 2048, "MaxConcurrency": 5}}
Answer = dict[str, Any]


def config(*variants: Mapping[str, Any], made: datetime = LONG_AGO) -> Answer:
    return {
        "EndpointConfigName": "ranker-2",
        "EndpointConfigArn": f"{ARN}:endpoint-config/ranker-2",
        "ProductionVariants": [*variants],
        "CreationTime": made,
    }


def recorded(
    params: Mapping[str, Any], *, each: int = 600, late: int = 90_000, status: str = "Complete"
) -> Answer:
    """Ten minutes of one instance, from an hour after the beginning, in which GPUs have no data."""
    begin = datetime.fromisoformat(str(params["StartTime"])) + timedelta(hours=1)
    times = [begin + timedelta(minutes=at) for at in range(10)]
    values = {"Invocations": each, "InvocationsPerInstance": each, "CPUUtilization": 200}
    values |= {"ModelLatency": late, "OverheadLatency": late}
    results = []
    for it in params["MetricDataQueries"]:
        value = values.get(it["MetricStat"]["Metric"]["MetricName"])
        found = [] if value is None else times
        one = {"Id": it["Id"], "Label": it["Label"], "Timestamps": found, "Values": [value] * len(found)}
        results.append({**one, "StatusCode": status})
    return {"MetricDataResults": results}


def nothing(params: Mapping[str, Any]) -> Answer:
    empty = recorded(params)
    return {
        "MetricDataResults": [{**it, "Timestamps": [], "Values": []} for it in empty["MetricDataResults"]]
    }


def in_pages(params: Mapping[str, Any]) -> Answer:
    """The last metrics on a page of their own, and those of the first only whole on the second."""
    whole = recorded(params)["MetricDataResults"]
    if "NextToken" in params:
        rest = [{**it, "Timestamps": it["Timestamps"][5:], "Values": it["Values"][5:]} for it in whole[:2]]
        return {"MetricDataResults": [*rest, *whole[2:]]}
    first = [{**it, "Timestamps": it["Timestamps"][:5], "Values": it["Values"][:5]} for it in whole[:2]]
    return {"MetricDataResults": [{**it, "StatusCode": "PartialData"} for it in first], "NextToken": "more"}


@pytest.fixture
def deployed(aws: Answers) -> Answers:
    Path("ranker.yaml").write_text(SPEC)
    aws.given |= {
        "GetCallerIdentity": {"Account": "123456789012"},
        "DescribeEndpoint": {
            "EndpointName": "ranker",
            "EndpointArn": f"{ARN}:endpoint/ranker",
            "EndpointConfigName": "ranker-2",
            "EndpointStatus": "InService",
            "CreationTime": LONG_AGO,
            "LastModifiedTime": LONG_AGO,
        },
        "DescribeEndpointConfig": config(VARIANT),
        "GetMetricData": recorded,
    }
    return aws


SIZE = ["size", "ranker.yaml", "--days", "1", "--endpoint", "ranker"]
DENIED = Refused("AccessDenied", "User is not authorized to perform: cloudwatch:GetMetricData")
NO_ENDPOINT = Refused("ValidationException", 'Could not find endpoint "ranker".')
NO_MODEL = Refused("ValidationException", "Something else is wrong.")
SITUATIONS: dict[str, tuple[Answer, list[str], int, str]] = {
    # What AWS says, more options, the exit status, and what is printed.
    "runs": ({}, [], 0, "ml.m5.xlarge   ranker AllTraffic  300"),
    "is scaled": ({"DescribeEndpoint": "Updating"}, [], 0, "ml.m5.xlarge   ranker AllTraffic  300"),
    "in pages": ({"GetMetricData": in_pages}, [], 0, "10 of 10 periods with requests"),
    "for weeks": ({}, ["--days", "20"], 0, "in periods of 300 seconds, which it keeps for 63 days"),
    "too slow": (
        {"GetMetricData": lambda it: recorded(it, late=300_000)},
        [],
        1,
        "600 ms is over the limit of 500 ms at P95",
    ),
    "is not there": (
        {"DescribeEndpoint": NO_ENDPOINT},
        [],
        1,
        "there is no endpoint ranker in us-east-1 of the account 123456789012; check name, region and credentials",
    ),
    "is in another region": (
        {"DescribeEndpoint": NO_ENDPOINT},
        ["--region", "eu-west-1"],
        1,
        "there is no endpoint ranker in us-east-1",
    ),
    "may not be described": (
        {"DescribeEndpoint": Refused("AccessDeniedException", "No.")},
        [],
        1,
        "the endpoint ranker cannot be read: AWS answers AccessDeniedException: No; reading what an endpoint did",
    ),
    "other error": ({"DescribeEndpoint": NO_MODEL}, [], 1, "AWS answers ValidationException: Something else"),
    "may not be measured": (
        {"GetMetricData": DENIED},
        [],
        1,
        "what ranker did cannot be read: AWS answers AccessDenied: User is not authorized to perform: "
        "cloudwatch:GetMetricData; reading what an endpoint did needs sagemaker:DescribeEndpoint,",
    ),
    "is throttled": (
        {"GetMetricData": Refused("Throttling", "Rate exceeded")},
        [],
        1,
        "AWS answers Throttling: Rate exceeded; wait a moment",
    ),
    "is throttled for a moment": (
        {"GetMetricData": [Refused("Throttling", "Rate exceeded"), recorded]},
        [],
        0,
        "ml.m5.xlarge   ranker AllTraffic  300",
    ),
    "is expired": ({"GetCallerIdentity": Refused("ExpiredToken", "Old.")}, [], 1, "log in again"),
    "has no data": (
        {"GetMetricData": nothing},
        [],
        1,
        "CloudWatch has no data of ranker AllTraffic in us-east-1 since ",
    ),
    "is idle": (
        {"GetMetricData": lambda it: recorded(it, each=0)},
        [],
        1,
        "CloudWatch's answer: ranker AllTraffic answered no requests since 2026-01-01 00:00, when its configuration was made",
    ),
    "has some metrics": (
        {"GetMetricData": lambda it: recorded(it, status="InternalError")},
        [],
        1,
        "could not be read by CloudWatch; ask again",
    ),
    "has another variant": (
        {},
        ["--variant", "AllTrafic"],
        1,
        "the endpoint has no variant `AllTrafic`, only `AllTraffic`",
    ),
    "has several other variants": (
        {"DescribeEndpointConfig": config(OTHER, {**OTHER, "VariantName": "Third"})},
        [],
        1,
        "the endpoint ranker has no variant AllTraffic, only Other and Third",
    ),
    "has a variant of another name": (
        {"DescribeEndpointConfig": config(OTHER)},
        [],
        0,
        "ml.m5.xlarge   ranker Other   300",
    ),
    "has this variant, too": (
        {"DescribeEndpointConfig": config(OTHER, VARIANT)},
        [],
        0,
        "ml.m5.xlarge   ranker AllTraffic  300",
    ),
    "is serverless": (
        {"DescribeEndpointConfig": config(SERVERLESS)},
        [],
        1,
        "ranker AllTraffic is serverless, so its instances cannot be counted",
    ),
    "was changed just now": (
        {"DescribeEndpointConfig": config(VARIANT, made=datetime.now(UTC))},
        [],
        1,
        "ranker AllTraffic answered no requests since ",
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_situation(deployed: Answers, capsys: pytest.CaptureFixture[str], name: str) -> None:
    changes, more, code, shown = SITUATIONS[name]
    if changes.get("DescribeEndpoint") == "Updating":
        changes = {"DescribeEndpoint": {**deployed.given["DescribeEndpoint"], "EndpointStatus": "Updating"}}
    deployed.given |= changes
    assert main([*SIZE, *more]) == code
    found = capsys.readouterr()
    assert shown in found.out + found.err
    assert {it for it, _ in deployed.asked} <= deployed.given.keys()


def test_a_spec_for_another_account_is_not_sized(
    deployed: Answers, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("ranker.yaml").write_text(SPEC.replace("env: {", 'env: {account: "210987654321", '))
    assert main(SIZE) == 1
    assert "the spec is for the account 210987654321, but the credentials are for" in capsys.readouterr().err
    assert [it for it, _ in deployed.asked] == ["GetCallerIdentity"]


def test_what_runs_is_compared_with_a_load_test_over_its_traffic(
    deployed: Answers, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("load.csv").write_text(
        "configuration,instance_type,requests_per_minute,p95_ms\nbase,ml.c5.large,500,100\n"
    )
    assert main([*SIZE, "--measurements", "load.csv", "--format", "json"]) == 0
    found = capsys.readouterr()
    rows = json.loads(found.out)
    # 600 a minute for ten minutes: two instances of 300 each, or three of 250.
    assert [(it["configuration"], it["min_capacity"], it["count"]) for it in rows] == [
        ("ranker AllTraffic", 1, 2),
        ("base", 1, 3),
    ]
    assert rows[0]["doubts"] == ["no busier minute came: it may do more, and fewer instances may do"]
    assert "from CloudWatch: used meanwhile, on average: CPU 50 %\n" in found.err
    # A file of traffic that the spec names is meant for what is to come.
    Path("traffic.csv").write_text("time,ranker\n00:00,3000\n")
    Path("ranker.yaml").write_text(SPEC.replace("requests_per_minute: 100", "traffic: traffic.csv"))
    assert main(SIZE) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].startswith("10  ")
    assert "over the traffic, 1440 minutes from 00:00, for the first:\n" in out


def test_whatever_an_answer_lacks_leads_to_a_sentence(
    deployed: Answers, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that AWS's models do not require may be missing."""
    assert main(SIZE) == 0
    for operation, params in dict(deployed.asked).items():
        given = deployed.given[operation]
        for path in optional(deployed.shapes[operation], given(params) if callable(given) else given):
            deployed.left_out = operation, path
            capsys.readouterr()
            code, found = main(SIZE), capsys.readouterr()
            assert (code == 0) == found.out.startswith("COUNT"), (operation, path)
            assert code == 0 or found.err, (operation, path)


def test_the_printed_request_is_the_one_that_is_made(
    deployed: Answers, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(SIZE) == 0
    capsys.readouterr()
    assert main([*SIZE[:-2], "--print-query"]) == 0
    printed = json.loads(capsys.readouterr().out)
    made = next(params for operation, params in deployed.asked if operation == "GetMetricData")
    assert printed["MetricDataQueries"] == made["MetricDataQueries"]
    Path("answer.json").write_text(json.dumps(recorded(printed), default=str))
    assert main(["size", "ranker.yaml", "--from-cloudwatch", "answer.json"]) == 0
    # Files do not say what runs: the type is the spec's.
    assert "ml.m5.large    ranker AllTraffic  300" in capsys.readouterr().out
