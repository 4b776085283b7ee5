"""Whether subnets have addresses for the instances, security groups belong to them, and S3 can be reached.

https://docs.aws.amazon.com/sagemaker/latest/dg/host-vpc.html
"""

from collections.abc import Iterator, Sequence
from typing import Any

from inferstack.account.preflight.asking import Asking
from inferstack.account.preflight.calls import (
    DESCRIBE_GROUPS,
    DESCRIBE_ROUTE_TABLES,
    DESCRIBE_SUBNETS,
    DESCRIBE_VPC_ENDPOINTS,
)
from inferstack.account.preflight.verdict import (
    WORST_FIRST,
    Checked,
    Right,
    Subject,
    Target,
    cannot_tell,
    ok,
    only_deployment_knows,
    problem,
)
from inferstack.endpoint.of_spec import instance_counts
from inferstack.format.model import VpcConfig
from inferstack.problems.words import listed
from inferstack.resolve.needs import named_files, named_vpcs
from inferstack.texts.placeholders import is_settled

_OF_EACH_INSTANCE = 2
"""Addresses that AWS asks for."""
_ANYWHERE = "0.0.0.0/0"
_CORRECT = "correct the ids in the spec: subnets and security groups are of one region and account"


def subnets(targets: Sequence[Target]) -> Iterator[Subject]:
    """The subnets of each network that a spec names."""
    for target in targets:
        for path, vpc in named_vpcs(target.spec):
            yield Subject(target, (*path, "subnets"), vpc)


def groups(targets: Sequence[Target]) -> Iterator[Subject]:
    """The security groups of each network that a spec names."""
    for target in targets:
        for path, vpc in named_vpcs(target.spec):
            yield Subject(target, (*path, "security_group_ids"), vpc)


# ---------------------------------------------------------------- subnets and security groups


def have_addresses(subject: Subject, asking: Asking) -> Checked:
    """Whether subnets are there, and have two free addresses for each instance at the most."""
    vpc: VpcConfig = subject.what
    if not all(map(is_settled, vpc.subnets)):
        return only_deployment_knows(_names(vpc.subnets))
    found = asking.ask(DESCRIBE_SUBNETS, SubnetIds=[*vpc.subnets])
    if found is None:
        return problem(f"not all of {_names(vpc.subnets)} are in {asking.region}", _CORRECT)
    free = {it["SubnetId"]: it["AvailableIpAddressCount"] for it in found["Subnets"]}
    missing = [it for it in vpc.subnets if it not in free]
    if missing:
        return cannot_tell(f"AWS says nothing of {_names(missing)}")
    counts = instance_counts(subject.target.spec)
    if counts is not None and counts.max is None:
        return cannot_tell("how many instances there may be, only the deployment knows")
    needed = _OF_EACH_INSTANCE * (1 if counts is None else counts.max or 1)
    said = listed([f"{name} has {count}" for name, count in free.items()], last="and", quote="")
    fix = "add a subnet, or take larger ones"
    if len({it["VpcId"] for it in found["Subnets"]}) > 1:
        return problem(f"{_names(vpc.subnets)} are in different VPCs", "name subnets of one VPC")
    if sum(free.values()) < needed or min(free.values()) < _OF_EACH_INSTANCE:
        asked = f"AWS asks for two for each instance, which is {needed}, and for some in each subnet"
        return problem(f"too few addresses are free: {said}; {asked}", fix)
    return ok(f"free addresses: {said}; up to {needed} are needed")


def _names(ids: Sequence[str]) -> str:
    return listed(ids, last="and", quote="")


def belong_to_vpc(subject: Subject, asking: Asking) -> Checked:
    """Whether security groups are there, in the VPC of the subnets."""
    vpc: VpcConfig = subject.what
    if not all(map(is_settled, vpc.security_group_ids)):
        return only_deployment_knows(_names(vpc.security_group_ids))
    found = asking.ask(DESCRIBE_GROUPS, GroupIds=[*vpc.security_group_ids])
    if found is None:
        return problem(f"not all of {_names(vpc.security_group_ids)} are in {asking.region}", _CORRECT)
    there = {it["GroupId"]: it["VpcId"] for it in found["SecurityGroups"]}
    missing = [it for it in vpc.security_group_ids if it not in there]
    if missing:
        return cannot_tell(f"AWS says nothing of {_names(missing)}")
    if not all(map(is_settled, vpc.subnets)):
        return cannot_tell("whether they are in the VPC of the subnets, only the deployment knows")
    home = _vpc_of(vpc, asking)
    if home is None:
        return cannot_tell("whether they are in the VPC of the subnets is not known: see the subnets")
    others = [f"{name} is in {where}" for name, where in there.items() if where != home]
    if others:
        said = f"{listed(others, last='and', quote='')}, but the subnets are in {home}"
        return problem(said, "name security groups of the VPC of the subnets")
    return ok(f"{_names(vpc.security_group_ids)} in {home}")


def _vpc_of(vpc: VpcConfig, asking: Asking) -> str | None:
    """The VPC of all subnets; None if they are not there, or not in one VPC."""
    found = asking.ask(DESCRIBE_SUBNETS, SubnetIds=[*vpc.subnets])
    homes = set() if found is None else {str(it["VpcId"]) for it in found["Subnets"]}
    return homes.pop() if len(homes) == 1 else None


# ---------------------------------------------------------------- the way to S3


def subnets_of_files(targets: Sequence[Target]) -> Iterator[Subject]:
    """The subnets of specs that have files in S3: only these need a way to it."""
    return subnets([it for it in targets if any(named_files(it.spec))])


def reach_s3(subject: Subject, asking: Asking) -> Checked:
    """Whether each subnet has a way to S3, where SageMaker reads the model from through the VPC."""
    vpc: VpcConfig = subject.what
    if not all(map(is_settled, vpc.subnets)):
        return only_deployment_knows(_names(vpc.subnets))
    home = _vpc_of(vpc, asking)
    if home is None:
        return cannot_tell("the way to S3 is not known: see the subnets")
    by_vpc = [{"Name": "vpc-id", "Values": [home]}]
    tables = asking.every(DESCRIBE_ROUTE_TABLES, "RouteTables", Filters=by_vpc)
    service = f"com.amazonaws.{asking.region}.s3"
    of_s3 = [*by_vpc, {"Name": "service-name", "Values": [service, f"cn.{service}"]}]
    doors = asking.every(DESCRIBE_VPC_ENDPOINTS, "VpcEndpoints", Filters=of_s3)
    ways = {name: _way(name, tables, doors) for name in vpc.subnets}
    worst = min(ways.values(), key=lambda it: WORST_FIRST.index(it.state))
    names = [name for name, it in ways.items() if it.state is worst.state]
    return Checked(worst.state, f"{_names(names)}: {worst.message}", worst.fix)


def _way(subnet: str, tables: Sequence[Any], doors: Sequence[Any]) -> Checked:
    open_ = [it for it in doors if str(it["State"]).lower() == "available"]
    table = _table_of(subnet, tables)
    if any(it["VpcEndpointType"] == "Interface" and it.get("PrivateDnsEnabled") for it in open_):
        return ok("an interface endpoint of S3")
    if table is None:
        return cannot_tell("AWS does not say which route table it has")
    gateways = [it for it in open_ if it["VpcEndpointType"] == "Gateway"]
    if any(table["RouteTableId"] in it["RouteTableIds"] for it in gateways):
        return ok("a gateway endpoint of S3")
    out = [it for it in table["Routes"] if it.get("DestinationCidrBlock") == _ANYWHERE]
    alive = [it for it in out if it["State"] == "active"]
    if any("NatGatewayId" in it for it in alive):
        return ok("a NAT gateway")
    if any(not str(it.get("GatewayId", "")).startswith("igw-") for it in alive):
        return cannot_tell("its route to the internet leads elsewhere, which was not followed")
    if any("DestinationPrefixListId" in it for it in table["Routes"]) or gateways != open_:
        return cannot_tell("a route or an interface endpoint may lead to S3, which was not followed")
    said = "no way to S3, from where SageMaker reads the model through the VPC"
    if alive:
        said = f"{said}: its interfaces have no public address, so that an internet gateway does not help"
    return problem(said, "add a gateway endpoint of S3 to its route table")


def _table_of(subnet: str, tables: Sequence[Any]) -> Any | None:
    """The subnet's own table, or else the main one of the VPC; None if that is not clear."""
    uses = [(it, table) for table in tables for it in table["Associations"]]
    own = [table for it, table in uses if it.get("SubnetId") == subnet]
    main = [table for it, table in uses if it.get("Main")]
    # One that does not say whose it is may be this subnet's.
    is_clear = all(it.get("Main") or "SubnetId" in it or "GatewayId" in it for it, _ in uses)
    return next(iter(own or (main if is_clear else ())), None)


def subnet_rights(_: Subject) -> Iterator[Right]:
    """EC2's descriptions cannot be limited to some resources."""
    yield DESCRIBE_SUBNETS, "*"


def group_rights(_: Subject) -> Iterator[Right]:
    """As for subnets, which say the VPC."""
    yield from ((it, "*") for it in (DESCRIBE_SUBNETS, DESCRIBE_GROUPS))


def route_rights(_: Subject) -> Iterator[Right]:
    """As for subnets, which say the VPC."""
    yield from ((it, "*") for it in (DESCRIBE_SUBNETS, DESCRIBE_ROUTE_TABLES, DESCRIBE_VPC_ENDPOINTS))
