"""What a fit changes in a spec: by path, as what a size changes is."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from inferstack.engines.engine import ENGINES
from inferstack.engines.fit import Fit
from inferstack.engines.gpus import USE_ALL
from inferstack.engines.settings import name_of, setting
from inferstack.engines.start import DOWNLOAD, HEALTH_CHECK, start_limits, start_timeout
from inferstack.facts.engines import engine_of
from inferstack.facts.scaling import policies_of, scaled_with, tracks_requests_at_once
from inferstack.facts.walk import PlacedContainer, Run, component_variants, every_variant, hosting, runs_of
from inferstack.format.inference_component import ComponentSpecificationForInstanceType
from inferstack.format.variant import Variant
from inferstack.problems import SpecPath
from inferstack.problems.words import listed
from inferstack.sizing.into_spec import NotWritableError

_ALSO_DIVIDE = ("pipeline_parallel_size", "data_parallel_size")


def only_type(placed: PlacedContainer) -> str:
    """The instance type that a container runs on.

    Raises:
        NotWritableError: when there is none, or more than one.
    """
    types = placed.instance_types
    if len(types) == 1:
        return types[0]
    runs_on = listed(types, last="and") if types else "no instances of the spec"
    raise NotWritableError(f"it runs on {runs_on}, but what fits is written for one instance type")


def changes_for_fit(
    placed: PlacedContainer, fit: Fit, weight_bytes: int, options: Mapping[str, str]
) -> Mapping[SpecPath, Any]:
    """The changes that serve a container's model as a fit says, with these options of the engine, by vLLM's
    names.

    Raises:
        NotWritableError: when the spec says something else that decides the same.
    """
    divided = next((it for what in _ALSO_DIVIDE if (it := setting(placed, what)) and it.value != "1"), None)
    if divided is not None:
        raise NotWritableError(f"`{divided.name}` divides the model, too: remove it, or divide it by hand")
    return {
        **dict(_instance_types(placed, fit)),
        **dict(_variables(placed, fit, options)),
        **dict(_of_components(placed, fit)),
        **dict(_timeouts(placed, weight_bytes)),
        **dict(_targets(placed, fit)),
    }


def planned(placed: PlacedContainer, fit: Fit, context: int | None) -> Mapping[SpecPath, Any]:
    """The tokens of a request that targets of requests at once rest on; nothing where there is none."""
    if context is None or not any(True for _ in _targets(placed, fit)):
        return {}
    of = [it.path[:2] for it in _runs(placed)] or [()]
    return {(*path, "objective", "tokens_per_request"): context for path in of}


_Change = tuple[SpecPath, Any]


def _instance_types(placed: PlacedContainer, fit: Fit) -> Iterator[_Change]:
    """The instance type of the fit, where the spec has another one."""
    if fit.host.name in placed.instance_types:
        return
    if any(isinstance(it.specification, ComponentSpecificationForInstanceType) for it in _runs(placed)):
        raise NotWritableError("`specifications` are for one instance type each: change them by hand")
    for path, variant in _variants(placed):
        if variant.instance_type is None:
            raise NotWritableError(f"the variant `{variant.variant_name}` has no `instance_type` to change")
        yield (*path, "instance_type"), fit.host.name


def _variables(placed: PlacedContainer, fit: Fit, options: Mapping[str, str]) -> Iterator[_Change]:
    running = engine_of(placed)
    if running is None:
        return
    degree = fit.tensor_parallel
    visible = fit.host.gpus if not _runs(placed) else degree
    of_itself = visible if running.name in USE_ALL else 1
    said = setting(placed, "tensor_parallel_size")
    if (of_itself if said is None or said.value == "max" else said.value) not in (degree, str(degree)):
        options = {"tensor_parallel_size": str(degree), **options}
    for what, value in options.items():
        written, option = setting(placed, what), name_of(running.name, what)
        if written is not None:
            yield written.path, value
        elif option is not None:
            yield (*placed.path, "environment", ENGINES[running.name].variable(option)), value


def _of_components(placed: PlacedContainer, fit: Fit) -> Iterator[_Change]:
    for run in _runs(placed):
        needs = (*run.path, "compute_resource_requirements")
        yield (*needs, "number_of_accelerator_devices_required"), fit.tensor_parallel
        yield (*needs, "min_memory_required_in_mb"), fit.host_memory_mib


def _timeouts(placed: PlacedContainer, weight_bytes: int) -> Iterator[_Change]:
    """Those that are not written, or too short: a longer one stays."""
    seconds = start_timeout(weight_bytes)
    for path, block in start_limits(placed):
        for key in (DOWNLOAD, HEALTH_CHECK):
            if (getattr(block, key, None) or 0) < seconds:
                yield (*path, key), seconds


def _targets(placed: PlacedContainer, fit: Fit) -> Iterator[_Change]:
    """The targets of requests at once; the one that a component gets by default is written out."""
    if fit.concurrency_target is None:
        return
    for scaled in scaled_with(placed):
        for path, policy in policies_of(scaled):
            if not tracks_requests_at_once(policy):
                continue
            if path[:-1] == (*scaled.path, "policies"):
                yield (*path, "target_value"), fit.concurrency_target
            else:
                written = msgspec.to_builtins(policy)
                yield (*scaled.path, "policies"), [{**written, "target_value": fit.concurrency_target}]


def _runs(placed: PlacedContainer) -> tuple[Run, ...]:
    return tuple(runs_of(placed.spec, placed.path))


def _variants(placed: PlacedContainer) -> Iterator[tuple[SpecPath, Variant]]:
    """The variants whose instances the container runs on."""
    spec = placed.spec
    on = [it for run in _runs(placed) for it in component_variants(spec, run.component)]
    found = on or hosting(spec, placed.model)
    return ((path, it) for path, it in every_variant(spec) if any(it is one for one in found))
