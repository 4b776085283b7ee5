"""What somebody who has taken over a deployment may do: attacks on the policies that users copy, none of which succeeds.

CloudFormation's role does what templates say, so whoever can deploy any template can ask IAM for all that it may.
"""

import json
import re
from functools import partial
from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from support.iam import Context, Policy, allows, allows_within, listed
from support.pipelines import DOCS, ROOT, read

from inferstack.check.load import load_spec, parse_spec
from inferstack.constructs import InferenceEndpoint
from inferstack.resolve import resolve_template
from inferstack.resolve.invokers import CALL_WITH_TOKEN, invoke_actions

FOLDER = DOCS / "iam"
PAGE = (DOCS / "README.md").read_text("utf-8")
ACCOUNT = "111122223333"
ROLE = f"arn:aws:iam::{ACCOUNT}:role"
POLICY = f"arn:aws:iam::{ACCOUNT}:policy"
BOUNDARY = f"{POLICY}/inferstack-boundary"
ADMIN = "arn:aws:iam::aws:policy/AdministratorAccess"
OURS = f"{ROLE}/inferstack/churn-ExecutionRole-1A2B3C4D5E6F"
OUR_POLICY = f"{POLICY}/inferstack/churn-ExecutionPolicy0a1b2c3d-1A2B3C4D5E6F"
OTHERS_POLICY = f"{POLICY}/shop-ExecutionPolicyOfLambda-1A2B3C4D5E6F"
# Roles of others, some of them with names like ours.
OTHERS = [
    f"{ROLE}/service-role/AmazonSageMaker-ExecutionRole-20260101T000000",
    f"{ROLE}/shop-ExecutionRole-1A2B3C4D5E6F",
    f"{ROLE}/inferstack",
    f"{ROLE}/inferstack-ExecutionRole-1A2B3C4D5E6F",
    f"{ROLE}/x/inferstack/churn-ExecutionRole-1A2B3C4D5E6F",
    f"{ROLE}/cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-us-east-1",
    f"{ROLE}/Admin",
    "arn:aws:iam::444455556666:role/inferstack/churn-ExecutionRole-1A2B3C4D5E6F",
]
BOUND = {"iam:PermissionsBoundary": BOUNDARY}
TO_SAGEMAKER = {"iam:PassedToService": "sagemaker.amazonaws.com"}
EVERYTHING = {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}


def document(name: str) -> Policy:
    found: Policy = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return found


execution = partial(allows, document("execution-policy"))
uploads = partial(allows, document("upload-policy"))
pipeline = partial(allows, document("pipeline-policy"))
# A role of ours to which somebody has given all rights.
raised = partial(allows_within, document("boundary-policy"), EVERYTHING)


def attached(policy: str, *, by: str | None = None) -> Context:
    """An attachment of a policy to a role with this boundary."""
    return {"iam:PolicyARN": policy, **({} if by is None else {"iam:PermissionsBoundary": by})}


@pytest.mark.parametrize("role", OTHERS)
@pytest.mark.parametrize(
    "action",
    [
        "UpdateAssumeRolePolicy",
        "AttachRolePolicy",
        "DetachRolePolicy",
        "PutRolePolicy",
        "PutRolePermissionsBoundary",
        "DeleteRolePermissionsBoundary",
        "DeleteRole",
        "UpdateRole",
        "TagRole",
        "CreateRole",
        "PassRole",
    ],
)
def test_a_role_of_others_is_not_to_be_had(action: str, role: str) -> None:
    context = {**BOUND, **TO_SAGEMAKER, "iam:PolicyARN": OUR_POLICY}
    assert not execution(f"iam:{action}", role, context)


ATTACKS: list[tuple[str, str, str, Context]] = [
    ("a role without a boundary", "iam:CreateRole", OURS, {}),
    ("a role with all rights as its boundary", "iam:CreateRole", OURS, {"iam:PermissionsBoundary": ADMIN}),
    ("a boundary of one's own", "iam:CreateRole", OURS, {"iam:PermissionsBoundary": OUR_POLICY}),
    (
        "a boundary of another account",
        "iam:CreateRole",
        OURS,
        {"iam:PermissionsBoundary": BOUNDARY.replace("1111", "4444")},
    ),
    ("another boundary later", "iam:PutRolePermissionsBoundary", OURS, {"iam:PermissionsBoundary": ADMIN}),
    ("no boundary later", "iam:DeleteRolePermissionsBoundary", OURS, BOUND),
    ("all rights", "iam:AttachRolePolicy", OURS, attached(ADMIN, by=BOUNDARY)),
    ("a role that somebody else made without a boundary", "iam:AttachRolePolicy", OURS, attached(OUR_POLICY)),
    ("a role that has another boundary", "iam:AttachRolePolicy", OURS, attached(OUR_POLICY, by=ADMIN)),
    ("an inline policy", "iam:PutRolePolicy", OURS, BOUND),
    ("what the boundary says", "iam:CreatePolicyVersion", BOUNDARY, {}),
    ("which version of the boundary applies", "iam:SetDefaultPolicyVersion", BOUNDARY, {}),
    ("another boundary of the same name", "iam:DeletePolicy", BOUNDARY, {}),
    ("what CloudFormation may do", "iam:CreatePolicyVersion", f"{POLICY}/inferstack-execution", {}),
    ("what a policy of others says", "iam:CreatePolicyVersion", OTHERS_POLICY, {}),
    ("a policy outside the path", "iam:CreatePolicy", OTHERS_POLICY, {}),
    ("our role for an instance", "iam:PassRole", OURS, {"iam:PassedToService": "ec2.amazonaws.com"}),
    ("our role for a function", "iam:PassRole", OURS, {"iam:PassedToService": "lambda.amazonaws.com"}),
    ("our role for whatever", "iam:PassRole", OURS, {}),
    (
        "a role of another service",
        "iam:CreateServiceLinkedRole",
        f"{ROLE}/aws-service-role/sagemaker.application-autoscaling.amazonaws.com/x",
        {"iam:AWSServiceName": "events.amazonaws.com"},
    ),
    ("a user", "iam:CreateUser", f"arn:aws:iam::{ACCOUNT}:user/inferstack/me", BOUND),
    ("a user's key", "iam:CreateAccessKey", f"arn:aws:iam::{ACCOUNT}:user/root", {}),
    (
        "a provider of identities",
        "iam:CreateOpenIDConnectProvider",
        f"arn:aws:iam::{ACCOUNT}:oidc-provider/me",
        {},
    ),
    ("a grant for oneself", "kms:CreateGrant", f"arn:aws:kms:us-east-1:{ACCOUNT}:key/1", {}),
    ("the policy of a key", "kms:PutKeyPolicy", f"arn:aws:kms:us-east-1:{ACCOUNT}:key/1", {}),
    (
        "a notebook",
        "sagemaker:CreateNotebookInstance",
        f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:notebook-instance/x",
        {},
    ),
    (
        "a training job",
        "sagemaker:CreateTrainingJob",
        f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:training-job/x",
        {},
    ),
    ("another role", "sts:AssumeRole", f"{ROLE}/Admin", {}),
]


@pytest.mark.parametrize(
    ("action", "resource", "context"), [it[1:] for it in ATTACKS], ids=[it[0] for it in ATTACKS]
)
def test_no_attack_on_the_execution_policy_succeeds(action: str, resource: str, context: Context) -> None:
    assert not execution(action, resource, context)


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        ("iam:CreateUser", f"arn:aws:iam::{ACCOUNT}:user/me"),
        ("iam:AttachRolePolicy", OURS),
        ("iam:DeleteRolePermissionsBoundary", OURS),
        ("iam:PassRole", f"{ROLE}/Admin"),
        ("sts:AssumeRole", f"{ROLE}/Admin"),
        ("s3:GetObject", "arn:aws:s3:::acme-payroll/2026.csv"),
        ("s3:PutBucketPolicy", "arn:aws:s3:::acme-models"),
        ("s3:DeleteObject", "arn:aws:s3:::acme-models/churn/model.tar.gz"),
        ("secretsmanager:GetSecretValue", f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:db"),
        ("ssm:GetParameter", f"arn:aws:ssm:us-east-1:{ACCOUNT}:parameter/db"),
        ("lambda:InvokeFunction", f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:pay"),
        ("sagemaker:CreateEndpoint", f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:endpoint/x"),
        ("kms:Decrypt", f"arn:aws:kms:us-east-1:{ACCOUNT}:key/of-others"),
        ("ec2:RunInstances", f"arn:aws:ec2:us-east-1:{ACCOUNT}:instance/*"),
        ("ecr:PutImage", f"arn:aws:ecr:us-east-1:{ACCOUNT}:repository/models"),
    ],
)
def test_a_role_within_the_boundary_is_never_more_than_one_of_an_endpoint(action: str, resource: str) -> None:
    assert not raised(action, resource)


@pytest.mark.parametrize(
    "role", [OURS, *OTHERS, f"{ROLE}/cdk-hnb659fds-image-publishing-role-{ACCOUNT}-us-east-1"]
)
def test_the_pipeline_itself_assumes_no_other_role(role: str) -> None:
    assert not pipeline("sts:AssumeRole", role)
    assert pipeline("sts:AssumeRole", f"{ROLE}/cdk-hnb659fds-deploy-role-{ACCOUNT}-us-east-1")


def test_the_page_warns_of_what_a_policy_under_the_path_can_become() -> None:
    assert execution("iam:CreatePolicyVersion", OUR_POLICY)
    assert allows(EVERYTHING, "iam:CreateUser", f"arn:aws:iam::{ACCOUNT}:user/me"), "what it may say then"
    assert not raised("iam:CreateUser", f"arn:aws:iam::{ACCOUNT}:user/me"), "unless the role has the boundary"
    assert "attach it only to roles with a boundary" in PAGE.replace("\n", " ")


def test_whoever_uploads_neither_deletes_nor_replaces_the_bucket() -> None:
    for action in ("s3:DeleteObject", "s3:DeleteObjectVersion", "s3:PutBucketPolicy", "s3:PutObjectAcl"):
        assert not uploads(action, "arn:aws:s3:::acme-models/churn/model.tar.gz")
        assert not uploads(action, "arn:aws:s3:::acme-models")


# ---------------------------------------------------------------- what a deployment needs is still allowed

OF_ROLES = yaml.safe_load((DOCS / "inferstack.yaml").read_text("utf-8"))["defaults"]["execution_role"]
SPEC = f"""\
kind: single-model
endpoint_name: churn
model: {{image: {{framework: xgboost, version: 1.7-1}}, model_data_url: s3://acme-models/churn/model.tar.gz}}
variant: {{instance_type: ml.m5.large, initial_instance_count: 2}}
execution_role: {json.dumps(OF_ROLES)}
"""


@pytest.fixture
def role_and_policy(tmp_path: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The properties of the resources that a spec with the page's lines makes."""
    file = tmp_path / "churn.yaml"
    file.write_text(SPEC, "utf-8")
    loaded = load_spec(file, region="us-east-1")
    made = resolve_template(loaded.spec, region="us-east-1", source_of=lambda _: "")["Resources"].values()
    found = {it["Type"]: it["Properties"] for it in made}
    return found["AWS::IAM::Role"], found["AWS::IAM::ManagedPolicy"]


def test_the_lines_of_the_page_are_what_the_policy_asks_for(
    role_and_policy: tuple[dict[str, Any], ...],
) -> None:
    role, policy = role_and_policy
    filled = json.loads(
        json.dumps(role).replace("${AWS::Partition}", "aws").replace("${AWS::AccountId}", ACCOUNT)
    )
    boundary = filled["PermissionsBoundary"]
    assert (boundary["Fn::Sub"] if isinstance(boundary, dict) else boundary) == BOUNDARY
    assert role["Path"] == policy["Path"] == "/inferstack/"


@pytest.mark.parametrize(
    ("action", "resource", "context"),
    [
        ("iam:CreateRole", OURS, BOUND),
        ("iam:PutRolePermissionsBoundary", OURS, BOUND),
        ("iam:UpdateAssumeRolePolicy", OURS, {}),
        ("iam:TagRole", OURS, {}),
        ("iam:DeleteRole", OURS, {}),
        ("iam:AttachRolePolicy", OURS, attached(OUR_POLICY, by=BOUNDARY)),
        ("iam:DetachRolePolicy", OURS, attached(OUR_POLICY, by=BOUNDARY)),
        ("iam:CreatePolicy", OUR_POLICY, {}),
        ("iam:DeletePolicy", OUR_POLICY, {}),
        ("iam:PassRole", OURS, TO_SAGEMAKER),
        (
            "iam:CreateServiceLinkedRole",
            f"{ROLE}/aws-service-role/sagemaker.application-autoscaling.amazonaws.com/x",
            {"iam:AWSServiceName": "sagemaker.application-autoscaling.amazonaws.com"},
        ),
        (
            "kms:CreateGrant",
            f"arn:aws:kms:us-east-1:{ACCOUNT}:key/1",
            {"kms:ViaService": "sagemaker.us-east-1.amazonaws.com"},
        ),
        ("sagemaker:UpdateEndpoint", f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:endpoint-config/x", {}),
    ],
)
def test_a_deployment_gets_what_it_needs(action: str, resource: str, context: Context) -> None:
    assert execution(action, resource, context)


def granted(file: Any) -> set[str]:
    """The rights that the role of a spec has, except those that the spec itself lists."""
    loaded = load_spec(
        file, region="us-east-1", stage="prod" if "${stage}" in file.read_text("utf-8") else None
    )
    made = resolve_template(loaded.spec, region="us-east-1", source_of=lambda _: "")["Resources"].values()
    policies = [it["Properties"] for it in made if it["Type"] == "AWS::IAM::ManagedPolicy"]
    own = {action for it in getattr(loaded.spec.execution_role, "statements", ()) for action in it.action}
    return {
        action
        for policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
        for action in listed(statement["Action"])
    } - own


# The page says to add these, since only a few specs need them, and they reach far or are an invoker's.
ADDED_WHERE_NEEDED = {
    "lambda:InvokeFunction",
    *invoke_actions(parse_spec(yaml.safe_load(SPEC)).spec),
    CALL_WITH_TOKEN,
} | {f"ssmmessages:{verb}{kind}Channel" for verb in ("Create", "Open") for kind in ("Control", "Data")}


def test_the_boundary_lets_through_all_that_endpoints_need() -> None:
    specs = [
        file for folder in (ROOT / "model_specs", ROOT / "tests" / "shapes") for file in folder.glob("*.yaml")
    ]
    needed = set().union(*map(granted, specs))
    statements = document("boundary-policy")["Statement"]
    within = {action for it in statements for action in listed(it["Action"])}
    assert needed - within == ADDED_WHERE_NEEDED
    assert within - needed == set()
    assert all(action in PAGE for action in ("lambda:InvokeFunction", "ssmmessages"))


def test_the_constructs_put_roles_there_too() -> None:
    stack = cdk.Stack(cdk.App(), "Customers")
    made = InferenceEndpoint(stack, "Churn", spec=parse_spec(yaml.safe_load(SPEC)))
    assert {made.cfn_role.path, *(it.path for it in made.cfn_policies)} == {"/inferstack/"}


# ---------------------------------------------------------------- whose jobs get a stage's role

GITLAB = document("trust-gitlab")
GITHUB = document("trust-github")
CLAIMS = {
    "project_path": "acme/models",
    "ref_type": "branch",
    "ref": "main",
    "environment_protected": "true",
    "deployment_tier": "production",
}


def by_gitlab(**claims: str) -> Context:
    """A token as GitLab makes it once the project has the page's setting."""
    [components] = re.findall(r'"ci_id_token_sub_claim_components": (\[.*?\])', PAGE)
    given = CLAIMS | claims
    subject = ":".join(f"{name}:{given[name]}" for name in json.loads(components) if given[name])
    return {"gitlab.com:aud": "https://gitlab.com", "gitlab.com:sub": subject}


def test_gitlab_gives_prod_to_the_job_of_prod_only() -> None:
    assume = partial(allows, GITLAB, "sts:AssumeRoleWithWebIdentity", "")
    assert assume(by_gitlab())
    for other in (
        {"deployment_tier": "testing"},
        {"environment_protected": "false"},
        {"environment_protected": "", "deployment_tier": ""},
        {"ref": "feature"},
        {"ref_type": "tag"},
        {"project_path": "acme/other"},
        {"project_path": "acme/models:ref_type:branch:ref:main:environment_protected:true"},
    ):
        assert not assume(by_gitlab(**other)), other
    assert not assume({**by_gitlab(), "gitlab.com:aud": "https://vault.example.com"})


def test_the_jobs_of_gitlab_have_the_tier_that_the_trust_policy_asks_for() -> None:
    tiers = {
        stage: read("gitlab/.gitlab-ci.yml")[f"deploy-{stage}"]["environment"] for stage in ("test", "prod")
    }
    assert tiers == {
        "test": {"name": "test", "deployment_tier": "testing"},
        "prod": {"name": "prod", "deployment_tier": CLAIMS["deployment_tier"]},
    }


def test_github_gives_prod_to_the_job_of_prod_only() -> None:
    assume = partial(allows, GITHUB, "sts:AssumeRoleWithWebIdentity", "")
    key = "token.actions.githubusercontent.com"
    right = {
        f"{key}:aud": "sts.amazonaws.com",
        f"{key}:sub": "repo:acme@1234567/models@123456789:environment:prod",
    }
    assert assume(right)
    for subject in ("environment:test", "ref:refs/heads/main", "pull_request", "environment:prod-eu"):
        assert not assume({**right, f"{key}:sub": f"repo:acme@1234567/models@123456789:{subject}"})
    assert not assume({**right, f"{key}:sub": "repo:acme@7654321/models@123456789:environment:prod"})


# ---------------------------------------------------------------- the judge itself


def test_a_request_is_judged_as_iam_would() -> None:
    policy = {
        "Statement": [
            {"Effect": "Allow", "Action": "iam:Get*", "Resource": "arn:aws:iam::1:role/a?/*"},
            {
                "Effect": "Allow",
                "Action": ["s3:*"],
                "Resource": "*",
                "Condition": {"StringLike": {"aws:x": ["a*", "b"]}},
            },
            {
                "Effect": "Deny",
                "Action": "iam:GetRole",
                "Resource": "*",
                "Condition": {"Bool": {"aws:y": "true"}},
            },
        ]
    }
    judge = partial(allows, policy)
    assert judge("IAM:getrole", "arn:aws:iam::1:role/ab/c/d")
    assert not judge("iam:GetRole", "arn:aws:iam::1:role/a/c"), "a question mark is one character"
    assert not judge("iam:GetRole", "arn:aws:iam::1:role/ab/c", {"aws:y": "True"}), "a denial wins"
    assert not judge("iam:PutRole", "arn:aws:iam::1:role/ab/c"), "nothing allows it"
    assert judge("s3:GetObject", "x", {"AWS:X": "abc"}), (
        "keys are compared without regard to case, values with"
    )
    assert not judge("s3:GetObject", "x", {"aws:x": "ABC"})
    assert not judge("s3:GetObject", "x"), "a missing key meets no condition"
    with pytest.raises(AssertionError):
        allows({"Statement": [{"Effect": "Allow", "NotAction": "*", "Resource": "*"}]}, "a:b")
    with pytest.raises(KeyError):
        allows(
            {"Statement": [{**policy["Statement"][1], "Condition": {"IpAddress": {"a": "b"}}}]},
            "s3:b",
            "",
            {"a": "b"},
        )


def test_the_attacks_succeed_where_only_names_are_limited() -> None:
    pattern = f"{ROLE}/*-ExecutionRole-*"
    before = {
        "Statement": [
            {"Effect": "Allow", "Action": "iam:*", "Resource": [pattern, f"{POLICY}/*-ExecutionPolicy*"]}
        ]
    }
    assert allows(before, "iam:UpdateAssumeRolePolicy", OTHERS[0])
    assert allows(before, "iam:CreateRole", OURS)
    assert allows(before, "iam:CreatePolicyVersion", OTHERS_POLICY)
