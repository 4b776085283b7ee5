import json

import aws_cdk as cdk
import pytest
from support.cdk import crossings, spec, template
from support.resolving import of_type, only

from inferstack.check import load
from inferstack.check.rules.asking import rule_problems
from inferstack.check.stack_names import stack_name
from inferstack.format import Model, SingleModelSpec, Variant
from inferstack.problems import SpecError
from inferstack_stacks import EndpointStack
from inferstack_stacks.endpoint_stack import StackOptions


def made(base: str = "single", change: str = "{}", **options: object) -> EndpointStack:
    return EndpointStack(cdk.App(), "Stack", spec=spec(base, change), **options)


def test_a_stack_holds_the_endpoint_and_nothing_of_cdks():
    result = template(made())
    assert result.keys() == {"AWSTemplateFormatVersion", "Description", "Resources", "Outputs"}
    assert "aws:cdk" not in json.dumps(result)
    assert {"Model", "EndpointConfig", "Endpoint"} <= result["Resources"].keys()


def test_a_stack_has_the_description_of_its_spec():
    assert template(made(change="description: Ours."))["Description"] == "Ours."


def test_a_stack_has_outputs():
    assert {"EndpointName", "EndpointArn"} <= template(stack := made())["Outputs"].keys()
    assert stack.resolve(stack.endpoint.get_output("EndpointName").logical_id) == "EndpointName"


@pytest.mark.parametrize(
    ("endpoint", "stack"),
    [("bert", "bert"), ("B-1", "B-1"), ("7b", "endpoint-7b"), ("bert-${AWS::Region}", "bert-Region")],
)
def test_a_stack_has_the_endpoints_name_where_it_may(endpoint, stack):
    assert stack_name(endpoint) == stack
    assert made(change=f"endpoint_name: '{endpoint}'").stack_name == stack


def test_a_stack_of_a_spec_without_a_name_has_the_name_of_its_path():
    given = spec("single").spec
    nameless = SingleModelSpec(model=given.model, variant=given.variant)
    stack = EndpointStack(cdk.Stage(cdk.App(), "Prod"), "Scores", spec=nameless)
    assert stack.stack_name == stack.endpoint.cfn_endpoint.endpoint_name == "Prod-Scores-ab5bbbf8"
    wrong = SingleModelSpec(model=given.model, variant=Variant(instance_type="ml.g5.xlarg"))
    with pytest.raises(SpecError, match="IS104"):
        EndpointStack(cdk.App(), "Scores", spec=wrong)


def test_logical_ids_do_not_depend_on_the_place_in_the_app():
    stage = cdk.Stage(cdk.App(), "Prod")
    nested = EndpointStack(stage, "Elsewhere", spec=spec("single"))
    artifact = stage.synth().get_stack_artifact(nested.artifact_id)
    assert artifact.template["Resources"].keys() == template(made())["Resources"].keys()


@pytest.mark.parametrize(
    ("named", "otherwise", "expected"),
    [
        ("{}", None, ("unknown-account", "unknown-region")),
        ("{}", ("111122223333", "us-east-1"), ("111122223333", "us-east-1")),
        ("env: {region: us-east-1}", ("111122223333", None), ("111122223333", "us-east-1")),
        ("env: {account: '444455556666'}", (None, "us-east-1"), ("444455556666", "us-east-1")),
    ],
)
def test_the_spec_says_where_to_and_env_fills_in(named, otherwise, expected):
    env = None if otherwise is None else cdk.Environment(account=otherwise[0], region=otherwise[1])
    stack = made(change=named, env=env)
    environment = cdk.App.of(stack).synth().get_stack_by_name("one").environment
    assert (environment.account, environment.region) == expected


def test_as_of_cdks_stacks_account_and_region_may_be_a_dict():
    stack = made(env={"account": "111122223333", "region": "us-east-1"})
    assert (stack.account, stack.region) == ("111122223333", "us-east-1")
    with pytest.raises(SpecError, match=r"env.region: IS111: .*the stack is in `us-west-2`"):
        made(change="env: {region: us-east-1}", env={"region": "us-west-2"})
    with pytest.raises(TypeError, match="regoin"):
        made(env={"regoin": "us-east-1"})


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (
            "env: {region: us-east-1}",
            "env.region: IS111: the spec is for `us-east-1`, but the stack is in `us-west-2`",
        ),
        (
            "env: {account: '444455556666'}",
            "env.account: IS111: the spec is for `444455556666`, but the stack is in",
        ),
    ],
)
@pytest.mark.parametrize("in_a_stage", [False, True])
def test_a_spec_for_another_place_than_the_stacks_is_refused(in_a_stage, named, message):
    env = cdk.Environment(account="111122223333", region="us-west-2")
    scope = cdk.Stage(cdk.App(), "Stage", env=env) if in_a_stage else cdk.App()
    with pytest.raises(SpecError, match=message):
        EndpointStack(scope, "Stack", spec=spec("single", named), env=None if in_a_stage else env)


def test_below_a_stage_the_stages_region_counts():
    env = cdk.Environment(account="111122223333", region="us-east-1")
    stage = cdk.Stage(cdk.App(), "Stage", env=env)
    made = EndpointStack(stage, "Stack", spec=spec("multi"))
    assert (made.account, made.region) == ("111122223333", "us-east-1")
    result = stage.synth().get_stack_artifact(made.artifact_id).template
    assert ".us-east-1." in only(result, "AWS::SageMaker::Model")["PrimaryContainer"]["Image"]
    elsewhere = cdk.Stage(cdk.App(), "Stage", env=cdk.Environment(region="mx-central-1"))
    sklearn = {
        "model": {"image": {"framework": "sklearn", "version": "1.2-1"}},
        "variant": {"instance_type": "ml.m5.large"},
    }
    with pytest.raises(SpecError, match="IS701"):
        EndpointStack(elsewhere, "Stack", spec=spec("single", sklearn))


def test_what_cdks_stacks_take_is_passed_on():
    options = {
        "termination_protection": True,
        "tags": {"team": "a"},
        "description": "Other.",
        "stack_name": "mine",
    }
    artifact = cdk.App.of(stack := made(**options)).synth().get_stack_by_name("mine")
    assert (artifact.termination_protection, dict(artifact.tags)) == (True, {"team": "a"})
    assert artifact.template["Description"] == "Other."
    assert stack.termination_protection is True
    with pytest.raises(TypeError, match="termination_protektion"):
        made(termination_protektion=True)


def test_every_option_of_cdks_stacks_is_one():
    ours = {"env", "synthesizer", *StackOptions.__annotations__}
    assert ours == cdk.StackProps.__jsii_name_mapping__.keys()


def qualified(scope: cdk.App | cdk.Stage) -> bool:
    stack = EndpointStack(scope, "Stack", spec=spec("single"))
    return "mine" in scope.synth().get_stack_artifact(stack.artifact_id).assume_role_arn


@pytest.mark.parametrize("in_a_stage", [False, True])
def test_the_synthesizer_of_the_app_is_kept(in_a_stage):
    def scope(**options: object) -> cdk.App | cdk.Stage:
        app = cdk.App(**options)
        return cdk.Stage(app, "Stage") if in_a_stage else app

    assert qualified(scope(default_stack_synthesizer=cdk.DefaultStackSynthesizer(qualifier="mine")))
    assert not qualified(scope())


def test_a_region_that_only_env_names_decides_the_image():
    stack = made("multi", env=cdk.Environment(region="eu-west-1"))
    assert ".eu-west-1." in only(template(stack), "AWS::SageMaker::Model")["PrimaryContainer"]["Image"]


def test_building_a_stack_crosses_to_node_three_times():
    app, one = cdk.App(), spec("multi")
    # Makes all requests that an app gets only once.
    EndpointStack(app, "First", spec=spec("single"))
    with crossings() as asked:
        EndpointStack(app, "Stack", spec=one, env=cdk.Environment(region="us-east-1"))
    warnings = 2 * len(one.warnings)
    assert asked[:3] == ["CreateRequest"] * 3
    assert len(asked) == 3 + warnings


def test_another_synthesizer_can_be_given():
    result = template(made(synthesizer=cdk.DefaultStackSynthesizer(qualifier="mine")))
    assert result["Parameters"]["BootstrapVersion"]["Default"] == "/cdk-bootstrap/mine/version"


def test_a_stack_takes_a_role_of_the_app():
    app = cdk.App()
    role = cdk.aws_iam.Role(cdk.Stack(app, "Roles"), "Role", assumed_by=cdk.aws_iam.AccountRootPrincipal())
    alone = EndpointStack(app, "Stack", spec=spec("single"), role=role)
    assert alone.endpoint.execution_role is role
    assert not of_type(template(alone), "AWS::IAM::Role")


def test_a_stack_whose_endpoint_is_named_by_the_deployment_needs_a_name():
    app = cdk.App(analytics_reporting=False)
    named = spec("single", {"endpoint_name": f"net-{cdk.Aws.ACCOUNT_ID}"})
    with pytest.raises(
        ValueError, match=r"only the deployment knows the endpoint's name, .*: pass `stack_name=`"
    ):
        EndpointStack(app, "Unnamed", spec=named)
    assert EndpointStack(app, "Named", spec=named, stack_name="mine").stack_name == "mine"


def test_a_stack_that_is_refused_is_not_left_behind_empty():
    app = cdk.App()
    elsewhere = cdk.Environment(region="mx-central-1")
    sklearn = {
        "model": {"image": {"framework": "sklearn", "version": "1.2-1"}},
        "variant": {"instance_type": "ml.m5.large"},
    }
    with pytest.raises(SpecError, match="IS701"):
        EndpointStack(app, "Stack", spec=spec("single", sklearn), env=elsewhere)
    assert app.node.try_find_child("Stack") is None


@pytest.mark.parametrize("from_python", [False, True])
def test_the_rules_are_applied_once_whatever_the_stack_adds(from_python, monkeypatch):
    applied = []

    def counted(*given):
        applied.append(given)
        return rule_problems(*given)

    app = cdk.App()
    env = cdk.Environment(account="111122223333", region="us-east-1")
    roles = cdk.Stack(app, "Roles", env=env)
    role = cdk.aws_iam.Role(roles, "Role", assumed_by=cdk.aws_iam.AccountRootPrincipal())
    url = cdk.Token.as_string({"Fn::Sub": "s3://models/churn/model.tar.gz"})
    one = spec("single", {"model": {"model_data_url": url}})
    monkeypatch.setattr(load, "rule_problems", counted)
    EndpointStack(app, "Stack", spec=one.spec if from_python else one, env=env, role=role)
    assert len(applied) == 1


WRONG = {"instance_type": "ml.m5.lage", "initial_instance_count": 1}


def test_errors_of_a_spec_made_in_python_say_which_construct_got_it():
    whole = SingleModelSpec(endpoint_name="returns-de", model=Model(image="net:1"), variant=Variant(**WRONG))
    with pytest.raises(SpecError) as raised:
        EndpointStack(cdk.App(), "returns-de", spec=whole)
    assert raised.value.__notes__ == ["in EndpointStack 'returns-de'"]


def test_errors_of_a_file_say_nothing_more_than_the_file(tmp_path):
    file = tmp_path / "spec.yaml"
    file.write_text("kind: single-model\nendpoint_name: one\nenv: {region: eu-west-1}\n" + MODEL, "utf-8")
    with pytest.raises(SpecError) as raised:
        EndpointStack(cdk.App(), "One", spec=load.load_spec(file), env=cdk.Environment(region="us-east-1"))
    assert not hasattr(raised.value, "__notes__")


MODEL = """
model: {image: {framework: sklearn, version: 1.2-1}, model_data_url: s3://acme-models/one/model.tar.gz}
variant: {instance_type: ml.m5.large, initial_instance_count: 2}
"""
