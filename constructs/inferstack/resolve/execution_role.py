"""The execution role: rights to what the spec names, and to nothing else.

The permissions are a managed policy that attaches itself to the role and has a hash of its content in its
logical id: different permissions make a different policy. CloudFormation makes the new one before the new
model and deletes the old one after the endpoint was updated, so that the old fleet, which a blue/green update
keeps serving and a rollback brings back, never loses access to what it reads. What SageMaker needs is in
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html#sagemaker-roles-createmodel-perms
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from inferstack.catalog.resource_types import MANAGED_POLICY_TYPE, ROLE_TYPE
from inferstack.facts.role import LONGEST_POLICY, OurSid, additions, makes_role
from inferstack.format.kinds import ExecutionRole, ModelSpec, PolicyStatement
from inferstack.format.logical_ids import EXECUTION_ROLE
from inferstack.format.model import VpcConfig
from inferstack.resolve.convert import plain
from inferstack.resolve.images import S3Location, key_arns, s3_location
from inferstack.resolve.needs import RoleNeeds
from inferstack.resolve.resource import Resource, Resources, Value, get_att, present, ref, short_hash
from inferstack.texts.placeholders import LIST_TOKEN, TOKEN, is_list_token, is_opaque

ROLE = EXECUTION_ROLE
POLICY = "ExecutionPolicy"
"""How logical ids of the role's policies begin."""

_HERE = "${AWS::Region}:${AWS::AccountId}"
_LOGS = f"arn:${{AWS::Partition}}:logs:{_HERE}:log-group:"
_EC2 = "arn:${AWS::Partition}:ec2:${AWS::Region}:"
LOGS_OF_ENDPOINTS = "/aws/sagemaker/Endpoints/"
LOGS_OF_COMPONENTS = "/aws/sagemaker/InferenceComponents/"
"""How SageMaker's names of log groups begin; then comes the name of the endpoint or component."""
_SOURCE = ("execution_role",)

# For a list that only the deployment knows: no function makes an ARN of each of its entries.
_ANY = ("*",)
_USE_KEY = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"]
# Grants are for the services that SageMaker stores data with, not for the container.
_BY_SERVICE: Value = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
_TOKEN = re.compile(f"{TOKEN}|{LIST_TOKEN}")
# What a token may become: the name of a bucket has up to 63 characters, an ARN rarely twice as many.
_LENGTH_OF_TOKEN = 128
_LENGTH_OF_LIST = 10 * _LENGTH_OF_TOKEN


def role_arn(role: str | ExecutionRole | None) -> Value:
    """ARN of the role that the endpoint uses: the user's, or the one of this stack."""
    return role if isinstance(role, str) else get_att(ROLE, "Arn")


def resolve_execution_role(spec: ModelSpec, needs: RoleNeeds) -> Resources:
    """Role and policy; nothing when the spec brings a role of its own, or needs none."""
    if not makes_role(spec):
        return {}
    extra = additions(spec)
    return {ROLE: _role(extra, needs), **_policies(extra, needs)}


def after_policies(resources: Resources) -> Resources:
    """The resources, in which all that use the role of this stack wait for its policies."""
    policies = tuple(it for it in resources if it.startswith(POLICY))
    return {
        logical_id: replace(resource, depends_on=(*policies, *resource.depends_on))
        if resource.properties.get("ExecutionRoleArn") == get_att(ROLE, "Arn")
        else resource
        for logical_id, resource in resources.items()
    }


def _role(extra: ExecutionRole, needs: RoleNeeds) -> Resource:
    trust = {
        "Sid": "AssumedBySageMaker",
        "Effect": "Allow",
        "Action": ["sts:AssumeRole"],
        "Principal": {"Service": "sagemaker.amazonaws.com"},
    }
    properties = present(
        Description=f"Execution role of the SageMaker endpoint {needs.endpoint_name}",
        AssumeRolePolicyDocument=_document([trust]),
        ManagedPolicyArns=list(extra.managed_policy_arns) or None,
        PermissionsBoundary=extra.permissions_boundary,
        Path=extra.path,
    )
    return Resource(ROLE_TYPE, properties, _SOURCE)


def _policies(extra: ExecutionRole, needs: RoleNeeds) -> Resources:
    """One policy, or several where one would be longer than IAM allows."""
    description = f"What the SageMaker endpoint {needs.endpoint_name} needs"
    made: Resources = {}
    all_of_them = _statements(extra, needs)
    for statements in [all_of_them] if _length(all_of_them) <= LONGEST_POLICY else _packed(all_of_them):
        document, attached = _document(statements), [ref(ROLE)]
        properties = present(
            Description=description, Path=extra.path, PolicyDocument=document, Roles=attached
        )
        content = short_hash(json.dumps(properties, sort_keys=True))
        made[f"{POLICY}{content}"] = Resource(MANAGED_POLICY_TYPE, properties, _SOURCE)
    return made


def _packed(statements: list[Value]) -> list[list[Value]]:
    """The statements over several policies. The text of each entry alone chooses its policy, whichever other
    entries there are, so that adding or removing an entry changes few policies.
    """
    entries = [(at, entry) for at, whole in enumerate(statements) for entry in _entries(whole)]
    # An entry that fits into no policy is left for IAM to refuse.
    longest = max(LONGEST_POLICY, *(_length(entry) + 2 for _, entry in entries))
    packs = [statements]
    count = 1
    while count < len(entries) and any(_length(pack) > longest for pack in packs):
        count += 1
        packs = _spread(entries, count)
    return packs


def _spread(entries: Iterable[tuple[int, Value]], count: int) -> list[list[Value]]:
    """The entries over ``count`` policies, in each of which those of one statement are joined again.

    Each goes where its hash with the policy's number is highest: another number of policies moves few.
    https://en.wikipedia.org/wiki/Rendezvous_hashing
    """
    packs: list[dict[int, Value]] = [{} for _ in range(count)]
    for at, entry in entries:
        text = json.dumps(entry, sort_keys=True)
        pack = max(range(count), key=lambda number: short_hash(str(number), text))
        packs[pack][at] = _joined(packs[pack][at], entry) if at in packs[pack] else entry
    return [list(pack.values()) for pack in packs if pack]


def _entries(statement: Value) -> Iterator[Value]:
    """Splits a statement into several, each on one resource or one prefix of a bucket."""
    match statement:
        case {"Condition": {"StringLike": {"s3:prefix": [*prefixes]}}}:
            for prefix in prefixes:
                yield {**statement, "Condition": {"StringLike": {"s3:prefix": [prefix]}}}
        case _:
            for resource in statement["Resource"]:
                # One of a log group's two forms of ARN is for all of these actions; both would take twice the
                # space.
                # https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/iam-access-control-overview-cwl.html
                if LOGS_OF_COMPONENTS not in resource or resource.endswith(":*"):
                    yield {**statement, "Resource": [resource]}


def _joined(one: Value, other: Value) -> Value:
    match one, other:
        case (
            {"Condition": {"StringLike": {"s3:prefix": [*before]}}},
            {"Condition": {"StringLike": {"s3:prefix": [*more]}}},
        ):
            return {**one, "Condition": {"StringLike": {"s3:prefix": [*before, *more]}}}
        case _:
            return {**one, "Resource": [*one["Resource"], *other["Resource"]]}


def _length(statements: Value) -> int:
    """How many characters one statement or several may have once they are deployed."""
    written = json.dumps(statements, separators=(",", ":"))
    # Most specs have no tokens, and nothing from elsewhere.
    if _TOKEN.search(written) is None:
        return len(written)
    return len(_TOKEN.sub(_as_long, json.dumps(_filled(statements), separators=(",", ":"))))


def _filled(value: Value) -> Value:
    """The value with functions that take a token apart replaced by texts about as long as their results."""
    match value:
        case {"Fn::Sub": [str() as text, dict() as variables]} if _TOKEN.search(json.dumps(variables)):
            return text + " " * _LENGTH_OF_TOKEN
        case dict():
            return {key: _filled(item) for key, item in value.items()}
        case list():
            return [_filled(item) for item in value]
        case _:
            return value


def _as_long(token: re.Match[str]) -> str:
    return " " * (_LENGTH_OF_LIST if is_list_token(token[0]) else _LENGTH_OF_TOKEN)


def _statements(extra: ExecutionRole, needs: RoleNeeds) -> list[Value]:
    return [
        *_read_files(needs.files),
        *_named("ReadRequests", ["s3:GetObject"], needs.requests),
        *_named("WriteResults", ["s3:PutObject", "s3:AbortMultipartUpload"], needs.writes),
        *_pull_images(needs),
        *_use_keys(needs.keys),
        *_decrypt_files(extra.kms_key_arns),
        *_join_vpcs(needs.vpcs, extra.subnet_owner_id),
        *_named("NotifyTopics", ["sns:Publish"], needs.topics),
        *_named("AskRegistryCredentials", ["lambda:InvokeFunction"], needs.functions),
        *_named("ReadModelPackages", ["sagemaker:DescribeModelPackage"], needs.model_packages),
        *_named("ReadHubContent", ["sagemaker:DescribeHubContent"], needs.hub_contents),
        *_named("LookAtRollbackAlarms", ["cloudwatch:DescribeAlarms"], needs.alarms),
        *_open_sessions(needs),
        _write_logs(needs),
        _publish_metrics(),
        *(_statement_of_the_spec(statement) for statement in extra.statements),
    ]


def _document(statements: list[Value]) -> Value:
    return {"Version": "2012-10-17", "Statement": statements}


def _statement(sid: OurSid, actions: list[str], resources: list[Value], condition: Value = None) -> Value:
    return present(Sid=sid, Effect="Allow", Action=actions, Resource=resources, Condition=condition)


def _named(sid: OurSid, actions: list[str], resources: Iterable[Value]) -> Iterator[Value]:
    """A statement on these resources, or none when there are none."""
    unique = _once(resources)
    if unique:
        yield _statement(sid, actions, unique)


def _once(values: Iterable[Value]) -> list[Value]:
    unique: list[Value] = []
    for value in values:
        if value not in unique:
            unique.append(value)
    return unique


def _read_files(files: Iterable[tuple[str, bool]]) -> Iterator[Value]:
    places = [(s3_location(url), is_prefix) for url, is_prefix in files]
    arns = [place.objects_arn(prefix=is_prefix) for place, is_prefix in places]
    yield from _named("ReadModelFiles", ["s3:GetObject"], arns)
    for number, bucket in enumerate(_once(place.bucket_arn for place, _ in places)):
        prefixes = _prefixes((place, is_prefix) for place, is_prefix in places if place.bucket_arn == bucket)
        condition = {"StringLike": {"s3:prefix": prefixes}}
        listing = _statement("ListModelFiles", ["s3:ListBucket"], [bucket], condition)
        yield listing if number == 0 else {**listing, "Sid": f"{listing['Sid']}{number}Part0"}


def _prefixes(places: Iterable[tuple[S3Location, bool]]) -> list[str]:
    """What may be listed: names of objects, prefixes, or everything where only the deployment knows a key."""
    found = list(places)
    if any(place.key is None for place, _ in found):
        return ["*"]
    return _once(f"{place.key}{'*' if is_prefix else ''}" for place, is_prefix in found)


def _pull_images(needs: RoleNeeds) -> Iterator[Value]:
    actions = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
    yield from _named("PullImage", actions, needs.repository_arns)
    # Only the model registry knows where the image of a model package is.
    if needs.repository_arns or needs.model_packages:
        # The login is for the account's registry as a whole; IAM has no ARN for it.
        yield _statement("LogInToRegistry", ["ecr:GetAuthorizationToken"], ["*"])


def _use_keys(keys: Iterable[str]) -> Iterator[Value]:
    named, places, known_as = places_of_keys(keys)
    if named:
        yield _statement("UseKeys", _USE_KEY, named)
        yield _statement("GrantKeys", ["kms:CreateGrant"], named, _BY_SERVICE)
    if places:
        yield _statement("UseKeysByAlias", _USE_KEY, places, known_as)
        yield _statement("GrantKeysByAlias", ["kms:CreateGrant"], places, {**known_as, **_BY_SERVICE})


def _decrypt_files(keys: Iterable[str]) -> Iterator[Value]:
    """Model files are only read, with their keys."""
    named, places, known_as = places_of_keys(keys)
    if named:
        yield _statement("DecryptFiles", ["kms:Decrypt"], named)
    if places:
        yield _statement("DecryptFilesByAlias", ["kms:Decrypt"], places, known_as)


def places_of_keys(keys: Iterable[str]) -> tuple[list[Value], list[Value], dict[str, Value]]:
    """ARNs of keys, those where a key is known by its alias, and the condition that names the aliases."""
    arns = [found for key in keys for found in key_arns(key)]
    aliased = [(arn, alias) for arn, alias in arns if alias is not None]
    known_as: Value = {"kms:ResourceAliases": _once(alias for _, alias in aliased)}
    named = _once(arn for arn, alias in arns if alias is None)
    return named, _once(arn for arn, _ in aliased), {"ForAnyValue:StringEquals": known_as}


def _one_by_one(texts: Sequence[str], instead: tuple[str, ...] = ()) -> Sequence[str]:
    """The entries of a list, or ``instead`` where only the deployment knows them."""
    return instead if is_opaque(list(texts)) else texts


def _join_vpcs(vpcs: Iterable[VpcConfig], subnet_owner_id: str | None) -> Iterator[Value]:
    networks, own = list(vpcs), f"{_EC2}${{AWS::AccountId}}:"
    # The ARN of a subnet has the account that owns it; interfaces belong to the account that makes them.
    # https://docs.aws.amazon.com/vpc/latest/userguide/vpc-sharing.html
    of_owner = own if subnet_owner_id is None else f"{_EC2}{subnet_owner_id}:"
    parts = [f"{of_owner}subnet/{it}" for vpc in networks for it in _one_by_one(vpc.subnets, _ANY)]
    parts += [
        f"{own}security-group/{it}" for vpc in networks for it in _one_by_one(vpc.security_group_ids, _ANY)
    ]
    if not parts:
        return
    make = ["ec2:CreateNetworkInterface", "ec2:CreateNetworkInterfacePermission"]
    remove = ["ec2:DeleteNetworkInterface", "ec2:DeleteNetworkInterfacePermission"]
    yield _statement("JoinVpc", [*make, *remove], _once([*parts, f"{own}network-interface/*"]))
    looks = ("DhcpOptions", "NetworkInterfaces", "SecurityGroups", "Subnets", "Vpcs")
    # EC2's Describe actions cannot be limited to resources.
    yield _statement("LookAtVpc", [f"ec2:Describe{what}" for what in looks], ["*"])


def _open_sessions(needs: RoleNeeds) -> Iterator[Value]:
    """See https://docs.aws.amazon.com/sagemaker/latest/dg/ssm-access.html"""
    if needs.sessions:
        channels = [f"{verb}{kind}Channel" for verb in ("Create", "Open") for kind in ("Control", "Data")]
        # Session Manager's channels cannot be limited to resources.
        yield _statement("OpenSessions", [f"ssmmessages:{it}" for it in channels], ["*"])


def _write_logs(needs: RoleNeeds) -> Value:
    groups = [f"{LOGS_OF_ENDPOINTS}{needs.endpoint_name}"]
    groups += [f"{LOGS_OF_COMPONENTS}{name}" for name in needs.inference_components]
    actions = ["CreateLogGroup", "CreateLogStream", "DescribeLogStreams", "PutLogEvents"]
    resources = [f"{_LOGS}{group}{tail}" for group in groups for tail in ("", ":*")]
    return _statement("WriteLogs", [f"logs:{action}" for action in actions], resources)


def _publish_metrics() -> Value:
    # PutMetricData cannot be limited to resources; the condition limits it to SageMaker's own namespaces.
    condition = {"StringLike": {"cloudwatch:namespace": ["AWS/SageMaker", "/aws/sagemaker/*"]}}
    return _statement("PublishMetrics", ["cloudwatch:PutMetricData"], ["*"], condition)


def _statement_of_the_spec(statement: PolicyStatement) -> Value:
    return present(
        Sid=statement.sid,
        Effect="Allow",
        Action=list(statement.action),
        Resource=list(statement.resource),
        Condition=plain(statement.condition),
    )
