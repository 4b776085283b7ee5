"""Rules on the endpoint itself: its name, and what kind of endpoint it is."""

from collections.abc import Iterator

from inferstack.catalog.resource_types import ENDPOINT_TYPE, MODEL_TYPE
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import Resources, entries, mapping, shown
from inferstack.problems import Problem, SpecPath
from inferstack.problems.words import listed
from inferstack.texts.s3_urls import pattern_of
from inferstack.updates.rules import (
    CREATE_ENDPOINT,
    DG,
    REPLACEMENT,
    SERVERLESS,
    UPDATE_ENDPOINT,
    USER_GUIDE,
    update_rule,
)
from inferstack.updates.update import Fate, Update

_NAME: SpecPath = ("endpoint_name",)
_KIND: SpecPath = ("kind",)
_ASYNC: SpecPath = ("endpoint_config", "async_inference_config")
_NEW_NAME = "give the endpoint a new name, move the clients, then remove the old one"


@update_rule("IS856", effect="moved", source=f"{USER_GUIDE}/stacks.html")
def moved(update: Update) -> Iterator[Problem]:
    """The spec is deployed into another region or account than before: a new stack is made there, and the old
    one stays.

    A stack belongs to one region of one account. The old endpoint answers requests and costs money until
    its stack is deleted.
    """
    old = update.old_place
    if old is None or not update.moves:
        return
    steps = [(what, before, after) for what, before, after in _places(update) if None not in (before, after)]
    moves = " and ".join(f"from {before} to {after}" for _, before, after in steps if before != after)
    message = (
        f"`{update.endpoint_name}` moves {moves}: a new stack and endpoint are made there, which need "
        f"quota there; `{old.endpoint_name}` stays where it was, answers its clients and costs money"
    )
    fix = f"move the clients, then delete the old stack: `{old.delete_command}`"
    keys = [what for what, before, after in steps if before != after]
    yield Problem(update.written(("env", keys[-1])), message, fix)


@update_rule("IS857", effect="doubtful", source=f"{USER_GUIDE}/stacks.html")
def place_named(update: Update) -> Iterator[Problem]:
    """The spec names the region or account, which it left open before: where its stack is, is not known.

    If it is deployed elsewhere, this makes a new stack, and the old one stays.
    """
    if update.old_place is None or update.moves:
        return
    for what, before, after in _places(update):
        if before is None and after is not None:
            message = f"the spec names the {what} {after} now, and left it open before"
            fix = f"if its stack is elsewhere, delete that one later: `{update.old_place.delete_command}`"
            yield Problem(update.written(("env", what)), message, fix)


def _places(update: Update) -> Iterator[tuple[str, str | None, str | None]]:
    """Account and region, before and after."""
    old = update.old_place
    if old is not None:
        yield "account", old.account, update.account
        yield "region", old.region, update.region


@update_rule("IS864", effect="refused", source=CREATE_ENDPOINT)
def renamed_in_case(update: Update) -> Iterator[Problem]:
    """The new name of an endpoint differs from the old one only in case."""
    names = _names(update)
    if names is not None and names[0].casefold() == names[1].casefold():
        old, new = names
        message = f"`{old}` and `{new}` are the same name to SageMaker, so the new endpoint cannot be created"
        yield Problem(_NAME, message, f"write `{old}`, or another name")


@update_rule("IS877", effect="replaced", source=REPLACEMENT)
def renamed(update: Update) -> Iterator[Problem]:
    """A new name means a new endpoint.

    Clients call an endpoint by its name.
    """
    names = _names(update)
    if names is not None and names[0].casefold() != names[1].casefold():
        old, new = names
        message = (
            f"a new endpoint `{new}` is made with its initial counts; then `{old}` is deleted, or stays with "
            "its stack where stacks are named after endpoints"
        )
        fix = f"keep `{old}`, or add a spec for `{new}`, move the clients and remove this one"
        yield Problem(_NAME, message, fix)


def _names(update: Update) -> tuple[str, str] | None:
    """The old and the new name of an endpoint that gets another one."""
    old = deployed.endpoint_name(update.before)
    is_other = update.fate(ENDPOINT_TYPE) is Fate.REPLACED and old is not None
    return (str(old), update.endpoint_name) if is_other and old != update.endpoint_name else None


@update_rule("IS862", effect="refused", source=SERVERLESS)
def becomes_serverless(update: Update) -> Iterator[Problem]:
    """An endpoint on instances becomes serverless."""
    if _stops_being_serverless(update) is False:
        message = "SageMaker refuses to make an endpoint on instances serverless"
        yield Problem(_of_first_variant(update, "serverless_config"), message, _NEW_NAME)


@update_rule("IS875", effect="doubtful", source=SERVERLESS)
def no_longer_serverless(update: Update) -> Iterator[Problem]:
    """A serverless endpoint moves to instances, which cannot be undone."""
    if _stops_being_serverless(update):
        message = "the endpoint stops being serverless, which no update or rollback can undo"
        yield Problem(_of_first_variant(update, "instance_type"), message, f"try it first: {_NEW_NAME}")


def _stops_being_serverless(update: Update) -> bool | None:
    """False if it becomes serverless, None if nothing changes about that."""
    before, after = _are_serverless(update.before), _are_serverless(update.after)
    return None if not update.same_endpoint or None in (before, after) or before == after else before


def _of_first_variant(update: Update, key: str) -> SpecPath:
    return update.written((*next(iter(update.variants.values())), key))


def _are_serverless(resources: Resources) -> bool | None:
    fleet = deployed.variants(resources).values()
    return any("ServerlessConfig" in it for it in fleet) if fleet else None


@update_rule("IS863", effect="refused", source="https://github.com/aws/sagemaker-python-sdk/pull/3124")
def no_longer_asynchronous(update: Update) -> Iterator[Problem]:
    """An asynchronous endpoint becomes a real-time one."""
    before, after = map(_is_asynchronous, (update.before, update.after))
    if update.same_endpoint and before and not after:
        message = "SageMaker refuses to make an asynchronous endpoint a real-time one"
        yield Problem(update.written(_ASYNC), message, _NEW_NAME)


def _is_asynchronous(resources: Resources) -> bool:
    return "AsyncInferenceConfig" in deployed.config(resources)


@update_rule("IS876", effect="interrupted", source=UPDATE_ENDPOINT)
def kind_changes(update: Update) -> Iterator[Problem]:
    """An endpoint becomes asynchronous, or starts or stops hosting many models or inference components:
    requests must change, and whether an update can do it is not confirmed.
    """
    if update.same_endpoint:
        yield from _becomes_asynchronous(update)
        yield from _with_components(update)
        yield from _with_many_models(update)


def _becomes_asynchronous(update: Update) -> Iterator[Problem]:
    before, after = map(_is_asynchronous, (update.before, update.after))
    if after and not before and deployed.config(update.before):
        message = "the endpoint becomes asynchronous; whether an update can do this is unknown"
        yield Problem(update.written(_ASYNC), message, _NEW_NAME)


def _with_components(update: Update) -> Iterator[Problem]:
    before, after = (_hosts_models(it) for it in (update.before, update.after))
    if before is not None and before != after:
        verb = "starts" if before else "stops"
        message = (
            f"the endpoint {verb} hosting inference components; whether an update can do this is unknown"
        )
        yield Problem(_KIND, message, _NEW_NAME)


def _hosts_models(resources: Resources) -> bool | None:
    fleet = deployed.variants(resources).values()
    return any("ModelName" in it for it in fleet) if fleet else None


def _with_many_models(update: Update) -> Iterator[Problem]:
    """A multi-model endpoint needs the name of a model in every request; other endpoints accept none."""
    before, after = _prefixes(update.before), _prefixes(update.after)
    both = deployed.of_type(update.before, MODEL_TYPE) and deployed.of_type(update.after, MODEL_TYPE)
    if both and bool(before) != bool(after):
        what = "have to name a `TargetModel`" if after else "can no longer name a `TargetModel`"
        yield Problem(_KIND, f"requests {what} once the endpoint is updated", _NEW_NAME)


@update_rule("IS889", effect="interrupted", source=f"{DG}/multi-container-direct.html")
def container_renamed(update: Update) -> Iterator[Problem]:
    """A container that requests name is renamed or removed.

    A request to containers that are called directly names one in `TargetContainerHostname`.
    """
    before, after = (_called_directly(it) for it in (update.before, update.after))
    for logical_id, names in before.items() if update.same_endpoint else ():
        now = after.get(logical_id, [])
        gone = [it for it in names if it not in now]
        if gone and now:
            path = update.place(logical_id, ("Containers",))
            message = (
                f"requests to {listed(gone, last='and')} fail: the containers are {listed(now, last='and')}"
            )
            fix = "keep the names, or move the clients with the update"
            yield Problem(path, message, fix)


def _called_directly(resources: Resources) -> dict[str, list[str]]:
    """The names of containers that requests choose from, by the model's logical id."""
    return {
        logical_id: [shown(mapping(it).get("ContainerHostname")) for it in entries(model.get("Containers"))]
        for logical_id, model in deployed.of_type(resources, MODEL_TYPE).items()
        if mapping(model.get("InferenceExecutionConfig")).get("Mode") == "Direct"
    }


@update_rule("IS878", effect="interrupted", source=UPDATE_ENDPOINT)
def prefix(update: Update) -> Iterator[Problem]:
    """A multi-model endpoint reads its models from another prefix.

    Models are found under the prefix by the name that clients send.
    """
    before, after = _prefixes(update.before), _prefixes(update.after)
    for logical_id in before.keys() & after.keys() if update.same_endpoint else ():
        old, new = before[logical_id], after[logical_id]
        if old != new and not _are_versions(old, new):
            path = update.place(logical_id, ("PrimaryContainer", "ModelDataUrl"))
            message = f"models come from {new} instead of {old}, and loaded ones are reloaded"
            fix = "first put every archive that clients name as `TargetModel` under the new prefix"
            yield Problem(path, message, fix)


def _are_versions(old: str, new: str) -> bool:
    """Whether both were uploaded for one prefix of a spec: each then has all archives that it declares."""
    pattern = pattern_of(old)
    return pattern is not None and pattern == pattern_of(new)


def _prefixes(resources: Resources) -> dict[str, str]:
    """Where multi-model containers find their models, by the model's logical id."""
    models = deployed.of_type(resources, MODEL_TYPE)
    containers = {logical_id: mapping(it.get("PrimaryContainer")) for logical_id, it in models.items()}
    return {
        at: shown(it.get("ModelDataUrl")) for at, it in containers.items() if it.get("Mode") == "MultiModel"
    }
