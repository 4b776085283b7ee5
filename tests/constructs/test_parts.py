import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch, aws_iam as iam, aws_s3 as s3
from support.cdk import spec, stack, synthesised, template
from support.resolving import of_type, only, wordy_components

from inferstack.constructs import (
    EndpointAlarms,
    EndpointAutoscaling,
    EndpointDashboard,
    ExecutionRole,
    InferenceComponents,
    InferenceEndpoint,
)
from inferstack.spec.check import parse_spec
from inferstack.spec.problem import SpecError

SCALED = """
autoscaling: {min_capacity: 1, max_capacity: 4, policies: [{metric: CPUUtilization, target_value: 50}]}
"""
COMPONENT_SCALED = """
inference_components:
  chat:
    autoscaling:
      min_capacity: 1
      max_capacity: 4
      policies: [{metric: SageMakerInferenceComponentInvocationsPerCopy, target_value: 5}]
"""


def types(made: cdk.Stack) -> set[str]:
    return {it["Type"] for it in template(made)["Resources"].values()}


UNDONE = """
inference_components:
  chat:
    deployment_config:
      rolling_update_policy: {maximum_batch_size: {type: COPY_COUNT, value: 1}, wait_interval_in_seconds: 300}
      auto_rollback_configuration: {alarms: [{metric: Invocation5XXErrors}]}
"""


def test_components_bring_the_alarms_that_undo_their_updates():
    here = stack()
    InferenceComponents(here, "Part", spec=spec("components", UNDONE))
    made = template(here)
    (alarm,) = of_type(made, "AWS::CloudWatch::Alarm")
    rollback = only(made, "AWS::SageMaker::InferenceComponent")["DeploymentConfig"]
    assert rollback["AutoRollbackConfiguration"] == {"Alarms": [{"AlarmName": {"Ref": alarm}}]}


def test_a_role_apart_from_the_alarms_may_look_at_them():
    here = stack()
    ExecutionRole(here, "Part", spec=spec("components", UNDONE))
    statements = only(template(here), "AWS::IAM::ManagedPolicy")["PolicyDocument"]["Statement"]
    (look,) = [it for it in statements if it["Sid"] == "LookAtRollbackAlarms"]
    any_alarm = "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:*"
    assert look["Resource"] == [{"Fn::Sub": any_alarm}]


@pytest.mark.parametrize(
    ("part", "base", "change", "expected"),
    [
        (ExecutionRole, "single", "{}", {"AWS::IAM::Role", "AWS::IAM::ManagedPolicy"}),
        (EndpointAlarms, "single", "{}", {"AWS::CloudWatch::Alarm"}),
        (EndpointDashboard, "single", "{}", {"AWS::CloudWatch::Dashboard"}),
        (
            EndpointAutoscaling,
            "single",
            SCALED,
            {"AWS::ApplicationAutoScaling::ScalableTarget", "AWS::ApplicationAutoScaling::ScalingPolicy"},
        ),
        (InferenceComponents, "components", "{}", {"AWS::SageMaker::InferenceComponent"}),
        (
            InferenceComponents,
            "components",
            COMPONENT_SCALED,
            {
                "AWS::SageMaker::InferenceComponent",
                "AWS::ApplicationAutoScaling::ScalableTarget",
                "AWS::ApplicationAutoScaling::ScalingPolicy",
            },
        ),
    ],
)
def test_a_part_makes_its_own_resources_only(part, base, change, expected):
    here = stack()
    part(here, "Part", spec=spec(base, change))
    assert types(here) == expected


def test_a_part_has_the_properties_that_the_whole_would_give_it():
    whole, here = stack(), stack()
    InferenceEndpoint(whole, "Net", spec=spec("single"))
    EndpointAlarms(here, "Net", spec=spec("single"))
    alarms = [list(of_type(template(it), "AWS::CloudWatch::Alarm").values()) for it in (whole, here)]
    assert alarms[0] == alarms[1]


OWN_MODEL = """
execution_role: arn:aws:iam::111122223333:role/endpoints
models:
  llm: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1", model_data_url: s3://models/llm.tar.gz}
inference_components: {chat: {specification: {container: null, model_name: llm}}}
"""


def test_components_bring_the_models_that_they_run():
    here = stack()
    InferenceComponents(here, "Part", spec=spec("components", OWN_MODEL))
    made = template(here)
    (model,) = of_type(made, "AWS::SageMaker::Model")
    found = only(made, "AWS::SageMaker::InferenceComponent")["Specification"]["ModelName"]
    assert found == {"Fn::GetAtt": [model, "ModelName"]}
    assert types(here) == {"AWS::SageMaker::InferenceComponent", "AWS::SageMaker::Model"}


def test_models_of_components_alone_need_a_role_that_is_there():
    of_the_stack = OWN_MODEL.replace("execution_role: arn:aws:iam::111122223333:role/endpoints", "")
    with pytest.raises(ValueError, match="the models of shared start under the endpoint's role"):
        InferenceComponents(stack(), "Part", spec=spec("components", of_the_stack))


def test_components_name_the_endpoint_that_exists():
    here = stack()
    InferenceComponents(here, "Chat", spec=spec("components"))
    assert only(template(here), "AWS::SageMaker::InferenceComponent")["EndpointName"] == "shared"


def test_scaling_depends_on_what_is_made_with_it_and_on_nothing_else():
    together, alone = stack(), stack()
    InferenceComponents(together, "Chat", spec=spec("components", COMPONENT_SCALED))
    EndpointAutoscaling(alone, "Chat", spec=spec("components", COMPONENT_SCALED))
    depends = [
        resource.get("DependsOn")
        for here in (together, alone)
        for resource in template(here)["Resources"].values()
        if resource["Type"] == "AWS::ApplicationAutoScaling::ScalableTarget"
    ]
    (component,) = of_type(template(together), "AWS::SageMaker::InferenceComponent")
    assert depends == [[component], None]


def test_a_part_in_any_region_takes_the_mapping_that_it_needs():
    here = stack(region=None)
    ExecutionRole(here, "Role", spec=spec("multi"))
    EndpointAlarms(here, "Alarms", spec=spec("multi"))
    assert len(template(here)["Mappings"]) == 1


def test_a_role_that_is_kept_apart_fits_the_endpoint():
    here = stack()
    role = ExecutionRole(here, "Role", spec=spec("single"))
    InferenceEndpoint(here, "Net", spec=spec("single", {"execution_role": role.role_arn}))
    assert only(synthesised(role), "AWS::SageMaker::Model")["ExecutionRoleArn"] == here.resolve(role.role_arn)


@pytest.mark.parametrize("path", [None, "/ml/"])
def test_a_role_that_is_kept_apart_can_be_granted_rights_and_models_wait_for_all_of_them(path):
    here = stack()
    part = ExecutionRole(here, "Role", spec=spec("single", {"execution_role": {"path": path}} if path else "{}"))
    bucket = s3.Bucket(here, "Bucket")
    bucket.grant_read(part)
    bucket.grant_put(part.role)
    InferenceEndpoint(here, "Net", spec=spec("single"), role=part.role)
    made = template(here)
    (role,) = of_type(made, "AWS::IAM::Role")
    ((granted, policy),) = of_type(made, "AWS::IAM::Policy").items()
    assert policy["Roles"] == [{"Ref": role}]
    assert len(policy["PolicyDocument"]["Statement"]) == 2
    (model,) = (it for it in made["Resources"].values() if it["Type"] == "AWS::SageMaker::Model")
    assert model["DependsOn"] == sorted([role, granted, *of_type(made, "AWS::IAM::ManagedPolicy")])


def test_what_no_stack_can_hold_is_refused_and_a_part_of_it_is_not():
    here, large = stack(), parse_spec(wordy_components(75))
    with pytest.raises(SpecError, match="IS218: the template has 1,"):
        InferenceEndpoint(here, "Net", spec=large)
    ExecutionRole(here, "Role", spec=large)


def test_the_default_child_is_the_one_resource_that_the_part_is_about():
    here = stack()
    assert isinstance(ExecutionRole(here, "Role", spec=spec("single")).node.default_child, iam.CfnRole)
    dashboard = EndpointDashboard(here, "Dashboard", spec=spec("single"))
    assert isinstance(dashboard.node.default_child, cloudwatch.CfnDashboard)
    assert EndpointAlarms(here, "Alarms", spec=spec("single")).node.default_child is None


def test_a_part_that_the_spec_does_not_ask_for_is_an_error():
    with pytest.raises(ValueError, match="the spec of one asks for nothing that EndpointAutoscaling makes"):
        EndpointAutoscaling(stack(), "Scaling", spec=spec("single"))
