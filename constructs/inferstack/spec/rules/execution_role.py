"""IS820 to IS829: what the endpoint's role may do."""

from collections.abc import Iterator

from inferstack.spec.blocks.execution_role import ExecutionRole
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.rules.base import Finding, error, warning
from inferstack.spec.walk import is_async

_LEAST = "https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html"
_MANAGED = "https://docs.aws.amazon.com/sagemaker/latest/dg/security-iam-awsmanpol.html"
_ASYNC = "https://docs.aws.amazon.com/sagemaker/latest/dg/async-inference-create-endpoint-prerequisites.html"
_BROAD = ("FullAccess", "AdministratorAccess", "PowerUserAccess")


@warning(
    "IS820", "A statement names its actions and resources, without `*` for all of them.", _LEAST, ModelSpec
)
def statements_name_what_they_allow(spec: ModelSpec) -> Iterator[Finding]:
    """A `*` inside an ARN or after a verb is another matter."""
    role = spec.execution_role
    for index, statement in enumerate(role.statements if isinstance(role, ExecutionRole) else ()):
        for key in ("action", "resource"):
            for position, text in enumerate(getattr(statement, key)):
                if text == "*" or (key == "action" and text.endswith(":*")):
                    path = ("execution_role", "statements", index, key, position)
                    yield Finding(
                        path, f'the {key} "{text}" allows more than the container needs', f"name each {key}"
                    )


@warning("IS821", "A role does without policies that allow everything.", _MANAGED, ModelSpec)
def no_full_access(spec: ModelSpec) -> Iterator[Finding]:
    """The role has what the spec needs already."""
    role = spec.execution_role
    for index, arn in enumerate(role.managed_policy_arns if isinstance(role, ExecutionRole) else ()):
        if arn.endswith(_BROAD):
            message = f"{arn.rpartition('/')[2]} allows far more than an endpoint needs"
            yield Finding(
                ("execution_role", "managed_policy_arns", index),
                message,
                "add `statements` for what is missing instead",
            )


@error("IS822", "A statement allows something: it has actions and resources.", _LEAST, ModelSpec)
def statements_allow_something(spec: ModelSpec) -> Iterator[Finding]:
    """IAM refuses an empty list."""
    role = spec.execution_role
    for index, statement in enumerate(role.statements if isinstance(role, ExecutionRole) else ()):
        for key in ("action", "resource"):
            if not getattr(statement, key):
                path = ("execution_role", "statements", index, key)
                yield Finding(
                    path, f"the statement has no {key}", f"name each {key}, or remove the statement"
                )


@warning(
    "IS823", "The role of an asynchronous endpoint can read the requests, which lie in S3.", _ASYNC, ModelSpec
)
def role_reads_requests(spec: ModelSpec) -> Iterator[Finding]:
    """Where they lie, each request says; no block of a spec does."""
    role = spec.execution_role
    if not is_async(spec) or isinstance(role, str):
        return
    allowed = {
        action for statement in (role.statements if role is not None else ()) for action in statement.action
    }
    if not allowed & {"s3:GetObject", "s3:Get*", "s3:*"}:
        where = ("endpoint_config", "async_inference_config")
        fix = "allow s3:GetObject on the requests' prefix in `execution_role.statements`"
        yield Finding(where, "the role that is made cannot read requests from S3", fix)
