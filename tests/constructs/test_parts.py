from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from aws_cdk import (
    aws_cloudwatch as cloudwatch,
    aws_cloudwatch_actions as actions,
    aws_iam as iam,
    aws_s3 as s3,
    aws_sns as sns,
)
from support.cdk import spec, stack, synthesised, template
from support.resolving import BASES, merged, of_type, only, wordy_components

from inferstack.check.load import parse_spec
from inferstack.constructs import (
    EndpointAlarms,
    EndpointAutoscaling,
    EndpointDashboard,
    ExecutionRole,
    InferenceComponents,
    InferenceEndpoint,
)
from inferstack.problems import SpecError
from inferstack_stacks import EndpointStack

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


def base(name: str) -> dict[str, Any]:
    """The component of a base spec."""
    return yaml.safe_load(BASES[name])["inference_components"]["chat"]


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


@pytest.mark.parametrize("region", ["us-east-1", None])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_role_that_is_kept_apart_may_read_files_that_a_token_names(is_known, region):
    """CDK knows the text of some tokens before the deployment, such as an asset's URL."""
    here = stack(region)
    known = cdk.Token.as_string({"Fn::Sub": "s3://models/many/"})
    url = known if is_known else s3.Bucket(here, "Bucket").s3_url_for_object("many/")
    ExecutionRole(here, "Role", spec=spec("multi", {"model": {"model_data_url": url}}))
    policy = only(template(here), "AWS::IAM::ManagedPolicy")
    assert "ReadModelFiles" in {it["Sid"] for it in policy["PolicyDocument"]["Statement"]}


@pytest.mark.parametrize("path", [None, "/ml/"])
def test_a_role_that_is_kept_apart_can_be_granted_rights_and_models_wait_for_all_of_them(path):
    here = stack()
    part = ExecutionRole(
        here, "Role", spec=spec("single", {"execution_role": {"path": path}} if path else "{}")
    )
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


@pytest.mark.parametrize("part", [EndpointAutoscaling, InferenceComponents])
@pytest.mark.parametrize("role", ["{}", "execution_role: arn:aws:iam::111122223333:role/ours"])
def test_a_part_that_the_spec_does_not_ask_for_is_an_error(part, role):
    with pytest.raises(ValueError, match=f"the spec of one asks for nothing that {part.__name__} makes"):
        part(stack(), "Scaling", spec=spec("single", role))


UNSCALED = {"endpoint": {"retain_all_variant_properties": True}}


def waiting(made: cdk.Stack) -> dict[str, list[str]]:
    return {it["Type"].rpartition(":")[2]: it.get("DependsOn") for it in template(made)["Resources"].values()}


def test_scaling_waits_for_the_endpoint_beside_it():
    here = stack()
    endpoint = InferenceEndpoint(here, "Net", spec=spec("single", UNSCALED))
    EndpointAutoscaling(here, "Scaling", spec=spec("single", SCALED), endpoint=endpoint)
    (logical_id,) = of_type(template(here), "AWS::SageMaker::Endpoint")
    assert waiting(here)["ScalableTarget"] == [logical_id]
    assert waiting(here)["ScalingPolicy"] is None


def test_scaling_of_a_component_waits_for_the_component():
    here = stack()
    endpoint = InferenceEndpoint(here, "Net", spec=spec("components"))
    EndpointAutoscaling(here, "Scaling", spec=spec("components", COMPONENT_SCALED), endpoint=endpoint)
    (logical_id,) = of_type(template(here), "AWS::SageMaker::InferenceComponent")
    assert waiting(here)["ScalableTarget"] == [logical_id]


def test_components_wait_for_the_endpoint_beside_them_and_their_models_do_not():
    here = stack()
    named = {"endpoint_name": "shared", "inference_components": {"chat": None, "other": base("components")}}
    endpoint = InferenceEndpoint(here, "Net", spec=spec("components", named))
    InferenceComponents(here, "Chat", spec=spec("components", OWN_MODEL), endpoint=endpoint)
    made = template(here)
    (logical_id,) = of_type(made, "AWS::SageMaker::Endpoint")
    chat = next(it for key, it in made["Resources"].items() if key.startswith("ChatInferenceComponent"))
    assert chat["DependsOn"] == [logical_id]
    assert chat["Properties"]["EndpointName"] == "shared"
    assert waiting(here)["Model"] is None


def test_a_part_in_another_stack_is_deployed_after_the_endpoint():
    here = stack()
    there = cdk.Stack(
        cdk.App.of(here), "There", env=cdk.Environment(account="111122223333", region="us-east-1")
    )
    endpoint = InferenceEndpoint(here, "Net", spec=spec("single", UNSCALED))
    EndpointAutoscaling(there, "Scaling", spec=spec("single", SCALED), endpoint=endpoint)
    assert here in there.dependencies
    assert waiting(there)["ScalableTarget"] is None


def test_a_part_of_an_imported_endpoint_waits_for_nothing():
    here = stack()
    endpoint = InferenceEndpoint.from_endpoint_name(here, "Net", "One")
    EndpointAutoscaling(here, "Scaling", spec=spec("single", SCALED), endpoint=endpoint)
    assert waiting(here)["ScalableTarget"] is None


def test_spec_and_endpoint_of_a_part_are_of_one_name_and_place():
    here = stack()
    other = InferenceEndpoint.from_endpoint_name(here, "Other", "other")
    with pytest.raises(ValueError, match="the spec is for the endpoint one, but `endpoint` is other"):
        EndpointAutoscaling(here, "Scaling", spec=spec("single", SCALED), endpoint=other)
    far = InferenceEndpoint(stack("eu-west-1"), "Net", spec=spec("multi"))
    with pytest.raises(
        ValueError, match="`endpoint` is in eu-west-1, but the stack of its part is in us-east-1"
    ):
        EndpointAutoscaling(here, "Scaling", spec=spec("multi", SCALED), endpoint=far)


def test_the_endpoint_of_a_part_is_a_construct_of_ours():
    with pytest.raises(TypeError, match="`endpoint` is the text 'shared', not an endpoint; pass an endpoint"):
        InferenceComponents(stack(), "More", spec=spec("components"), endpoint="shared")


def test_a_part_is_for_variants_that_the_endpoint_has():
    here = stack()
    one = {"instance_type": "ml.g5.12xlarge", "variant_name": "main"}
    endpoint = InferenceEndpoint(here, "Net", spec=spec("components", {"variant": one}))
    others = {"inference_components": {"chat": None, "other": base("components")}}
    with pytest.raises(
        ValueError, match="the spec has the variant AllTraffic, but `endpoint` has `main`; give"
    ):
        InferenceComponents(here, "More", spec=spec("components", others), endpoint=endpoint)
    InferenceComponents(here, "More", spec=spec("components", {**others, "variant": one}), endpoint=endpoint)


@pytest.mark.parametrize("is_here", [True, False])
def test_components_are_invoked_and_measured_apart_from_the_endpoint(is_here):
    here = stack()
    named = {"inference_components": {"chat": None, "other": base("components")}}
    endpoint = InferenceEndpoint(here, "Net", spec=spec("components", named)) if is_here else None
    made = InferenceComponents(here, "Chat", spec=spec("components"), endpoint=endpoint)
    grant = made.grant_invoke(iam.User(here, "User"))
    (component,) = (it for it in template(here)["Resources"] if it.startswith("ChatInferenceComponent"))
    arn, of_component = here.resolve(grant.principal_statement.resources)
    assert of_component == {"Ref": component}
    assert here.resolve(made.inference_component_arn("chat")) == of_component
    if is_here:
        assert arn == here.resolve(endpoint.endpoint_arn)
    else:
        assert arn["Fn::Join"][1][-1] == ":sagemaker:us-east-1:111122223333:endpoint/shared"
    metric = made.metric_model_latency()
    assert dict(metric.dimensions) == {"InferenceComponentName": "chat"}
    with pytest.raises(ValueError, match="choose one of inference_component='chat'"):
        made.metric("ModelLatency", inference_component="other")


def test_parts_have_the_l1s_that_they_make():
    here, app = stack(), stack(name="Other")
    scaling = EndpointAutoscaling(here, "Scaling", spec=spec("single", SCALED))
    chat = InferenceComponents(
        app,
        "Chat",
        spec=spec("components", merged(yaml.safe_load(OWN_MODEL), yaml.safe_load(COMPONENT_SCALED))),
    )
    made = [
        *scaling.cfn_scalable_targets,
        *scaling.cfn_scaling_policies,
        *scaling.cfn_alarms,
        *chat.cfn_models,
        chat.cfn_inference_component("chat"),
        *chat.cfn_scalable_targets,
        *chat.cfn_scaling_policies,
        *chat.cfn_alarms,
        *EndpointAlarms(here, "Alarms", spec=spec("single")).cfn_alarms,
        EndpointDashboard(here, "Dashboard", spec=spec("single")).cfn_dashboard,
    ]
    ids = {cdk.Stack.of(it).resolve(it.logical_id) for it in made}
    assert ids == {*template(here)["Resources"], *template(app)["Resources"]}


LOUD = """
execution_role: {statements: [{action: ["sqs:*"], resource: ["arn:aws:sqs:us-east-1:111122223333:jobs"]}]}
autoscaling:
  min_capacity: 1
  max_capacity: 4
  policies: [{metric: CPUUtilization, target_value: 50}]
endpoint_config: {async_inference_config: {output_config: {s3_output_path: s3://a/b/}}}
"""


def test_alarms_apart_from_the_endpoint_are_found_by_their_metric():
    made = EndpointAlarms(here := stack(), "Net", spec=spec("single"))
    topic = sns.Topic(here, "Topic")
    alarm = made.alarm("MemoryUtilization")
    alarm.add_alarm_action(actions.SnsAction(topic))
    cloudwatch.CompositeAlarm(here, "Unwell", alarm_rule=cloudwatch.AlarmRule.any_of(alarm))
    result = template(here)
    found = {
        it["MetricName"]: it.get("AlarmActions") for it in of_type(result, "AWS::CloudWatch::Alarm").values()
    }
    assert found.pop("MemoryUtilization") == [here.resolve(topic.topic_arn)]
    assert not any(found.values())
    assert (
        here.resolve(alarm.alarm_arn)
        in only(result, "AWS::CloudWatch::CompositeAlarm")["AlarmRule"]["Fn::Join"][1]
    )
    with pytest.raises(ValueError, match="no alarm on `ModelLatency`; it has some on"):
        made.alarm("ModelLatency")


def test_a_part_repeats_the_warnings_of_its_own_blocks_only():
    loud = spec("single", LOUD)
    assert {"IS820", "IS823"} < {it.code for it in loud.warnings}
    here = stack()
    said = {}
    for part in (ExecutionRole, EndpointAlarms, EndpointDashboard, EndpointAutoscaling):
        made = part(here, part.__name__, spec=loud)
        said[part] = {
            code
            for code in (it.code for it in loud.warnings)
            if code in str([it.data for it in made.node.metadata])
        }
    by_block = {it.code for it in loud.warnings if "autoscaling" in it.path}
    assert by_block
    assert said == {
        ExecutionRole: {"IS820", "IS823"},
        EndpointAlarms: set(),
        EndpointDashboard: set(),
        EndpointAutoscaling: by_block,
    }


@pytest.mark.parametrize(
    "block", [{"path": "/ml/"}, {"managed_policy_arns": ["arn:aws:iam::111122223333:policy/ours"]}]
)
def test_a_role_that_was_made_of_a_block_fits_the_endpoint_with_that_block(block):
    here = stack()
    loaded = spec("single", {"execution_role": block})
    part = ExecutionRole(here, "Role", spec=loaded)
    InferenceEndpoint(here, "Net", spec=loaded, role=part.role)
    (role,) = of_type(template(here), "AWS::IAM::Role")
    (arn,) = only(template(here), "AWS::SageMaker::Model")["ExecutionRoleArn"].values()
    assert arn[1] == {"Token1": {"Ref": role}}
    other = spec("single", {"endpoint_name": "other", "execution_role": {"path": "/other/"}})
    with pytest.raises(SpecError, match="IS114"):
        InferenceEndpoint(here, "Other", spec=other, role=part.role)


@pytest.mark.parametrize(
    "construct", [InferenceEndpoint, ExecutionRole, EndpointAlarms, EndpointDashboard, EndpointStack]
)
def test_a_spec_by_position_is_answered_with_how_to_pass_it(construct):
    name = construct.__name__
    scope = cdk.App() if construct is EndpointStack else stack()
    with pytest.raises(TypeError) as error:
        construct(scope, "Churn", spec("single"))
    assert str(error.value) == f"{name} takes its spec by name: {name}(scope, 'Churn', spec=…)"
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'spec'"):
        construct(scope, "Churn")
