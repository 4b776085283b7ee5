"""Traffic and measurements that an objective names: numbers for all rules, and rules of their own."""

import json
from pathlib import Path
from typing import Any

import pytest

from inferstack.check.load import load_spec, parse_spec
from inferstack.problems import Problem, SpecError

MEASURED = """\
configuration,instance_type,requests_per_minute,p95_ms
slow,ml.m5.xlarge,900,600
base,ml.m5.xlarge,400,300
best,ml.m5.xlarge,500,400
base,ml.g5.xlarge,9000,50
"""
CHAT = """\
configuration,instance_type,requests_per_minute,users,tokens_per_second,ttft_p90_ms
few,ml.m5.xlarge,100,8,500,100
many,ml.m5.xlarge,300,32,1500,300
flood,ml.m5.xlarge,310,64,1600,900
unknown,ml.m5.xlarge,9000,,,50
"""
COPIES = """\
configuration,instance_type,component,requests_per_minute,p95_ms
best,ml.m5.xlarge,bert,500,400
base,ml.m5.xlarge,bert,400,300
best,ml.m5.xlarge,fine,500,200
"""
TRAFFIC = "time,model\n00:00,300\n08:00,3000\n16:00,1200\n"
SPEC: dict[str, Any] = {
    "kind": "single-model",
    "endpoint_name": "bert",
    "model": {
        "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/bert:1",
        "model_data_url": "s3://models/bert.tar.gz",
    },
    "variant": {"instance_type": "ml.m5.xlarge", "initial_instance_count": 3},
    "env": {"region": "us-east-1"},
}
LATENCY = {"percentile": "P95", "value_in_milliseconds": 500}
FIRST = {"percentile": "P90", "value_in_milliseconds": 400}
OBJECTIVE = {"requests_per_minute": 1000, "latency": LATENCY, "measurements": "load.csv"}


TALK = {"concurrency": 64, "time_to_first_token": FIRST, "measurements": "chat.csv"}
PRICED = {
    "currency": "USD",
    "read": "2026-11-23",
    "source": "a list",
    "hosting": {"ml.m5.xlarge": "0.23"},
}
EACH = {"measurements": "copies.csv"}
PLANNED = {"requests_per_minute": 1000, "safety_factor": 0.7}
QUIET = {"requests_per_minute": 1000, "lowest_requests_per_minute": 600}
AT_ONCE = "ConcurrentRequestsPerCopyHighResolution"
BY_THE_DAY_AT_ONCE = {"traffic": "traffic.csv", "measurements": "many.csv", "budget_per_hour": 1.39}
BY_THE_DAY = {"traffic": "traffic.csv", "measurements": "load.csv", "budget_per_hour": 0.77}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "project"
    (project / "specs").mkdir(parents=True)
    monkeypatch.chdir(project)
    (project / "specs/load.csv").write_text(MEASURED)
    (project / "specs/chat.csv").write_text(CHAT)
    (project / "specs/traffic.csv").write_text(TRAFFIC)
    (project / "specs/copies.csv").write_text(COPIES)
    (project / "specs/many.csv").write_text("".join(CHAT.splitlines(True)[:3:2]))
    return project


def scaling(target: float | None, most: int = 4) -> dict[str, Any]:
    metric = "CPUUtilization" if target is None else "SageMakerVariantInvocationsPerInstance"
    policy = {"metric": metric, "target_value": 200 if target is None else target}
    return {"autoscaling": {"min_capacity": 1, "max_capacity": most, "policies": [policy]}}


def at_once(target: float, most: int = 3) -> dict[str, Any]:
    policy = {
        "metric": "SageMakerVariantConcurrentRequestsPerModelHighResolution",
        "target_value": target,
    }
    return {"autoscaling": {"min_capacity": 1, "max_capacity": most, "policies": [policy]}}


def of_size(instances: int) -> dict[str, Any]:
    return {"variant": {**SPEC["variant"], "initial_instance_count": instances}}


def start(instances: int) -> dict[str, Any]:
    return {**of_size(instances), **scaling(500)}


def problems(objective: dict[str, Any] = OBJECTIVE, /, **keys: Any) -> tuple[Problem, ...]:
    path = Path("specs/bert.yaml")
    spec = {**SPEC, "objective": objective, **keys}
    path.write_text(json.dumps({key: it for key, it in spec.items() if it is not None}))
    try:
        return load_spec(path).warnings
    except SpecError as error:
        return error.problems


def components(**of_bert: Any) -> dict[str, Any]:
    """Two components, of which only `bert` can be wrong."""
    needs = {"min_memory_required_in_mb": 1024, "number_of_cpu_cores_required": 1}
    container = {"image": SPEC["model"]["image"], "artifact_url": "s3://models/bert.tar.gz"}
    base = {"specification": {"container": container, "compute_resource_requirements": needs}}
    return {
        "kind": "inference-components",
        "model": None,
        "variant": {**SPEC["variant"], "initial_instance_count": 3},
        "inference_components": {
            "bert": {**base, **of_bert},
            "fine": {**base, "objective": {"requests_per_minute": 1}},
        },
    }


def copies(count: int, **objective: Any) -> dict[str, Any]:
    """So many copies of `bert`, for this objective of its own."""
    own = {"requests_per_minute": 1000, **objective}
    return components(runtime_config={"copy_count": count}, objective=own)


def scaled(most: int, target: float, metric: str = "InvocationsPerCopy", start: int = 1) -> dict[str, Any]:
    """From one copy of `bert` to so many."""
    policy = {"metric": f"SageMakerInferenceComponent{metric}", "target_value": target}
    scaling = {"min_capacity": 1, "max_capacity": most, "policies": [policy]}
    return {"runtime_config": {"copy_count": start}, "autoscaling": scaling}


# Everything but the measurements' rule is right in the first spec of a pair, and all in the second.
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "IS561 too few instances": (
        {**of_size(1)},
        {**of_size(2)},
        "1 instance can answer 500 of 1000 requests a minute, since `best` answered 500 on one; "
        "start with 2, or let `autoscaling` add them",
    ),
    "IS561 too few with scaling by another metric": (
        {"objective": {**OBJECTIVE, "requests_per_minute": 2500}, **scaling(None)},
        {"objective": {**OBJECTIVE, "requests_per_minute": 2500}, **scaling(None, 5)},
        "4 instances can answer 2000 of 2500 requests a minute, since `best` answered 500 on one; raise it to 5",
    ),
    "IS562 a target over the knee": (
        {"objective": {**OBJECTIVE, "safety_factor": 0.7}, **scaling(351)},
        {"objective": {**OBJECTIVE, "safety_factor": 0.7}, **scaling(350)},
        "351 is above the 350 to plan for, since `best` answered 500 on one, times the `safety_factor` 0.7; lower it to 350",
    ),
    "IS551 too few instances at a target in requests at once": (
        {"objective": TALK, **at_once(21)},
        {"objective": {**TALK, "concurrency": 63}, **at_once(21)},
        "3 instances at 21 requests at once answer 63 of 64; raise `max_capacity` to 4",
    ),
    "IS561 too few instances for requests at once": (
        {"objective": TALK, **of_size(1)},
        {"objective": TALK, **of_size(2)},
        "1 instance can answer 32 of 64 requests at once, since `many` answered 32 on one; start with 2",
    ),
    "IS561 too few instances for tokens": (
        {"objective": {**TALK, "tokens_per_second": 4501}},
        {"objective": {**TALK, "tokens_per_second": 4500}},
        "3 instances can answer 4500 of 4501 tokens a second, since `many` answered 1500 on one; start with 4",
    ),
    "IS562 a target over the users of the load test": (
        {"objective": {**TALK, "safety_factor": 0.75}, **at_once(25)},
        {"objective": {**TALK, "safety_factor": 0.75}, **at_once(24)},
        "25 is above the 24 to plan for, since `many` answered 32 on one, times the `safety_factor` 0.75; lower it to 24",
    ),
    "IS563 no first token that is fast enough": (
        {
            "objective": {
                **TALK,
                "concurrency": 24,
                "time_to_first_token": {**FIRST, "value_in_milliseconds": 99},
            }
        },
        {
            "objective": {
                **TALK,
                "concurrency": 24,
                "time_to_first_token": {**FIRST, "value_in_milliseconds": 100},
            }
        },
        "no configuration on ml.m5.xlarge is known to meet the limit, not even `few`: 100 ms until the first token is over",
    ),
    "IS567 a start below the quietest requests at once": (
        {"objective": {**TALK, "lowest_concurrency": 33}, **at_once(22), **of_size(1)},
        {"objective": {**TALK, "lowest_concurrency": 32}, **at_once(22), **of_size(1)},
        "1 instance can answer 32 of 33 requests at once, since `many` answered 32 on one; start with at least 2",
    ),
    "IS563 nothing that is fast enough": (
        {"objective": {**OBJECTIVE, "latency": {**LATENCY, "value_in_milliseconds": 299}}},
        {"objective": {**OBJECTIVE, "latency": {**LATENCY, "value_in_milliseconds": 300}}},
        "no configuration on ml.m5.xlarge is known to meet the limit, not even `base`: 300 ms is over the limit of 299 ms at P95",
    ),
    "IS564 over the budget": (
        {"objective": {**OBJECTIVE, "budget_per_hour": 0.68}},
        {"objective": {**OBJECTIVE, "budget_per_hour": 0.69}},
        "3 instances of ml.m5.xlarge cost 0.69 USD an hour, which is over the budget of 0.68; "
        "allow 2 at most, or raise the budget",
    ),
    "IS564 over the budget on average": (
        {"objective": BY_THE_DAY, **scaling(500, 6)},
        {"objective": {**BY_THE_DAY, "budget_per_hour": 0.78}, **scaling(500, 6)},
        "3.35 of ml.m5.xlarge, the average over the traffic, cost 0.78 USD an hour, which is over the budget of "
        "0.77; raise the budget, or choose another configuration with `inferstack size`",
    ),
    "IS564 over the budget at the peak, since the average is not known": (
        {"objective": {**BY_THE_DAY, "budget_per_hour": 1.37}, **scaling(None, 6)},
        {"objective": {**BY_THE_DAY, "budget_per_hour": 1.38}, **scaling(None, 6)},
        "6 instances of ml.m5.xlarge cost 1.38 USD an hour",
    ),
    "IS564 over the budget on average, by requests at once": (
        {"objective": BY_THE_DAY_AT_ONCE, **at_once(30, 11)},
        {"objective": {**BY_THE_DAY_AT_ONCE, "budget_per_hour": 1.4}, **at_once(30, 11)},
        "6.05 of ml.m5.xlarge, the average over the traffic, cost 1.40 USD an hour",
    ),
    "IS561 too few copies": (
        {"objective": EACH, **copies(1)},
        {"objective": EACH, **copies(2)},
        "1 copy of `bert` can answer 500 of 1000 requests a minute, since `best` answered 500 on one; start with 2",
    ),
    "IS561 too few copies at most": (
        {"objective": EACH, **components(**scaled(3, 400), objective={"requests_per_minute": 1501})},
        {"objective": EACH, **components(**scaled(3, 400), objective={"requests_per_minute": 1500})},
        "3 copies of `bert` can answer 1500 of 1501 requests a minute, since `best` answered 500 on one; raise it to 4",
    ),
    "IS562 a target over the knee of a copy": (
        {"objective": EACH, **components(**scaled(3, 351), objective=PLANNED)},
        {"objective": EACH, **components(**scaled(3, 350), objective=PLANNED)},
        "351 is above the 350 to plan for, since `best` answered 500 on one, times the `safety_factor` 0.7; lower it to 350",
    ),
    "IS562 a target over the users of a copy": (
        {"objective": EACH, **components(**scaled(3, 33, AT_ONCE), objective=TALK)},
        {"objective": EACH, **components(**scaled(3, 32, AT_ONCE), objective=TALK)},
        "33 is above the 32 to plan for, since `many` answered 32 on one; lower it to 32",
    ),
    "IS563 no copy is fast enough": (
        {"objective": EACH, **copies(3, latency={**LATENCY, "value_in_milliseconds": 299})},
        {"objective": EACH, **copies(3, latency={**LATENCY, "value_in_milliseconds": 300})},
        "no configuration of `bert` on ml.m5.xlarge is known to meet the limit, not even `base`: 300 ms is over the limit of 299",
    ),
    "IS564 over the budget, which is all that is said of the whole": (
        {"objective": {**EACH, "budget_per_hour": 0.68}, **copies(2)},
        {"objective": {**EACH, "budget_per_hour": 0.69}, **copies(2)},
        "3 instances of ml.m5.xlarge cost 0.69 USD an hour, which is over the budget of 0.68",
    ),
    "IS567 a start below the quietest minute of a component": (
        {"objective": EACH, **components(**scaled(3, 400, start=1), objective=QUIET)},
        {"objective": EACH, **components(**scaled(3, 400, start=2), objective=QUIET)},
        "1 copy of `bert` can answer 500 of 600 requests a minute, since `best` answered 500 on one; start with at le",
    ),
    "IS567 a start below the quietest minute": (
        {"objective": {**OBJECTIVE, "lowest_requests_per_minute": 1000}, **start(1)},
        {"objective": {**OBJECTIVE, "lowest_requests_per_minute": 1000}, **start(2)},
        "1 instance can answer 500 of 1000 requests a minute, since `best` answered 500 on one; start with at least 2",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_wrong_spec_and_its_right_neighbor(name: str, folder: Path) -> None:
    (folder / "inferstack-prices.json").write_text(json.dumps({"regions": {"us-east-1": PRICED}}))
    wrong, right, said = PAIRS[name]
    (found,) = problems(**wrong)
    assert (found.code, found.severity, found.line) == (name[:5], "warning", 1)
    assert said in str(found)
    assert problems(**right) == ()
    assert problems(**wrong, ignore=[{"code": name[:5], "reason": "it is known"}]) == ()


def test_a_component_has_the_requests_of_its_adapters(folder: Path) -> None:
    (folder / "specs/day.csv").write_text("time,bert,lora,fine\n00:00,900,100,1\n12:00,2000,1000,1\n")
    adapter = {
        "base_inference_component_name": "bert",
        "container": {"artifact_url": "s3://models/lora.tar.gz"},
    }
    for most, found in ((5, ["IS561"]), (6, [])):
        spec = components(**scaled(most, 400, start=2))
        spec["inference_components"]["lora"] = {"specification": adapter}
        del spec["inference_components"]["fine"]["objective"]
        wrong = problems({**EACH, "traffic": "day.csv"}, **spec)
        assert [it.code for it in wrong if it.code != "IS442"] == found
        assert not found or "5 copies of `bert` can answer 2500 of 3000 requests" in str(wrong[0])


def test_a_missed_limit_is_shown_where_it_is_written() -> None:
    objective = {**TALK, "time_to_first_token": {**FIRST, "value_in_milliseconds": 9}}
    assert [it.path for it in problems(objective)] == [("objective", "time_to_first_token")]
    (found,) = problems({**objective, "latency": LATENCY})
    assert found.path == ("objective",)
    slow = {"latency": {**LATENCY, "value_in_milliseconds": 9}}
    assert [it.path for it in problems({**EACH, **slow}, **copies(2))] == [("objective", "latency")] * 2
    (found,) = problems(EACH, **copies(2, **slow))
    assert found.path == ("inference_components", "bert", "objective", "latency")


def test_copies_that_follow_requests_at_once_cost_what_runs_on_average(folder: Path) -> None:
    (folder / "specs/both.csv").write_text("time,bert,fine\n00:00,300,1\n08:00,3000,1\n16:00,1200,1\n")
    (folder / "specs/copies.csv").write_text(COPIES.replace("p95_ms", "users").replace(",400\n", ",20\n"))
    spec = components(**scaled(20, 20, AT_ONCE))
    del spec["inference_components"]["fine"]["objective"]
    spec["variant"]["managed_instance_scaling"] = {
        "status": "ENABLED",
        "min_instance_count": 1,
        "max_instance_count": 9,
    }
    objective = {**EACH, "traffic": "both.csv", "budget_per_hour": 0.01}
    (folder / "inferstack-prices.json").write_text(json.dumps({"regions": {"us-east-1": PRICED}}))
    (found,) = problems(objective, **spec)
    assert "1.34 of ml.m5.xlarge, the average over the traffic, cost 0.31 USD an hour" in str(found)


def test_a_load_test_that_lacks_what_the_objective_counts_in_says_nothing(folder: Path) -> None:
    (folder / "specs/chat.csv").write_text(
        CHAT.replace(",8,", ",,").replace(",32,", ",,").replace(",64,", ",,")
    )
    assert problems(TALK, **of_size(1)) == ()


LIST: dict[str, Any] = {
    "currency": "USD",
    "read": "2026-11-23",
    "source": "a list",
    "hosting": {"ml.m5.large": "0.115", "ml.c5.xlarge": "0.204"},
    "without_price": ["ml.p5.48xlarge"],
}


def on(*instance_types: str, **keys: Any) -> dict[str, Any]:
    pools = [{"instance_type": it, "priority": at} for at, it in enumerate(instance_types, start=1)]
    chosen = {"instance_pools": pools} if len(pools) > 1 else {"instance_type": instance_types[0]}
    return {"variant": {**chosen, "initial_instance_count": 2}, **keys}


@pytest.mark.parametrize(
    ("spec", "prices", "said"),
    [
        (
            on("ml.m5.xlarge"),
            {"us-east-1": LIST},
            "us-east-1 has no ml.m5.xlarge for hosting, by the price list that was read on 2026-11-23; choose "
            "another region, or another type: `ml.c5.xlarge`, `ml.m5.large` or `ml.p5.48xlarge`; if the list is "
            "old, run `inferstack prices update --region us-east-1`",
        ),
        (
            on("ml.m5.large", "ml.m5.xlarge"),
            {"us-east-1": LIST},
            "us-east-1 has no ml.m5.xlarge",
        ),
        (on("ml.m5.large"), {"us-east-1": LIST}, None),
        (on("ml.p5.48xlarge"), {"us-east-1": LIST}, None),
        # Written by hand, it need not be complete.
        (on("ml.m5.xlarge"), {"us-east-1": {**LIST, "without_price": None}}, None),
        (on("ml.m5.xlarge"), {"us-east-2": LIST}, None),
        (on("ml.m5.xlarge", env={"account": "123456789012"}), {"us-east-1": LIST}, None),
        (on("ml.m5.xlarge"), "no prices", None),
        # The list has prices of their own for these, and what is reserved is not on it.
        (
            on(
                "ml.m5.xlarge",
                endpoint_config={
                    "async_inference_config": {"output_config": {"s3_output_path": "s3://answers/bert/"}}
                },
            ),
            {"us-east-1": LIST},
            None,
        ),
    ],
)
def test_an_instance_type_that_the_region_lacks_is_found_in_a_whole_price_list(
    spec: dict[str, Any], prices: Any, said: str | None, folder: Path
) -> None:
    (folder / "inferstack-prices.json").write_text(json.dumps({"regions": prices}))
    path = folder / "specs/bert.yaml"
    path.write_text(json.dumps({**SPEC, **spec}))
    found = [it for it in load_spec(path).warnings if it.code == "IS720"]
    assert [it.path[-1] for it in found] == ["instance_type"] * (said is not None)
    assert all((said or "") in str(it) for it in found)
    path.write_text(json.dumps({**SPEC, **spec, "ignore": [{"code": "IS720", "reason": "it has now"}]}))
    assert [it for it in load_spec(path).warnings if it.code == "IS720"] == []


def test_an_instance_that_is_reserved_need_not_be_for_sale(folder: Path) -> None:
    (folder / "inferstack-prices.json").write_text(json.dumps({"regions": {"us-east-1": LIST}}))
    arn = "arn:aws:sagemaker:us-east-1:123456789012:training-plan/p5"
    reserved = {"capacity_reservation_preference": "capacity-reservations-only", "ml_reservation_arn": arn}
    spec = on("ml.p4d.24xlarge")
    spec["variant"]["capacity_reservation_config"] = reserved
    Path("specs/bert.yaml").write_text(json.dumps({**SPEC, **spec}))
    assert "IS720" not in [it.code for it in load_spec("specs/bert.yaml").warnings]


@pytest.mark.parametrize(
    "keys",
    [
        {"variant": {"instance_type": "ml.c5.xlarge", "initial_instance_count": 1}},
        {
            "variant": None,
            "variants": [
                {
                    **SPEC["variant"],
                    "variant_name": name,
                    "initial_variant_weight": 1,
                    "initial_instance_count": 1,
                }
                for name in ("A", "B")
            ],
        },
        # Which of both was measured is not known, and nothing says how many requests `fine` gets.
        components(),
        {**components(), "variant": {"instance_type": "ml.c5.xlarge", "initial_instance_count": 1}},
        {"variant": {"serverless_config": {"memory_size_in_mb": 2048, "max_concurrency": 5}}},
    ],
)
def test_what_was_not_measured_is_not_compared(keys: dict[str, Any]) -> None:
    spec = {key: it for key, it in {**SPEC, **keys, "objective": OBJECTIVE}.items() if it is not None}
    Path("specs/bert.yaml").write_text(json.dumps(spec))
    assert load_spec("specs/bert.yaml").warnings == ()


# ---------------------------------------------------------------- traffic


def test_traffic_becomes_the_busiest_and_the_quietest_minute() -> None:
    (found,) = problems({"traffic": "traffic.csv"}, **scaling(500))
    assert "4 instances at 500 requests a minute answer 2000 of 3000" in str(found)
    objective = load_spec("specs/bert.yaml").spec.objective
    assert objective is not None
    assert (objective.requests_per_minute, objective.lowest_requests_per_minute) == (3000, 300)


def test_traffic_and_numbers_are_too_much() -> None:
    found = problems({"traffic": "traffic.csv", "lowest_requests_per_minute": 5})
    assert [it.code for it in found] == ["IS560"]


@pytest.mark.parametrize(
    ("objective", "said"),
    [
        ({"traffic": "other.csv"}, "specs/other.csv:1:1: IS072: the file cannot be read: No such file"),
        ({"traffic": "empty.csv"}, "IS072: the file has no requests"),
        ({"traffic": "../../secret.csv"}, "IS072: the file is outside of the project; put it into"),
        ({**OBJECTIVE, "measurements": "other.csv"}, "specs/other.csv:1:1: IS071: the file cannot be read"),
        ({**OBJECTIVE, "measurements": "../../secret.csv"}, "IS071: the file is outside of the project"),
        ({**OBJECTIVE, "measurements": "link.csv"}, "IS071: the file is outside of the project"),
        ({**OBJECTIVE, "measurements": "/etc/passwd"}, "IS071: the file is outside of the project"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(objective: dict[str, Any], said: str, folder: Path) -> None:
    (folder / "specs/empty.csv").write_text("time,model\n00:00,0\n")
    (folder.parent / "secret.csv").write_text("password\n")
    (folder / "specs/link.csv").symlink_to(folder.parent / "secret.csv")
    (found,) = problems(objective)
    assert said in str(found)
    assert "password" not in str(found)


def test_a_spec_made_in_python_names_files_in_the_working_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder / "specs")
    loaded = parse_spec({**SPEC, "objective": {"traffic": "traffic.csv"}})
    assert loaded.spec.objective is not None
    assert loaded.spec.objective.requests_per_minute == 3000


def test_files_of_others_in_the_project_can_be_named(folder: Path) -> None:
    (folder / "tests").mkdir()
    (folder / "tests/load.csv").write_text(MEASURED)
    (found,) = problems({**OBJECTIVE, "measurements": "../tests/load.csv", "requests_per_minute": 2000})
    assert found.code == "IS561"


def test_a_load_test_that_knows_only_a_url_was_of_the_type_of_the_spec(folder: Path) -> None:
    export = {
        "request_throughput": {"unit": "requests/sec", "avg": 1.0},
        "request_latency": {"unit": "ms", "p95": 100},
        "input_config": {"endpoint": {"model_names": ["bert"]}},
    }
    (folder / "specs/load.csv").write_text(json.dumps(export))
    (found,) = problems()
    assert "3 instances can answer 180 of 1000 requests a minute, since `bert` answered 60" in str(found)
