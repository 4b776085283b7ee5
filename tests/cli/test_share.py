"""``inferstack share``: specs and traffic in, instance hours out."""

import csv
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from inferstack.cli import main

ROOT = Path(__file__).parents[2]
CHAT = ROOT / "model_specs" / "travel-chat.yaml"
LORA = ROOT / "model_specs" / "support-adapters.yaml"
MULTI_MODEL = ROOT / "model_specs" / "resnet-mme.yaml"
UNCACHED = ROOT / "model_specs" / "churn-cpu-mme.yaml"
HALVES = "time,llama2-europe,llama2-america\n00:00,20,0\n12:00,0,20\n"
G5 = {
    "us-east-1": {
        "currency": "USD",
        "read": "2026-11-23",
        "source": "a list",
        "hosting": {"ml.g5.12xlarge": "7.09"},
    }
}

Spec = dict[str, Any]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("halves.csv").write_text(HALVES)


def written(change: Callable[[Spec], object], of: Path = CHAT, name: str = "spec.yaml") -> str:
    """A spec of the examples with a change."""
    spec = yaml.safe_load(of.read_text("utf-8"))
    change(spec)
    Path(name).write_text(yaml.safe_dump(spec, sort_keys=False))
    return name


def found(capsys: Capture, *words: str, status: int = 0) -> Mapping[str, Any]:
    """The only comparison, as data."""
    assert main(["share", *words, "--format", "json"]) == status
    (comparison,) = json.loads(capsys.readouterr().out)
    assert isinstance(comparison, dict)
    return comparison


def components(spec: Spec) -> list[Spec]:
    return list(spec["inference_components"].values())


# ---------------------------------------------------------------- what it prints


def test_a_table_fits_a_terminal_and_prices_come_from_their_file(capsys: Capture) -> None:
    Path("inferstack-prices.json").write_text(json.dumps({"regions": G5}))
    assert main(["share", str(CHAT), "--traffic", "halves.csv", "--region", "us-east-1"]) == 0
    out, err = capsys.readouterr()
    assert all(len(line) <= 80 for line in out.splitlines())
    # 2903 instance minutes, as counted in tests/sizing/sharing/test_ways.py, at 7.09 an hour: 343.04.
    (line,) = (it for it in out.splitlines() if it.startswith("one shared fleet"))
    assert line.split()[3:] == ["48.38", "343.04", "48.00"]
    assert "hand-over: 4 instances for 17 minutes, first at 12:00," in out
    assert "prices in USD: us-east-1, read on 2026-11-23 from a list" in out
    assert err == ""


def test_a_repeated_day_shows_the_hand_over_at_midnight(capsys: Capture) -> None:
    once = found(capsys, str(CHAT), "--traffic", "halves.csv")
    twice = found(capsys, str(CHAT), "--traffic", "halves.csv", "--days", "2")
    assert twice["minutes"] == 2 * once["minutes"]
    shared = [it["with_delays"]["instance_minutes"]["shared"] for it in (once, twice)]
    # Three hand-overs instead of one take more than twice as much.
    assert shared[1] > 2 * shared[0]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (("max_capacity", "max_instance_count"), "400,000,000 copies at once are more than can be simulated"),
        (
            ("min_instance_count", "max_instance_count"),
            "2,000,000,000 instances are more than can be simulated",
        ),
    ],
)
def test_more_than_can_be_simulated_is_said(keys: tuple[str, str], said: str, capsys: Capture) -> None:
    text = CHAT.read_text("utf-8")
    for key in keys:
        text = re.sub(rf"{key}: \d+", f"{key}: 2000000000", text)
    Path("huge.yaml").write_text(text)
    Path("busy.csv").write_text("time,llama2-europe,llama2-america\n0,1000000000,1000000000\n")
    assert main(["share", "huge.yaml", "--traffic", "busy.csv"]) == 1
    assert f"travel-chat: {said}, 5,000; check targets, limits and traffic" in capsys.readouterr().err


def test_data_for_programs_have_minutes_and_costs(capsys: Capture) -> None:
    Path("prices.json").write_text(json.dumps({"regions": G5}))
    it = found(
        capsys, str(CHAT), "--traffic", "halves.csv", "--region", "us-east-1", "--prices", "prices.json"
    )
    assert it["with_delays"]["instance_minutes"] == {"shared": 2903, "autoscaled": 4332, "fixed": 5760}
    assert it["with_delays"]["cost"] == {"shared": "343.04", "autoscaled": "511.90", "fixed": "680.64"}
    assert it["at_once"]["saved_percent"] == {"autoscaled": "33.33", "fixed": "50.00"}
    assert it["hand_over"] == {"instances": 4, "first_minute": 720, "minutes": 17}
    assert it["minutes_of_models"]["llama2-america"] == {"asked": 720, "without_copy": 3, "over_target": 5}


def test_each_minute_is_written(capsys: Capture) -> None:
    assert main(["share", str(CHAT), "--traffic", "halves.csv", "--series", "minutes.csv"]) == 0
    assert "minutes.csv: written\n" in capsys.readouterr().err
    with Path("minutes.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 1440
    assert rows[2 * 728 + 1] == {
        "time": "12:08",
        "fleet": "travel-chat",
        "instances": "4",
        "copies_without_room": "0",
        "model": "llama2-america",
        "requests": "20",
        "copies": "4",
        "copies_serving": "4",
        "copies_needed": "4",
    }
    # The figures of the comparison are those of its minutes.
    of_fleet = rows[::2]
    assert sum(int(row["instances"]) for row in of_fleet) == round(48.38 * 60)
    assert [row["time"] for row in of_fleet if row["instances"] == "4"][::8] == ["12:08", "12:16"]
    america = rows[1::2]
    assert sum(row["requests"] > "0" and row["copies_serving"] == "0" for row in america) == 3
    assert main(["share", str(CHAT), "--traffic", "halves.csv", "--series", "minutes.json"]) == 0
    (it,) = json.loads(Path("minutes.json").read_text())
    assert it["instances"] == [int(row["instances"]) for row in of_fleet]
    assert it["models"]["llama2-america"]["copies"] == [int(row["copies"]) for row in america]
    with pytest.raises(SystemExit):
        main(["share", str(CHAT), "--traffic", "halves.csv", "--series", "minutes.txt"])
    assert "'minutes.txt' must end in .csv or .json" in capsys.readouterr().err


def test_each_minute_is_drawn(capsys: Capture) -> None:
    named = ["share", str(CHAT), "--traffic", "halves.csv", "--picture"]
    assert main([*named, "minutes.svg"]) == 0
    assert "minutes.svg: drawn\n" in capsys.readouterr().err
    said = Path("minutes.svg").read_text("utf-8")
    for text in ("travel-chat", "requests per minute", "copies, and instances", "hours from 00:00"):
        assert said.count(f">{text}<") >= 1, text
    with pytest.raises(SystemExit):
        main([*named, "minutes.csv"])
    assert "minutes.csv: the name must end in .svg, .png or .html" in capsys.readouterr().err


def test_the_documents_own_case_is_read_from_metric_statistics(capsys: Capture) -> None:
    for name, first in (("llama2-europe", 0), ("llama2-america", 12)):
        times = [f"2026-11-23T{first + at // 12:02d}:{at % 12 * 5:02d}:00Z" for at in range(144)]
        points = [{"Timestamp": it, "Sum": 100.0} for it in times]
        Path(f"{name}.json").write_text(json.dumps({"Label": "Invocations", "Datapoints": points}))
    files = ["--traffic", "llama2-europe.json", "--traffic", "llama2-america.json"]
    assert main(["share", str(CHAT), *files]) == 1
    assert "the export does not say its period" in capsys.readouterr().err
    it = found(capsys, str(CHAT), *files, "--period", "300")
    assert it["with_delays"]["instance_minutes"] == {"shared": 2903, "autoscaled": 4332, "fixed": 5760}
    assert main(["share", str(CHAT), *files, "--period", "300"]) == 0
    assert "each number of the traffic is for 5 minutes: a busier one among" in capsys.readouterr().err


def test_without_prices_it_says_how_to_get_them(capsys: Capture) -> None:
    assert main(["share", str(CHAT), "--traffic", "halves.csv"]) == 0
    assert "inferstack prices update --region REGION" in capsys.readouterr().err


def test_copies_without_room_are_a_failure(capsys: Capture) -> None:
    spec = written(lambda it: it["variant"]["managed_instance_scaling"].update(max_instance_count=3))
    assert main(["share", spec, "--traffic", "halves.csv"]) == 1
    out = capsys.readouterr().out
    assert "`max_instance_count` for that: 4; the spec allows 3" in out
    assert "copies without room for 9 minutes" in out


# ---------------------------------------------------------------- what of the spec counts


def test_a_fleet_that_is_not_managed_has_a_fixed_size(capsys: Capture) -> None:
    def change(spec: Spec) -> None:
        del spec["variant"]["managed_instance_scaling"]
        spec["variant"]["initial_instance_count"] = 3
        for it in components(spec):
            it["autoscaling"]["min_capacity"] = 1

    it = found(capsys, written(change), "--traffic", "halves.csv", status=1)
    assert it["with_delays"]["instance_minutes"]["shared"] == 3 * 1440
    assert it["most_instances"] == 3


def test_a_component_without_autoscaling_keeps_its_copies(capsys: Capture) -> None:
    def change(spec: Spec) -> None:
        for it in components(spec):
            del it["autoscaling"]
            it["runtime_config"]["copy_count"] = 3

    # Six copies of 2 GPUs are three instances; alone, each model has 3 copies on 2 instances.
    it = found(capsys, written(change), "--traffic", "halves.csv")
    assert it["with_delays"]["instance_minutes"] == {"shared": 4320, "autoscaled": 5760, "fixed": 5760}


def test_an_instance_with_no_copies_left_is_released_if_zero_is_allowed(capsys: Capture) -> None:
    Path("once.csv").write_text("time,llama2-europe,llama2-america\n00:00,20,0\n12:00,0,0\n")
    spec = written(lambda it: it["variant"]["managed_instance_scaling"].update(min_instance_count=0))
    it = found(capsys, spec, "--traffic", "once.csv")
    # Until 12:16.
    assert it["with_delays"]["instance_minutes"]["shared"] == 737 * 2
    assert it["at_once"]["instance_minutes"]["shared"] == 720 * 2


@pytest.mark.parametrize(("policy", "after"), [("IDLE_RELEASE", 2), ("CONSOLIDATION", 1)])
def test_the_scale_in_policy_decides_whether_copies_are_moved(
    policy: str, after: int, capsys: Capture
) -> None:
    """Three GPUs of each on two instances; when both need one copy less, they fit on one."""

    def change(spec: Spec) -> None:
        spec["variant"]["managed_instance_scaling"]["scale_in_policy"] = {"strategy": policy}
        for it in components(spec):
            it["autoscaling"] = {**it["autoscaling"], "min_capacity": 1}
            it["specification"]["scheduling_config"] = {
                "placement_strategy": "SPREAD",
                "availability_zone_balance": {"enforcement_mode": "PERMISSIVE"},
            }

    Path("both.csv").write_text("time,llama2-europe,llama2-america\n00:00,10,10\n12:00,5,5\n")
    it = found(capsys, written(change), "--traffic", "both.csv")
    # 20 minutes after the change that takes effect at 12:17, the second instance goes.
    shared = it["with_delays"]["instance_minutes"]["shared"]
    assert shared == (1440 * 2 if after == 2 else (737 + 20) * 2 + (1440 - 757))


def test_requests_at_once_follow_from_how_long_one_takes(capsys: Capture) -> None:
    Path("lora.csv").write_text("time,support-base,support-billing\n00:00,100,0\n12:00,300,320\n")
    assert main(["share", str(LORA), "--traffic", "lora.csv"]) == 0
    err = capsys.readouterr().err
    assert "ConcurrentRequestsPerCopyHighResolution` is not simulated: add `--seconds`" in err
    # 20 at once, each of 6 seconds, are 200 a minute: 620 need 4 copies, one an instance. Both count for the base.
    it = found(capsys, str(LORA), "--traffic", "lora.csv", "--seconds", "6")
    assert it["at_once"]["instance_minutes"]["shared"] == 720 * 2 + 720 * 4
    # One minute of data every ten seconds, and 2 more.
    assert it["with_delays"]["instance_minutes"]["shared"] == 723 * 2 + 717 * 4


def test_a_policy_that_does_not_follow_from_requests_is_named(capsys: Capture) -> None:
    def change(spec: Spec) -> None:
        scaling = components(spec)[0]["autoscaling"]
        scaling["policies"].append({"metric": "GPUUtilizationNormalized", "target_value": 60})
        scaling["step_policies"] = [
            {
                "metric": "ModelLatency",
                "threshold": "500 ms",
                "adjustment_type": "ChangeInCapacity",
                "step_adjustments": [{"metric_interval_lower_bound": 0, "scaling_adjustment": 1}],
            }
        ]

    assert main(["share", written(change), "--traffic", "halves.csv"]) == 0
    err = capsys.readouterr().err
    assert (
        "llama2-europe: the policy on `GPUUtilizationNormalized` is not simulated: its value does not" in err
    )
    assert "llama2-europe: the step policy on `ModelLatency` is not simulated" in err


def test_a_step_policy_on_requests_is_simulated(capsys: Capture) -> None:
    def change(spec: Spec) -> None:
        scaling = components(spec)[0]["autoscaling"]
        scaling.update(min_capacity=1, policies=[])
        scaling["step_policies"] = [
            {
                "metric": "InvocationsPerCopy",
                "threshold": 10,
                "cooldown": 60,
                "adjustment_type": "PercentChangeInCapacity",
                "min_adjustment_magnitude": 1,
                "step_adjustments": [{"metric_interval_lower_bound": 0, "scaling_adjustment": 100}],
            }
        ]
        del spec["inference_components"]["llama2-america"]

    Path("one.csv").write_text("time,llama2-europe\n00:00,20\n")
    it = found(capsys, written(change), "--traffic", "one.csv")
    # 20 is 10 or more for one copy, and 10 for two: 4 copies, on two instances, after a few minutes.
    assert it["peak"]["instances"] == 2
    assert it["left_out"] == []


# ---------------------------------------------------------------- schedules


def on_weekdays(spec: Spec) -> None:
    """Europe in the morning of weekdays, America every evening."""
    times = (("0 6 ? * MON-FRI *", "0 12 ? * MON-FRI *"), ("0 18 * * ? *", "0 22 * * ? *"))
    for it, (start, end) in zip(components(spec), times, strict=True):
        it["autoscaling"] = {**it["autoscaling"], "scheduled_actions": []}
        for name, schedule, low in (("start", start, 2), ("end", end, 0)):
            it["autoscaling"]["scheduled_actions"].append(
                {
                    "scheduled_action_name": name,
                    "schedule": f"cron({schedule})",
                    "scalable_target_action": {"min_capacity": low},
                }
            )


def test_without_traffic_the_windows_of_schedules_are_a_week(capsys: Capture) -> None:
    it = found(capsys, written(on_weekdays))
    assert it["minutes"] == 7 * 1440
    asked = {name: of_model["asked"] for name, of_model in it["minutes_of_models"].items()}
    assert asked == {"llama2-europe": 5 * 6 * 60, "llama2-america": 7 * 4 * 60}


def test_a_schedule_that_is_not_simulated_is_named(capsys: Capture) -> None:
    def change(spec: Spec) -> None:
        on_weekdays(spec)
        components(spec)[0]["autoscaling"]["scheduled_actions"][0]["schedule"] = "cron(0 6 L * ? *)"

    assert main(["share", written(change), "--traffic", "halves.csv"]) == 0
    said = "llama2-europe: the scheduled actions are not simulated: `L`"
    assert said in capsys.readouterr().err


def test_suspended_scaling_does_nothing(capsys: Capture) -> None:
    def change(spec: Spec) -> None:
        on_weekdays(spec)
        for it in components(spec):
            it["autoscaling"]["suspended_state"] = {
                "scheduled_scaling_suspended": True,
                "dynamic_scaling_out_suspended": True,
            }

    it = found(capsys, written(change), "--traffic", "halves.csv")
    # Nothing wakes the second model up.
    assert it["minutes_of_models"]["llama2-america"]["without_copy"] == 720


# ---------------------------------------------------------------- several specs, and other kinds


def test_components_of_several_specs_share_a_fleet(capsys: Capture) -> None:
    first = written(lambda it: it["inference_components"].pop("llama2-america"), name="europe.yaml")

    def change(spec: Spec) -> None:
        spec["endpoint_name"] = "america"
        spec["inference_components"].pop("llama2-europe")

    second = written(change, name="america.yaml")
    it = found(capsys, first, second, "--traffic", "halves.csv")
    assert (it["name"], it["most_instances"]) == ("travel-chat + america", None)
    assert it["with_delays"]["instance_minutes"]["shared"] == 2903


def test_a_multi_model_endpoint_counts_cold_starts(capsys: Capture) -> None:
    Path("three.csv").write_text(
        "time,a,b,c\n" + "".join(f"{at:02}:00,{int(at % 3 == 0)},{int(at % 3 == 1)},1\n" for at in range(24))
    )
    # Two instances with 16 GiB of GPU memory each: a and c, or b and c, but not all three.
    big = ("--model-memory", "12000")
    it = found(capsys, str(MULTI_MODEL), "--traffic", "three.csv", *big, "--model-memory", "c=16000")
    assert it["cold_starts"] == {"total": 17, "by_model": {"a": 8, "b": 8, "c": 1}}
    assert it["limit"] == "max_capacity"
    assert main(["share", str(MULTI_MODEL), "--traffic", "three.csv"]) == 0
    out, err = capsys.readouterr()
    assert "cold starts" not in out
    assert "add `--model-memory MIB` to count cold starts" in err


def test_without_a_cache_each_request_is_a_cold_start(capsys: Capture) -> None:
    Path("two.csv").write_text("time,a,b\n00:00,1,2\n")
    assert main(["share", str(UNCACHED), "--traffic", "two.csv"]) == 0
    assert "cold starts: 4,320\nmost often: b 2,880, a 1,440" in capsys.readouterr().out


def test_the_command_is_found_by_its_other_name_which_no_help_shows(capsys: Capture) -> None:
    assert main(["share", str(CHAT), "--traffic", "halves.csv"]) == 0
    printed = capsys.readouterr().out
    assert main(["pack", str(CHAT), "--traffic", "halves.csv"]) == 0
    assert capsys.readouterr().out == printed
    with pytest.raises(SystemExit):
        main(["--help"])
    assert not re.search(r"\bpack\b(?! model archives)", capsys.readouterr().out)


# ---------------------------------------------------------------- what is wrong


WRONG: Mapping[str, tuple[Callable[[], list[str]], str]] = {
    "no traffic": (
        lambda: [str(CHAT)],
        "`llama2-europe` has no scheduled actions that would give its traffic",
    ),
    "no window": (
        lambda: [written(lambda it: [on_weekdays(it), *map(never, components(it))])],
        "no scheduled action sets a `min_capacity` above 0; add `--traffic FILE`",
    ),
    "one model": (
        lambda: [str(ROOT / "model_specs/bert-large.yaml"), "--traffic", "halves.csv"],
        "share no fleet: that takes `kind: inference-components`",
    ),
    "two types": (
        lambda: [str(CHAT), str(LORA), "--traffic", "halves.csv"],
        "`support-llm` runs on ml.g6e.2xlarge and `travel-chat` on ml.g5.12xlarge: a shared fleet has one",
    ),
    "same names": (
        lambda: [str(CHAT), written(lambda it: it.update(endpoint_name="b")), "--traffic", "halves.csv"],
        "two specs have a component `llama2-america`",
    ),
    "no models": (lambda: [str(MULTI_MODEL)], "a multi-model endpoint needs `--traffic FILE`"),
    "other names": (
        lambda: [str(CHAT), "--traffic", traffic("time,llama2-europa,llama2-america\n0,1,1\n")],
        "other.csv:1:6: IS073: no spec has `llama2-europa`; did you mean `llama2-europe`?",
    ),
    "missing name": (
        lambda: [str(CHAT), "--traffic", traffic("time,llama2-europe\n0,1\n")],
        "IS073: the traffic of `llama2-america` is missing; add it, with 0 if there are no requests",
    ),
    "a model of which there is no traffic": (
        lambda: [str(MULTI_MODEL), "--traffic", traffic("time,llama\n0,1\n"), "--model-memory", "lama=9"],
        "`--model-memory` names `lama`: the traffic has no such model; did you mean `llama`?",
    ),
    "wrong file": (
        lambda: [str(CHAT), "--traffic", traffic("time,llama2-europe\n0,-1\n")],
        "other.csv:2:1: IS072: `llama2-europe` is `-1`",
    ),
}


def traffic(text: str) -> str:
    Path("other.csv").write_text(text)
    return "other.csv"


def never(component: Spec) -> None:
    for it in component["autoscaling"]["scheduled_actions"]:
        it["scalable_target_action"] = {"max_capacity": 3}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_or_missing_is_said(case: str, capsys: Capture) -> None:
    words, said = WRONG[case]
    assert main(["share", *words()]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("--startup", "-1"),
        ("--startup", "x"),
        ("--days", "0"),
        ("--days", "32"),
        ("--days", "1" * 5000),
        ("--seconds", "nan"),
        ("--seconds", "0"),
        ("--model-memory", "a="),
        ("--model-memory", "0"),
    ],
)
def test_options_have_bounds(words: tuple[str, str], capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["share", str(CHAT), *words])
    assert f"argument {words[0]}: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--period 60", "--period is for answers of CloudWatch, and none is read"),
        ("--traffic traffic.csv --period 60", "--period is for answers of CloudWatch, and none is read"),
        ("--days 2", "--days repeats the traffic of --traffic; without it, a week is simulated"),
        ("--seconds 2", "--seconds is for policies on concurrent requests, of which there is none"),
        ("--model-memory 2048", "--model-memory is for multi-model endpoints"),
    ],
)
def test_options_that_nothing_reads_are_refused(words: str, said: str, capsys: Capture) -> None:
    Path("traffic.csv").write_text("time,a\n00:00,9000\n12:00,100\n")
    with pytest.raises(SystemExit) as ended:
        main(["share", str(CHAT), *words.split()])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
