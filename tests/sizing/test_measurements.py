"""Every file of a load test that can be read, and what is said about those that cannot."""

import json
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from inferstack.problems import SpecError
from inferstack.sizing.measurement import Measurement
from inferstack.sizing.measurements import COLUMNS, as_csv, measured_in, read_measurements
from inferstack.sizing.results import lacking

RESULTS = Path(__file__).parent / "results"


def test_inference_recommender_measures_one_instance():
    first, second = read_measurements(RESULTS / "inference_recommender.json")
    assert (first.configuration, first.instance_type) == ("OMP_NUM_THREADS=2", "ml.g4dn.xlarge")
    assert (first.requests_per_minute, first.latencies) == (3192, {95: 783})
    assert first.price_per_hour == Decimal("0.736")
    assert (second.configuration, second.requests_per_minute) == ("batched", 1335)


def test_a_recommendation_job_says_requests_per_second():
    (found,) = read_measurements(RESULTS / "recommendation_job.json")
    assert (found.configuration, found.instance_type) == ("high-otps-on-g6-24xlarge", "ml.g6.24xlarge")
    assert found.requests_per_minute == Decimal("450.684")
    assert found.latencies == {50: Decimal("11134.94"), 90: Decimal("12119.56"), 99: Decimal("13762.74")}
    assert found.time_to_first_token == {50: Decimal("269.55"), 90: Decimal("394.81")}
    assert found.inter_token_latency == {50: Decimal("43.38"), 90: Decimal("44.35")}
    assert found.tokens_per_second == Decimal("1893.21")
    # 88 users who wait 11.1 s send 474 requests a minute at most.
    assert (found.users, found.keeps_users_waiting) == (88, True)


def test_aiperf_needs_to_be_told_what_it_measured():
    file = RESULTS / "profile_export_aiperf.json"
    (found,) = read_measurements(file, instance_type="ml.g6.24xlarge", instances=2)
    assert found.configuration == "ic-gpt-oss-20b-260608-183652"
    assert round(found.requests_per_minute, 2) == Decimal("34.94")
    assert found.latencies[Decimal(95)] == Decimal("26231.405454150005")
    with pytest.raises(SpecError, match="does not say which instance it measured; add `--instance-type"):
        read_measurements(file)


# Recorded with these releases against a server that streams a word every ten milliseconds, and answers a fifth of the
# requests with 503 in those called `failed` or `cancelled`; reduced to what says something about the run.
RECORDED = {
    "aiperf_0.8.0": (4, ""),
    "aiperf_0.11.0_failed": (4, "20 of 60 requests failed"),
    "aiperf_0.13.0": (4, ""),
    "aiperf_0.13.0_failed": (4, "16 of 60 requests failed"),
    "aiperf_0.13.0_rate": (None, "20 of 40 requests failed"),
    "aiperf_0.13.0_cancelled": (2, "the run was cancelled"),
}


@pytest.mark.parametrize("name", RECORDED)
def test_summaries_of_aiperf_are_read_in_each_of_its_schemas(name):
    (found,) = read_measurements(RESULTS / f"{name}.json", instance_type="ml.g6.xlarge")
    users, fault = RECORDED[name]
    assert (found.configuration, found.users) == ("mock", users)
    assert next(found.faults, "") == fault
    # A word every ten milliseconds, the first one after fifty.
    assert 10 <= found.inter_token_latency[50] < 15
    assert 50 <= found.time_to_first_token[50] < 100
    assert 200 < found.latencies[50] < 250
    # Sixteen words an answer.
    assert found.tokens_per_second * 60 / found.requests_per_minute == pytest.approx(16)


def with_changes(name, **changes):
    export = json.loads((RESULTS / f"{name}.json").read_text("utf-8"), parse_float=Decimal)
    return json.dumps({**export, **changes}, default=float)


UNITS = {
    "microseconds": ({"request_latency": {"unit": "us", "p95": 400_000}}, {95: 400}),
    "seconds": ({"request_latency": {"unit": "sec", "p95": 0.4}}, {95: 400}),
    "no latency": ({"request_latency": {}}, {}),
}


@pytest.mark.parametrize("change", UNITS)
def test_the_unit_of_a_metric_is_read(tmp_path, change):
    changes, latencies = UNITS[change]
    file = written(tmp_path, with_changes("aiperf_0.13.0", **changes))
    assert read_measurements(file, instance_type="ml.g6.xlarge")[0].latencies == latencies


def test_answers_in_one_piece_have_no_time_between_tokens(tmp_path):
    # As of AIPerf 0.13.0, where a proxy sends each answer at once, or some of them.
    in_one_piece = {"inter_token_latency": {"unit": "ms", "avg": 0.0, "p50": 0.0, "p99": 0.0}}
    file = written(tmp_path, with_changes("aiperf_0.13.0", **in_one_piece))
    (found,) = read_measurements(file, instance_type="ml.g6.xlarge")
    assert (found.inter_token_latency, [*found.faults]) == ({}, [])
    in_one_piece["inter_token_latency"]["p99"] = 12.5
    file = written(tmp_path, with_changes("aiperf_0.13.0", **in_one_piece))
    assert read_measurements(file, instance_type="ml.g6.xlarge")[0].inter_token_latency == {99: 12.5}


UNUSABLE = {
    "`0.0` is not a usable number above 0": {"time_to_first_token": {"unit": "ms", "p50": 0.0}},
    "`request_latency` is in `tokens`, not in `ms` or the like": {
        "request_latency": {"unit": "tokens", "p95": 1}
    },
    "`request_throughput` is in `requests/day`": {"request_throughput": {"unit": "requests/day", "avg": 1}},
    "its `schema_version` is `2.0`, and only 1.0 to 1.x are known": {"schema_version": "2.0"},
    "`input_config` is missing": {"input_config": None},
}


@pytest.mark.parametrize("message", UNUSABLE)
def test_a_summary_that_cannot_be_understood_is_not_guessed(tmp_path, message):
    changed = json.loads(with_changes("aiperf_0.13.0", **UNUSABLE[message]))
    content = json.dumps({key: it for key, it in changed.items() if it is not None})
    with pytest.raises(SpecError) as caught:
        read_measurements(written(tmp_path, content), instance_type="ml.g6.xlarge")
    assert message in str(caught.value)


def test_a_run_in_which_everything_failed_says_so(tmp_path):
    export = json.loads(with_changes("aiperf_0.13.0_failed"))
    del export["request_throughput"], export["request_latency"], export["request_count"]
    with pytest.raises(
        SpecError, match=":1:1: IS071: no request was answered, and 16 failed; repeat the run"
    ):
        read_measurements(written(tmp_path, json.dumps(export)), instance_type="ml.g6.xlarge")


SUITE = (
    "endpoint,use_case,concurrency,total_requests,successful,failed,latency_p50,latency_p90,latency_avg,"
    "tok_per_sec_avg,rps,aggregate_output_tok_sec,ttft_p90,model,optimization,instance_type,region\n"
)
ROWS_OF_SUITE = {
    "bench,chat,8,30,30,0,900,1200,950,30,0.5,240.5,110,qwen,fp8,ml.g6e.xlarge,us-east-1\n": (),
    "bench,chat,8,30,29,1,900,1200,950,30,0.5,240.5,110,qwen,fp8,ml.g6e.xlarge,us-east-1\n": (),
    "bench,chat,8,30,15,15,900,1200,950,30,0.5,240.5,110,qwen,fp8,ml.g6e.xlarge,us-east-1\n": (
        "15 of 30 requests failed",
    ),
    "bench,chat,8,30,30,0,900,1200,950,0,0.5,0.0,,qwen,fp8,ml.g6e.xlarge,us-east-1\n": (
        "the answers had no tokens",
    ),
    "bench,chat,8,30,30,0,1200,900,950,30,0.5,240.5,110,qwen,fp8,ml.g6e.xlarge,us-east-1\n": (
        "a latency of 900 ms at P90, but 1200 at P50: it cannot be lower at a higher percentile",
    ),
}


@pytest.mark.parametrize("row", ROWS_OF_SUITE)
def test_the_columns_of_the_suite_are_understood_and_others_left_out(tmp_path, row):
    (found,) = read_measurements(written(tmp_path, SUITE + row))
    assert (found.configuration, found.users) == ("qwen, fp8, chat", 8)
    assert found.requests_per_minute == 30
    assert {*found.latencies} == {50, 90}
    assert tuple(found.faults) == ROWS_OF_SUITE[row]
    assert found.tokens_per_second == (None if "no tokens" in str(ROWS_OF_SUITE[row]) else Decimal("240.5"))


# Rows of FMBench, as https://github.com/aws-samples/foundation-model-benchmarking-tool has published them.
FMBENCH = (
    "experiment_name,payload_file,instance_type,instance_count,concurrency,error_rate,completion_token_throughput,"
    "latency_mean,latency_p50,latency_p95,transactions_per_minute,price_per_txn,latency_p95_text\n"
)
ROWS_OF_FMBENCH = {
    "tgi,en_1-500,ml.g5.2xlarge,1.0,8,0.0,30,7.56,7,8.9,37,0.0068,8.90\n": (),
    "tgi,en_1-500,ml.g5.2xlarge,,8,0.67,1,34.89,7,8.9,37,0.0068,8.90\n": ("67% of the requests failed",),
}


@pytest.mark.parametrize("row", ROWS_OF_FMBENCH)
def test_fmbench_says_seconds_and_the_share_that_failed(tmp_path, row):
    (found,) = read_measurements(written(tmp_path, FMBENCH + row))
    assert (found.configuration, found.users, found.requests_per_minute) == ("tgi, en_1-500", 8, 37)
    assert found.latencies == {50: 7000, 95: 8900}
    assert (tuple(found.faults), found.doubts) == (ROWS_OF_FMBENCH[row], ())


def test_a_name_that_is_there_already_is_not_what_another_column_means(tmp_path):
    names = HEAD.replace("\n", ",instance_type_family\n")
    (found,) = read_measurements(written(tmp_path, names + "a,ml.g5.xlarge,1,g5\n"))
    assert found.requests_per_minute == 1


def test_a_file_of_something_else_is_one_mistake(tmp_path):
    locust = "Type,Name,Request Count,Failure Count,Requests/s,50%,95%\nPOST,bert,33125,0,110.4,410,730\n"
    with pytest.raises(SpecError) as caught:
        read_measurements(written(tmp_path, locust))
    (problem,) = caught.value.problems
    assert problem.message.startswith(
        "columns are missing: `configuration`, `instance_type` and `requests_per"
    )


VLLM = {
    "backend": "vllm",
    "model_id": "llama",
    "num_prompts": 200,
    "request_rate": "inf",
    "max_concurrency": 32,
    "completed": 199,
    "request_throughput": 1.5,
    "output_throughput": 434.4,
    "mean_ttft_ms": 99,
    "median_ttft_ms": 100,
    "p99_ttft_ms": 250.5,
    "p99_itl_ms": 0.0,
    "p99_e2el_ms": 9000,
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, ("llama", 16, ())),
        ({"request_rate": 2.0}, ("llama", None, ())),
        ({"completed": 150}, ("llama", 16, ("50 of 200 requests failed",))),
        ({"model_id": None, "num_prompts": None}, ("vllm", 16, ())),
    ],
)
def test_what_vllm_and_sglang_save_of_their_benchmark_is_read(tmp_path, change, expected):
    path = written(tmp_path, json.dumps({**VLLM, **change}))
    (found,) = read_measurements(path, instance_type="ml.g5.xlarge", instances=2)
    assert (found.configuration, found.users, found.ended_badly) == expected
    assert (found.requests_per_minute, found.tokens_per_second) == (45, Decimal("217.2"))
    assert found.time_to_first_token == {50: 100, 99: Decimal("250.5")}
    assert (found.inter_token_latency, found.latencies) == ({}, {99: 9000})


def test_more_users_than_requests_are_doubted(tmp_path):
    row = next(iter(ROWS_OF_SUITE))
    (found, sound) = read_measurements(written(tmp_path, SUITE + row.replace(",8,", ",32,") + row))
    assert found.doubts == ("32 users sent only 30 requests, so many were never answered at once",)
    assert sound.doubts == ()


RATES = {
    "rps": (3.5, 210),
    "requests_per_second": (3.5, 210),
    "requests_per_minute": (3.5, 3.5),
}


@pytest.mark.parametrize("name", RATES)
def test_a_rate_may_be_in_seconds_and_minutes(tmp_path, name):
    rate, per_minute = RATES[name]
    (found,) = read_measurements(
        written(tmp_path, HEAD.replace("requests_per_minute", name) + f"a,ml.g5.xlarge,{rate}\n")
    )
    assert float(found.requests_per_minute) == per_minute


# The first is a row of AWS's foundation-model-benchmarking-tool, in which three of four requests failed.
FAILURES = {
    (
        "error_rate",
        "0.78",
    ): "`error_rate` is `0.78`, which is not read: `failed` and `total_requests` count what failed",
    (
        "Failures/s",
        "23.8",
    ): "`Failures/s` is `23.8`, which is not read: `failed` and `total_requests` count what failed",
    ("error_rate", "0.0"): "",
    ("errors", ""): "",
    ("failed", "0"): "",
}


@pytest.mark.parametrize(("name", "value"), FAILURES)
def test_failures_that_are_not_understood_are_doubts(tmp_path, name, value):
    (found,) = read_measurements(
        written(tmp_path, HEAD.replace("\n", f",{name}\n") + f"a,ml.g5.xlarge,1,{value}\n")
    )
    assert "".join(found.doubts) == FAILURES[name, value]


def test_a_column_that_nobody_needs_is_left_out(tmp_path):
    (found,) = read_measurements(
        written(tmp_path, HEAD.replace("\n", ",region\n") + "a,ml.g5.xlarge,1,us-east-1\n")
    )
    assert found.requests_per_minute == 1


def test_a_table_may_have_any_percentiles_and_leave_values_out(tmp_path):
    (found,) = read_measurements(
        written(
            tmp_path,
            "instance_type, configuration, requests_per_minute, p50_ms, p99.9_ms, users\n"
            'ml.g5.xlarge, "batch, 2 copies", 1000.5, , 80,\n\n',
        )
    )
    assert found.configuration == "batch, 2 copies"
    assert found.requests_per_minute == Decimal("1000.5")
    assert found.latencies == {Decimal("99.9"): Decimal(80)}
    assert (found.users, found.price_per_hour) == (None, None)


HEAD = "configuration,instance_type,requests_per_minute\n"
WRONG = {
    "": ("1:1: IS071: the file is empty; name a CSV or JSON file of measurements",),
    "users\n": (
        "1:1: IS071: columns are missing: `configuration`, `instance_type` and `requests_per_minute`; the columns are",
    ),
    "configuration,instance_type\n": (
        "1:1: IS071: column is missing: `requests_per_minute`; the columns are",
    ),
    "<html>\n": ("the first line is `<html>`, not the names of columns; the columns are `configuration`",),
    HEAD + '"base,ml.g5.xlarge,1\n': (
        "2:1: IS071: the line is not CSV: unexpected end of data; check its quotes",
    ),
    HEAD + "base,g5.xlarge,1\n": (
        "`instance_type` is `g5.xlarge`; write a SageMaker instance type, such as `ml.",
    ),
    HEAD + "base,ml.g5.xlarge,\n": ("`requests_per_minute` is empty; write a number above 0",),
    HEAD.replace("\n", ",p95_ms,p95.0_ms\n"): (
        "the column `p95_ms` means the same as `p95.0_ms`; keep one of them",
    ),
    HEAD: ("the file holds no measurement",),
    HEAD + "base,ml.g5.xlarge,0\n": (
        "2:1: IS071: `requests_per_minute` is `0`; leave out a run in which nothing was answered",
    ),
    HEAD.replace("\n", ",instance_count\n") + "base,ml.g5.xlarge,9,2\n": (
        "2:1: IS071: `instance_count` is 2, so the rates are those of several instances together; write what one",
    ),
    HEAD + "base,ml.g5.xlarge,1e999999999\n,,-3\n": ("`configuration` is empty", "is `-3`"),
    HEAD + "base,ml.g5.xlarge,nan\n": ("is `nan`",),
    HEAD + "base,ml.g5.xlarge,1/s\nbase,ml.g5.xlarge\n": (
        "2:1: IS071: `requests_per_minute` is `1/s`",
        "3:1: IS071: the line has 2 values, but there are 3 columns",
    ),
    HEAD.replace("\n", ",p95\n"): ("`p95` does not say its unit; if it is in milliseconds, write `p95_ms`",),
    HEAD.replace("\n", ",latency_p95\n"): (
        "`latency_p95` does not say its unit; if it is in milliseconds, write `p95_ms`",
    ),
    HEAD.replace("\n", ",user\n"): ("unknown column `user`; did you mean `users`?",),
    HEAD.replace("\n", ",rps\n"): (
        "the column `requests_per_minute` means the same as `rps`; keep one of them",
    ),
    HEAD.replace("\n", ",users\n") + "base,ml.g5.xlarge,1,2.5\n": ("`users` is `2.5`; write a whole number",),
    HEAD.replace("\n", ",component\n") + "base,ml.g5.xlarge,1,\n": (
        "2:1: IS071: `component` is empty; write the name of what was measured",
    ),
    HEAD.replace("\n", ",users,users\n"): ("the column `users` occurs twice; keep one of them",),
    "{": ("the file is not JSON",),
    "[" * 100_000: ("the file is not JSON",),
    # What `vllm bench serve` writes.
    '{"request_throughput": 3.3, "output_throughput": 400.2}': (
        "`completed` is missing; name the summary as vLLM wrote it, or write what another load test measured",
    ),
    '{"request_throughput": 0.0, "output_throughput": 0.0, "completed": 0}': (
        "no request was answered; repeat the run",
    ),
    HEAD + "base,ml.g5.xlarge,sNaN\n": ("`requests_per_minute` is `sNaN`; write a number above 0",),
    '{"request_throughput": 3.3}': (
        "name the summary as AIPerf wrote it, or write what another load test measured into a CSV file",
    ),
    "[]": (
        "this JSON does not come from a known load test; it must have one of the keys `InferenceRecommendations`",
    ),
    # What AIPerf writes next to its summaries: `make test-aiperf` has it write them.
    '{"aiperf_version": "0.13.0", "metadata": {"aggregation_type": "confidence"}, "metrics": {}}': (
        "1:1: IS071: this JSON sums up several runs of AIPerf; name `profile_export_aiperf.json` of each run",
    ),
    '{"metadata": {"aggregation_type": "sweep"}, "per_combination_metrics": []}': (
        "sums up several runs of",
    ),
    '{"metadata": "aggregation_type"}': ("this JSON does not come from a known load test",),
    "Metric,avg,min,max,sum,p1\nRequest Latency (ms),211.87,206.34,217.70,1059.33,206.35\n\nMetric,Value\n": (
        "1:1: IS071: these columns of AIPerf's do not say what was measured; name `profile_export_aiperf.json`",
    ),
    "metric,mean,std\n\nrequest_throughput_avg,11.37,0.00\n": ("1:1: IS071: these columns of AIPerf's",),
    "concurrency,request_throughput_mean\n1,4.56\n": ("1:1: IS071: these columns of AIPerf's",),
    '{"Recommendations": [{}]}': ("does not have the form of its API: `DeploymentConfiguration` is missing",),
    '{"InferenceRecommendations": null}': (
        "`InferenceRecommendations` does not have the form of its API; write",
    ),
    '{"Recommendations": []}': ("the file holds no measurement; run the load test to its end",),
    '{"InferenceRecommendations": 1}': ("does not have the form of its API",),
    '{"request_throughput": null, "request_latency": 1}': ("which instance it measured",),
}


@pytest.mark.parametrize("content", WRONG)
def test_everything_wrong_is_said_with_its_line(tmp_path, content):
    with pytest.raises(SpecError) as caught:
        read_measurements(
            written(tmp_path, content), instance_type=None if "null" in content else "ml.g5.xlarge"
        )
    for message in WRONG[content]:
        assert message in str(caught.value)


def test_files_that_are_no_text_or_not_there(tmp_path):
    with pytest.raises(SpecError, match="the file cannot be read: No such file"):
        read_measurements(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="the file is UTF-16"):
        read_measurements(tmp_path / "bytes.csv")
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    with pytest.raises(SpecError, match="larger than 16 MiB"):
        read_measurements(tmp_path / "large.csv")


@given(
    st.text() | st.lists(st.sampled_from([*COLUMNS, "\n", ",", '"', "1", "{", "ml.g5.xlarge"])).map("".join)
)
def test_no_text_ends_in_a_traceback(tmp_path_factory, content):
    file = written(tmp_path_factory.mktemp("any"), content)
    with suppress(SpecError):
        read_measurements(file, instance_type="ml.g5.xlarge")


EXPORT = (RESULTS / "profile_export_aiperf.json").read_text("utf-8")


@pytest.mark.parametrize(
    "change",
    [
        {"request_latency": None},
        {"request_latency": {"p50": float("nan")}},
        {"request_throughput": {"avg": 0}},
        {"request_throughput": {"avg": [0, [1], 2]}},
        {"input_config": {"endpoint": {"model_names": ["a"]}, "loadgen": {"concurrency": 0}}},
        {"input_config": {"endpoint": {"model_names": ["a"]}, "loadgen": {"concurrency": 10**400}}},
        {"input_config": {"endpoint": {"model_names": [1]}}},
    ],
)
def test_a_run_of_aiperf_without_answers_is_said(tmp_path, change):
    file = written(tmp_path, json.dumps(json.loads(EXPORT) | change))
    with pytest.raises(SpecError, match="`request_throughput` does not have the form of its API") as caught:
        read_measurements(file, instance_type="ml.g5.xlarge")
    assert len(str(caught.value)) < 500
    assert "argument" not in str(caught.value)


def test_lines_may_end_as_on_any_machine(tmp_path):
    for end in ("\r", "\r\n"):
        file = tmp_path / "ends.csv"
        file.write_bytes((HEAD + "base,ml.g5.xlarge,5\n").replace("\n", end).encode())
        assert read_measurements(file)[0].requests_per_minute == 5


def written(folder, content):
    file = folder / "measurements"
    file.write_text(content, encoding="utf-8")
    return file


# ---------------------------------------------------------------- answers at hand, and files that are written


def recommended(instances: int, cost: float, rate: int):
    return {
        "InferenceRecommendations": [
            {
                "Metrics": {"CostPerHour": cost, "MaxInvocations": rate, "ModelLatency": 100},
                "EndpointConfiguration": {"InstanceType": "ml.c5d.xlarge", "InitialInstanceCount": instances},
                "ModelConfiguration": {},
            }
        ]
    }


def test_what_several_instances_do_together_is_divided_among_them():
    # AWS's own example: three ml.c5d.xlarge, of which each costs 0.23 an hour.
    (found,) = measured_in(recommended(3, 0.6899999976158142, 1113), source="job")
    assert (found.requests_per_minute, found.price_per_hour) == (371, Decimal("0.23"))


def test_the_answers_on_the_pages_of_aws_are_in_microseconds():
    # https://docs.aws.amazon.com/sagemaker/latest/dg/instance-recommendation-results.html
    job = recommended(1, 0.204, 0)
    job["InferenceRecommendations"][0]["Metrics"] = {"MaximumInvocations": 648, "ModelLatency": 263_596}
    (found,) = measured_in(job, source="job")
    assert (found.requests_per_minute, found.latencies) == (648, {95: Decimal("263.596")})


LACKING = {
    "MaxInvocations": "ml.c5d.xlarge, recommendation-2: it has no `MaxInvocations`, so instances cannot be counted",
    "ModelLatency": "ml.c5d.xlarge, recommendation-2: it has no `ModelLatency`, so it meets no latency limit",
    "Metrics": "ml.c5d.xlarge, recommendation-2: it was not measured",
}


@pytest.mark.parametrize("missing", LACKING)
def test_a_row_that_lacks_something_takes_no_other_with_it(missing):
    job, other = recommended(1, 0.23, 600), recommended(1, 0.23, 900)["InferenceRecommendations"][0]
    other.pop(missing, None)
    other.get("Metrics", {}).pop(missing, None)
    job["InferenceRecommendations"].append(other)
    found = measured_in(job, source="job")
    assert found[0].requests_per_minute == 600
    assert len(found) == (2 if missing == "ModelLatency" else 1)
    assert list(lacking(job)) == [LACKING[missing]]


def test_what_is_recommended_without_a_measurement_or_a_price_is_no_mistake():
    job = recommended(1, 0.23, 600)
    bare = {"EndpointConfiguration": {"InstanceType": "ml.m5.large"}, "ModelConfiguration": {}}
    del job["InferenceRecommendations"][0]["Metrics"]["CostPerHour"]
    job["InferenceRecommendations"].append(bare)
    (found,) = measured_in(job, source="job")
    assert (found.requests_per_minute, found.price_per_hour) == (600, None)


def test_a_price_of_32_bits_is_the_price_that_was_meant():
    (found,) = measured_in(recommended(1, 0.7360000014305115, 1645), source="job")
    assert found.price_per_hour == Decimal("0.736")


def test_an_answer_without_measurements_has_none_and_a_strange_one_is_named():
    assert measured_in({"Status": "FAILED"}, source="job") == []
    with pytest.raises(SpecError, match="job:1:1: IS071: `InferenceRecommendations` does not have the form"):
        measured_in({"InferenceRecommendations": [{}]}, source="job")


NUMBERS = st.decimals(min_value="0.001", max_value=10**9, allow_nan=False, allow_infinity=False, places=3)
ROWS = st.builds(
    Measurement,
    configuration=st.sampled_from(["base", "batch, 2 copies", 'a "quoted" one']),
    instance_type=st.just("ml.g5.xlarge"),
    requests_per_minute=NUMBERS,
    latencies=st.dictionaries(st.sampled_from([Decimal(50), Decimal(95), Decimal("99.9")]), NUMBERS),
    inter_token_latency=st.dictionaries(st.sampled_from([Decimal(50), Decimal(95)]), NUMBERS),
    tokens_per_second=st.none() | NUMBERS,
    price_per_hour=st.none() | NUMBERS,
    users=st.none() | st.integers(1, 10_000),
)


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_what_is_written_is_read_again(tmp_path_factory, rows):
    file = tmp_path_factory.mktemp("written") / "m.csv"
    file.write_text(as_csv(rows))
    assert read_measurements(file) == rows
