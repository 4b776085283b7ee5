"""What a spec says about the models of a fleet."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from inferstack.check.load import parse_spec
from inferstack.endpoint.packing import Room
from inferstack.format.inference_component import (
    ComponentSpecificationForInstanceType,
    ComputeResourceRequirements,
    InferenceComponent,
)
from inferstack.sizing.sharing.comparison import WEEK
from inferstack.sizing.sharing.hosts import CannotPackError, Simulation, component_of, hosts_of, room_of
from inferstack.sizing.sharing.scaling import Limits, Tracking
from inferstack.sizing.sharing.steps import Adjustment, Step, StepEvaluation

CHAT = Path(__file__).parents[3] / "model_specs" / "travel-chat.yaml"


def hosts(change=lambda _: None):
    data = json.loads(json.dumps(yaml.safe_load(CHAT.read_text("utf-8"))))
    change(data)
    return list(hosts_of(parse_spec(data).spec, Simulation(WEEK)))


def test_a_fleet_and_its_models():
    (host,) = hosts()
    assert (host.name, host.instance_type) == ("travel-chat", "ml.g5.12xlarge")
    assert (host.fleet.low, host.fleet.high, host.fleet.consolidates, host.fleet.wait) == (1, 4, True, 0)
    first, _ = host.models
    assert first.component.needs == Room.of(2, 0, 16384)
    assert first.scaling.limits == Limits(0, 4)
    assert (first.scaling.target, first.scaling.tracking[0].in_cooldown) == (5, 5)
    assert [(it.quantity, it.cooldown) for it in first.scaling.steps] == [("refused", 15)]
    assert host.left_out == ()


def test_policies_are_as_the_spec_has_them():
    def change(spec):
        first, second = (it["autoscaling"] for it in spec["inference_components"].values())
        first["policies"] = [{**first["policies"][0], "disable_scale_in": True, "scale_in_cooldown": 601}]
        second["policies"] = []
        second["step_policies"] = [
            {
                "metric": "Invocations",
                "threshold": 100,
                "period": 300,
                "evaluation_periods": 4,
                "treat_missing_data": "breaching",
                "adjustment_type": "ExactCapacity",
                "cooldown": 90,
                "step_adjustments": [
                    {
                        "metric_interval_lower_bound": 0,
                        "metric_interval_upper_bound": 50,
                        "scaling_adjustment": 2,
                    },
                    {"metric_interval_lower_bound": 50, "scaling_adjustment": 4},
                ],
            }
        ]

    first, second = hosts(change)[0].models
    assert first.scaling.tracking == (Tracking(target=Decimal(5), in_cooldown=11, scales_in=False),)
    own, wake_up = second.scaling.steps
    assert own == Step(
        quantity="requests",
        statistic="Sum",
        threshold=Decimal(100),
        operator="GreaterThanOrEqualToThreshold",
        adjustment_type="ExactCapacity",
        adjustments=(Adjustment(2, Decimal(0), Decimal(50)), Adjustment(4, Decimal(50))),
        evaluation=StepEvaluation(period=5, periods=4, to_alarm=4, missing_breaches=True),
        cooldown=2,
    )
    assert (wake_up.quantity, wake_up.statistic) == ("refused", "Maximum")


def test_what_a_copy_needs_may_depend_on_the_instance_type():
    def change(spec):
        spec["variant"].pop("instance_type")
        types = ("ml.g5.12xlarge", "ml.g5.48xlarge")
        spec["variant"]["instance_pools"] = [
            {"instance_type": name, "priority": number} for number, name in enumerate(types, 1)
        ]
        for it in spec["inference_components"].values():
            said = it.pop("specification")
            needs = said["compute_resource_requirements"]
            it["specifications"] = [
                {
                    "instance_type": name,
                    "container": said["container"],
                    "compute_resource_requirements": {
                        **needs,
                        "number_of_accelerator_devices_required": gpus,
                    },
                }
                for name, gpus in zip(types, (4, 2), strict=True)
            ]

    (host,) = hosts(change)
    assert [it.component.needs.accelerators for it in host.models] == [4, 4]
    assert host.left_out == ("AllTraffic: only the first instance pool is simulated, ml.g5.12xlarge",)


def test_each_variant_is_a_fleet_of_its_own():
    def change(spec):
        variant = spec.pop("variant")
        spec["variants"] = [{**variant, "variant_name": name} for name in ("one", "two")]
        for name, it in zip(("one", "two"), spec["inference_components"].values(), strict=True):
            it["variant_name"] = name

    assert [[model.name for model in it.models] for it in hosts(change)] == [
        ["llama2-europe"],
        ["llama2-america"],
    ]


def test_instances_with_policies_of_their_own_follow_copies_here():
    def change(spec):
        spec["variant"].pop("managed_instance_scaling")
        spec["autoscaling"] = {
            "min_capacity": 2,
            "max_capacity": 3,
            "policies": [{"metric": "GPUReservation", "target_value": 70}],
        }

    (host,) = hosts(change)
    assert (host.fleet.low, host.fleet.high) == (2, 3)
    assert host.left_out[0] == "AllTraffic: instances follow copies here, not the variant's own policies"


@pytest.mark.parametrize(
    ("policy", "found"),
    [
        ({"strategy": "IDLE_RELEASE"}, (False, 1, 20)),
        ({"strategy": "CONSOLIDATION"}, (True, 1, 20)),
        ({"strategy": "CONSOLIDATION", "maximum_step_size": 3, "cooldown_in_minutes": 5}, (True, 3, 5)),
    ],
)
def test_a_scale_in_policy_has_awss_defaults(policy, found):
    (host,) = hosts(lambda it: it["variant"]["managed_instance_scaling"].update(scale_in_policy=policy))
    assert (host.fleet.consolidates, host.fleet.step, host.fleet.wait) == found


def test_an_unknown_instance_type_cannot_be_packed():
    with pytest.raises(CannotPackError, match=r"the hardware of `ml.future.large` is not known"):
        room_of("ml.future.large")


@pytest.mark.parametrize(
    ("instance_type", "said"),
    [
        ("ml.g5.xlarge", "a copy of `chat` needs more than a whole `ml.g5.xlarge` has"),
        ("ml.g5.48xlarge", "`chat` does not say what a copy needs on `ml.g5.48xlarge`"),
    ],
)
def test_a_copy_that_cannot_be_placed_is_said(instance_type, said):
    """No rule lets it get so far; specs made in Python may."""
    needs = ComputeResourceRequirements(
        number_of_accelerator_devices_required=2, min_memory_required_in_mb=128
    )
    small = ComponentSpecificationForInstanceType(
        instance_type="ml.g5.xlarge", compute_resource_requirements=needs
    )
    with pytest.raises(CannotPackError, match=said):
        component_of(
            "chat", InferenceComponent(specifications=(small,)), instance_type, room_of(instance_type)
        )
