"""How an update of an endpoint or a component rolls out, and what rolls it back.

https://docs.aws.amazon.com/sagemaker/latest/dg/deployment-guardrails.html
"""

from collections.abc import Iterator

from inferstack.catalog.resource_types import COMPONENT_TYPE, ENDPOINT_TYPE
from inferstack.endpoint import deployed
from inferstack.endpoint.deployed import Properties, entries, mapping, shown
from inferstack.endpoint.protections import Protection
from inferstack.endpoint.stack import Stack, readable
from inferstack.endpoint.units import minutes
from inferstack.problems.words import listed

ROLLOUT, ROLLBACK = "rollout", "rollback"


def rollouts(stack: Stack) -> tuple[Protection, ...]:
    """For the endpoint and each component: whether an update rolls out step by step, and whether alarms roll
    it back.
    """
    return (*_of_endpoint(stack), *_of_components(stack))


def _of_endpoint(stack: Stack) -> Iterator[Protection]:
    logical_id, endpoint = stack.first(ENDPOINT_TYPE)
    config = mapping(endpoint.get("DeploymentConfig"))
    if logical_id:
        yield from _both(stack, logical_id, "the endpoint", config, _of_fleet(stack, config))


def _of_components(stack: Stack) -> Iterator[Protection]:
    for logical_id, component in stack.of_type(COMPONENT_TYPE).items():
        config = mapping(component.get("DeploymentConfig"))
        rolling = mapping(config.get("RollingUpdatePolicy"))
        # An adapter has no copies of its own to replace.
        if mapping(component.get("Specification")).get("BaseInferenceComponentName") is None:
            how = f"in batches, {_batches(stack, rolling)}" if rolling else ""
            name = f"`{shown(component.get('InferenceComponentName'))}`"
            yield from _both(stack, logical_id, name, config, how)


def _both(stack: Stack, logical_id: str, what: str, config: Properties, gradual: str) -> Iterator[Protection]:
    """How an update goes forward, and how it goes back."""
    place = stack.place_of(logical_id, ("DeploymentConfig",))
    yield Protection(
        topic="updates",
        about=f"{what}, {ROLLOUT}",
        sentence=f"an update of {what} rolls out {gradual or 'all at once'}",
        is_on=bool(gradual),
        place=place,
    )
    alarms = tuple(_alarms(stack, config))
    waits = _waits(stack, config) if alarms else ()
    back = "is rolled back by no alarm"
    if alarms:
        how = f"{_watched(waits)}{_batches_back(stack, config)}"
        back = f"rolls back if {listed(alarms, quote='')} goes off{how}"
    yield Protection(
        topic="updates",
        about=f"{what}, {ROLLBACK}",
        sentence=f"an update of {what} {back}",
        is_on=bool(alarms),
        by=alarms,
        seconds=waits,
        place=place,
    )


def _waits(stack: Stack, config: Properties) -> tuple[float, float]:
    """Seconds for which alarms are watched at each step and after the last one; 0 where that is not known."""
    blue_green = mapping(config.get("BlueGreenUpdatePolicy"))
    shifts = mapping(config.get("RollingUpdatePolicy")) or mapping(
        blue_green.get("TrafficRoutingConfiguration")
    )
    found = (shifts.get("WaitIntervalInSeconds"), blue_green.get("TerminationWaitInSeconds"))
    at_each, afterwards = (stack.number(it) or 0.0 for it in found)
    return at_each, afterwards


def _watched(waits: tuple[float, ...]) -> str:
    words = ("{} at each step", "{} after the last one")
    said = [text.format(minutes(wait)) for text, wait in zip(words, waits, strict=False) if wait]
    return f", watched for {' and '.join(said)}" if said else ""


def _batches_back(stack: Stack, config: Properties) -> str:
    size = mapping(config.get("RollingUpdatePolicy")).get("RollbackMaximumBatchSize")
    return "" if size is None else f", in batches of {_size(stack, size)}"


def _of_fleet(stack: Stack, config: Properties) -> str:
    """How a new fleet takes over step by step; empty where it does so all at once."""
    rolling = mapping(config.get("RollingUpdatePolicy"))
    if rolling:
        return f"in batches, {_batches(stack, rolling)}"
    routing = mapping(mapping(config.get("BlueGreenUpdatePolicy")).get("TrafficRoutingConfiguration"))
    wait = _wait(stack, routing.get("WaitIntervalInSeconds"))
    match routing.get("Type"):
        case "CANARY":
            return f"blue/green, first {_size(stack, routing.get('CanarySize'))}, the rest{wait}"
        case "LINEAR":
            return f"blue/green, {_size(stack, routing.get('LinearStepSize'))} at a time{wait}"
        case _:
            return ""


def _batches(stack: Stack, rolling: Properties) -> str:
    size = _size(stack, rolling.get("MaximumBatchSize"))
    return f"{size} at a time{_wait(stack, rolling.get('WaitIntervalInSeconds'))}"


def _size(stack: Stack, size: object) -> str:
    value = stack.number(mapping(size).get("Value"))
    if value is None:
        return "a part"
    if mapping(size).get("Type") == "CAPACITY_PERCENT":
        return f"{value:g} %"
    what = "copy" if mapping(size).get("Type") == "COPY_COUNT" else "instance"
    return f"{value:g} {what if value == 1 else {'copy': 'copies'}.get(what, 'instances')}"


def _wait(stack: Stack, seconds: object) -> str:
    found = stack.number(seconds)
    return f" after {minutes(found)}" if found else ""


def _alarms(stack: Stack, config: Properties) -> Iterator[str]:
    """The alarms that roll an update back, by what they watch, or by name where they are from elsewhere."""
    for entry in map(mapping, entries(mapping(config.get("AutoRollbackConfiguration")).get("Alarms"))):
        yield f"`{readable(entry.get('AlarmName'))}`"


def alarms_that_roll_back(stack: Stack) -> frozenset[str]:
    """Logical ids of the alarms of the stack that roll an update back."""
    hosts = (*stack.of_type(ENDPOINT_TYPE).values(), *stack.of_type(COMPONENT_TYPE).values())
    configs = [mapping(it.get("DeploymentConfig")).get("AutoRollbackConfiguration") for it in hosts]
    return frozenset(name for config in configs for name in deployed.references(config))
