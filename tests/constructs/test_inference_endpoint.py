import json
import re
import tempfile
from pathlib import Path

import aws_cdk as cdk
import jsii
import msgspec
import pytest
import yaml
from aws_cdk import (
    aws_applicationautoscaling as scaling,
    aws_cloudwatch_actions as actions,
    aws_ec2 as ec2,
    aws_ecr_assets as ecr_assets,
    aws_events as events,
    aws_events_targets as targets,
    aws_iam as iam,
    aws_kms as kms,
    aws_logs as logs,
    aws_s3 as s3,
    aws_s3_assets as s3_assets,
    aws_sagemaker as sagemaker,
    aws_sns as sns,
)
from support.cdk import endpoint, spec, stack, synthesised, template
from support.resolving import BASES, merged, of_type, only

from inferstack import constructs
from inferstack.check.load import load_spec, parse_spec
from inferstack.constructs import EndpointAlarms, InferenceEndpoint, vpc_config
from inferstack.format.alarms import Alarms
from inferstack.format.endpoint import EndpointConfig
from inferstack.format.kinds import Environment, ExecutionRole, SingleModelSpec
from inferstack.format.model import Model, VpcConfig
from inferstack.format.variant import Variant
from inferstack.problems import SpecError
from inferstack.resolve import resolve_template

IMAGE = "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1"


def python_spec(**blocks: object) -> SingleModelSpec:
    model = blocks.pop("model", None) or Model(image=IMAGE, model_data_url="s3://acme/one/model.tar.gz")
    variant = Variant(instance_type="ml.g5.xlarge", initial_instance_count=2)
    return SingleModelSpec(endpoint_name="one", model=model, variant=variant, **blocks)


def test_the_default_child_is_the_endpoint():
    made = endpoint("single")
    assert isinstance(made.node.default_child, sagemaker.CfnEndpoint)
    assert made.node.path == "Stack/Net"


def test_node_is_asked_for_the_default_child_only_once():
    made = endpoint("single")
    assert made.node is made.node


def test_an_override_of_the_default_child_reaches_the_template():
    made = endpoint("single")
    made.node.default_child.add_property_override("RetainDeploymentConfig", True)
    assert only(synthesised(made), "AWS::SageMaker::Endpoint")["RetainDeploymentConfig"] is True


def test_no_temporary_file_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    endpoint("single")
    assert list(tmp_path.iterdir()) == []


BASE_COMPONENT = yaml.safe_load(BASES["components"])["inference_components"]["chat"]
MODELLED = """
models:
  llm:
    image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1"
    model_data_source: {s3_data_source: {s3_uri: s3://models/llm/, s3_data_type: S3Prefix, compression_type: None}}
inference_components: {chat: {specification: {container: null, model_name: llm}}}
"""


@pytest.mark.parametrize("change", ["{}", MODELLED])
def test_preserved_ids_give_the_resolved_template(change):
    made = endpoint("components", change, preserve_logical_ids=True)
    loaded = spec("components", change)
    resolved = resolve_template(loaded.spec, region="us-east-1", source_of=loaded.source_of)
    assert synthesised(made)["Resources"] == resolved["Resources"]
    assert synthesised(made)["Outputs"] == resolved["Outputs"]


def test_logical_ids_are_stable():
    # This is a contract: another ID here would replace the resources of everyone who uses the construct.
    ids = list(synthesised(endpoint("single", "{alarms: false, dashboard: false}"))["Resources"])
    assert ids == [
        "NetExecutionRoleD2889BBF",
        "NetExecutionPolicy0D20ED17E68964CA",
        "NetModel18F8045D",
        "NetEndpointConfigC10DB2D8",
        "NetEndpointA48E6910",
    ]


def test_two_endpoints_live_in_one_stack():
    shared = stack(region=None)
    for name in ("a", "b"):
        InferenceEndpoint(shared, name, spec=spec("multi", {"endpoint_name": name}))
    made = template(shared)
    assert {it["EndpointName"] for it in of_type(made, "AWS::SageMaker::Endpoint").values()} == {"a", "b"}
    assert len(made["Mappings"]) == 2


def test_an_endpoint_in_a_stack_of_others_adds_no_outputs_and_no_description():
    assert synthesised(endpoint("single")).keys() == {"Resources"}


def test_tags_reach_every_resource_that_can_carry_them():
    made = endpoint("single", "tags: {team: a}")
    cdk.Tags.of(made).add("stage", "prod")
    for type_name in ("AWS::SageMaker::Model", "AWS::SageMaker::EndpointConfig", "AWS::SageMaker::Endpoint"):
        tags = only(synthesised(made), type_name)["Tags"]
        assert tags == [{"Key": "stage", "Value": "prod"}, {"Key": "team", "Value": "a"}]


def test_tags_of_the_stack_reach_what_is_around_the_endpoint():
    made = endpoint("single")
    cdk.Tags.of(cdk.Stack.of(made)).add("stage", "prod")
    for type_name in ("AWS::IAM::Role", "AWS::CloudWatch::Alarm"):
        for resource in of_type(synthesised(made), type_name).values():
            assert resource["Tags"] == [{"Key": "stage", "Value": "prod"}]


def test_tags_of_the_app_win_over_those_of_the_spec():
    made = endpoint("single", "tags: {team: spec, cost: spec}")
    cdk.Tags.of(made).add("team", "app")
    tags = only(synthesised(made), "AWS::SageMaker::Model")["Tags"]
    assert {it["Key"]: it["Value"] for it in tags} == {"cost": "spec", "team": "app"}


def test_references_to_the_endpoint_can_be_made_weak_by_its_l1():
    here = stack()
    there = cdk.Stack(cdk.App.of(here), "There", env=cdk.Environment(region=here.region))
    made = InferenceEndpoint(here, "Net", spec=spec("single"))
    cdk.CrossStackReferences.of(made.cfn_endpoint).produce(cdk.ReferenceStrength.WEAK)
    sns.Topic(there, "Topic", display_name=made.endpoint_name)
    assert "Fn::GetStackOutput" in only(template(there), "AWS::SNS::Topic")["DisplayName"]


def test_aspects_see_l1_constructs():
    @jsii.implements(cdk.IAspect)
    class Look:
        def visit(self, node):
            seen.append(type(node).__name__)

    seen: list[str] = []
    made = endpoint("single")
    cdk.Aspects.of(made).add(Look())
    synthesised(made)
    assert {
        "InferenceEndpoint",
        "CfnModel",
        "CfnEndpointConfig",
        "CfnEndpoint",
        "CfnRole",
        "CfnAlarm",
    } <= set(seen)


def test_tokens_of_other_constructs_become_references():
    here = stack()
    bucket, topic, key = s3.Bucket(here, "Bucket"), sns.Topic(here, "Topic"), kms.Key(here, "Key")
    vpc = ec2.Vpc(here, "Vpc", max_azs=2, nat_gateways=0)
    group = ec2.SecurityGroup(here, "Group", vpc=vpc)
    subnets = tuple(subnet.subnet_id for subnet in vpc.public_subnets)
    model = Model(
        image=IMAGE,
        model_data_url=f"s3://{bucket.bucket_name}/model.tar.gz",
        environment={"TOPIC": f"{topic.topic_name} in ${{AWS::Region}}"},
        vpc_config=VpcConfig(security_group_ids=(group.security_group_id,), subnets=subnets),
    )
    made = python_spec(
        model=model,
        alarms=Alarms(actions=(topic.topic_arn,)),
        endpoint_config=EndpointConfig(kms_key_id=key.key_arn),
    )
    InferenceEndpoint(here, "Net", spec=made)
    result = template(here)

    def reference(token: str) -> object:
        return here.resolve(token)

    properties = only(result, "AWS::SageMaker::Model")
    assert properties["PrimaryContainer"]["ModelDataUrl"] == reference(
        f"s3://{bucket.bucket_name}/model.tar.gz"
    )
    assert properties["PrimaryContainer"]["Environment"]["TOPIC"] == {
        "Fn::Sub": ["${Token1} in ${AWS::Region}", {"Token1": reference(topic.topic_name)}]
    }
    assert properties["VpcConfig"]["SecurityGroupIds"] == [reference(group.security_group_id)]
    assert only(result, "AWS::SageMaker::EndpointConfig")["KmsKeyId"] == reference(key.key_arn)
    for alarm in of_type(result, "AWS::CloudWatch::Alarm").values():
        assert alarm["AlarmActions"] == [reference(topic.topic_arn)]
    (read,) = [
        it
        for it in only(result, "AWS::IAM::ManagedPolicy")["PolicyDocument"]["Statement"]
        if it["Sid"] == "ReadModelFiles"
    ]
    arn = {
        "Fn::Sub": [
            "arn:${AWS::Partition}:s3:::${Token1}/model.tar.gz",
            {"Token1": reference(bucket.bucket_name)},
        ]
    }
    assert read["Resource"] == [arn]


def test_a_role_of_another_construct_is_used_as_it_is():
    here = stack()
    role = iam.Role(here, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    InferenceEndpoint(here, "Net", spec=python_spec(execution_role=role.role_arn))
    result = template(here)
    assert only(result, "AWS::SageMaker::Model")["ExecutionRoleArn"] == here.resolve(role.role_arn)
    assert len(of_type(result, "AWS::IAM::Role")) == 1


def own_role(scope: cdk.Stack) -> iam.Role:
    return iam.Role(scope, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))


@pytest.mark.parametrize("base", ["single", "components"])
def test_a_role_of_the_app_is_the_endpoints_and_its_rights_are_there_first(base):
    here = stack()
    role = own_role(here)
    made = InferenceEndpoint(here, "Net", spec=spec(base), role=role)
    assert made.execution_role is role
    s3.Bucket(here, "Bucket").grant_read(made.execution_role)
    result = template(here)
    (policy,) = of_type(result, "AWS::IAM::Policy")
    started = [it for it in result["Resources"].values() if "ExecutionRoleArn" in it.get("Properties", {})]
    assert [it["Properties"]["ExecutionRoleArn"] for it in started] == [here.resolve(role.role_arn)]
    assert policy in started[0]["DependsOn"]
    assert len(of_type(result, "AWS::IAM::Role")) == 1
    assert not of_type(result, "AWS::IAM::ManagedPolicy")


def test_an_imported_role_is_waited_for_with_what_is_granted_to_it():
    here = stack()
    role = iam.Role.from_role_arn(here, "Role", "arn:aws:iam::111122223333:role/ours")
    InferenceEndpoint(here, "Net", spec=spec("single"), role=role)
    s3.Bucket(here, "Bucket").grant_read(role)
    result = template(here)
    (policy,) = of_type(result, "AWS::IAM::Policy")
    (model,) = (it for it in result["Resources"].values() if it["Type"] == "AWS::SageMaker::Model")
    assert model["DependsOn"] == [policy]
    assert model["Properties"]["ExecutionRoleArn"] == "arn:aws:iam::111122223333:role/ours"


def test_models_of_the_app_have_the_apps_role():
    here = stack()
    container = sagemaker.CfnModel.ContainerDefinitionProperty(image=IMAGE)
    model = sagemaker.CfnModel(here, "Model", primary_container=container)
    named = {"model": None, "variant": {"model_name": model.attr_model_name}}
    made = InferenceEndpoint(here, "Net", spec=spec("single", named))
    for asked in ("execution_role", "grant_principal"):
        with pytest.raises(ValueError, match="the endpoint one has no role: its models exist already"):
            getattr(made, asked)
    [variant] = only(template(here), "AWS::SageMaker::EndpointConfig")["ProductionVariants"]
    assert variant["ModelName"] == {"Fn::GetAtt": ["Model", "ModelName"]}


@pytest.mark.parametrize("named", ["arn:aws:iam::111122223333:role/other", {"path": "/ml/"}])
def test_a_role_beside_one_of_the_spec_is_refused(named):
    here = stack()
    with pytest.raises(SpecError, match="IS114: the spec has an `execution_role`") as found:
        InferenceEndpoint(here, "Net", spec=spec("single", {"execution_role": named}), role=own_role(here))
    assert found.value.problems[0].path == ("execution_role",)


def test_an_arn_where_a_role_is_wanted_is_told_how_to_pass_it():
    with pytest.raises(
        TypeError, match=r"`role` is the text 'arn:.*'; pass a role: `aws_iam\.Role\.from_role_arn"
    ):
        InferenceEndpoint(stack(), "Net", spec=spec("single"), role="arn:aws:iam::111122223333:role/ours")


@pytest.mark.parametrize("prevents", [True, False])
def test_an_app_that_makes_no_roles_gives_one_before_anything_is_granted(prevents):
    here = stack()
    iam.Role.customize_roles(here, prevent_synthesis=prevents)
    made = InferenceEndpoint(here, "Net", spec=spec("single"))
    with pytest.raises(
        RuntimeError, match=r"the app uses `Role\.customize_roles`, .*`role=aws_iam\.Role\.from_role_arn"
    ):
        s3.Bucket(here, "Bucket").grant_read(made)
    given = iam.Role.from_role_arn(here, "Given", "arn:aws:iam::111122223333:role/ours")
    other = InferenceEndpoint(here, "Other", spec=spec("single", "endpoint_name: other"), role=given)
    assert other.execution_role is given


WAYS = {
    "granted": lambda scope, role, right: role.add_to_principal_policy(right),
    "attached": lambda scope, role, right: role.attach_inline_policy(
        iam.Policy(scope, "Policy", statements=[right])
    ),
    "inline": lambda scope, role, right: iam.Policy(scope, "Policy", statements=[right], roles=[role]),
    "managed": lambda scope, role, right: iam.ManagedPolicy(
        scope, "Policy", statements=[right], roles=[role]
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_models_wait_for_what_is_granted_and_not_for_policies_that_name_the_role(way):
    made = endpoint("single")
    # Stands for a function that calls the endpoint and is called back by its container.
    caller = cdk.CfnResource(
        made.stack, "Caller", type="AWS::Lambda::Function", properties={"Of": made.endpoint_name}
    )
    right = iam.PolicyStatement(
        actions=["lambda:InvokeFunction"], resources=[caller.get_att("Arn").to_string()]
    )
    WAYS[way](made.stack, made.execution_role, right)
    assert ("Caller" in circle(synthesised(made)["Resources"])) is (way == "granted")


def circle(resources: dict) -> set[str]:
    """Resources that wait for each other, and those that wait for them."""
    waits = {
        name: {it for it in resources if f'"{it}"' in json.dumps(found)} for name, found in resources.items()
    }
    while free := [name for name, before in waits.items() if not before & waits.keys()]:
        for name in free:
            del waits[name]
    return set(waits)


def test_what_is_no_role_is_told_how_to_pass_one():
    here = stack()
    with pytest.raises(
        TypeError, match=r"`role` is a CfnRole, .*`aws_iam\.Role\.from_role_arn\(…\)` with its `attr_arn`"
    ):
        InferenceEndpoint(
            here, "L1", spec=spec("single"), role=iam.CfnRole(here, "Made", assume_role_policy_document={})
        )
    with pytest.raises(TypeError, match=r"`role` is a User, not a role; .* with the ARN of a role"):
        InferenceEndpoint(here, "User", spec=spec("single"), role=iam.User(here, "Somebody"))


@pytest.mark.parametrize(
    "of", ["iam::111122223333:user/x", "iam::1111:role/x", "sts::111122223333:assumed-role/x/y"]
)
def test_the_arn_of_something_else_is_no_role(of):
    here = stack()
    given = iam.Role.from_role_arn(here, "Given", f"arn:aws:{of}")
    with pytest.raises(
        ValueError, match=r"`role` has the ARN .*, which is not that of a role, such as arn:aws:iam::"
    ):
        InferenceEndpoint(here, "Net", spec=spec("single"), role=given)


@pytest.mark.parametrize("there", [None, ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"]])
def test_a_managed_policy_is_attached_to_the_role_before_the_models_start(there):
    block = {"execution_role": {"managed_policy_arns": there}} if there else {}
    made = endpoint("single", block)
    named = iam.ManagedPolicy.from_aws_managed_policy_name("AmazonS3OutpostsReadOnlyAccess")
    ours = iam.ManagedPolicy(
        made.stack, "Ours", statements=[iam.PolicyStatement(actions=["s3:GetObject"], resources=["*"])]
    )
    made.execution_role.add_managed_policy(named)
    made.execution_role.add_managed_policy(ours)
    result = synthesised(made)
    arns = only(result, "AWS::IAM::Role")["ManagedPolicyArns"]
    assert arns[:-2] == (there or [])
    assert arns[-2] == made.stack.resolve(named.managed_policy_arn)
    assert arns[-1] == made.stack.resolve(ours.managed_policy_arn)


def test_a_role_that_the_spec_names_too_is_no_other_role():
    here = stack()
    role = own_role(here)
    InferenceEndpoint(here, "Net", spec=spec("single", {"execution_role": role.role_arn}), role=role)


def test_rules_about_a_role_that_is_made_are_silent_about_one_that_is_given():
    here = stack()
    queued = {
        "endpoint_config": {"async_inference_config": {"output_config": {"s3_output_path": "s3://a/b/"}}}
    }
    loaded = spec("single", queued)
    assert "IS823" in {it.code for it in loaded.warnings}
    made = InferenceEndpoint(here, "Net", spec=loaded, role=own_role(here))
    assert "IS823" not in str([it.data for it in made.node.metadata])


def test_tokens_of_another_stack_become_imports():
    here = stack()
    there = cdk.Stack(
        cdk.App.of(here), "There", env=cdk.Environment(account="111122223333", region="us-east-1")
    )
    bucket = s3.Bucket(there, "Bucket")
    model = Model(image=IMAGE, model_data_url=f"s3://{bucket.bucket_name}/model.tar.gz")
    InferenceEndpoint(here, "Net", spec=python_spec(model=model))
    url = only(template(here), "AWS::SageMaker::Model")["PrimaryContainer"]["ModelDataUrl"]
    assert "Fn::ImportValue" in url["Fn::Join"][1][1]


def test_the_region_of_the_stack_decides_the_image():
    made = endpoint("multi")
    assert ".us-east-1." in only(synthesised(made), "AWS::SageMaker::Model")["PrimaryContainer"]["Image"]


def test_a_stack_in_any_region_gets_a_mapping():
    anywhere = stack(region=None)
    InferenceEndpoint(anywhere, "Net", spec=spec("multi"))
    assert "Mappings" in template(anywhere)


def test_a_spec_for_another_region_than_the_stacks_is_refused():
    with pytest.raises(
        SpecError, match="IS111: the spec is for `us-east-1`, but the stack is in `eu-west-1`"
    ):
        InferenceEndpoint(stack("eu-west-1"), "Net", spec=python_spec(env=Environment(region="us-east-1")))


@pytest.mark.parametrize("make", [InferenceEndpoint, EndpointAlarms])
def test_a_spec_for_another_account_than_the_stacks_is_refused(make):
    with pytest.raises(
        SpecError, match="IS111: the spec is for `222222222222`, but the stack is in `111122223333`"
    ):
        make(stack(), "Net", spec=python_spec(env=Environment(account="222222222222")))
    anywhere = stack(region=None)
    make(anywhere, "Net", spec=python_spec(env=Environment(account="222222222222")))


def test_only_the_stack_says_the_region():
    with pytest.raises(TypeError, match="region"):
        InferenceEndpoint(stack(), "Net", spec=python_spec(), region="eu-west-1")


def test_a_spec_made_in_python_is_checked():
    wrong = msgspec.structs.replace(python_spec(), variant=Variant(instance_type="ml.g5.huge"))
    with pytest.raises(SpecError, match=r'"ml\.g5\.huge"'):
        InferenceEndpoint(stack(), "Net", spec=wrong)


def test_a_warning_becomes_an_annotation_with_its_code(tmp_path):
    app = cdk.App(outdir=str(tmp_path))
    scope = cdk.Stack(app, "Stack")
    broad = "execution_role: {statements: [{action: ['s3:*'], resource: ['*']}]}"
    InferenceEndpoint(scope, "Endpoint", spec=spec("single", broad))
    app.synth()
    # Read as text: two packages of CDK ship Python classes for it, and the one installed last wins.
    written = "".join(file.read_text("utf-8") for file in tmp_path.glob("*.json"))
    assert "aws:cdk:warning" in written
    assert re.search(r'"execution_role\.statements\.0\.resource\.0: IS\d{3}: .* \[ack: IS\d{3}\]', written)


def test_cdk_has_no_advice_on_the_accounts_of_images(tmp_path):
    app = cdk.App(outdir=str(tmp_path))
    framework = spec("single", "model: {image: {framework: triton, version: '26.05'}}")
    InferenceEndpoint(cdk.Stack(app, "Stack"), "Endpoint", spec=framework)
    app.synth()
    assert "Mappings" in json.loads((tmp_path / "Stack.template.json").read_text("utf-8"))
    assert "aws:cdk:info" not in "".join(file.read_text("utf-8") for file in tmp_path.glob("*.json"))


@pytest.mark.parametrize(("base", "change"), [("single", "{}"), ("components", MODELLED)])
def test_a_grant_to_the_role_comes_before_the_models(base, change):
    made = endpoint(base, change)
    bucket = s3.Bucket(cdk.Stack.of(made), "Bucket")
    bucket.grant_read(made.execution_role)
    result = synthesised(made)
    (policy,) = of_type(result, "AWS::IAM::Policy")
    (model,) = (it for it in result["Resources"].values() if it["Type"] == "AWS::SageMaker::Model")
    assert policy in model["DependsOn"]
    (role,) = of_type(result, "AWS::IAM::Role")
    assert result["Resources"][policy]["Properties"]["Roles"] == [{"Ref": role}]


@pytest.mark.parametrize(
    ("block", "arn"),
    [
        ("{}", "arn:<partition>:iam::111122223333:role/<role>"),
        ("execution_role: {path: /ml/serving/}", "arn:<partition>:iam::111122223333:role/ml/serving/<role>"),
        ("execution_role: arn:aws:iam::111122223333:role/ml/mine", "arn:aws:iam::111122223333:role/ml/mine"),
    ],
)
def test_the_role_has_its_own_arn(block, arn):
    made = endpoint("single", block)
    resolved = cdk.Stack.of(made).resolve(made.execution_role.role_arn)
    parts = [resolved] if isinstance(resolved, str) else resolved["Fn::Join"][1]
    names = {"AWS::Partition": "<partition>"}
    assert "".join(it if isinstance(it, str) else names.get(it["Ref"], "<role>") for it in parts) == arn


def test_grant_invoke_names_the_endpoint_and_its_components():
    made = endpoint("components")
    user = iam.User(cdk.Stack.of(made), "User")
    made.grant_invoke(user)
    result = synthesised(made)
    (statement,) = only(result, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    assert statement["Action"] == [
        "sagemaker:InvokeEndpoint",
        "sagemaker:InvokeEndpointWithResponseStream",
    ]
    (one,) = of_type(result, "AWS::SageMaker::Endpoint")
    (component,) = of_type(result, "AWS::SageMaker::InferenceComponent")
    assert statement["Resource"] == [{"Ref": one}, {"Ref": component}]


@pytest.mark.parametrize(
    ("grantee", "said"),
    [
        ("web", "`grantee` is the text 'web', to which"),
        (Variant(instance_type="ml.m5.large"), "is a Variant, to"),
    ],
)
def test_the_right_to_invoke_is_for_what_can_be_granted_something(grantee, said):
    with pytest.raises(TypeError, match=said):
        endpoint("single").grant_invoke(grantee)


@pytest.mark.parametrize(
    ("framework", "given", "granted"),
    [
        ("huggingface-vllm", {}, True),
        ("huggingface-vllm", {"openai_route": False}, False),
        (None, {}, False),
        (None, {"openai_route": True}, True),
    ],
)
def test_a_bearer_token_is_for_language_models_or_where_the_app_says_so(framework, given, granted):
    image = IMAGE if framework is None else {"framework": framework, "version": "0.21.0"}
    made = endpoint("single", {"model": {"image": image}})
    grant = made.grant_invoke(iam.User(cdk.Stack.of(made), "User"), **given)
    rights = [(it.actions, it.resources) for it in grant.principal_statements]
    assert ((["sagemaker:CallWithBearerToken"], ["*"]) in rights) is granted


def test_name_and_arn_refer_to_the_endpoint():
    made = endpoint("single", preserve_logical_ids=True)
    resolve = cdk.Stack.of(made).resolve
    assert resolve(made.endpoint_name) == {"Fn::GetAtt": ["Endpoint", "EndpointName"]}
    assert resolve(made.endpoint_arn) == {"Ref": "Endpoint"}


def test_connections_are_the_security_groups_of_the_spec():
    network = {"security_group_ids": ["sg-0123456789abcdef0"], "subnets": ["subnet-0123456789abcdef0"]}
    made = endpoint("single", {"model": {"vpc_config": network}})
    made.connections.allow_from_any_ipv4(ec2.Port.tcp(443))
    rule = only(synthesised(made), "AWS::EC2::SecurityGroupIngress")
    assert (rule["GroupId"], rule["ToPort"]) == ("sg-0123456789abcdef0", 443)


def network_of(group: ec2.SecurityGroup) -> dict[str, object]:
    group_ids = [group.security_group_id]
    return {
        "model": {"vpc_config": {"security_group_ids": group_ids, "subnets": ["subnet-0123456789abcdef0"]}}
    }


@pytest.mark.parametrize("lets_all_out", [True, False])
def test_a_group_of_the_app_gets_the_rules_that_its_own_settings_want(lets_all_out):
    here = stack()
    vpc = ec2.Vpc.from_vpc_attributes(here, "Vpc", vpc_id="vpc-1", availability_zones=["us-east-1a"])
    group, database = (
        ec2.SecurityGroup(here, name, vpc=vpc, allow_all_outbound=lets_all_out)
        for name in ("Group", "Database")
    )
    made = InferenceEndpoint(here, "Net", spec=spec("single", network_of(group)))
    database.connections.allow_from(made, ec2.Port.tcp(5432))
    result = template(here)
    (way_in,) = of_type(result, "AWS::EC2::SecurityGroupIngress").values()
    assert way_in["GroupId"] == here.resolve(database.security_group_id)
    ways_out = of_type(result, "AWS::EC2::SecurityGroupEgress").values()
    assert [it["GroupId"] for it in ways_out] == [here.resolve(group.security_group_id)] * (not lets_all_out)


@pytest.mark.parametrize("kind", ["single", "components"])
def test_the_endpoint_waits_for_the_routes_of_subnets_that_the_app_makes(kind):
    here = stack()
    vpc = ec2.Vpc(here, "Vpc", availability_zones=["us-east-1a"])
    network = {"subnets": [vpc.private_subnets[0].subnet_id], "security_group_ids": ["sg-0a1b2c3d4e5f60718"]}
    holder = "model" if kind == "single" else "endpoint_config"
    InferenceEndpoint(here, "Net", spec=spec(kind, {holder: {"vpc_config": network}}))
    resources = template(here)["Resources"]
    (waiting,) = [it for it in resources.values() if it["Type"] == "AWS::SageMaker::Endpoint"]
    assert sorted(resources[it]["Type"] for it in waiting["DependsOn"]) == [
        "AWS::EC2::Route",
        "AWS::EC2::SubnetRouteTableAssociation",
    ]


@pytest.mark.parametrize("subnets", ["looked up", "a list", "a parameter", "a dynamic reference"])
def test_subnets_that_the_app_does_not_make_are_waited_for_by_no_one(subnets):
    here = stack()
    given = {
        "looked up": ["subnet-0a1b2c3d4e5f60718"],
        "a list": cdk.CfnParameter(here, "List", type="CommaDelimitedList").value_as_list,
        "a parameter": [cdk.CfnParameter(here, "One").value_as_string],
        "a dynamic reference": ["{{resolve:ssm:/net/subnet}}"],
    }
    network = {"subnets": given[subnets], "security_group_ids": ["sg-0a1b2c3d4e5f60718"]}
    InferenceEndpoint(here, "Net", spec=spec("single", {"model": {"vpc_config": network}}))
    assert all(
        "DependsOn" not in it
        for it in template(here)["Resources"].values()
        if it["Type"] == "AWS::SageMaker::Endpoint"
    )


@pytest.mark.parametrize("made_as", ["import", "L1", "part of a text"])
def test_a_group_of_which_nothing_is_known_is_not_taken_to_let_all_out(made_as):
    here = stack()
    l1 = ec2.CfnSecurityGroup(here, "Group", group_description="ours")
    given = {"import": "sg-0123456789abcdef0", "L1": l1.attr_group_id, "part of a text": f"sg-{l1.ref}"}[
        made_as
    ]
    network = {"security_group_ids": [given], "subnets": ["subnet-0123456789abcdef0"]}
    made = InferenceEndpoint(here, "Net", spec=spec("single", {"model": {"vpc_config": network}}))
    made.connections.allow_to_any_ipv4(ec2.Port.tcp(443))
    assert only(template(here), "AWS::EC2::SecurityGroupEgress")["GroupId"] == here.resolve(given)


def test_an_endpoint_is_where_another_construct_wants_connections():
    network = {"security_group_ids": ["sg-0123456789abcdef0"], "subnets": ["subnet-0123456789abcdef0"]}
    made = endpoint("single", {"model": {"vpc_config": network}})
    other = ec2.SecurityGroup.from_security_group_id(cdk.Stack.of(made), "Other", "sg-0fedcba9876543210")
    other.connections.allow_from(made, ec2.Port.tcp(443))
    rule = only(synthesised(made), "AWS::EC2::SecurityGroupIngress")
    assert (rule["GroupId"], rule["SourceSecurityGroupId"]) == (
        "sg-0fedcba9876543210",
        "sg-0123456789abcdef0",
    )


def test_what_is_granted_to_an_endpoint_its_role_gets_before_the_models_start():
    made = endpoint("single")
    s3.Bucket(cdk.Stack.of(made), "Bucket").grant_read(made)
    result = synthesised(made)
    ((logical_id, policy),) = of_type(result, "AWS::IAM::Policy").items()
    (role,) = of_type(result, "AWS::IAM::Role")
    assert policy["Roles"] == [{"Ref": role}]
    (model,) = (it for it in result["Resources"].values() if it["Type"] == "AWS::SageMaker::Model")
    assert logical_id in model["DependsOn"]


def test_without_a_vpc_another_construct_is_told_that_there_are_no_connections():
    made = endpoint("single")
    other = ec2.SecurityGroup.from_security_group_id(cdk.Stack.of(made), "Other", "sg-0fedcba9876543210")
    with pytest.raises(RuntimeError, match="one has no security groups: its spec has no `vpc_config`"):
        other.connections.allow_from(made, ec2.Port.tcp(443))


def test_without_a_vpc_there_are_no_connections():
    with pytest.raises(ValueError, match="one has no security groups: its spec has no `vpc_config`"):
        _ = endpoint("single").connections


def test_an_alarm_is_found_by_its_metric():
    made = endpoint("single")
    alarm = made.alarm("MemoryUtilization")
    assert alarm is made.alarm("MemoryUtilization")
    arn = cdk.Stack.of(made).resolve(alarm.alarm_arn)
    (logical_id,) = [it for it in of_type(synthesised(made), "AWS::CloudWatch::Alarm") if "AlarmMemory" in it]
    assert arn == {"Fn::GetAtt": [logical_id, "Arn"]}


@pytest.mark.parametrize(
    ("method", "name", "key"),
    [
        ("add_alarm_action", "actions", "AlarmActions"),
        ("add_ok_action", "ok_actions", "OKActions"),
        ("add_insufficient_data_action", "insufficient_data_actions", "InsufficientDataActions"),
    ],
)
@pytest.mark.parametrize("there", [[], ["arn:aws:sns:${AWS::Region}:111122223333:spec"]])
def test_what_an_alarm_is_to_do_comes_after_what_the_spec_says(method, name, key, there):
    made = endpoint("single", {"alarms": {name: there}})
    topics = [sns.Topic(made.stack, name) for name in ("One", "Two", "Three")]
    first, *others = map(actions.SnsAction, topics)
    alarm = made.alarm("Invocation5XXErrors")
    getattr(alarm, method)(first)
    getattr(alarm, method)(*others)
    acting = [it[key] for it in of_type(synthesised(made), "AWS::CloudWatch::Alarm").values() if key in it]
    (found,) = [it for it in acting if len(it) > len(there)]
    assert found == [*({"Fn::Sub": it} for it in there), *(made.stack.resolve(it.topic_arn) for it in topics)]


def test_nothing_is_added_to_actions_that_only_the_deployment_knows():
    here = stack()
    topics = cdk.CfnParameter(here, "Topics", type="CommaDelimitedList").value_as_list
    made = InferenceEndpoint(here, "Net", spec=spec("single", {"alarms": {"actions": topics}}))
    with pytest.raises(
        ValueError, match="`alarm_actions` of the alarm are a list that only the deployment knows"
    ):
        made.alarm("MemoryUtilization").add_alarm_action(actions.SnsAction(sns.Topic(here, "Topic")))


@pytest.mark.parametrize("given", [sns.Topic, lambda here, _: "arn:aws:sns:us-east-1:111122223333:oncall"])
def test_what_is_no_action_of_an_alarm_is_told_how_to_become_one(given):
    made = endpoint("single")
    topic = given(made.stack, "Topic")
    with pytest.raises(
        TypeError, match=rf"^a {type(topic).__name__} is not an alarm action; pass .*`SnsAction\(topic\)`"
    ):
        made.alarm("MemoryUtilization").add_alarm_action(topic)


def test_an_alarm_on_an_expression_is_found_by_the_id_of_what_it_returns():
    queries = "[{id: slowest, period: 60, expression: SELECT MAX(Seconds) FROM Acme}]"
    made = endpoint("single", f"alarms: {{rules: [{{threshold: 2, metrics: {queries}}}]}}")
    arn = cdk.Stack.of(made).resolve(made.alarm("slowest").alarm_arn)
    assert "AlarmSlowest" in arn["Fn::GetAtt"][0]
    with pytest.raises(ValueError, match=r"no alarm on `Slow`; it has some on .*`slowest`"):
        made.alarm("Slow")


def test_an_alarm_that_the_spec_does_not_have_is_an_error_that_names_those_it_has():
    with pytest.raises(ValueError, match=r"no alarm on `ModelLatency`; it has some on .*`MemoryUtilization`"):
        endpoint("single").alarm("ModelLatency")
    with pytest.raises(ValueError, match=r"no alarm on `ModelLatency`; it has no alarms"):
        endpoint("single", "alarms: false").alarm("ModelLatency")


@pytest.mark.parametrize("make", [InferenceEndpoint, EndpointAlarms])
def test_logical_ids_are_those_of_the_resources(make):
    made = make(stack(), "Net", spec=spec("single"))
    with pytest.raises(TypeError, match=r"several resources, .*ask one of its L1s.* and give that 'Mine'"):
        made.override_logical_id("Mine")
    with pytest.raises(AttributeError, match="several resources, each with a logical id of its own"):
        _ = made.logical_id
    made.cfn_alarms[0].override_logical_id("Mine")
    assert "Mine" in synthesised(made)["Resources"]


def test_every_l1_can_be_had_by_its_type():
    scaled = {
        "inference_components": {
            "chat": {
                "autoscaling": {
                    "min_capacity": 1,
                    "max_capacity": 2,
                    "policies": [
                        {"metric": "SageMakerInferenceComponentInvocationsPerCopy", "target_value": 5}
                    ],
                }
            }
        }
    }
    made = endpoint("components", merged(yaml.safe_load(MODELLED), scaled))
    found = [
        made.cfn_endpoint,
        made.cfn_endpoint_config,
        *made.cfn_models,
        made.cfn_inference_component("chat"),
        made.cfn_role,
        *made.cfn_policies,
        *made.cfn_alarms,
        made.cfn_dashboard,
        *made.cfn_scalable_targets,
        *made.cfn_scaling_policies,
    ]
    resolve = cdk.Stack.of(made).resolve
    assert {resolve(it.logical_id) for it in found} == synthesised(made)["Resources"].keys()
    assert isinstance(made.cfn_inference_component("chat"), sagemaker.CfnInferenceComponent)


def test_an_l1_that_is_not_made_is_an_error():
    made = endpoint("single", "{dashboard: false, execution_role: 'arn:aws:iam::111122223333:role/ours'}")
    with pytest.raises(ValueError, match="the spec of one makes no AWS::IAM::Role"):
        _ = made.cfn_role
    with pytest.raises(ValueError, match="the spec of one makes no AWS::CloudWatch::Dashboard"):
        _ = made.cfn_dashboard
    assert list(made.cfn_policies) == []
    with pytest.raises(ValueError, match="no inference component `chat`; it has none"):
        made.cfn_inference_component("chat")


def test_name_and_arn_of_a_component_are_there_once_the_component_is():
    made = endpoint("components", {"inference_components": {"chat": None, "Chat": BASE_COMPONENT}})
    resolve = cdk.Stack.of(made).resolve
    component = {"Ref": resolve(made.cfn_inference_component("Chat").logical_id)}
    assert resolve(made.inference_component_arn("Chat")) == component
    assert resolve(made.inference_component_name("Chat")) == {"Fn::Select": [0, ["Chat", component]]}
    with pytest.raises(ValueError, match="no inference component `Chad`; did you mean `Chat`"):
        made.inference_component_name("Chad")


def test_a_construct_where_a_text_is_wanted_is_told_which_of_its_texts():
    here = stack()
    vpc = ec2.Vpc(here, "Vpc", max_azs=1, nat_gateways=0)
    given = {
        "role_arn": own_role(here),
        "topic_arn": sns.Topic(here, "Topic"),
        "key_arn": kms.Key(here, "Key"),
        "subnet_id": vpc.public_subnets[0],
        "security_group_id": ec2.SecurityGroup(here, "Group", vpc=vpc),
        "s3_object_url": s3_assets.Asset(here, "Asset", path=str(Path(__file__).parent)),
        "subnet_ids": vpc.select_subnets(),
    }
    with pytest.raises(SpecError) as found:
        parse_spec({"tags": given})
    assert {it.path[-1]: it.fix for it in found.value.problems} == {it: f"pass its `{it}`" for it in given}


def test_a_bucket_is_no_url_and_a_vpc_is_several_subnets(tmp_path):
    here = stack()
    (tmp_path / "Dockerfile").write_text("FROM scratch\n", "utf-8")
    given = {
        "Bucket": (s3.Bucket(here, "Bucket"), "`s3_url_for_object(…)` for a URL"),
        "Vpc": (ec2.Vpc(here, "Vpc"), "`select_subnets(…).subnet_ids`"),
        "DockerImageAsset": (
            ecr_assets.DockerImageAsset(here, "Image", directory=str(tmp_path)),
            "`image_uri`",
        ),
    }
    assert_told_what_to_pass(given)


def test_a_role_in_a_spec_belongs_to_the_construct():
    with pytest.raises(SpecError) as found:
        spec("single", {"execution_role": own_role(stack())})
    (problem,) = found.value.problems
    assert problem.fix == "leave it out, and pass the role itself to the construct: `role=…`"


def test_a_construct_in_a_spec_of_the_classes_is_a_problem_like_in_data():
    here = stack()
    model = Model(image=IMAGE, model_data_url=s3.Bucket(here, "Bucket"))
    alarms = Alarms(actions=[sns.Topic(here, "Topic")])
    with pytest.raises(SpecError) as found:
        InferenceEndpoint(here, "Net", spec=python_spec(model=model, alarms=alarms))
    assert [(it.code, it.path) for it in found.value.problems] == [
        ("IS021", ("alarms", "actions", 0)),
        ("IS021", ("model", "model_data_url")),
    ]


def test_the_name_of_a_bucket_is_no_url():
    here = stack()
    bucket = s3.Bucket(here, "Bucket")
    for wrong in (bucket.bucket_name, bucket.bucket_arn, f"{bucket.bucket_name}/model.tar.gz"):
        with pytest.raises(SpecError, match=r"model_data_url: IS116: .*`s3_url_for_object\(…\)`"):
            InferenceEndpoint(here, "Net", spec=python_spec(model=Model(image=IMAGE, model_data_url=wrong)))
    param = cdk.CfnParameter(here, "Url")
    InferenceEndpoint(
        here, "Net", spec=python_spec(model=Model(image=IMAGE, model_data_url=param.value_as_string))
    )


def decrypts(of):
    found = [it["PolicyDocument"]["Statement"] for it in of_type(of, "AWS::IAM::ManagedPolicy").values()]
    return [it["Resource"] for statements in found for it in statements if it["Sid"] == "DecryptFiles"]


def test_the_key_of_a_bucket_is_used_with_its_files():
    here = stack()
    key = kms.Key(here, "Key")
    url = s3.Bucket(here, "Bucket", encryption_key=key).s3_url_for_object("model.tar.gz")
    made = python_spec(model=Model(image=IMAGE, model_data_url=url))
    InferenceEndpoint(here, "Net", spec=made)
    assert decrypts(template(here)) == [[here.resolve(key.key_arn)]]


def test_the_key_of_a_bucket_is_named_once_and_not_for_another_role():
    here = stack()
    key = kms.Key(here, "Key")
    url = s3.Bucket(here, "Bucket", encryption_key=key).s3_url_for_object("model.tar.gz")
    model = Model(image=IMAGE, model_data_url=url)
    named = python_spec(model=model, execution_role=ExecutionRole(kms_key_arns=[key.key_arn]))
    InferenceEndpoint(here, "Net", spec=named)
    assert decrypts(template(here)) == [[here.resolve(key.key_arn)]]
    there = stack()
    url = s3.Bucket(there, "Bucket", encryption_key=kms.Key(there, "Key")).s3_url_for_object("model.tar.gz")
    mine = python_spec(model=Model(image=IMAGE, model_data_url=url))
    InferenceEndpoint(there, "Net", spec=mine, role=own_role(there))
    assert decrypts(template(there)) == []


def test_a_part_makes_the_role_that_may_use_the_buckets_key():
    here = stack()
    key = kms.Key(here, "Key")
    url = s3.Bucket(here, "Bucket", encryption_key=key).s3_url_for_object("model.tar.gz")
    made = python_spec(model=Model(image=IMAGE, model_data_url=url))
    part = constructs.ExecutionRole(here, "Role", spec=made)
    InferenceEndpoint(here, "Net", spec=made, role=part.role)
    assert decrypts(template(here)) == [[here.resolve(key.key_arn)]]


def test_a_vpc_of_the_app_is_a_block_of_the_spec():
    here = stack()
    vpc = ec2.Vpc(here, "Vpc", max_azs=2, nat_gateways=1)
    group = ec2.SecurityGroup(here, "Group", vpc=vpc)
    private = vpc_config(vpc, security_groups=[group])
    assert private.subnets == tuple(it.subnet_id for it in vpc.private_subnets)
    public = vpc_config(
        vpc,
        security_groups=[group],
        vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC),
    )
    assert public.subnets == tuple(it.subnet_id for it in vpc.public_subnets)
    made = InferenceEndpoint(here, "Net", spec=spec("single", {"model": {"vpc_config": private}}))
    assert made.connections.security_groups == [group]


def test_a_network_of_public_subnets_is_taken_only_if_it_is_chosen():
    here = stack()
    public = [ec2.SubnetConfiguration(name="Open", subnet_type=ec2.SubnetType.PUBLIC)]
    vpc = ec2.Vpc(here, "Vpc", subnet_configuration=public)
    group = ec2.SecurityGroup(here, "Group", vpc=vpc)
    with pytest.raises(ValueError, match=r"the network Stack/Vpc has no private subnets.*SubnetType\.PUBLIC"):
        vpc_config(vpc, security_groups=[group])
    chosen = ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC)
    assert vpc_config(vpc, security_groups=[group], vpc_subnets=chosen).subnets
    with pytest.raises(TypeError, match=r"`security_groups` is a SecurityGroup, not a list; write"):
        vpc_config(vpc, security_groups=group)


@pytest.mark.parametrize(("zones", "warns"), [(["a"], True), (["a", "b"], False)])
def test_subnets_in_one_zone_are_warned_of(zones, warns):
    here = stack()
    vpc = ec2.Vpc(here, "Vpc", availability_zones=[f"us-east-1{it}" for it in zones])
    vpc_config(vpc, security_groups=[ec2.SecurityGroup(here, "Group", vpc=vpc)])
    said = str([it.data for it in vpc.node.metadata])
    assert ("IS278: all subnets for SageMaker are in us-east-1a, but" in said) is warns


@pytest.mark.parametrize("first", [True, False])
def test_a_log_group_is_made_once(first):
    here = stack()
    kept = {"log_groups": {"retention_in_days": 30}}
    if first:
        logs.LogGroup(here, "Own", log_group_name="/aws/sagemaker/Endpoints/one")
    made = InferenceEndpoint(here, "Net", spec=spec("single", kept))
    assert [it.log_group_name for it in made.cfn_log_groups] == ["/aws/sagemaker/Endpoints/one"]
    if not first:
        cdk.App.of(here).synth()
        logs.LogGroup(here, "Own", log_group_name="/aws/sagemaker/Endpoints/one")
    with pytest.raises(RuntimeError, match="/aws/sagemaker/Endpoints/one is made by Stack/Own/Resource, too"):
        cdk.App.of(here).synth(force=True)


def test_data_may_hold_blocks_made_of_the_classes():
    network = VpcConfig(subnets=["subnet-12345678", "subnet-87654321"], security_group_ids=("sg-12345678",))
    made = spec("single", {"model": {"vpc_config": network}})
    assert made.spec == spec("single", {"model": {"vpc_config": msgspec.to_builtins(network)}}).spec


def test_stages_of_a_spec_made_of_the_classes_take_a_choice():
    typed = python_spec(stages={"prod": {"variant": {"initial_instance_count": 5}}})
    with pytest.raises(SpecError, match=r"stages: IS036: .*pass `parse_spec\(spec, stage=…\)`"):
        InferenceEndpoint(stack(), "Net", spec=typed)
    made = InferenceEndpoint(stack(), "Net", spec=parse_spec(typed, stage="prod"))
    config = only(synthesised(made), "AWS::SageMaker::EndpointConfig")
    assert config["ProductionVariants"][0]["InitialInstanceCount"] == 5


def test_an_image_needs_a_tag_and_a_time_is_a_number():
    repository = cdk.aws_ecr.Repository.from_repository_name(stack(), "Images", "net")
    with pytest.raises(SpecError) as found:
        parse_spec(
            {"model": {"image": repository}, "autoscaling": {"scale_in_cooldown": cdk.Duration.minutes(5)}}
        )
    assert [it.fix for it in found.value.problems] == [
        "pass its `repository_uri_for_tag(…)`",
        "pass its `to_seconds()`",
    ]


def assert_told_what_to_pass(given):
    """By the name that a message gives an object: the object, and what is to be passed of it."""
    with pytest.raises(SpecError) as found:
        parse_spec({"tags": {name: it for name, (it, _) in given.items()}})
    for problem, (name, (_, fix)) in zip(found.value.problems, given.items(), strict=True):
        assert f"is a `{name}`" in problem.message
        assert problem.fix.startswith(f"pass its {fix}")


def test_what_stands_for_a_text_is_told_how_to_become_one(tmp_path):
    here = stack()
    topic = cdk.CfnResource(here, "Topic", type="AWS::SNS::Topic")
    given = {
        "CfnParameter": (
            cdk.CfnParameter(here, "Name"),
            "`value_as_string`, `value_as_number` or `value_as_list`",
        ),
        "CfnResource": (topic, "`ref`, or one of its `attr_…`"),
        "Reference": (topic.get_att("TopicName"), "text `cdk.Token.as_string(…)`, number"),
        "SecretValue": (cdk.SecretValue.secrets_manager("hub"), "`unsafe_unwrap()`"),
        "Secret": (cdk.aws_secretsmanager.Secret(here, "Hub"), "`secret_arn`"),
        "Size": (cdk.Size.gibibytes(2), "`to_mebibytes()`"),
        type(tmp_path).__name__: (tmp_path, "`as_posix()`"),
    }
    assert_told_what_to_pass(given)


def test_an_imported_construct_is_called_what_cdk_calls_it():
    here = stack()
    given = {
        "IAlias": (kms.Alias.from_alias_name(here, "Alias", "alias/ml"), "`key_arn`"),
        "ISecurityGroup": (
            ec2.SecurityGroup.from_security_group_id(here, "Group", "sg-1"),
            "`security_group_id`",
        ),
        "ICfnRuleConditionExpression": (
            cdk.Fn.condition_if("Big", 2, 1),
            "text `cdk.Token.as_string(…)`, number",
        ),
    }
    assert_told_what_to_pass(given)


def test_a_path_where_a_spec_is_wanted_is_told_how_to_read_it():
    with pytest.raises(SpecError, match=r"^<python>: IS0\d\d: .*read a file with `load_spec\(path\)`"):
        InferenceEndpoint(stack(), "Net", spec="model_specs/churn.yaml")


def test_a_number_in_a_spec_made_in_python_is_not_put_down_to_a_file():
    with pytest.raises(SpecError) as found:
        spec("single", {"model": {"environment": {"WORKERS": 4}}})
    (problem,) = found.value.problems
    assert problem.fix == "put quotes around it, just as it is written: without them it is a number"


def test_a_mistake_in_a_spec_made_in_python_is_known_by_its_path():
    with pytest.raises(SpecError, match=r"^variant\.instance_type: IS104: "):
        spec("single", {"variant": {"instance_type": "ml.m5.larg"}})


# ---------------------------------------------------------------- handles of single resources


def test_a_model_and_the_configuration_have_names_and_l1s():
    made = endpoint("single")
    resolve = cdk.Stack.of(made).resolve
    assert made.cfn_model().node.path == made.cfn_models[0].node.path
    assert resolve(made.model_name()) == resolve(made.cfn_model().attr_model_name)
    assert resolve(made.endpoint_config_name) == resolve(made.cfn_endpoint_config.attr_endpoint_config_name)
    with pytest.raises(ValueError, match="makes no model of that name"):
        made.cfn_model("other")


def test_one_of_several_models_is_chosen_by_its_key():
    change = {
        "model": None,
        "models": {
            name: {"image": IMAGE, "model_data_url": f"s3://acme/{name}/m.tar.gz"} for name in ("Old", "New")
        },
        "variant": None,
        "variants": [
            {"variant_name": name, "model_name": name, "instance_type": "ml.g5.xlarge"}
            | {"initial_instance_count": 2, "initial_variant_weight": 1}
            for name in ("Old", "New")
        ],
    }
    made = endpoint("single", change)
    assert made.cfn_model("New").node.path == made.cfn_models[1].node.path
    with pytest.raises(ValueError, match="choose one of `Old` or `New`"):
        made.cfn_model()
    with pytest.raises(ValueError, match="did you mean `Old`"):
        made.model_name("Odl")


def test_the_role_has_a_name_and_takes_statements():
    made = endpoint("single", "execution_role: {path: /ml/}")
    resolve = cdk.Stack.of(made).resolve
    assert resolve(made.execution_role.role_name) == {"Ref": resolve(made.cfn_role.logical_id)}
    read = iam.PolicyStatement(actions=["dynamodb:GetItem"], resources=["*"])
    made.add_to_role_policy(read)
    policy = only(synthesised(made), "AWS::IAM::Policy")
    assert policy["PolicyDocument"]["Statement"][0]["Action"] == "dynamodb:GetItem"
    assert policy["Roles"] == [{"Ref": resolve(made.cfn_role.logical_id)}]


POLICIES = (
    "autoscaling: {min_capacity: 2, max_capacity: 8, policies: [{metric: CPUUtilization, target_value: 50}]}"
)


def test_the_app_adds_policies_to_what_the_spec_scales():
    made = endpoint("single", POLICIES)
    target = made.scalable_target()
    assert made.scalable_target(variant_name="AllTraffic") is target
    scaling.TargetTrackingScalingPolicy(
        made.stack,
        "Own",
        scaling_target=target,
        target_value=0.7,
        custom_metric=made.metric("GPUUtilization"),
    )
    result = synthesised(made)
    (logical_id,) = of_type(result, "AWS::ApplicationAutoScaling::ScalableTarget")
    policies = of_type(result, "AWS::ApplicationAutoScaling::ScalingPolicy").values()
    assert [it["ScalingTargetId"] for it in policies] == [{"Ref": logical_id}] * 2


def test_what_scales_is_chosen_by_name():
    component = {**BASE_COMPONENT, "autoscaling": {"min_capacity": 1, "max_capacity": 2}}
    policy = {"metric": "SageMakerInferenceComponentInvocationsPerCopy", "target_value": 5}
    component["autoscaling"]["policies"] = [policy]
    made = endpoint("components", {"inference_components": {"chat": component, "code": component}})
    ids = [made.scalable_target(inference_component=name).scalable_target_id for name in ("chat", "code")]
    resolve = cdk.Stack.of(made).resolve
    assert [resolve(it) for it in ids] == [
        {"Ref": resolve(it.logical_id)} for it in made.cfn_scalable_targets
    ]
    several = "scales several parts; choose one of inference_component='chat' or inference_component='code'"
    with pytest.raises(ValueError, match=several):
        made.scalable_target()
    with pytest.raises(ValueError, match="scales no such part; choose one of"):
        made.scalable_target(variant_name="AllTraffic")
    with pytest.raises(
        ValueError, match="the spec of one scales no such part; add `autoscaling` to the spec"
    ):
        endpoint("single").scalable_target()


@pytest.mark.parametrize("imports", [False, True])
def test_a_rule_follows_the_state_of_the_endpoint(imports):
    here = stack()
    made = InferenceEndpoint(here, "Net", spec=spec("single"))
    if imports:
        made = InferenceEndpoint.from_endpoint_name(here, "Imported", "one")
    topic = sns.Topic(here, "Topic")
    made.on_state_change(
        "Failed",
        target=targets.SnsTopic(topic),
        event_pattern=events.EventPattern(detail={"EndpointStatus": ["FAILED"]}),
    )
    rule = only(template(here), "AWS::Events::Rule")
    assert rule["EventPattern"] == {
        "source": ["aws.sagemaker"],
        "detail-type": ["SageMaker Endpoint State Change"],
        "detail": {"EndpointName": ["one"], "EndpointStatus": ["FAILED"]},
    }
    assert rule["Targets"][0]["Arn"] == here.resolve(topic.topic_arn)


@pytest.mark.parametrize(("account", "warns"), [("111122223333", False), ("444455556666", True)])
def test_a_grant_to_a_role_of_another_account_has_no_effect(account, warns):
    made = endpoint("single")
    role = iam.Role.from_role_arn(made.stack, "Caller", f"arn:aws:iam::{account}:role/web")
    made.grant_invoke(role)
    assert ("IS117: " in str([it.data for it in made.node.metadata])) == warns


# ---------------------------------------------------------------- without a name


def nameless(**change):
    data = {**merged(yaml.safe_load(BASES["single"]), change)}
    del data["endpoint_name"]
    return data


def name_in(scope, construct_id, of):
    return InferenceEndpoint(scope, construct_id, spec=of).cfn_endpoint.endpoint_name


TYPED = SingleModelSpec(
    model=Model(image=IMAGE, model_data_url="s3://acme/one/model.tar.gz"),
    variant=Variant(instance_type="ml.g5.xlarge", initial_instance_count=2),
)


def test_a_name_that_is_left_out_follows_from_the_path():
    # Another name here would replace the endpoints of everyone who leaves it out.
    assert name_in(stack(), "Net", parse_spec(nameless())) == "Stack-Net-443b93ec"
    assert name_in(stack(), "Net", TYPED) == "Stack-Net-443b93ec"


@pytest.mark.parametrize("construct_id", ["n" * 100, "a_b.c", "Net" + "-" * 60, "1"])
def test_a_name_from_a_path_is_one_that_aws_accepts(construct_id):
    name = name_in(stack(), construct_id, TYPED)
    assert re.fullmatch("[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}", name)
    assert name_in(stack(), construct_id + "x", TYPED) != name


def test_a_spec_without_a_name_is_checked_as_any_other():
    with pytest.raises(SpecError, match="IS104"):
        parse_spec(nameless(variant={"instance_type": "ml.g5.xlarg"}))
    two = stack()
    names = {name_in(two, construct_id, TYPED) for construct_id in ("One", "Two")}
    assert len(names) == 2


def test_a_part_needs_the_name_of_the_endpoint():
    with pytest.raises(SpecError, match=r"IS102: .*write `endpoint_name`"):
        EndpointAlarms(stack(), "Alarms", spec=parse_spec(nameless()))


def test_a_file_must_name_its_endpoint(tmp_path):
    file = tmp_path / "net.yaml"
    file.write_text(yaml.safe_dump(nameless()), "utf-8")
    with pytest.raises(SpecError, match=r"IS102: .*`endpoint_name`"):
        load_spec(file)
