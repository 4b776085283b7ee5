"""The checks, in the order in which one failure makes the next meaningless, and their run over specs.

credentials -> region -> bootstrap -> quotas -> files -> images -> keys -> role -> network -> names
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from inferstack.account.connection import AccountError, Connection, reached
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
    places: dict[tuple[str, str | None], list[Target]] = {}
    by_region: dict[str | None, Connection | AccountError] = {}
    for loaded in specs:
        region = loaded.spec.region
        if region not in by_region:
            by_region[region] = reached(region)
        elif isinstance(by_region[region], AccountError):
            continue
        target, finding = _placed(loaded, by_region[region])
        if target is None:
            yield finding
            yield replace(finding, check="the rest", verdict=_REST)
            continue
        key = target.connection.account, target.connection.region
        if key not in places:
            yield finding
        places.setdefault(key, []).append(target)
    for targets in places.values():
        yield from _in_place(Asking(targets[0].connection), targets)


def _placed(loaded: LoadedSpec, found: Connection | AccountError) -> tuple[Target | None, CheckedPlace]:
    """Where a spec is deployed, if it can be checked there, and what is found about that."""
    spec = loaded.spec
    at: SpecPath = ("env", "region")
    if isinstance(found, AccountError):
        made = problem if found.is_about_credentials else cannot_tell
        verdict = made(found.said, _enabled(found, spec.region))
        return None, _finding("credentials", verdict, loaded, at, None)
    if found.region is None:
        fix = "write `env: {region: …}`, set AWS_REGION, or add `--region`"
        return None, _finding("region", problem("no region is named", fix), loaded, at, found)
    try:
        found.require_account(spec.account)
    except AccountError as error:
        verdict = problem(error.said, error.fix)
        return None, _finding("credentials", verdict, loaded, ("env", "account"), found)
    verdict = ok(f"account {found.account}, {found.region}")
    return Target(loaded, found), _finding("credentials", verdict, loaded, at, found)


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
