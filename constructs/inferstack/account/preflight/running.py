"""The checks, in the order in which one failure makes the next meaningless, and their run over specs.

credentials -> region -> bootstrap -> quotas -> files -> images -> keys -> role -> network -> names
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from inferstack.account.connection import AccountError, Connection, connect
from inferstack.account.preflight import files, images, keys, names, network, place, quotas, roles
from inferstack.account.preflight.asking import Asking
from inferstack.account.preflight.verdict import (
    Check,
    Checked,
    Subject,
    Target,
    cannot_tell,
    ok,
    problem,
)
from inferstack.check.load import LoadedSpec
from inferstack.problems import FilePlace, SpecPath

CHECKS = (
    Check("bootstrap", place.bootstraps, place.is_bootstrapped, place.bootstrap_rights),
    Check("quota", quotas.demands, quotas.has_room, quotas.quota_rights),
    Check("files", files.files, files.are_there, files.file_rights),
    Check("image", images.images, images.is_there, images.image_rights),
    Check("key", keys.keys, keys.is_usable, keys.key_rights),
    Check("role", roles.roles, roles.trusts_sagemaker, roles.role_rights),
    Check("policy", roles.policies, roles.is_policy, roles.policy_rights),
    Check("subnets", network.subnets, network.have_addresses, network.subnet_rights),
    Check("groups", network.groups, network.belong_to_vpc, network.group_rights),
    Check("s3 route", network.subnets_of_files, network.reach_s3, network.route_rights),
    Check("stack", names.stacks, names.takes_update, names.stack_rights),
    Check("name", names.names, names.are_free_or_ours, names.name_rights),
)


class CheckedPlace(msgspec.Struct, frozen=True):
    """What a check finds, and the place in the spec that it is about."""

    check: str
    verdict: Checked
    place: FilePlace
    path: SpecPath
    endpoint: str
    account: str | None
    region: str | None


def preflight(specs: Sequence[LoadedSpec]) -> Iterator[CheckedPlace]:
    """Checks specs against the account of the credentials, one finding after the other. What several stages
    have in common is found once.
    """
    seen = set()
    for found in _every(specs):
        key = (found.check, found.verdict, found.place, found.region)
        if key not in seen:
            seen.add(key)
            yield found


_REST = cannot_tell("nothing else was checked", "first do what the line above says")


def _every(specs: Sequence[LoadedSpec]) -> Iterator[CheckedPlace]:
    places: dict[Connection, list[Target]] = {}
    reached: dict[str | None, Connection | AccountError] = {}
    for loaded in specs:
        region = loaded.spec.region
        if region not in reached:
            reached[region] = _reached(region)
        elif isinstance(reached[region], AccountError):
            continue
        target, finding = _placed(loaded, reached[region])
        if target is None:
            yield finding
            yield replace(finding, check="the rest", verdict=_REST)
            continue
        known = next((it for it in places if _is_same(it, target.connection)), target.connection)
        if known not in places:
            yield finding
        places.setdefault(known, []).append(replace(target, connection=known))
    for connection, targets in places.items():
        yield from _in_place(Asking(connection), targets)


def _reached(region: str | None) -> Connection | AccountError:
    try:
        return connect(region)
    except AccountError as error:
        return error


def _is_same(one: Connection, other: Connection) -> bool:
    return (one.account, one.region) == (other.account, other.region)


def _placed(loaded: LoadedSpec, reached: Connection | AccountError) -> tuple[Target | None, CheckedPlace]:
    """Where a spec is deployed, if it can be checked there, and what is found about that."""
    spec = loaded.spec
    at: SpecPath = ("env", "region")
    if isinstance(reached, AccountError):
        made = problem if reached.is_about_credentials else cannot_tell
        verdict = made(reached.said, _enabled(reached, spec.region))
        return None, _finding("credentials", verdict, loaded, at, None)
    if reached.region is None:
        fix = "write `env: {region: …}`, set AWS_REGION, or add `--region`"
        return None, _finding("region", problem("no region is named", fix), loaded, at, reached)
    try:
        reached.require_account(spec.account)
    except AccountError as error:
        verdict = problem(error.said, error.fix)
        return None, _finding("credentials", verdict, loaded, ("env", "account"), reached)
    verdict = ok(f"account {reached.account}, {reached.region}")
    return Target(loaded, reached), _finding("credentials", verdict, loaded, at, reached)


def _enabled(error: AccountError, region: str | None) -> str:
    """AWS refuses all credentials in a region that the account has not enabled."""
    if region is None or error.code not in ("InvalidClientTokenId", "UnrecognizedClientException"):
        return error.fix
    return f"{error.fix}; if they are right, enable {region} in the account"


def _finding(
    check: str, verdict: Checked, loaded: LoadedSpec, path: SpecPath, connection: Connection | None
) -> CheckedPlace:
    account, region = (None, None) if connection is None else (connection.account, connection.region)
    place_ = loaded.document.place(path)
    return CheckedPlace(check, verdict, place_, path, loaded.spec.endpoint_name, account, region)


def _in_place(asking: Asking, targets: Sequence[Target]) -> Iterator[CheckedPlace]:
    for check in CHECKS:
        for subject in check.subjects(targets):
            verdict = _judged(check, subject, asking)
            target = subject.target
            yield _finding(check.name, verdict, target.loaded, subject.path, target.connection)


def _judged(check: Check, subject: Subject, asking: Asking) -> Checked:
    try:
        return check.judge(subject, asking)
    except AccountError as error:
        return cannot_tell(f"not checked: {error.said}", error.fix)
