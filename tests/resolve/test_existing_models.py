"""Models that exist already, which variants name: the stack refers to them and makes nothing for them."""

import pytest
from support.resolving import Resolved, of_type, only

MODEL, CONFIG, ROLE = (f"AWS::{it}" for it in ("SageMaker::Model", "SageMaker::EndpointConfig", "IAM::Role"))
EXISTING = "{model: null, variant: {model_name: ranker-2026}}"
FLEET = "instance_type: ml.m5.large, initial_instance_count: 2"


def hosted(template: dict) -> list[object]:
    config = only(template, CONFIG)
    every = [*config["ProductionVariants"], *config.get("ShadowProductionVariants", ())]
    return [it["ModelName"] for it in every]


def test_a_variant_names_a_model_that_exists(resolve: Resolved) -> None:
    template = resolve("single", EXISTING)
    assert hosted(template) == ["ranker-2026"]
    assert not of_type(template, MODEL)


def test_a_model_that_exists_has_a_role_of_its_own(resolve: Resolved) -> None:
    template = resolve("single", EXISTING)
    assert not of_type(template, ROLE)
    assert not of_type(template, "AWS::IAM::ManagedPolicy")
    assert "ExecutionRoleArn" not in only(template, CONFIG)


@pytest.mark.parametrize(
    ("name", "filled_in"),
    [
        ("${import:ranker}", {"Fn::ImportValue": "ranker"}),
        ("ranker-${AWS::Region}", {"Fn::Sub": "ranker-${AWS::Region}"}),
    ],
)
def test_the_name_may_come_from_elsewhere(resolve: Resolved, name: str, filled_in: object) -> None:
    assert hosted(resolve("single", f'{{model: null, variant: {{model_name: "{name}"}}}}')) == [filled_in]


def test_a_component_may_name_one_from_elsewhere(resolve: Resolved) -> None:
    change = 'inference_components: {chat: {specification: {container: null, model_name: "${import:llm}"}}}'
    template = resolve("components", change)
    assert only(template, "AWS::SageMaker::InferenceComponent")["Specification"]["ModelName"] == {
        "Fn::ImportValue": "llm"
    }


def test_it_may_stand_beside_models_of_the_spec(resolve: Resolved) -> None:
    change = f"""
        variants:
          - {{variant_name: A, {FLEET}}}
          - {{variant_name: B, model_name: ranker-2026, {FLEET}}}
        variant: null
    """
    template = resolve("single", change)
    assert hosted(template) == [{"Fn::GetAtt": ["Model", "ModelName"]}, "ranker-2026"]
    assert len(of_type(template, ROLE)) == 1


def test_it_may_be_the_shadow_or_have_one(resolve: Resolved) -> None:
    change = f"shadow_variants: [{{variant_name: Next, model_name: ranker-2026, {FLEET}}}]"
    assert hosted(resolve("single", change))[1] == "ranker-2026"
    shadow = f"shadow_variants: [{{variant_name: Next, {FLEET}}}]"
    change = f"{{variant: {{model_name: ranker-2026}}, {shadow}}}"
    assert hosted(resolve("single", change)) == ["ranker-2026", {"Fn::GetAtt": ["Model", "ModelName"]}]


def test_a_pool_may_have_one_instead_of_the_only_model(resolve: Resolved) -> None:
    pools = "[{instance_type: ml.g5.xlarge, priority: 1}, {instance_type: ml.inf2.xlarge, priority: 2, model_name_override: compiled}]"
    template = resolve("single", f"variant: {{instance_type: null, instance_pools: {pools}}}")
    [variant] = only(template, CONFIG)["ProductionVariants"]
    assert [it.get("ModelNameOverride") for it in variant["InstancePools"]] == [None, "compiled"]
