"""How an endpoint that exists differs from its template: a change by hand is found, and scaling is no change."""

from collections.abc import Callable
from typing import Any

import pytest
from support.existing_answers import ARN, IMAGE, ROLE, WHERE, answers, by_hand, policy, target

from inferstack.check.load import parse_spec
from inferstack.resolve.imported import spec_of, template
from inferstack.updates.drift import Drifts, compared

Fields = dict[str, Any]
Change = Callable[[Fields], None]


def drift_after(change: Change, spec: dict[str, Any] | None = None) -> Drifts:
    """What differs after a change by hand from the spec of before."""
    before = spec_of(answers(), WHERE).data if spec is None else spec
    fields = by_hand()
    for alarm in fields["alarms"]:
        alarm["AlarmDescription"] = None
    change(fields)
    found = compared(template(parse_spec(before), WHERE), answers(**fields))
    shown = tuple(it for it in found.drift if it.path != ("AlarmDescription",))
    return Drifts(shown, found.not_compared, found.matched)


def fleet(fields: Fields) -> Fields:
    found: Fields = fields["endpoint"]["ProductionVariants"][0]
    return found


def variant(fields: Fields) -> Fields:
    found: Fields = fields["config"]["ProductionVariants"][0]
    return found


def container(fields: Fields) -> Fields:
    found: Fields = fields["models"][0]["PrimaryContainer"]
    return found


def with_second_target(fields: Fields) -> None:
    other = target("endpoint/ranker/variant/blue", "sagemaker:variant:DesiredProvisionedConcurrency", 1, 2)
    fields["targets"].append(other)


def without_policy(fields: Fields) -> None:
    del fields["policies"][0]


def with_policy(fields: Fields) -> None:
    fields["policies"].append(policy(fields["targets"][0], "other", TargetValue=1.0))


def on_another_image(fields: Fields) -> None:
    newer = {"SpecifiedImage": f"{IMAGE}:1", "ResolvedImage": f"{IMAGE}@sha256:{'b' * 64}"}
    fleet(fields)["DeployedImages"].append(newer)


@pytest.mark.parametrize(
    ("change", "wanted", "found"),
    [
        (lambda it: variant(it).update(InstanceType="ml.m5.2xlarge"), "ml.m5.xlarge", "ml.m5.2xlarge"),
        (lambda it: variant(it).pop("VolumeSizeInGB"), "30", "nothing"),
        (lambda it: fleet(it).update(DesiredWeight=0.5), "1", "0.5 now"),
        (lambda it: container(it)["Environment"].update(WORKERS="4"), "2", "4"),
        (lambda it: container(it)["Environment"].update(DEBUG="1"), "nothing", "1"),
        (lambda it: it["targets"][0].update(MaxCapacity=60), "6", "60"),
        (lambda it: it["alarms"][0].update(Threshold=0.5), "0.05", "0.5"),
        (
            lambda it: it["alarms"][0].update(AlarmActions=[]),
            '["arn:aws:sns:us-east-1:123456789012:ops"]',
            "[]",
        ),
        (without_policy, "follow", "nothing"),
        (with_policy, "nothing", "other of endpoint/ranker/variant/blue"),
        (with_second_target, "nothing", "endpoint/ranker/variant/blue"),
        (on_another_image, f"{IMAGE}:1 as sha256:{'a' * 64}", f"{IMAGE}@sha256:{'b' * 64}"),
    ],
)
def test_a_change_by_hand_is_found(change: Change, wanted: str, found: str) -> None:
    assert [(it.wanted, it.found) for it in drift_after(change).drift] == [(wanted, found)]


@pytest.mark.parametrize(
    "change",
    [
        lambda it: None,
        lambda it: fleet(it).update(DesiredInstanceCount=6, CurrentInstanceCount=5),
        lambda it: variant(it).update(EnableSSMAccess=False),
        lambda it: it["config"].update(DataCaptureConfig=None),
        lambda it: it["config"].update(CrossRegionTrafficConfig={"Status": "off"}),
        lambda it: it.update(tags={it["endpoint"]["EndpointArn"]: {"owner": "me"}}),
    ],
)
def test_scaling_and_what_the_spec_does_not_say_are_no_drift(change: Change) -> None:
    assert drift_after(change).drift == ()


def test_what_is_off_need_not_be_shown() -> None:
    spec = spec_of(answers(), WHERE).data
    spec["variant"]["enable_ssm_access"] = False
    assert drift_after(lambda it: None, spec).drift == ()


def test_a_count_that_nothing_scales_is_drift() -> None:
    def unscaled(fields: Fields) -> None:
        fields |= {"targets": [], "policies": [], "alarms": []}

    spec = spec_of(answers(targets=[], policies=[], alarms=[]), WHERE).data
    [one] = drift_after(unscaled, spec).drift
    assert (one.path, one.wanted, one.found) == (
        ("ProductionVariants", 0, "InitialInstanceCount"),
        "2",
        "4 now",
    )


def test_a_scheduled_action_sets_the_limits_of_its_target() -> None:
    action = {
        **{
            key: by_hand()["targets"][0][key]
            for key in ("ServiceNamespace", "ResourceId", "ScalableDimension")
        },
        "ScheduledActionName": "night",
        "Schedule": "cron(0 22 * * ? *)",
        "ScalableTargetAction": {"MinCapacity": 1, "MaxCapacity": 2},
    }
    spec = spec_of(answers(schedules=[action]), WHERE).data

    def at(low: int) -> Change:
        return lambda it: it.update(
            schedules=[action], targets=[{**it["targets"][0], "MinCapacity": low, "MaxCapacity": 2}]
        )

    assert drift_after(at(1), spec).drift == ()
    assert [it.found for it in drift_after(at(0), spec).drift] == ["0"]


def test_copies_that_scaling_has_made_are_no_drift_and_others_are() -> None:
    spec = {
        "kind": "inference-components",
        "endpoint_name": "ranker",
        "env": {"region": "us-east-1"},
        "execution_role": ROLE,
        "variant": {"variant_name": "blue", "instance_type": "ml.g5.2xlarge", "initial_instance_count": 2},
        "inference_components": {
            "chat-${AWS::Region}": {
                "specification": {
                    "container": {"image": f"{IMAGE}:1"},
                    "compute_resource_requirements": {
                        "number_of_accelerator_devices_required": 1,
                        "min_memory_required_in_mb": 1024,
                    },
                },
                "runtime_config": {"copy_count": 1},
            }
        },
        "alarms": False,
    }
    fleet = {"VariantName": "blue", "InstanceType": "ml.g5.2xlarge", "InitialInstanceCount": 2}
    component = {
        "InferenceComponentName": "chat-us-east-1",
        "InferenceComponentArn": f"{ARN}:inference-component/chat-us-east-1",
        "EndpointName": "ranker",
        "VariantName": "blue",
        "Specification": {
            "Container": {"DeployedImage": {"SpecifiedImage": f"{IMAGE}:2"}},
            "ComputeResourceRequirements": {
                "NumberOfAcceleratorDevicesRequired": 1.0,
                "MinMemoryRequiredInMb": 1024,
            },
        },
        "RuntimeConfig": {"DesiredCopyCount": 3, "CurrentCopyCount": 3},
    }
    config = {**by_hand()["config"], "ExecutionRoleArn": ROLE, "ProductionVariants": [fleet]}
    bare: Fields = {"config": config, "models": [], "components": [component], "policies": [], "alarms": []}
    scaled = target(
        "inference-component/chat-us-east-1", "sagemaker:inference-component:DesiredCopyCount", 1, 4
    )

    def found(targets: list[Fields]) -> list[tuple[str, str]]:
        now = compared(template(parse_spec(spec), WHERE), answers(**bare, targets=targets))
        return [(it.wanted, it.found) for it in now.drift if it.path]

    image = (f"{IMAGE}:1", f"{IMAGE}:2")
    counted = ("2", "4 now")
    assert found([]) == [image, ("1", "3"), counted]
    assert found([scaled]) == [image, counted]


def test_an_endpoint_that_runs_another_configuration_than_the_stacks() -> None:
    spec = parse_spec(spec_of(answers(), WHERE).data)
    config = "arn:aws:sagemaker:us-east-1:123456789012:endpoint-config/Ranker-6"
    ids = {
        "EndpointConfig": config.lower(),
        "Model": "arn:aws:sagemaker:us-east-1:123456789012:model/ranker-2026",
    }
    found = compared(template(spec, WHERE, ids), answers()).drift
    assert ("Endpoint", "ranker-6", "ranker-7") in [(it.logical_id, it.wanted, it.found) for it in found]
    assert "Model" not in {it.logical_id for it in found}
