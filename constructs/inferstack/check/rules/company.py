"""What a project demands of each of its specs: the `rules` of its file. None of them can be ignored.

What only the deployment knows is refused where a rule is about it: nobody could check it.
"""

import re
from collections.abc import Callable, Collection, Iterator
from decimal import Decimal

import msgspec

from inferstack.catalog import instances
from inferstack.endpoint import cost
from inferstack.endpoint.cost import Prices, amount_text
from inferstack.endpoint.of_spec import fleets, instance_counts
from inferstack.facts.alarms import OwnAlarm, alarms_block, own_alarms, with_own_actions
from inferstack.facts.composite_alarms import Composite, alarms_by_name, composite_alarms
from inferstack.facts.kinds import hosts_components
from inferstack.facts.role import additions, makes_role
from inferstack.facts.walk import endpoint_config, every_variant, hosting, models, written_instance_types
from inferstack.format.elsewhere import InvokerRole
from inferstack.format.kinds import ExecutionRole, ModelSpec
from inferstack.format.project import ChoiceOfValues, Rules
from inferstack.problems import Problem, SpecPath
from inferstack.problems.rules import RuleTable
from inferstack.problems.words import listed
from inferstack.texts.placeholders import is_opaque

COMPANY = RuleTable()
"""The rules, which apply where a project's file asks for them."""

_CONFIG = ("endpoint_config",)


class Demanded(msgspec.Struct, frozen=True):
    """A spec, and what its project demands."""

    spec: ModelSpec
    rules: Rules
    prices: Callable[[], Prices]
    """Reads the price file of the rule on costs, for the spec's region."""


# ---------------------------------------------------------------- what may be chosen


@COMPANY.error("IS022")
def allowed_accounts(demanded: Demanded) -> Iterator[Problem]:
    """The project allows only some accounts, and this spec is for another one, or for any.

    `rules.allowed.accounts` lists them.
    """
    choice, account = _allowed(demanded, "accounts"), demanded.spec.account
    yield from _unless_allowed(("env", "account"), account, "an account", choice)


@COMPANY.error("IS023")
def allowed_regions(demanded: Demanded) -> Iterator[Problem]:
    """The project allows only some regions, and this spec is for another one, or for any.

    `rules.allowed.regions` lists them.
    """
    choice, region = _allowed(demanded, "regions"), demanded.spec.region
    yield from _unless_allowed(("env", "region"), region, "a region", choice)


@COMPANY.error("IS024")
def allowed_instance_types(demanded: Demanded) -> Iterator[Problem]:
    """The project allows only some instance types, and this spec uses another one.

    `rules.allowed.instance_types` lists them. Shadow variants and instance pools count, too.
    """
    choice = _allowed(demanded, "instance_types")
    for path, variant in every_variant(demanded.spec):
        for at, name in written_instance_types(path, variant):
            yield from _unless_allowed(at, name, "an instance type", choice)


@COMPANY.error("IS025")
def allowed_boundaries(demanded: Demanded) -> Iterator[Problem]:
    """The project allows only some permissions boundaries, and a role of this spec has another one, or none.

    `rules.allowed.permissions_boundaries` lists them. Existing roles, which a spec only names, are not seen.
    """
    choice = _allowed(demanded, "permissions_boundaries")
    for path, block in _roles(demanded.spec):
        at, boundary = (*path, "permissions_boundary"), block.permissions_boundary
        yield from _unless_allowed(at, boundary, "a permissions boundary", choice)


@COMPANY.error("IS026")
def allowed_role_paths(demanded: Demanded) -> Iterator[Problem]:
    """The project allows only some IAM paths, and a role or policy of this spec has another one.

    `rules.allowed.role_paths` lists them. Without a path, IAM's is `/`.
    """
    choice, invokers = _allowed(demanded, "role_paths"), demanded.spec.invokers
    blocks = [*_roles(demanded.spec), *(() if invokers is None else ((("invokers",), invokers),))]
    for path, block in blocks:
        yield from _unless_allowed((*path, "path"), block.path or "/", "a path", choice)


def _allowed(demanded: Demanded, key: str) -> ChoiceOfValues | None:
    choice: ChoiceOfValues | None = getattr(demanded.rules.allowed, key, None)
    return choice


def _roles(spec: ModelSpec) -> Iterator[tuple[SpecPath, ExecutionRole | InvokerRole]]:
    """The blocks of the roles that the stack makes."""
    if makes_role(spec):
        yield ("execution_role",), additions(spec)
    if spec.invokers is not None and spec.invokers.role is not None:
        yield ("invokers", "role"), spec.invokers.role


def _unless_allowed(
    path: SpecPath, value: str | None, what: str, choice: ChoiceOfValues | None
) -> Iterator[Problem]:
    if choice is None or (value is not None and _is_one_of(value, choice.values)):
        return
    fix = f"write {listed([str(it) for it in choice.values])}"
    if value is None:
        message = f"the project's rules ask for {what}: {choice.reason}"
        yield Problem(path[:-1], message, fix, lacks=str(path[-1]))
    elif _is_unknown(value):
        message = f"{value} is known only at deployment, and the project's rules allow only some values here"
        yield Problem(path, f"{message}: {choice.reason}", fix)
    else:
        message = f"the project's rules do not allow {value}: {choice.reason}"
        yield Problem(path, message, fix)


def _is_one_of(value: str, patterns: Collection[str]) -> bool:
    forms = (re.escape(it).replace(r"\*", ".*") for it in patterns)
    # What has a placeholder must be written just so in the project's file.
    return value in patterns or (not _is_unknown(value) and any(re.fullmatch(it, value) for it in forms))


def _is_unknown(value: str) -> bool:
    return is_opaque(value) or "${" in value


# ---------------------------------------------------------------- what must be there


@COMPANY.error("IS028")
def vpc_is_required(demanded: Demanded) -> Iterator[Problem]:
    """The project requires a VPC, and something in this spec has none.

    `rules.required.vpc_config` asks for it.
    """
    yield from _required_of_models(demanded, "vpc_config", "subnets and security groups of your VPC")


@COMPANY.error("IS029")
def isolation_is_required(demanded: Demanded) -> Iterator[Problem]:
    """The project requires network isolation, and something in this spec has none.

    `rules.required.enable_network_isolation` asks for it.
    """
    yield from _required_of_models(demanded, "enable_network_isolation", "`true`")


def _required_of_models(demanded: Demanded, key: str, value: str) -> Iterator[Problem]:
    spec, reason = demanded.spec, getattr(demanded.rules.required, key, None)
    if reason is None:
        return
    message, fix = f"the project's rules ask for `{key}`: {reason}", f"add `{key}` with {value}"
    if hosts_components(spec):
        if not getattr(endpoint_config(spec), key):
            yield Problem(_CONFIG, message, fix, lacks=key)
        return
    for path, name, model in models(spec):
        if not getattr(model, key):
            is_serverless = any(it.serverless_config is not None for it in hosting(spec, name))
            why_not = f"use instances, and {fix}: a serverless endpoint cannot have it"
            yield Problem(path, message, why_not if is_serverless else fix, lacks=key)
    if not models(spec):
        for path, _ in every_variant(spec):
            text = f"the project's rules ask for `{key}`, and nobody can see whether an existing model has it"
            yield Problem(path, f"{text}: {reason}", "define the model in this spec")


@COMPANY.error("IS038")
def key_is_required(demanded: Demanded) -> Iterator[Problem]:
    """The project requires keys of your own, and something in this spec is encrypted with another one.

    `rules.required.kms_key_id` asks for them: for storage volumes, captured data and asynchronous results.
    Local NVMe disks take no key.
    """
    reason = None if demanded.rules.required is None else demanded.rules.required.kms_key_id
    if reason is None:
        return
    spec, config = demanded.spec, endpoint_config(demanded.spec)
    blocks: list[tuple[SpecPath, str | None]] = []
    if _has_volumes(spec):
        blocks.append((_CONFIG, config.kms_key_id))
    if config.data_capture_config is not None:
        blocks.append(((*_CONFIG, "data_capture_config"), config.data_capture_config.kms_key_id))
    if config.async_inference_config is not None:
        output = config.async_inference_config.output_config
        of_results = None if output is None else output.kms_key_id
        blocks.append(((*_CONFIG, "async_inference_config", "output_config"), of_results))
    for path, key in blocks:
        if key is None:
            message = f"the project's rules ask for `kms_key_id`: {reason}"
            yield Problem(path, message, "add `kms_key_id` with a key of yours", lacks="kms_key_id")


def _has_volumes(spec: ModelSpec) -> bool:
    """Whether an instance may have a storage volume, and not only local disks."""
    names = (name for it in fleets(spec) if it.serverless is None for name in it.instance_types)
    return any(it is None or not it.has_local_nvme for it in map(instances.find, names))


@COMPANY.error("IS039")
def alarms_must_act(demanded: Demanded) -> Iterator[Problem]:
    """The project requires alarms that notify somebody, and some of this spec's do not.

    `rules.required.alarm_actions` asks for them. An alarm also counts if a composite alarm with actions
    watches it.
    """
    reason = None if demanded.rules.required is None else demanded.rules.required.alarm_actions
    if reason is None:
        return
    spec, asked = demanded.spec, "the project's rules ask for alarms that act"
    alarms: list[OwnAlarm | Composite] = [*own_alarms(spec), *composite_alarms(spec)]
    if not alarms:
        yield Problem(("alarms",), f"{asked}, and there is none: {reason}", "add alarms with `actions`")
    heard = {id(it) for it in _watched_by_composites(spec)}
    silent = [it for it in alarms if not _acts(spec, it) and id(it) not in heard]
    for path in dict.fromkeys(it.path for it in silent):
        message = f"{asked}, and this calls nothing in ALARM: {reason}"
        yield Problem(path, message, "add `actions` with the ARN of a topic, and no `actions_enabled: false`")


def _acts(spec: ModelSpec, alarm: OwnAlarm | Composite) -> bool:
    rule = alarm.block if isinstance(alarm, Composite) else alarm.rule
    calls = with_own_actions(alarms_block(spec), rule)
    return bool(calls.actions) and calls.actions_enabled is not False


def _watched_by_composites(spec: ModelSpec) -> Iterator[OwnAlarm | Composite]:
    by_name = alarms_by_name(spec)
    for composite in composite_alarms(spec):
        if _acts(spec, composite):
            for state in composite.states:
                yield from by_name.get(state.alarm, ())


@COMPANY.error("IS046")
def tags_are_required(demanded: Demanded) -> Iterator[Problem]:
    """The project requires tags that this spec does not have.

    `rules.required.tags` lists their keys.
    """
    required = None if demanded.rules.required is None else demanded.rules.required.tags
    if required is None:
        return
    for key in required.keys:
        if not (demanded.spec.tags or {}).get(key):
            message = f"the project's rules ask for a tag `{key}`: {required.reason}"
            yield Problem(("tags",), message, f"add `{key}` with a value to `tags`", lacks=key)


# ---------------------------------------------------------------- how much at most


@COMPANY.error("IS047")
def instances_at_most(demanded: Demanded) -> Iterator[Problem]:
    """The project limits the instances of an endpoint, and this one may have more, or nobody knows how many.

    `rules.at_most.instances` is the limit. What counts is the most that scaling allows.
    """
    limit = None if demanded.rules.at_most is None else demanded.rules.at_most.instances
    counts = instance_counts(demanded.spec)
    if limit is None or counts is None:
        return
    path, allowed = _largest(demanded.spec), f"the project's rules allow {limit.value:g} instances"
    if counts.max is None:
        message = f"{allowed}, and only the deployment knows how many it has: {limit.reason}"
        yield Problem(path, message, "write the numbers out")
    elif counts.max > limit.value:
        message = f"{allowed}, and the endpoint has up to {counts.max}: {limit.reason}"
        yield Problem(path, message, "lower its initial or its maximum number of instances")


@COMPANY.error("IS048")
def cost_at_most(demanded: Demanded) -> Iterator[Problem]:
    """The project limits the cost of an endpoint, and this one may cost more, or nobody knows how much.

    `rules.at_most.cost_per_hour` is the limit. What counts is the most that scaling allows, on demand.
    """
    limit = None if demanded.rules.at_most is None else demanded.rules.at_most.cost_per_hour
    if limit is None:
        return
    prices, path = demanded.prices(), _largest(demanded.spec)
    of_fleets = (cost.of_fleet(it.instances, it.instance_types, prices) for it in fleets(demanded.spec))
    whole = cost.together(it for it in of_fleets if it is not None)
    allowed = f"the project's rules allow {amount_text(Decimal(str(limit.value)))} an hour"
    if whole.missing:
        missing = listed(list(whole.missing), last="and", quote="")
        message = f"{allowed}, and the price or the number of {missing} is not known: {limit.reason}"
        region = demanded.spec.region or "REGION"
        yield Problem(path, message, f"name the region, and run `inferstack prices update --region {region}`")
    elif whole.per_hour is not None and whole.per_hour.max > Decimal(str(limit.value)):
        costs = f"the endpoint costs up to {amount_text(whole.per_hour.max)} {whole.currency}"
        yield Problem(
            path, f"{allowed}, and {costs}: {limit.reason}", "choose cheaper instances, or fewer at most"
        )


def _largest(spec: ModelSpec) -> SpecPath:
    """The place of the fleet with the most instances."""
    paths = [path for path, _ in every_variant(spec)]
    counts = [it.instances.max or 0 if it.instances is not None else 0 for it in fleets(spec)]
    return max(zip(counts, paths, strict=True), key=lambda it: it[0])[1] if paths else ()
