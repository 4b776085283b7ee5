"""What these tests are worth: a template with one fault does not get through.

AWS refuses some of the faults and accepts others: the former must fail to deploy, the latter must break a promise.
"""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from emulator.clients import EmulatedAws
from emulator.deploying import deploy, failures
from emulator.inventory import inventory
from support.promises import broken_promises

from inferstack.check.load import LoadedSpec, load_spec
from inferstack.resolve import resolve_template

ROOT = Path(__file__).parents[2]
Resources = dict[str, Any]
Sabotage = Callable[[Resources], Any]


def loaded(example: str, monkeypatch: pytest.MonkeyPatch) -> LoadedSpec:
    monkeypatch.chdir(ROOT)
    return load_spec(Path("model_specs") / f"{example}.yaml", region="us-east-1")


def template_of(spec: LoadedSpec) -> dict[str, Any]:
    return resolve_template(spec.spec, region="us-east-1", source_of=spec.source_of)


def first(resources: Resources, kind: str, **having: Any) -> Any:
    """The first resource of a type whose properties have these values."""
    for it in resources.values():
        if it["Type"].endswith(f"::{kind}") and having.items() <= it["Properties"].items():
            return it
    raise LookupError(kind)


def of(resources: Resources, kind: str, **having: Any) -> dict[str, Any]:
    """Its properties."""
    found: dict[str, Any] = first(resources, kind, **having)["Properties"]
    return found


def policy(resources: Resources) -> dict[str, Any]:
    found: dict[str, Any] = of(resources, "ManagedPolicy")["PolicyDocument"]["Statement"][0]
    return found


def _last(resources: Resources, kind: str) -> None:
    """Gives a resource the logical ID that the emulator handles last."""
    name = next(name for name, it in resources.items() if it["Type"].endswith(f"::{kind}"))
    resources[f"A{name}"] = resources.pop(name)


REFUSED: dict[str, tuple[str, Sabotage, str]] = {
    "a model before its role may read": (
        "bert-large",
        lambda it: first(it, "Model").pop("DependsOn"),
        "role-reads-artifacts",
    ),
    "components before their role may read": (
        "travel-chat",
        lambda it: [first(it, "EndpointConfig").pop("DependsOn"), _last(it, "ManagedPolicy")],
        "role-reads-artifacts",
    ),
    "a role for another bucket": (
        "bert-large",
        lambda it: policy(it).update(Resource=["arn:aws:s3:::other/*"]),
        "role-reads-artifacts",
    ),
    "a policy of nobody": (
        "bert-large",
        lambda it: of(it, "ManagedPolicy").pop("Roles"),
        "role-reads-artifacts",
    ),
    "weights that the role may not read": (
        "bert-large",
        lambda it: of(it, "Model")["PrimaryContainer"].update(ModelDataUrl="s3://other/model.tar.gz"),
        "role-reads-artifacts",
    ),
    "a target before its component": (
        "travel-chat",
        lambda it: first(it, "ScalableTarget").pop("DependsOn"),
        "scaled-resource-exists",
    ),
    "a target before its endpoint": (
        "bert-large",
        lambda it: first(it, "ScalableTarget").pop("DependsOn"),
        "scaled-resource-exists",
    ),
    "a policy before its target": (
        "bert-large",
        lambda it: of(it, "ScalingPolicy").update(
            ScalingTargetId="endpoint/bert-large/variant/AllTraffic|sagemaker:variant:DesiredInstanceCount|sagemaker"
        ),
        "No scalable target registered",
    ),
    "a component before its endpoint": (
        "travel-chat",
        lambda it: of(it, "InferenceComponent").update(EndpointName="travel-chat"),
        "Could not find endpoint",
    ),
    "a target of another variant": (
        "bert-large",
        lambda it: of(it, "ScalableTarget").update(ResourceId="endpoint/bert-large/variant/Other"),
        "scaled-resource-exists",
    ),
    "a target of the wrong dimension": (
        "travel-chat",
        lambda it: of(it, "ScalableTarget").update(
            ScalableDimension="sagemaker:variant:DesiredInstanceCount"
        ),
        "dimension-fits-resource",
    ),
    "a policy on the metric of another dimension": (
        "travel-chat",
        lambda it: of(it, "ScalingPolicy")["TargetTrackingScalingPolicyConfiguration"].update(
            PredefinedMetricSpecification={"PredefinedMetricType": "SageMakerVariantInvocationsPerInstance"}
        ),
        "metric-fits-dimension",
    ),
    "a target with its bounds exchanged": (
        "bert-large",
        lambda it: of(it, "ScalableTarget").update(MinCapacity=5, MaxCapacity=1),
        "Maximum capacity cannot be less",
    ),
    "instances that scale to zero": (
        "bert-large",
        lambda it: of(it, "ScalableTarget").update(MinCapacity=0),
        "least-of-a-variant",
    ),
    "components without a role": (
        "travel-chat",
        lambda it: of(it, "EndpointConfig").pop("ExecutionRoleArn"),
        "components-need-a-role",
    ),
    "an adapter without its base": (
        "support-adapters",
        lambda it: of(it, "InferenceComponent", InferenceComponentName="support-billing")[
            "Specification"
        ].update(BaseInferenceComponentName="other"),
        "Could not find inference component",
    ),
    "an instance type that there is not": (
        "bert-large",
        lambda it: of(it, "EndpointConfig")["ProductionVariants"][0].update(InstanceType="ml.g5.huge"),
        "ml.g5.huge",
    ),
    "a property that there is not": (
        "bert-large",
        lambda it: of(it, "Model").update(PrimaryContainers=[]),
        "PrimaryContainers",
    ),
    "an alarm with no statistic": (
        "bert-large",
        lambda it: of(it, "Alarm").pop("Statistic"),
        "Exactly one of Statistic and ExtendedStatistic",
    ),
    "a fleet with its bounds exchanged": (
        "travel-chat",
        lambda it: of(it, "EndpointConfig")["ProductionVariants"][0]["ManagedInstanceScaling"].update(
            MinInstanceCount=9
        ),
        "managed-scaling-bounds",
    ),
    "two variants of one name": (
        "sentiment-ab",
        lambda it: of(it, "EndpointConfig")["ProductionVariants"][1].update(VariantName="Stable"),
        "variant-names-twice",
    ),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_stack_with_this_fault_is_not_created(
    aws: EmulatedAws, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    example, sabotage, said = REFUSED[fault]
    template = copy.deepcopy(template_of(loaded(example, monkeypatch)))
    sabotage(template["Resources"])
    empty = inventory(aws)
    assert deploy(aws, "stack", template) == "ROLLBACK_COMPLETE"
    assert said in failures(aws, "stack")[0]
    assert inventory(aws) == empty


TAKEN: dict[str, tuple[str, Sabotage]] = {
    "an alarm on another dimension": (
        "bert-large",
        lambda it: of(it, "Alarm").update(Dimensions=[{"Name": "EndpointName", "Value": "bert-large"}]),
    ),
    "an alarm on another endpoint": (
        "travel-chat",
        lambda it: of(it, "Alarm").update(Dimensions=[{"Name": "InferenceComponentName", "Value": "other"}]),
    ),
    "an alarm in another namespace": (
        "bert-large",
        lambda it: of(it, "Alarm", MetricName="DiskUtilization").update(Namespace="AWS/SageMaker"),
    ),
    "a latency in milliseconds": (
        "travel-chat",
        lambda it: [
            alarm["Properties"].update(Threshold=2000)
            for alarm in it.values()
            if alarm["Properties"].get("MetricName") == "ModelLatency"
        ],
    ),
    "components that nothing wakes up": (
        "travel-chat",
        lambda it: of(it, "Alarm", MetricName="NoCapacityInvocationFailures").pop("AlarmActions"),
    ),
    "no policies": (
        "bert-large",
        lambda it: [it.pop(name) for name in [*it] if it[name]["Type"].endswith("ScalingPolicy")],
    ),
    "another maximum": ("bert-large", lambda it: of(it, "ScalableTarget").update(MaxCapacity=99)),
    "another instance type": (
        "bert-large",
        lambda it: of(it, "EndpointConfig")["ProductionVariants"][0].update(InstanceType="ml.g5.xlarge"),
    ),
    "other weights": (
        "bert-large",
        lambda it: [
            policy(it).update(Resource=["arn:aws:s3:::other/*"]),
            of(it, "Model")["PrimaryContainer"].update(ModelDataUrl="s3://other/model.tar.gz"),
        ],
    ),
    "no tags": ("travel-chat", lambda it: of(it, "Endpoint").pop("Tags")),
    "no dashboard": ("travel-chat", lambda it: it.pop("Dashboard")),
}


@pytest.mark.parametrize("fault", TAKEN)
def test_a_stack_with_this_fault_breaks_a_promise(
    aws: EmulatedAws, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    example, sabotage = TAKEN[fault]
    spec = loaded(example, monkeypatch)
    template = copy.deepcopy(template_of(spec))
    sabotage(template["Resources"])
    template["Outputs"].pop("DashboardUrl")
    assert (deploy(aws, "stack", template), failures(aws, "stack")) == ("CREATE_COMPLETE", [])
    assert broken_promises(aws, spec.spec)


@pytest.mark.parametrize(
    ("kind", "name", "changed"),
    [
        (
            "EndpointConfig",
            "EndpointConfigName",
            lambda it: it["ProductionVariants"][0].update(InitialInstanceCount=7),
        ),
        ("Model", "ModelName", lambda it: it["PrimaryContainer"].update(ModelDataUrl="s3://acme/new.tar.gz")),
    ],
)
def test_what_has_a_name_of_its_own_cannot_be_replaced(
    aws: EmulatedAws, kind: str, name: str, changed: Sabotage, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = copy.deepcopy(template_of(loaded("bert-large", monkeypatch)))
    of(template["Resources"], kind)[name] = "named"
    assert deploy(aws, "stack", template) == "CREATE_COMPLETE"
    changed(of(template["Resources"], kind))
    assert deploy(aws, "stack", template) == "UPDATE_ROLLBACK_COMPLETE"
    assert "custom-named resource requires replacing" in failures(aws, "stack")[0]
