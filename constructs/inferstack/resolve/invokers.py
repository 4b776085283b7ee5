"""Who may invoke the endpoint: the actions, and a managed policy and a role for them.

https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
"""

from collections.abc import Iterator

from inferstack.catalog.resource_types import MANAGED_POLICY_TYPE, ROLE_TYPE
from inferstack.facts.async_inference import output_config
from inferstack.facts.engines import has_language_model
from inferstack.facts.walk import components, is_async
from inferstack.format.elsewhere import InvokerRole, Invokers
from inferstack.format.kinds import ModelSpec
from inferstack.format.logical_ids import ENDPOINT, INVOKER_POLICY, INVOKER_ROLE
from inferstack.resolve.async_inference import requests_arns, results_arns
from inferstack.resolve.execution_role import places_of_keys
from inferstack.resolve.inference_component import component_id
from inferstack.resolve.resource import Resource, Resources, Value, get_att, present, ref
from inferstack.texts.arns import arn_fields

INVOKE = tuple(
    f"sagemaker:{action}"
    for action in ("InvokeEndpoint", "InvokeEndpointAsync", "InvokeEndpointWithResponseStream")
)
"""The actions on an endpoint and on each of its inference components."""
_INVOKE, _QUEUE, STREAM = INVOKE
CALL_WITH_TOKEN = "sagemaker:CallWithBearerToken"
"""The OpenAI-compatible route takes a token, and IAM knows no resource of that action."""

_SOURCE = ("invokers",)
_SERVICE = ".amazonaws.com"


def resolve_invokers(spec: ModelSpec) -> Resources:
    """The policy, and the role if the spec asks for one; nothing without `invokers`."""
    block = spec.invokers
    if block is None:
        return {}
    policy = Resource(MANAGED_POLICY_TYPE, _policy(spec, block), _SOURCE)
    role = {} if block.role is None else {INVOKER_ROLE: _role(spec, block.role)}
    return {**role, INVOKER_POLICY: policy}


def invoke_actions(spec: ModelSpec) -> tuple[str, ...]:
    """The actions that the endpoint answers: asynchronous ones take no other requests, others none of those.

    https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference.html
    """
    return (_QUEUE,) if is_async(spec) else (_INVOKE, STREAM)


def has_openai_route(spec: ModelSpec) -> bool:
    """Whether an engine is known to answer on the OpenAI-compatible route, which asynchronous endpoints lack.

    https://docs.aws.amazon.com/sagemaker/latest/dg/realtime-endpoints-openai-compatible.html
    """
    return has_language_model(spec) and not is_async(spec)


def _policy(spec: ModelSpec, block: Invokers) -> dict[str, Value]:
    parts = [ref(component_id(spec, name, component)) for _, name, component in components(spec)]
    made = [] if block.role is None else [ref(INVOKER_ROLE)]
    by_token = has_openai_route(spec) if block.openai_route is None else block.openai_route
    allow = {"Effect": "Allow"}
    token = [{"Sid": "CallWithToken", **allow, "Action": [CALL_WITH_TOKEN], "Resource": ["*"]}]
    return present(
        # Without the endpoint's name: another description replaces the policy, which CloudFormation refuses
        # if that has a name.
        Description="Allows invoking the SageMaker endpoint of this stack",
        ManagedPolicyName=block.managed_policy_name,
        Path=block.path,
        PolicyDocument=_document(
            {
                "Sid": "Invoke",
                **allow,
                "Action": [*invoke_actions(spec)],
                "Resource": [ref(ENDPOINT), *parts],
            },
            *(token if by_token else ()),
            *_exchange_files(spec),
        ),
        Roles=[*block.roles, *made] or None,
    )


def _exchange_files(spec: ModelSpec) -> Iterator[Value]:
    """Those who invoke an asynchronous endpoint put requests into the stack's bucket, and get responses."""
    rights = (("PutRequests", "s3:PutObject", requests_arns), ("GetResults", "s3:GetObject", results_arns))
    for sid, action, arns_of in rights:
        if arns := [*arns_of(spec)]:
            yield {"Sid": sid, "Effect": "Allow", "Action": [action], "Resource": arns}
    key = output_config(spec).kms_key_id
    if key is not None and [*requests_arns(spec)]:
        named, places, known_as = places_of_keys([key])
        use = {"Effect": "Allow", "Action": ["kms:Decrypt", "kms:GenerateDataKey"]}
        if named:
            yield {"Sid": "UseKey", **use, "Resource": named}
        if places:
            yield {"Sid": "UseKeyByAlias", **use, "Resource": places, "Condition": known_as}


def _role(spec: ModelSpec, role: InvokerRole) -> Resource:
    services = [it for it in role.trusted if _SERVICE in it]
    others = [_principal(it) for it in role.trusted if _SERVICE not in it]
    trust = {
        "Sid": "AssumedByInvokers",
        "Effect": "Allow",
        "Action": ["sts:AssumeRole"],
        "Principal": present(Service=services or None, AWS=others or None),
    }
    properties = present(
        Description=f"Invokes the SageMaker endpoint {spec.endpoint_name}",
        RoleName=role.role_name,
        Path=role.path,
        AssumeRolePolicyDocument=_document(trust),
        PermissionsBoundary=role.permissions_boundary,
    )
    return Resource(ROLE_TYPE, properties, (*_SOURCE, "role"))


def _principal(trusted: str) -> str:
    """An account's number stands for the account as a whole."""
    is_account = len(arn_fields(trusted)) == 1 and trusted.isdigit()
    return f"arn:${{AWS::Partition}}:iam::{trusted}:root" if is_account else trusted


def _document(*statements: Value) -> Value:
    return {"Version": "2012-10-17", "Statement": [*statements]}


def invoker_outputs(spec: ModelSpec) -> dict[str, Value]:
    """Outputs for those who attach the policy, or assume the role."""
    if spec.invokers is None:
        return {}
    policy = {
        "Description": "ARN of the policy that allows invoking the endpoint",
        "Value": ref(INVOKER_POLICY),
    }
    if spec.invokers.role is None:
        return {"InvokerPolicyArn": policy}
    role = {"Description": "ARN of the role that may invoke it", "Value": get_att(INVOKER_ROLE, "Arn")}
    return {"InvokerPolicyArn": policy, "InvokerRoleArn": role}
