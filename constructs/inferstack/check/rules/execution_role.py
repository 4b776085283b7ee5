"""The endpoint's role: what its policies may and must allow."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from inferstack.check.rules.base import AWS, GUIDE, error, warning
from inferstack.facts.async_inference import CONFIG, created
from inferstack.facts.role import (
    MOST_POLICIES,
    additions,
    is_our_sid,
    makes_role,
    marketplace_packages,
    needs_role,
    policies_made,
    requests,
)
from inferstack.facts.walk import environment_variables, every_variant, is_async, model_containers
from inferstack.format.kinds import ModelSpec, PolicyStatement
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import choose, listed
from inferstack.texts.arns import wildcard_in
from inferstack.texts.placeholders import is_opaque
from inferstack.texts.s3_urls import has_key

_LEAST = f"{AWS}/IAM/latest/UserGuide/best-practices.html"
_MANAGED = f"{GUIDE}/security-iam-awsmanpol.html"
_ASYNC = f"{GUIDE}/async-inference-create-endpoint-prerequisites.html"
_CREATE_MODEL = f"{GUIDE}/sagemaker-roles.html#sagemaker-roles-createmodel-perms"
_OF_PACKAGES = (
    "s3:GetObject",
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:GetDownloadUrlForLayer",
)
_RESOURCES = f"{AWS}/IAM/latest/UserGuide/reference_policies_elements_resource.html"
_BROAD = ("FullAccess", "AdministratorAccess", "PowerUserAccess")
_QUOTAS = f"{AWS}/IAM/latest/UserGuide/reference_iam-quotas.html"
_SID = f"{AWS}/IAM/latest/UserGuide/reference_policies_elements_sid.html"
_LINKED = f"{AWS}/IAM/latest/UserGuide/using-service-linked-roles.html"
_OF_A_SERVICE = re.compile(r":role/aws-service-role/(?P<service>[^/]+)/(?P<role>.+)")
_OPERATORS = f"{AWS}/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html"
_FUNCTIONS = f"{AWS}/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html"
# An adapter adds to three statements: its log group, its file, and the file's name in its bucket.
_MOST_REPLACED = 3
_EACH = ("Equals", "NotEquals")
_ORDER = ("LessThan", "LessThanEquals", "GreaterThan", "GreaterThanEquals")
_CONDITION_OPERATORS = (
    *(f"String{it}" for it in (*_EACH, "EqualsIgnoreCase", "NotEqualsIgnoreCase", "Like", "NotLike")),
    *(f"{kind}{it}" for kind in ("Numeric", "Date") for it in (*_EACH, *_ORDER)),
    *(f"Arn{it}" for it in (*_EACH, "Like", "NotLike")),
    *("Bool", "BinaryEquals", "IpAddress", "NotIpAddress"),
)


def _statements(spec: ModelSpec) -> Iterator[tuple[SpecPath, PolicyStatement]]:
    for index, statement in enumerate(additions(spec).statements):
        yield ("execution_role", "statements", index), statement


@warning("IS833", _LINKED)
def role_is_not_linked_to_a_service(spec: ModelSpec) -> Iterator[Problem]:
    """The execution role should not be one that is linked to a service.

    The trust policy of such a role names its service, and nobody can change it or the role's policies.
    """
    role = spec.execution_role
    if isinstance(role, str) and (found := _OF_A_SERVICE.search(role)) is not None:
        message = (
            f"{found['role'][:64]} is linked to {found['service'][:64]}, not made to be passed to a model"
        )
        fix = "name a role that trusts sagemaker.amazonaws.com, or leave it out: the stack makes one"
        yield Problem(("execution_role",), message, fix)


@warning("IS820", _LEAST)
def statements_name_what_they_allow(spec: ModelSpec) -> Iterator[Problem]:
    """A policy statement should name its actions and resources, without `*` for all of them.

    A `*` inside an ARN or after a verb is left alone.
    """
    for path, statement in _statements(spec):
        for key in ("action", "resource"):
            for position, text in enumerate(getattr(statement, key)):
                if text == "*" or (key == "action" and text.endswith(":*")):
                    message = f'the {key} "{text}" allows more than the container needs'
                    yield Problem((*path, key, position), message, f"name each {key}")


@warning("IS821", _MANAGED)
def no_full_access(spec: ModelSpec) -> Iterator[Problem]:
    """A role should not have policies that allow everything.

    The role already has what the spec needs.
    """
    for index, arn in enumerate(additions(spec).managed_policy_arns):
        if arn.endswith(_BROAD):
            message = f"{arn.rpartition('/')[2]} allows far more than an endpoint needs"
            where = ("execution_role", "managed_policy_arns", index)
            yield Problem(where, message, "add `statements` for what is missing instead")


@error("IS822", _LEAST)
def statements_allow_something(spec: ModelSpec) -> Iterator[Problem]:
    """A policy statement needs at least one action and one resource.

    IAM refuses an empty list.
    """
    for path, statement in _statements(spec):
        for key in ("action", "resource"):
            if not getattr(statement, key):
                fix = f"name each {key}, or remove the statement"
                yield Problem((*path, key), f"the statement has no {key}", fix)


@warning("IS823", _ASYNC)
def role_reads_requests(spec: ModelSpec) -> Iterator[Problem]:
    """The role of an asynchronous endpoint should be able to read the requests, which are in S3.

    Each request says where its input is. The role may read what the spec names, or the stack makes, for them.
    """
    has_place = any(requests(spec)) or created(spec).bucket is not None
    if is_async(spec) and not has_place and _lacks(spec, "s3:GetObject"):
        fix = "name their prefix as `s3_input_path`, or let the stack make a bucket: `create: {bucket: {}}`"
        yield Problem(CONFIG, "the role that inferstack creates cannot read requests from S3", fix)


@warning("IS830", _CREATE_MODEL)
def role_reads_model_packages(spec: ModelSpec) -> Iterator[Problem]:
    """The role of an endpoint with a model package should be able to read its files and pull its image.

    Only the registry knows which files and which image, so inferstack cannot grant them. The files of a
    package from AWS Marketplace are its seller's: a subscription gives access to them, which no role of the
    buyer can.
    """
    if _has_policies(spec):
        return
    sold = {path for path, _ in marketplace_packages(spec)}
    for path, _, container in model_containers(spec):
        lacking = [action for action in _OF_PACKAGES if _lacks(spec, action)]
        if container.model_package_name is not None and path not in sold and lacking:
            lacked = listed(lacking, last="and")
            message = f"the role that inferstack creates lacks what the package needs: {lacked}"
            fix = "allow them on its files and its repository in `execution_role.statements`"
            yield Problem((*path, "model_package_name"), message, fix)


@warning("IS226", _RESOURCES)
def variables_name_files(spec: ModelSpec) -> Iterator[Problem]:
    """A variable that names files in S3 should name one object or prefix: the role gets no other permission.

    In an ARN, a wildcard would match more than it does for the container.
    """
    if _has_policies(spec) or not _lacks(spec, "s3:GetObject"):
        return
    for path, name, value in environment_variables(spec):
        too_much = _too_much(value) if value.startswith("s3://") else None
        if too_much is not None:
            message = f"`{name}` names {too_much}, so the role gets no permission to read that"
            fix = "name one object or prefix, or allow s3:GetObject and s3:ListBucket in "
            fix += "`execution_role.statements`"
            yield Problem(path, message, fix)


def _too_much(url: str) -> str | None:
    """What a URL names that the role gets no access to; None for an object, a prefix, or no bucket at all."""
    wild = wildcard_in(url)
    if wild is not None:
        return f"files with `{wild}`"
    no_bucket = not url.removeprefix("s3://").strip("/")
    return None if no_bucket or has_key(url) or is_opaque(url) else "a whole bucket"


@warning("IS835", _CREATE_MODEL)
def something_runs_under_the_role(spec: ModelSpec) -> Iterator[Problem]:
    """An `execution_role` should be set only if the stack makes a model.

    A model that exists already has a role of its own, and the endpoint has none.
    """
    named = any(variant.model_name is not None for _, variant in every_variant(spec))
    if spec.execution_role is not None and not needs_role(spec) and named:
        message = "nothing runs under this role: the models exist already, each with a role of its own"
        yield Problem(("execution_role",), message, "remove it, and give those roles what is missing")


def _has_policies(spec: ModelSpec) -> bool:
    """Whether the created role has policies of the user's own: what those allow is not known here."""
    return bool(additions(spec).managed_policy_arns)


def _lacks(spec: ModelSpec, action: str) -> bool:
    """Whether a role is created for the spec, and none of the spec's statements allows it an action."""
    if not makes_role(spec):
        return False
    allowed = (pattern for _, statement in _statements(spec) for pattern in statement.action)
    return not any(is_opaque(it) or fnmatchcase(action.lower(), it.lower()) for it in allowed)


@warning("IS824", _QUOTAS)
def not_too_many_policies(spec: ModelSpec) -> Iterator[Problem]:
    """A role should not have more managed policies than AWS allows by default.

    A warning, since the quota can be raised. During an update, old and new policies exist at once; where
    there are many, a small change replaces three at most.
    """
    named, made = len(additions(spec).managed_policy_arns), policies_made(spec)
    twice = min(made, _MOST_REPLACED)
    if made and named + made + twice > MOST_POLICIES:
        ours = (
            "the one that inferstack creates, which"
            if made == 1
            else f"about {made} that inferstack creates, {twice} of which"
        )
        theirs = f"{named} policies and " if named else ""
        message = f"{theirs}{ours} an update has twice, exceed a role's limit of {MOST_POLICIES}"
        fix = "name fewer or use `statements`" if made == 1 else "split the endpoint in two"
        where = ("execution_role", "managed_policy_arns") if named else ("inference_components",)
        yield Problem(where, message, f"{fix}, or request a higher quota")


@error("IS825", _SID)
def sids_differ(spec: ModelSpec) -> Iterator[Problem]:
    """Each policy statement needs a `sid` of its own.

    All statements go into one policy, and those that inferstack creates have sids, too.
    """
    seen: set[str] = set()
    for path, statement in _statements(spec):
        sid = statement.sid
        if sid is not None and (sid in seen or is_our_sid(sid)):
            whose = "another statement" if sid in seen else "a statement that inferstack creates"
            yield Problem((*path, "sid"), f"{whose} already has the sid `{sid}`", "choose another `sid`")
        if sid is not None:
            seen.add(sid)


@error("IS826", _OPERATORS)
def operators_are_known(spec: ModelSpec) -> Iterator[Problem]:
    """The operator of a condition must be one that IAM has.

    `ForAllValues:` or `ForAnyValue:` may precede it, and `IfExists` follow it.
    """
    for path, statement in _statements(spec):
        for operator in statement.condition or {}:
            bare = re.sub("^(ForAllValues|ForAnyValue):", "", operator)
            known = bare == "Null" or bare.removesuffix("IfExists") in _CONDITION_OPERATORS
            if not known and not is_opaque(operator):
                message = f"IAM has no condition operator `{operator[:60]}`"
                fix = choose(bare.removesuffix("IfExists"), [*_CONDITION_OPERATORS, "Null"])
                yield Problem((*path, "condition", operator), message, fix)


@error("IS831", _FUNCTIONS)
def condition_keys_are_no_functions(spec: ModelSpec) -> Iterator[Problem]:
    """The keys of a condition cannot look like CloudFormation functions.

    CloudFormation would fill them in: with `Ref: AWS::NoValue`, the statement would have no condition at all.
    """
    for path, statement in _statements(spec):
        for operator, values in (statement.condition or {}).items():
            for key in values:
                if key == "Ref" or key.startswith("Fn::"):
                    message = f"`{key}` in a condition would be read as a CloudFormation function"
                    fix = "write a condition key of IAM, such as `aws:SourceAccount`, and its value"
                    yield Problem((*path, "condition", operator, key), message, fix, of_key=True)
