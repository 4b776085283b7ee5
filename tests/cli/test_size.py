"""``inferstack size`` and ``inferstack prices``: from measurements and prices to instances."""

import json
import sys
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from support.price_list import INDEX, OFFERS, offer_file, region_index, serving

from inferstack.account import price_list
from inferstack.cli import main

PUBLISHED = Path(__file__).parents[2] / "docs/examples/bert-large.csv"
SPEC = """\
kind: single-model
endpoint_name: bert
model: {image: "123456789012.dkr.ecr.us-east-1.amazonaws.com/bert:1", model_data_url: s3://models/bert.tar.gz}
variant: {instance_type: ml.g4dn.2xlarge, initial_instance_count: 23}
env: {region: us-east-1}
"""
OBJECTIVE = (
    "objective: {requests_per_minute: 30000, latency: {percentile: P95, value_in_milliseconds: 500}}\n"
)
UNPRICED = "configuration,instance_type,requests_per_minute,p95_ms,users\nbase,ml.g5.xlarge,1000,100,2\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bert.yaml").write_text(SPEC + OBJECTIVE)
    Path("unpriced.csv").write_text(UNPRICED)


def test_the_cheapest_that_meets_the_objective_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "bert.yaml", "--measurements", str(PUBLISHED)]) == 0
    header, first, *rest = capsys.readouterr().out.splitlines()
    assert header.split("  ")[0] == "COUNT"
    assert first.split() == ["23", "ml.g4dn.2xlarge", "trt-db", "1335", "21.62", "15,782.60", "12.01"]
    assert "  10 x ml.g4dn.xlarge trt-db-ig: 783 ms is over the limit of 500 ms at P95" in rest
    assert all(len(line) <= 80 for line in (header, first, *rest))


def test_it_is_data_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "bert.yaml", "--measurements", str(PUBLISHED), "--format", "json"]) == 0
    ranked = json.loads(capsys.readouterr().out)
    assert len(ranked) == 24
    assert (ranked[0]["count"], ranked[0]["per_hour"], ranked[0]["objections"]) == (23, "21.62", [])
    # 21.62 for 60 x 30,000.
    assert (ranked[0]["per_month"], ranked[0]["per_million"]) == ("15782.6", "12.0111111111")


def test_without_prices_it_says_how_to_get_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "bert.yaml", "--measurements", "unpriced.csv"]) == 0
    found = capsys.readouterr()
    assert "inferstack prices update --region REGION" in found.err
    assert found.out.splitlines()[1].split()[-3:] == ["-", "-", "-"]
    assert "ml.g5.xlarge base: one number of users only (2): measure with more" in found.out


SEVERAL = """\
configuration,instance_type,requests_per_minute,p95_ms,users
base,ml.g5.xlarge,1000,60,1
base,ml.g5.xlarge,2000,120,4
base,ml.g5.xlarge,2200,480,16
"""


def test_what_cannot_be_counted_shows_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    Path("chat.yaml").write_text(f"{SPEC}objective: {{concurrency: 64}}\n")
    Path("unpriced.csv").write_text(UNPRICED.replace(",2\n", ",\n"))
    assert main(["size", "chat.yaml", "--measurements", "unpriced.csv"]) == 1
    why = "its number of users is not known, so it cannot be counted by `concurrency`"
    assert f"  ml.g5.xlarge base: {why}" in capsys.readouterr().out.splitlines()
    assert main(["size", "chat.yaml", "--measurements", "unpriced.csv", "--format", "json"]) == 1
    [row] = json.loads(capsys.readouterr().out)
    numbers = ("count", "average_count", "minutes_short", "min_capacity", "target_value", "per_hour")
    assert [row[it] for it in numbers] == [None] * 6


def test_several_numbers_of_users_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    Path("several.csv").write_text(SEVERAL)
    several = ["size", "bert.yaml", "--measurements", "several.csv"]
    assert main(several) == 0
    out = capsys.readouterr().out
    assert [line.split()[:5] for line in out.splitlines()[1:4]] == [
        ["14", "ml.g5.xlarge", "base,", "16", "users"],
        ["15", "ml.g5.xlarge", "base,", "4", "users"],
        ["30", "ml.g5.xlarge", "base,", "1", "user"],
    ]
    # Of each configuration, only the best row is doubted: the rate rose by a tenth.
    assert [line for line in out.splitlines() if line.startswith("ml.g5.xlarge base, ")] == [
        "ml.g5.xlarge base, 16 users: the rate still rose with the last step, from 4 to 16 users: "
        "measure with more"
    ]
    assert main([*several, "--choose", "ml.g5.xlarge base, 1 user"]) == 0
    assert "at 1 user, the load was the limit, not the instance" in capsys.readouterr().out
    assert main([*several, "--choose", "base", "--format", "json"]) == 0
    assert [it["users"] for it in json.loads(capsys.readouterr().out)] == [16, 4, 1]


def test_what_is_doubted_of_many_configurations_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("first", "second", "third")
    rows = "".join(f"{name},ml.g5.xlarge,{1200 - at},100,2\n" for at, name in enumerate(names))
    Path("three.csv").write_text(SEVERAL.splitlines(keepends=True)[0] + rows)
    for choice, name in (([], "first"), (["--choose", "second"], "second")):
        assert main(["size", "bert.yaml", "--measurements", "three.csv", *choice]) == 0
        doubts = [line for line in capsys.readouterr().out.splitlines() if "measure with more" in line]
        assert doubts == [
            f"ml.g5.xlarge {name} and 2 more: one number of users only (2): "
            "measure with more to see whether the rate still rises"
        ]


def test_files_of_single_runs_are_put_together(capsys: pytest.CaptureFixture[str]) -> None:
    first, *rows = SEVERAL.splitlines(keepends=True)
    for number, row in enumerate(rows):
        Path(f"{number}.csv").write_text(first + row)
    files = [it for number in (0, 1, 1) for it in ("--measurements", f"{number}.csv")]
    assert main(["size", "bert.yaml", *files]) == 0
    out = capsys.readouterr().out
    assert out.count("15  ") == 1
    assert "ml.g5.xlarge base, 4 users: the rate still rose with the last step, from 1 to 4 users" in out


def test_a_committed_price_file_is_used_for_the_region_of_the_spec(
    capsys: pytest.CaptureFixture[str],
) -> None:
    region = {
        "currency": "USD",
        "read": "2026-11-23",
        "source": "a list",
        "hosting": {"ml.g5.xlarge": "1.408"},
    }
    Path("inferstack-prices.json").write_text(json.dumps({"regions": {"us-east-1": region}}))
    assert main(["size", "bert.yaml", "--measurements", "unpriced.csv"]) == 0
    assert "42.24" in capsys.readouterr().out


def test_nothing_that_meets_the_objective_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    Path("slow.csv").write_text(UNPRICED.replace(",100,", ",900,"))
    assert main(["size", "bert.yaml", "--measurements", "slow.csv"]) == 1
    assert "not for this objective:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda: Path("bert.yaml").write_text(SPEC),
            "the spec does not say what it is for; write `objective:",
        ),
        (
            lambda: Path("bert.yaml").write_text(f"{SPEC}objective: {{tokens_per_request: 1024}}\n"),
            "the spec does not say how many requests there are; write `objective:",
        ),
        (lambda: Path("unpriced.csv").write_text("a,b\n"), "columns are missing: `configuration`"),
        (lambda: Path("unpriced.csv").unlink(), "the file cannot be read: No such file"),
        (lambda: Path("inferstack-prices.json").write_text("{}"), "this is not a price file"),
    ],
)
def test_what_is_missing_or_wrong_is_said(change: Any, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    change()
    assert main(["size", "bert.yaml", "--measurements", "unpriced.csv"]) == 1
    assert said in capsys.readouterr().err


def test_the_largest_and_smallest_numbers_give_results(capsys: pytest.CaptureFixture[str]) -> None:
    most = "objective: {requests_per_minute: 1000000000, safety_factor: 0.01, spare_instances: 1000}\n"
    Path("bert.yaml").write_text(SPEC + most)
    Path("odd.csv").write_text(
        "configuration,instance_type,requests_per_minute,price_per_hour\n"
        "slow,ml.g5.xlarge,0.000000001,1000000000000\nfast,ml.g5.xlarge,1e12,1e-9\n"
    )
    assert main(["size", "bert.yaml", "--measurements", "odd.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["1001", "ml.g5.xlarge", "fast"]


# ---------------------------------------------------------------- files that the objective names


def test_the_files_of_the_objective_are_used(capsys: pytest.CaptureFixture[str]) -> None:
    Path("traffic.csv").write_text("time,bert\n00:00,500\n12:00,3000\n")
    Path("bert.yaml").write_text(SPEC + "objective: {traffic: traffic.csv, measurements: unpriced.csv}\n")
    assert main(["size", "bert.yaml"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].split()[:2] == ["1-3", "ml.g5.xlarge"]
    assert "    min_capacity: 1\n" in out
    # 3 instances in the second half of the day, which come 5 minutes late.
    on_average, at_peak = (line.split() for line in out.splitlines() if line.startswith(("on ", "at ")))
    assert on_average == ["on", "average", "1.993", "-", "-", "-"]
    assert at_peak == ["at", "the", "peak", "3", "-", "-", "-"]
    assert "in 5 of 1440 minutes with requests, fewer instances run than these need" in out


HOURS = "time,bert\n" + "".join(f"{hour:02d}:00,{6000 if hour == 10 else 60}\n" for hour in range(24))
PRICED = """\
configuration,instance_type,requests_per_minute,p95_ms,price_per_hour
base,ml.g5.xlarge,400,100,1.408
base,ml.g5.48xlarge,8000,100,20.36
"""


def test_the_cost_over_the_day_is_shown_and_decides(capsys: pytest.CaptureFixture[str]) -> None:
    Path("traffic.csv").write_text(HOURS)
    Path("priced.csv").write_text(PRICED)
    objective = "objective: {traffic: traffic.csv, measurements: priced.csv, safety_factor: 1}\n"
    Path("bert.yaml").write_text(SPEC + objective)
    assert main(["size", "bert.yaml"]) == 0
    out = capsys.readouterr().out
    assert [line.split() for line in out.splitlines()[1:3]] == [
        ["1-15", "ml.g5.xlarge", "base", "400", "2.39", "1,747.33", "129.73"],
        ["1", "ml.g5.48xlarge", "base", "8000", "20.36", "14,862.80", "1,103.52"],
    ]
    assert "on average   1.7        2.39      57.45    1,747.33\n" in out
    assert "at the peak  15         21.12     506.88   15,417.60\n" in out
    assert "each number of the traffic is for 60 minutes: a busier one among them is not seen\n" in out
    assert "`safety_factor`" not in out
    assert main(["size", "bert.yaml", "--format", "json"]) == 0
    first = json.loads(capsys.readouterr().out)[0]
    assert (first["count"], first["average_count"], first["minutes_short"]) == (15, "1.7", 5)
    assert (first["per_hour"], first["per_month"], first["peak_per_hour"]) == ("2.3936", "1747.328", "21.12")
    # A queue, not a target, scales an asynchronous endpoint: nothing but the peak is known.
    Path("bert.yaml").write_text(SPEC + QUEUE + objective)
    assert main(["size", "bert.yaml", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["per_hour"] == "20.36"


def test_each_of_several_variants_costs_its_share_of_the_day(capsys: pytest.CaptureFixture[str]) -> None:
    Path("traffic.csv").write_text(HOURS)
    Path("priced.csv").write_text(PRICED)
    fleet = "instance_type: ml.g5.xlarge, initial_instance_count: 1"
    variants = [f"  - {{variant_name: {name}, initial_variant_weight: 1, {fleet}}}\n" for name in "AB"]
    kept = [line for line in SPEC.splitlines(keepends=True) if not line.startswith("variant:")]
    objective = "objective: {traffic: traffic.csv, measurements: priced.csv}\n"
    Path("bert.yaml").write_text("".join((*kept, "variants:\n", *variants, objective)))
    assert main(["size", "bert.yaml", "--variant", "A", "--format", "json"]) == 0
    first = json.loads(capsys.readouterr().out)[0]
    # 3,000 need 8 instances, 7 more than usual, for 72 minutes.
    assert (first["count"], first["average_count"]) == (8, "1.35")


def test_what_was_assumed_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(SIZE) == 0
    out = capsys.readouterr().out
    assert "no `safety_factor`: planned with all that was measured; AWS starts with 0.5\n" in out
    assert "no file of `traffic`" not in out
    Path("minutes.csv").write_text("minute,bert\n0,500\n1,900\n")
    Path("bert.yaml").write_text(SPEC + "objective: {traffic: minutes.csv}\n")
    assert main(SIZE) == 0
    assert "no file of `traffic`" not in capsys.readouterr().out
    Path("bert.yaml").write_text(STAGED)
    assert main(SIZE) == 0
    assert "no file of `traffic`: the cost is that of the busiest minute\n" in capsys.readouterr().out


def test_measurements_have_to_come_from_somewhere(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["size", "bert.yaml"])
    assert "add --measurements FILE, or `measurements: FILE` to the objective" in capsys.readouterr().err


# ---------------------------------------------------------------- --choose and --write

STAGED = (
    SPEC
    + OBJECTIVE.replace("30000,", "30000, lowest_requests_per_minute: 3000,")
    + """\
autoscaling:
  min_capacity: 1  # at night
  max_capacity: 5
  policies: [{metric: SageMakerVariantInvocationsPerInstance, target_value: 10}]
stages:
  test: {}
  prod:
    variant: {initial_instance_count: 4}
    autoscaling:
      max_capacity: 9
"""
)
SIZE = ["size", "bert.yaml", "--measurements", str(PUBLISHED)]


def test_the_best_is_written_where_the_stage_has_its_values_from(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bert.yaml").write_text(STAGED)
    assert main([*SIZE, "--stage", "prod", "--write"]) == 0
    assert Path("bert.yaml").read_text() == (
        STAGED.replace("count: 4", "count: 23")
        .replace("max_capacity: 9", "max_capacity: 23")
        .replace("min_capacity: 1 ", "min_capacity: 3 ")
        .replace("target_value: 10", "target_value: 1335")
    )
    found = capsys.readouterr()
    assert "23 x ml.g4dn.2xlarge trt-db:\n--- bert.yaml\n+++ bert.yaml (edited)\n" in found.out
    assert "in the spec" not in found.out
    assert found.err == "bert.yaml: written; `test` changed, too, since the stages share it\n"
    assert main([*SIZE, "--stage", "prod", "--write"]) == 0
    assert capsys.readouterr().err == "bert.yaml: unchanged\n"


def test_another_configuration_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SIZE, "--choose", "trt-base"]) == 0
    assert "in the spec, for ml.g4dn.12xlarge trt-base:\n" in capsys.readouterr().out
    assert main([*SIZE, "--choose", "ml.g4dn.12xlarge trt-ig", "--write"]) == 0
    assert "instance_type: ml.g4dn.12xlarge, initial_instance_count: 6}" in Path("bert.yaml").read_text()


QUEUE = "endpoint_config: {async_inference_config: {output_config: {s3_output_path: s3://out/}}}\n"
BY_QUEUE = """\
autoscaling:
  min_capacity: 1
  max_capacity: 3
  policies: [{metric: ApproximateBacklogSizePerInstance, target_value: 5}]
"""
VARYING = OBJECTIVE.replace("30000,", "30000, lowest_requests_per_minute: 3000,")


@pytest.mark.parametrize(
    ("spec", "last"),
    [
        (SPEC, "  variant: {instance_type: ml.g4dn.2xlarge, initial_instance_count: 23}"),
        (SPEC + VARYING, "      - {metric: SageMakerVariantInvocationsPerInstance, target_value: 1335}"),
        (SPEC + QUEUE, "  variant: {instance_type: ml.g4dn.2xlarge, initial_instance_count: 23}"),
        (SPEC + QUEUE + BY_QUEUE, "  autoscaling: {min_capacity: 23, max_capacity: 23}"),
    ],
)
def test_it_proposes_what_it_would_write(spec: str, last: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bert.yaml").write_text(spec if VARYING in spec else spec + OBJECTIVE)
    assert main(SIZE) == 0
    _, proposed = capsys.readouterr().out.split("\nin the spec, for the first:\n")
    assert last in [*takewhile(lambda it: it.startswith("  "), proposed.splitlines())][-1:]


def test_what_does_not_meet_the_objective_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SIZE, "--choose", "ml.g4dn.xlarge trt-db-ig", "--write"]) == 1
    assert Path("bert.yaml").read_text() == SPEC + OBJECTIVE
    found = capsys.readouterr()
    assert "783 ms is over the limit" in found.out
    assert found.err == "bert.yaml: not written, since no `ml.g4dn.xlarge trt-db-ig` meets the objective\n"
    Path("slow.csv").write_text(UNPRICED.replace(",100,", ",900,"))
    assert main(["size", "bert.yaml", "--measurements", "slow.csv", "--write"]) == 1
    assert "bert.yaml: not written, since no configuration meets the objective" in capsys.readouterr().err
    assert main([*SIZE, "--choose", "trt"]) == 1
    assert "no configuration `trt` was measured; did you mean" in capsys.readouterr().err


def test_what_cannot_be_written_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    serverless = "serverless_config: {memory_size_in_mb: 2048, max_concurrency: 5}"
    Path("bert.yaml").write_text(
        SPEC.replace("instance_type: ml.g4dn.2xlarge, initial_instance_count: 23", serverless) + OBJECTIVE
    )
    assert main([*SIZE, "--write"]) == 1
    assert "bert.yaml: the variant is serverless, so it has no instances to write" in capsys.readouterr().err
    assert main([*SIZE, "--variant", "Nobody"]) == 1
    assert "bert.yaml: the endpoint has no variant `Nobody`" in capsys.readouterr().err


def test_a_type_that_the_spec_cannot_have_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    Path("odd.csv").write_text(UNPRICED.replace("ml.g5.xlarge", "ml.g5.tiny"))
    assert main(["size", "bert.yaml", "--measurements", "odd.csv", "--write"]) == 1
    assert "bert.yaml: not written, because the edited spec would be wrong: IS" in capsys.readouterr().err
    assert Path("bert.yaml").read_text() == SPEC + OBJECTIVE


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--instances", "0"), "'0' is not a whole number from 1 to 1000000000"),
        (("--instances", "9" * 5000), f"'{'9' * 40}' is not a whole number from 1 to 1000000000"),
        (
            ("--instance-type", "g5.xlarge"),
            "'g5.xlarge' is not a SageMaker instance type, such as ml.g5.xlarge",
        ),
    ],
)
def test_options_have_bounds(words: tuple[str, str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*SIZE, *words])
    assert capsys.readouterr().err.endswith(f"argument {words[0]}: {said}\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--write --format json", "--write shows a diff, which is not json"),
        ("--days 3", "--days is for --print-query, or --endpoint without --from-cloudwatch"),
        (
            "--days 3 --endpoint e --from-cloudwatch a.json",
            "--days is for --print-query, or --endpoint without",
        ),
        ("--instances 2", "--instances is for a file of --measurements"),
        (
            "--instance-type ml.g5.xlarge",
            "--instance-type is for a file of --measurements or --from-cloudwatch",
        ),
        (
            "--instance-type ml.g5.xlarge --endpoint e",
            "--instance-type is for a file of --measurements or --fro",
        ),
        (
            "--measurements unpriced.csv --instances 2 --instance-type ml.g5.xlarge",
            "--instances and --instance-type are for a file that does not say it, as AIPerf's",
        ),
        (
            "--print-query --measurements load.csv --prices p.json --choose trt --write --picture a.svg",
            "--measurements, --prices, --choose, --write and --picture are for ranking, which --print-query does not",
        ),
    ],
)
def test_options_that_nothing_reads_are_refused(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["size", "bert.yaml", *words.split()])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


# ---------------------------------------------------------------- --from-cloudwatch and --print-query

COMPONENT = """\
kind: inference-components
inference_components: {bert: {specification: {model_name: bert, compute_resource_requirements: {
  number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 1024}}}}
models: {bert: {"""


def test_only_the_rate_of_an_instance_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    serverless = "serverless_config: {memory_size_in_mb: 2048, max_concurrency: 5}"
    fleet = "instance_type: ml.g4dn.2xlarge, initial_instance_count: 23"
    component = SPEC.replace("kind: single-model\n", "").replace("model: {", COMPONENT).replace("gz}", "gz}}")
    for spec, said in (
        (SPEC.replace(fleet, serverless), "bert.yaml: a serverless variant has no instances to count"),
        (SPEC + QUEUE, "bert.yaml: an asynchronous endpoint has no `Invocations` in CloudWatch"),
        (component, "bert.yaml: its instances share their requests among components"),
    ):
        Path("bert.yaml").write_text(spec + OBJECTIVE)
        for option in (["--print-query"], ["--from-cloudwatch", "answer.json"]):
            assert main(["size", "bert.yaml", *option]) == 1
            assert said in capsys.readouterr().err


# ---------------------------------------------------------------- --picture


def test_a_picture_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SIZE, "--picture", "sizes.svg"]) == 0
    assert Path("sizes.svg").read_text().startswith("<svg")
    assert capsys.readouterr().err == "sizes.svg: drawn\n"
    assert main(["size", "bert.yaml", "--measurements", "unpriced.csv", "--picture", "sizes.png"]) == 0
    with pytest.raises(SystemExit):
        main([*SIZE, "--picture", "sizes.gif"])


def test_a_picture_needs_a_latency_and_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("unknown.csv").write_text("configuration,instance_type,requests_per_minute\nbase,ml.g5.xlarge,10\n")
    assert main(["size", "bert.yaml", "--measurements", "unknown.csv", "--picture", "a.svg"]) == 1
    assert "a.svg: not drawn: no configuration has a latency" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert main([*SIZE, "--picture", "a.svg"]) == 1
    assert "pip install 'inferstack[pictures]'" in capsys.readouterr().err
    assert not Path("a.svg").exists()


# ---------------------------------------------------------------- prices


def test_prices_of_a_region_are_written_beside_those_of_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Neither is needed.
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    other = {"currency": "USD", "read": "2026-01-01", "source": "a list", "hosting": {"ml.m5.large": "0.115"}}
    Path("inferstack-prices.json").write_text(json.dumps({"regions": {"us-east-1": other}}))
    file = f"{OFFERS}/20261007160901/eu-west-1/index.json"
    offer = offer_file("eu-west-1", {"ml.g5.xlarge": "1.5710", "ml.p5.48xlarge": "0", "ml.m5.large": "0.129"})
    files = {INDEX: region_index(eu_west_1=file), file: json.dumps(offer).encode()}
    with serving(files) as url:
        monkeypatch.setattr(price_list, "_LISTS", {"aws": f"{url}/offers/v1.0/aws"})
        assert main(["prices", "update", "--region", "eu-west-1"]) == 0
        said = capsys.readouterr().err
        assert main(["prices", "update", "--region", "us-east-2"]) == 1
    assert "inferstack: the price list has no prices for us-east-2" in capsys.readouterr().err
    regions = json.loads(Path("inferstack-prices.json").read_text())["regions"]
    assert regions["us-east-1"] == other
    assert regions["eu-west-1"]["hosting"] == {"ml.g5.xlarge": "1.571", "ml.m5.large": "0.129"}
    assert regions["eu-west-1"]["without_price"] == ["ml.p5.48xlarge"]
    assert regions["eu-west-1"]["source"] == url + file
    assert "left out: ml.p5.48xlarge: a price of 0" in said
    assert "inferstack-prices.json: 2 instance types in eu-west-1, in USD; commit the file" in said


def test_a_savings_plan_is_given_and_stays(capsys: pytest.CaptureFixture[str]) -> None:
    Path("index.json").write_text(json.dumps(offer_file("us-east-1", {"ml.g5.xlarge": "1.408"})))
    update = ["prices", "update", "--region", "us-east-1", "--offer", "index.json"]
    for words in ([*update, "--price-factor", "0.64"], update):
        assert main(words) == 0
        assert "1 instance type in us-east-1, in USD, times 0.64; commit the file" in capsys.readouterr().err
        assert main(["size", "bert.yaml", "--measurements", "unpriced.csv"]) == 0
        out = capsys.readouterr().out
        # 30 x 1.408 x 0.64.
        assert out.splitlines()[1].split()[4:6] == ["27.0336", "19,734.53"]
        assert "from index.json, times 0.64\n" in out
    assert main([*update, "--price-factor", "1"]) == 0
    for wrong in ("0", "1.1", "-1", "nan", "1e-3", "64 %"):
        with pytest.raises(SystemExit):
            main([*update, f"--price-factor={wrong}"])
        assert "must be above 0 and at most 1, such as 0.64" in capsys.readouterr().err


def test_a_price_list_that_was_downloaded_needs_no_network(capsys: pytest.CaptureFixture[str]) -> None:
    Path("index.json").write_text(json.dumps(offer_file("eu-west-1", {"ml.g5.xlarge": "1.571"})))
    assert main(["prices", "update", "--region", "eu-west-1", "--offer", "index.json"]) == 0
    assert '"source": "index.json"' in Path("inferstack-prices.json").read_text()
    capsys.readouterr()
    assert main(["prices", "update", "--region", "ap-east-1", "--offer", "index.json"]) == 1
    assert "no hosting prices for ap-east-1" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["prices", "update", "--region", "mars-east-1", "--offer", "index.json"])
    assert "argument --region: 'mars-east-1' is not the name of an AWS region" in capsys.readouterr().err
    Path("index.json").write_text("<html>")
    assert main(["prices", "update", "--region", "eu-west-1", "--offer", "index.json"]) == 1
    assert "index.json: this is not a price list" in capsys.readouterr().err


def test_the_period_of_traffic_can_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    points = [{"Timestamp": f"2026-11-23T0{hour}:00:00Z", "Sum": 30_000.0} for hour in range(3)]
    Path("traffic.json").write_text(json.dumps({"Label": "Invocations", "Datapoints": points}))
    Path("bert.yaml").write_text(f"{SPEC}objective: {{traffic: traffic.json}}\n")
    size = ["size", "bert.yaml", "--measurements", "unpriced.csv", "--format", "json"]
    assert main(size) == 1
    assert "does not say its period" in capsys.readouterr().err
    # 30,000 requests in a minute of each hour, or over the whole of it.
    for period, count in (("60", 30), ("3600", 1)):
        assert main([*size, "--period", period]) == 0
        assert json.loads(capsys.readouterr().out)[0]["count"] == count


def test_a_period_that_nothing_reads_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("traffic.csv").write_text("time,bert\n00:00,9000\n12:00,100\n")
    Path("day.yaml").write_text(f"{SPEC}objective: {{traffic: traffic.csv, measurements: unpriced.csv}}\n")
    Path("unpriced.csv").write_text(UNPRICED)
    for spec in ("day.yaml", "bert.yaml"):
        with pytest.raises(SystemExit):
            main(["size", spec, "--measurements", "unpriced.csv", "--period", "60"])
        assert "--period is for answers of CloudWatch, and none is read" in capsys.readouterr().err
