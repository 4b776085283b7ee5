"""How an endpoint is protected: network, encryption, and who may reach it; and what an update takes away."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from inferstack.catalog.resource_types import (
    BUCKET_TYPE,
    CONFIG_TYPE,
    ENDPOINT_TYPE,
    MANAGED_POLICY_TYPE,
    MODEL_TYPE,
    ROLE_TYPE,
)
from inferstack.endpoint.deployed import Properties, PropertyPath, entries, mapping, shown
from inferstack.endpoint.place import Place
from inferstack.endpoint.stack import Stack
from inferstack.format.logical_ids import INVOKER_POLICY, INVOKER_ROLE
from inferstack.problems.words import listed


class Protection(msgspec.Struct, frozen=True, kw_only=True):
    """How something is protected, or that it is not."""

    topic: Literal["network", "encryption", "access", "updates"]
    """What it is about."""
    about: str
    """What is protected: the model, the volumes, the captured data, …"""
    sentence: str
    """How, in words."""
    is_on: bool
    """Whether there is any protection that the spec asks for."""
    by: tuple[str, ...] = ()
    """What protects it, where that can be fewer: the alarms that roll an update back."""
    seconds: tuple[float, ...] = ()
    """How long it protects, where that can be shorter: each wait in which alarms can stop an update."""
    place: Place
    """Where the spec has it."""


def protections(stack: Stack) -> tuple[Protection, ...]:
    """Everything about network, encryption and access."""
    return (*_networks(stack), *_encryption(stack), *_access(stack))


# ---------------------------------------------------------------- network


def _networks(stack: Stack) -> Iterator[Protection]:
    for logical_id, properties in _hosts(stack):
        vpc, place = mapping(properties.get("VpcConfig")), stack.place_of(logical_id, ("VpcConfig",))
        isolated = properties.get("EnableNetworkIsolation") is True
        said = f"`{logical_id}` is {_vpc(stack, vpc)}"
        yield Protection(
            topic="network", about=f"{logical_id}, VPC", sentence=said, is_on=bool(vpc), place=place
        )
        opened = "may open connections" if vpc else "may open connections to the internet"
        said = f"containers of `{logical_id}` {'have no network' if isolated else opened}"
        yield Protection(
            topic="network",
            about=f"{logical_id}, isolation",
            sentence=said,
            is_on=isolated,
            place=stack.place_of(logical_id, ("EnableNetworkIsolation",)),
        )


def _hosts(stack: Stack) -> Iterator[tuple[str, Properties]]:
    """What has a network of its own: models, and the configuration where it hosts components."""
    yield from stack.of_type(MODEL_TYPE).items()
    logical_id, config = stack.first(CONFIG_TYPE)
    if "ExecutionRoleArn" in config:
        yield logical_id, config


_VPC = ("Subnets", "SecurityGroupIds")


def _vpc(stack: Stack, vpc: Properties) -> str:
    if not vpc:
        return "in no VPC"
    # All of them: any may be the one that changes.
    subnets, groups = (", ".join(map(stack.readable, entries(vpc.get(key)))) for key in _VPC)
    return f"in a VPC: {subnets}; with {groups}"


# ---------------------------------------------------------------- encryption


def _encryption(stack: Stack) -> Iterator[Protection]:
    logical_id, config = stack.first(CONFIG_TYPE)
    capture = mapping(config.get("DataCaptureConfig"))
    # What is not captured needs no key.
    capture = {} if capture.get("EnableCapture") is False else capture
    output = mapping(mapping(config.get("AsyncInferenceConfig")).get("OutputConfig"))
    found: list[tuple[str, Properties, PropertyPath, bool]] = [("volumes", config, ("KmsKeyId",), True)]
    found.append(("captured data", capture, ("DataCaptureConfig", "KmsKeyId"), bool(capture)))
    where = ("AsyncInferenceConfig", "OutputConfig", "KmsKeyId")
    found.append(("asynchronous responses", output, where, bool(output)))
    for about, block, path, is_there in found:
        key = block.get("KmsKeyId")
        if is_there:
            said = "AWS's own keys" if key is None else f"the key `{stack.readable(key)}`"
            place = stack.place_of(logical_id, path)
            sentence = f"{about} encrypted with {said}"
            yield Protection(
                topic="encryption", about=about, sentence=sentence, is_on=key is not None, place=place
            )


# ---------------------------------------------------------------- access


def _access(stack: Stack) -> Iterator[Protection]:
    logical_id, _ = stack.first(ENDPOINT_TYPE)
    place = stack.place_of(logical_id, ())
    who = "requests need IAM's right to invoke the endpoint"
    yield Protection(topic="access", about="requests", sentence=who, is_on=True, place=place)
    yield from _shells(stack)
    yield from _invokers(stack)
    for bucket_id, bucket in stack.of_type(BUCKET_TYPE).items():
        block = mapping(bucket.get("PublicAccessBlockConfiguration"))
        closed = len(block) == 4 and all(it is True for it in block.values())
        said = "the bucket refuses public access" if closed else "the bucket may be made public"
        at = stack.place_of(bucket_id, ())
        yield Protection(topic="access", about=f"{bucket_id}", sentence=said, is_on=closed, place=at)


def _shells(stack: Stack) -> Iterator[Protection]:
    """https://docs.aws.amazon.com/sagemaker/latest/dg/ssm-access.html"""
    logical_id, config = stack.first(CONFIG_TYPE)
    written = (config.get(key) for key in ("ProductionVariants", "ShadowProductionVariants"))
    variants = (mapping(it) for those in written for it in entries(those))
    opened = [shown(it.get("VariantName")) for it in variants if it.get("EnableSSMAccess") is True]
    said = f"Session Manager can open a shell in the containers of {listed(opened, last='and')}"
    yield Protection(
        topic="access",
        about="shells",
        sentence=said if opened else "nobody can open a shell in its containers",
        is_on=not opened,
        place=stack.place_of(logical_id, ("ProductionVariants",)),
    )


def _invokers(stack: Stack) -> Iterator[Protection]:
    policy = stack.of_type(MANAGED_POLICY_TYPE).get(INVOKER_POLICY)
    trusted = stack.of_type(ROLE_TYPE).get(INVOKER_ROLE)
    if trusted is not None:
        names = principals(trusted)
        anyone = "*" in names
        said = (
            "anyone may assume the role that invokes it"
            if anyone
            else f"{listed(names, last='and')} may invoke it"
        )
        place = stack.place_of(INVOKER_ROLE, ())
        yield Protection(topic="access", about="invokers", sentence=said, is_on=not anyone, place=place)
    elif policy is not None:
        names = invoking_roles(stack)
        said = f"{listed(names, last='and')} may invoke it" if names else "a policy allows invoking it"
        place = stack.place_of(INVOKER_POLICY, ())
        yield Protection(topic="access", about="invokers", sentence=said, is_on=True, place=place)


def invoking_roles(stack: Stack) -> list[str]:
    """Roles from elsewhere that may invoke the endpoint."""
    policy = stack.of_type(MANAGED_POLICY_TYPE).get(INVOKER_POLICY, {})
    return [shown(it) for it in entries(policy.get("Roles")) if it != {"Ref": INVOKER_ROLE}]


def principals(role: Properties) -> list[str]:
    """Who may assume a role."""
    statements = map(mapping, entries(mapping(role.get("AssumeRolePolicyDocument")).get("Statement")))
    found: list[str] = []
    for principal in (it.get("Principal") for it in statements):
        values = principal.values() if isinstance(principal, dict) else [principal]
        found += [shown(it) for value in values for it in entries(value)]
    return list(dict.fromkeys(found))


# ---------------------------------------------------------------- less than before


def lowered(
    before: tuple[Protection, ...], after: tuple[Protection, ...]
) -> Iterator[tuple[Protection, Protection]]:
    """Protections that are gone, by fewer, or for a shorter time, before and after."""
    for old, new in _same(before, after):
        is_shorter = any(was > now for was, now in zip(old.seconds, new.seconds, strict=False))
        if (old.is_on and not new.is_on) or not set(old.by) <= set(new.by) or is_shorter:
            yield old, new


def altered(
    before: tuple[Protection, ...], after: tuple[Protection, ...]
) -> Iterator[tuple[Protection, Protection]]:
    """Protections that change and are not lowered, before and after. Who may reach it is a question of
    rights.
    """
    less = [new for _, new in lowered(before, after)]
    for old, new in _same(before, after):
        if old.sentence != new.sentence and new not in less and new.topic != "access":
            yield old, new


def _same(
    before: tuple[Protection, ...], after: tuple[Protection, ...]
) -> Iterator[tuple[Protection, Protection]]:
    now = {(it.topic, it.about): it for it in after}
    for old in before:
        new = now.get((old.topic, old.about))
        if new is not None:
            yield old, new
