"""What editors complete and mark in a spec beyond its structure: values to choose from, and what follows for
some keys from others.

Rules decide all of this, in better words and for more cases. Here is what newcomers need while they write, as
far as a schema can say it without ever marking what is right.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from inferstack.catalog import images, instances, metrics, regions
from inferstack.catalog.metrics import PREDEFINED_SCALING_METRICS
from inferstack.facts.quantity import is_time
from inferstack.format.schema import JsonSchema
from inferstack.texts.placeholders import OR_PLACEHOLDER

# ---------------------------------------------------------------- values

_PLACEHOLDER = OR_PLACEHOLDER.removeprefix("|")
MOST_LISTED = 12


def _one_of(values: Iterable[str], why: str = "") -> JsonSchema:
    """Strings to choose from, or text with a placeholder; ``why`` is said of anything else."""
    listed = list(values)
    message = why or (
        f"Allowed here: {', '.join(listed)}."
        if len(listed) <= MOST_LISTED
        else f"Not one of the {len(listed)} values that are allowed here; completion lists them."
    )
    return {
        "anyOf": [
            {"type": "string", "enum": listed, "errorMessage": message},
            {"type": "string", "pattern": _PLACEHOLDER, "errorMessage": message},
        ]
    }


def _metrics(names: Iterable[str]) -> JsonSchema:
    return _one_of(names, "AWS has no metric of this name; completion lists the existing ones.")


_STATISTICS = ("Average", "Sum", "Minimum", "Maximum", "SampleCount", "p50", "p90", "p95", "p99", "p99.9")


def values() -> dict[tuple[str, str], JsonSchema]:
    """By definition and key: what completes there, beside what the format says."""
    predefined = [it.name for it in PREDEFINED_SCALING_METRICS]
    published = metrics.names()
    no_image = "AWS publishes no image for a framework of this name; completion lists the existing ones."
    frameworks = [name for it in images.frameworks() for name in sorted(images.spellings(it))]
    statistics: JsonSchema = {"examples": list(_STATISTICS)}
    return {
        ("FrameworkImage", "framework"): _one_of(frameworks, no_image),
        ("ScalingPolicy", "metric"): _metrics([*predefined, *published]),
        ("StepPolicy", "metric"): _metrics(published),
        ("AlarmRule", "metric"): _metrics(published),
        ("AlarmRule", "statistic"): statistics,
        ("StepPolicy", "statistic"): statistics,
        ("AlarmMetricStat", "stat"): statistics,
        ("Environment", "region"): {"examples": list(regions.names())},
    }


def with_choices(schema: Any) -> Any:
    """Lets a placeholder stand instead of a value of each enum of strings, as it may in a spec."""
    match schema:
        case {"type": "string", "enum": list(values), **others}:
            return {"type": "string", **others, **_one_of(values)}
        case dict():
            return {key: with_choices(it) for key, it in schema.items()}
        case list():
            return [with_choices(it) for it in schema]
        case _:
            return schema


# ---------------------------------------------------------------- conditions


def _refused(why: str, when: JsonSchema | None = None) -> JsonSchema:
    """Any value but null is wrong (or any that is as ``when`` says), because of what stands elsewhere."""
    return {"if": when or {}, "then": {"type": "null", "errorMessage": why}}


def under(key: str, schema: JsonSchema) -> JsonSchema:
    """What must hold under a key that completion need not offer once more."""
    return {"patternProperties": {f"^{key}$": schema}}


def _given(conditions: JsonSchema, then: JsonSchema) -> JsonSchema:
    """What holds for a block if some keys of it are as given."""
    return {"if": {"properties": conditions, "required": list(conditions)}, "then": then}


def _versions() -> Iterator[JsonSchema]:
    for framework in images.frameworks():
        newest_first = images.versions(framework)[::-1]
        named = {"enum": sorted(images.spellings(framework))}
        why = f"AWS publishes no image of {framework} in this version; completion lists the existing ones."
        if len(newest_first) <= MOST_LISTED:
            why = f"AWS publishes images of {framework} in these versions: {', '.join(newest_first)}."
        yield _given({"framework": named}, {"properties": {"version": _one_of(newest_first, why)}})


def _units() -> JsonSchema:
    times = sorted({name for name in metrics.names() if any(map(is_time, metrics.find(name)))})
    a_number = _refused('A time needs its unit: "500 ms", "2 s", "800 us".', {"type": "number"})
    counts = {"type": "string", "pattern": "^(SampleCount|tc|TC|PR)"}
    return {
        "if": {"properties": {"statistic": counts}, "required": ["statistic"]},
        "else": _given({"metric": {"enum": times}}, under("threshold", a_number)),
    }


def _disks() -> JsonSchema:
    with_disk = [name for name in instances.names() if (it := instances.find(name)) and it.has_local_nvme]
    why = "These instances have a disk of their own and cannot have a volume."
    return _given({"instance_type": {"enum": with_disk}}, under("volume_size_in_gb", _refused(why)))


def conditions() -> dict[str, list[JsonSchema]]:
    """By definition: what follows for some keys from others."""
    return {
        "FrameworkImage": list(_versions()),
        "AlarmRule": [_units()],
        "StepPolicy": [_units()],
        "Variant": [_disks()],
    }


_ARCHIVE = r"\.([tT][aA][rR](\.[gG][zZ])?|[tT][gG][zZ]|[gG][zZ]|[zZ][iI][pP])$"
ARCHIVES_UNDER_A_PREFIX = _refused(
    "One archive, but a multi-model endpoint needs the prefix of many: s3://bucket/prefix/",
    {"type": "string", "pattern": _ARCHIVE},
)
_ONE_OR_MORE = _refused(
    "0 needs an asynchronous endpoint or inference components; write 1 or more.",
    {"type": "integer", "maximum": 0},
)


def never_zero() -> JsonSchema:
    """Instances scale to 0 only behind an asynchronous endpoint."""
    scaled = under("autoscaling", under("min_capacity", _ONE_OR_MORE))
    config = {"required": ["async_inference_config"]}
    return {
        "if": {"properties": {"endpoint_config": config}, "required": ["endpoint_config"]},
        "else": {"allOf": [scaled, under("variant", scaled), under("variants", {"items": scaled})]},
    }
