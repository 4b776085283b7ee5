"""``inferstack size`` for inference components: the copies of each, and the fleet that holds them."""

import json
from pathlib import Path
from typing import Any

import pytest

from inferstack.cli import main

IMAGE = "123456789012.dkr.ecr.us-east-1.amazonaws.com/chat:1"
SPEC = f"""\
kind: inference-components
endpoint_name: chat
variant:
  instance_type: ml.g5.12xlarge
  initial_instance_count: 1
inference_components:
  europe:
    specification:
      container: {{image: "{IMAGE}", artifact_url: s3://models/europe.tar.gz}}
      compute_resource_requirements:
        number_of_accelerator_devices_required: 2
        min_memory_required_in_mb: 16384
  america:
    specification:
      container: {{image: "{IMAGE}", artifact_url: s3://models/america.tar.gz}}
      compute_resource_requirements:
        number_of_accelerator_devices_required: 1
        min_memory_required_in_mb: 16384
    autoscaling: {{min_capacity: 0, max_capacity: 1}}
objective:
  traffic: traffic.csv
  measurements: load.csv
  latency: {{percentile: P95, value_in_milliseconds: 500}}
  safety_factor: 0.5
  budget_per_hour: 20
env: {{region: us-east-1}}
"""
TRAFFIC = "time,europe,america\n00:00,200,0\n06:00,900,0\n12:00,300,600\n18:00,100,300\n"
LOAD = """\
component,configuration,instance_type,requests_per_minute,p95_ms
europe,tp2,ml.g5.12xlarge,400,300
europe,tp2-long,ml.g5.12xlarge,700,800
america,base,ml.g5.12xlarge,200,100
europe,tp2,ml.g5.48xlarge,400,300
america,base,ml.g5.48xlarge,200,100
america,base,ml.g5.xlarge,200,100
"""
HOSTING = {"ml.g5.12xlarge": "7.09", "ml.g5.48xlarge": "20.36", "ml.g5.xlarge": "1.408"}
SIZE = ["size", "chat.yaml"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chat.yaml").write_text(SPEC)
    Path("traffic.csv").write_text(TRAFFIC)
    Path("load.csv").write_text(LOAD)
    region = {"currency": "USD", "read": "2026-11-23", "source": "a list", "hosting": HOSTING}
    Path("inferstack-prices.json").write_text(json.dumps({"regions": {"us-east-1": region}}))


def rows(capsys: pytest.CaptureFixture[str], *more: str) -> list[dict[str, Any]]:
    main([*SIZE, "--format", "json", *more])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def changed(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


def test_it_shows_copies_and_the_fleet_that_holds_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(SIZE) == 0
    header, first, blank, *rest = capsys.readouterr().out.splitlines()
    assert header.split("  ")[0] == "COUNT"
    assert first.split() == ["1-4", "ml.g5.12xlarge", "1-11", "16.03", "11,702.83", "445.31"]
    assert [blank, *rest[:4]] == [
        "",
        "in the spec, for the first:",
        "COMPONENT  CONFIGURATION  COPIES  TARGET",
        "europe     tp2            1-5     200 requests a minute",
        "america    base           0-6     100 requests a minute",
    ]
    short = "in 13 of 1440 minutes with requests, fewer copies run than these need: scaling adds them with a delay"
    assert rest[-7:] == [
        "at the peak  4          28.36     680.64   20,702.80",
        short,
        "prices in USD: us-east-1, read on 2026-11-23 from a list",
        "not for this objective:",
        "  ml.g5.12xlarge: `europe`, tp2-long: 800 ms is over the limit of 500 ms at P95",
        "  2 x ml.g5.48xlarge: 30.71 an hour is over the budget of 20",
        "  ml.g5.xlarge: a copy of `europe` needs more than a whole `ml.g5.xlarge` has",
    ]


def test_what_is_written_is_right_and_confirmed(capsys: pytest.CaptureFixture[str]) -> None:
    before = rows(capsys)
    assert main([*SIZE, "--write"]) == 0
    assert "chat.yaml: `america`: `min_capacity` is still 0" in capsys.readouterr().err
    text = Path("chat.yaml").read_text()
    fleet = "managed_instance_scaling: {status: ENABLED, min_instance_count: 1, max_instance_count: 4}"
    metric = "metric: SageMakerInferenceComponentInvocationsPerCopy"
    for line in (
        "  initial_instance_count: 4",
        f"  {fleet}",
        "    runtime_config: {copy_count: 5}",
        "      min_capacity: 1",
        f"        - {{{metric}, target_value: 200}}",
        f"    autoscaling: {{min_capacity: 0, max_capacity: 6, policies: [{{{metric}, target_value: 100}}]}}",
        "    runtime_config: {copy_count: 6}",
    ):
        assert line in text.splitlines()
    assert main(["validate", "chat.yaml"]) == 0
    assert "1 spec: no problems" in "".join(capsys.readouterr())
    assert rows(capsys) == before
    assert main([*SIZE, "--write"]) == 0
    assert "chat.yaml: unchanged" in capsys.readouterr().err
    # What `share` simulates of it is the same fleet.
    assert main(["share", "chat.yaml", "--traffic", "traffic.csv", "--format", "json"]) == 0
    (shared,) = json.loads(capsys.readouterr().out)
    average = shared["with_delays"]["instance_minutes"]["shared"] / 1440
    assert float(before[0]["average_count"]) == pytest.approx(average)


def test_another_type_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    Path("chat.yaml").write_text(SPEC.replace("budget_per_hour: 20", "budget_per_hour: 50"))
    assert main([*SIZE, "--choose", "ml.g5.48xlarge", "--write"]) == 0
    assert "2 x ml.g5.48xlarge:" in capsys.readouterr().out.splitlines()
    assert "  instance_type: ml.g5.48xlarge" in Path("chat.yaml").read_text().splitlines()
    assert main([*SIZE, "--choose", "ml.g5.xlarge", "--write"]) == 1
    assert "not written, since no `ml.g5.xlarge` meets the objective" in capsys.readouterr().err
    assert main([*SIZE, "--choose", "ml.g5.24xlarge"]) == 1
    assert "nothing was measured on `ml.g5.24xlarge`" in capsys.readouterr().err


def test_a_file_that_names_no_component_is_of_the_one_whose_objective_names_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = rows(capsys)
    objectives = {}
    for name in ("europe", "america"):
        lines = [line.partition(",")[2] for line in LOAD.splitlines() if line.startswith((name, "component"))]
        Path(f"{name}.csv").write_text("\n".join(lines))
        objectives[name] = f"    objective: {{measurements: {name}.csv}}\n"
    text = SPEC.replace("  measurements: load.csv\n", "")
    for name, objective in objectives.items():
        text = text.replace(f"  {name}:\n", f"  {name}:\n{objective}")
    Path("chat.yaml").write_text(text)
    assert rows(capsys) == before


ADAPTER = """\
  legal:
    specification:
      base_inference_component_name: europe
      container: {artifact_url: s3://models/legal.tar.gz}
"""


@pytest.mark.parametrize(
    ("spec", "load", "said"),
    [
        (
            {},
            {"america,": "europe,"},
            "`america` has no measurements: measure one copy on ml.g5.12xlarge, and name `america` in the "
            "column `component`",
        ),
        (
            {},
            {"america,base,ml.g5.48xlarge": "amerika,base,ml.g5.48xlarge"},
            "`amerika` was measured, but is no component of the spec; did you mean `america`?",
        ),
        (
            {},
            {"component,": "", "europe,": "", "america,": ""},
            "`tp2` was measured of any of `europe` or `america`: name it in the column `component`",
        ),
        (
            {"objective:\n": f"{ADAPTER}objective:\n"},
            {"america,base,ml.g5.48xlarge": "legal,base,ml.g5.48xlarge"},
            "`legal` was measured, which is an adapter: measure its base `europe`",
        ),
        (
            {"  traffic: traffic.csv\n": "  requests_per_minute: 100\n"},
            {},
            "nothing says how many requests `europe` gets: write `objective: {requests_per_minute: …}` in it",
        ),
        (
            {"  initial_instance_count: 1\n": "  initial_instance_count: 1\n  variant_name: one\n"},
            {},
            "the endpoint has no variant `two`, only `one`",
        ),
    ],
)
def test_what_cannot_be_sized_says_why(
    spec: dict[str, str], load: dict[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("chat.yaml").write_text(changed(SPEC, spec))
    Path("load.csv").write_text(changed(LOAD, load))
    named = ["--variant", "two"] if "variant" in said else []
    assert main([*SIZE, *named]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("load", "why"),
    [
        ({"300\n": "501\n"}, "`europe`, tp2: 501 ms is over the limit of 500 ms at P95"),
        (
            {"europe,tp2,ml.g5.48xlarge,400": "europe,tp2,ml.g5.xlarge,400"},
            "`europe` was not measured on ml.g5.48xlarge",
        ),
        ({"ml.g5.48xlarge": "ml.g7.future"}, "the hardware of `ml.g7.future` is not known"),
    ],
)
def test_a_type_that_does_not_do_is_shown_with_the_reason(
    load: dict[str, str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("load.csv").write_text(changed(LOAD, load))
    assert main([*SIZE, "--format", "json"]) in (0, 1)
    found = capsys.readouterr()
    assert "without prices" not in found.err
    objections = [it for row in json.loads(found.out) for it in row["objections"]]
    assert any(it.startswith(why) for it in objections)


def test_traffic_that_names_other_components_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("traffic.csv").write_text(TRAFFIC.replace("america", "asia"))
    assert main(SIZE) == 1
    assert "no spec has `asia`" in capsys.readouterr().err


def test_a_picture_is_of_configurations(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*SIZE, "--picture", "cost.svg"])
    assert "--picture" in capsys.readouterr().err


def test_what_is_doubted_was_measured_of_a_copy(capsys: pytest.CaptureFixture[str]) -> None:
    users = "component,configuration,instance_type,requests_per_minute,p95_ms,users\n"
    users += "europe,tp2,ml.g5.12xlarge,400,300,8\neurope,tp2,ml.g5.12xlarge,700,800,16\n"
    Path("load.csv").write_text(f"{users}america,base,ml.g5.12xlarge,0.5,100,\n")
    [row] = rows(capsys)
    assert row["objections"] == ["`america`, base: less than one request a minute per copy"]
    Path("load.csv").write_text(f"{users}america,base,ml.g5.12xlarge,200,100,\n")
    [row] = rows(capsys)
    assert row["doubts"] == [
        "`europe`, tp2, 8 users: with 16 users it did 700 requests a minute: at 8 users, the load was the limit, "
        "not the copy"
    ]
