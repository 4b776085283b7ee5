"""Rules on the endpoint itself: its name, and what kind of endpoint it is."""

from collections.abc import Iterator

from inferstack.facts.walk import variants
from inferstack.problems import Problem, SpecPath, update_codes as codes
from inferstack.review import deployed
from inferstack.review.deployed import Resources, mapping, shown
from inferstack.review.update import Fate, Update
from inferstack.texts.s3_urls import pattern_of

_NAME: SpecPath = ("endpoint_name",)
_KIND: SpecPath = ("kind",)
_ASYNC: SpecPath = ("endpoint_config", "async_inference_config")
_NEW_NAME = "give the endpoint a new name, move the clients, then remove the old one"


def renamed(update: Update) -> Iterator[Problem]:
    """Clients call an endpoint by its name."""
    old, new = deployed.endpoint_name(update.before), update.spec.endpoint_name
    if update.fate(deployed.ENDPOINT_TYPE) is not Fate.REPLACED or old is None:
        return
    if old.casefold() == new.casefold():
        message = f"`{old}` and `{new}` are the same name to SageMaker, so the new endpoint cannot be created"
        yield Problem(_NAME, message, f"write `{old}`, or another name", codes.SAME_NAME_IN_OTHER_CASE)
        return
    message = (
        f"a new endpoint `{new}` is made with its initial counts; then `{old}` is deleted, or stays with its "
        "stack where stacks are named after endpoints"
    )
    fix = f"keep `{old}`, or add a spec for `{new}`, move the clients and remove this one"
    yield Problem(_NAME, message, fix, codes.ENDPOINT_RENAMED)


def serverless(update: Update) -> Iterator[Problem]:
    """An endpoint can move from serverless to instances, but not back."""
    if not update.same_endpoint:
        return
    before, after = _are_serverless(update.before), _are_serverless(update.after)
    if before is None or before == after:
        return
    at = next(path for path, _ in variants(update.spec))
    path = update.written((*at, "instance_type" if before else "serverless_config"))
    if before:
        message = "the endpoint stops being serverless, which no update or rollback can undo"
        fix = f"try it first: {_NEW_NAME}"
        yield Problem(path, message, fix, codes.NO_LONGER_SERVERLESS)
    else:
        message = "SageMaker refuses to make an endpoint on instances serverless"
        yield Problem(path, message, _NEW_NAME, codes.BECOMES_SERVERLESS)


def _are_serverless(resources: Resources) -> bool | None:
    fleet = deployed.variants(resources).values()
    return any("ServerlessConfig" in it for it in fleet) if fleet else None


def asynchronous(update: Update) -> Iterator[Problem]:
    """SageMaker says that the asynchronous configuration cannot be removed."""
    if not update.same_endpoint:
        return
    before, after = ("AsyncInferenceConfig" in deployed.config(it) for it in (update.before, update.after))
    if before and not after:
        message = "SageMaker refuses to make an asynchronous endpoint a real-time one"
        path = update.written(_ASYNC)
        yield Problem(path, message, _NEW_NAME, codes.NO_LONGER_ASYNC)
    if after and not before and deployed.config(update.before):
        message = "the endpoint becomes asynchronous; whether an update can do this is unknown"
        yield Problem(update.written(_ASYNC), message, _NEW_NAME, codes.KIND_CHANGES)


def with_components(update: Update) -> Iterator[Problem]:
    """An endpoint has models on its variants, or components on its fleet."""
    if not update.same_endpoint:
        return
    before, after = (_hosts_models(it) for it in (update.before, update.after))
    if before is not None and before != after:
        verb = "starts" if before else "stops"
        message = (
            f"the endpoint {verb} hosting inference components; whether an update can do this is unknown"
        )
        yield Problem(_KIND, message, _NEW_NAME, codes.KIND_CHANGES)


def _hosts_models(resources: Resources) -> bool | None:
    fleet = deployed.variants(resources).values()
    return any("ModelName" in it for it in fleet) if fleet else None


def many_models(update: Update) -> Iterator[Problem]:
    """A multi-model endpoint needs the name of a model in every request; other endpoints accept none."""
    before, after = _prefixes(update.before), _prefixes(update.after)
    both = deployed.of_type(update.before, deployed.MODEL_TYPE) and deployed.of_type(
        update.after, deployed.MODEL_TYPE
    )
    if update.same_endpoint and both and bool(before) != bool(after):
        what = "have to name a `TargetModel`" if after else "can no longer name a `TargetModel`"
        yield Problem(_KIND, f"requests {what} once the endpoint is updated", _NEW_NAME, codes.KIND_CHANGES)


def prefix(update: Update) -> Iterator[Problem]:
    """Models are found under the prefix by the name that clients send."""
    before, after = _prefixes(update.before), _prefixes(update.after)
    for logical_id in before.keys() & after.keys() if update.same_endpoint else ():
        old, new = before[logical_id], after[logical_id]
        if old != new and not _are_versions(old, new):
            path = update.place(logical_id, ("PrimaryContainer", "ModelDataUrl"))
            message = f"models come from {new} instead of {old}, and loaded ones are reloaded"
            fix = "first put every archive that clients name as `TargetModel` under the new prefix"
            yield Problem(path, message, fix, codes.PREFIX_CHANGES)


def _are_versions(old: str, new: str) -> bool:
    """Whether both were uploaded for one prefix of a spec: each then has all archives that it declares."""
    pattern = pattern_of(old)
    return pattern is not None and pattern == pattern_of(new)


def _prefixes(resources: Resources) -> dict[str, str]:
    """Where multi-model containers find their models, by the model's logical id."""
    models = deployed.of_type(resources, deployed.MODEL_TYPE)
    containers = {logical_id: mapping(it.get("PrimaryContainer")) for logical_id, it in models.items()}
    return {
        at: shown(it.get("ModelDataUrl")) for at, it in containers.items() if it.get("Mode") == "MultiModel"
    }
