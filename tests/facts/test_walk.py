"""The parts of a spec are found alike, whichever way the spec writes them."""

import msgspec
import pytest

from inferstack.facts.walk import (
    component_scalings,
    component_variants,
    components,
    containers,
    hosting_of,
    models,
    variant_scalings,
    variants,
)
from inferstack.format.kinds import ModelSpec, Spec

SINGLE = {
    "kind": "single-model",
    "endpoint_name": "churn",
    "model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/churn:1"},
    "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
}


def spec_of(data: dict[str, object]) -> ModelSpec:
    return msgspec.convert(data, Spec)


def test_one_variant_and_several_are_walked_alike() -> None:
    one = spec_of(SINGLE)
    several = spec_of(
        {**{k: v for k, v in SINGLE.items() if k != "variant"}, "variants": [SINGLE["variant"]]}
    )
    assert [variant for _, variant in variants(one)] == [variant for _, variant in variants(several)]
    assert [path for path, _ in variants(several)] == [("variants", 0)]


def test_scaling_at_the_top_is_the_only_variants_scaling() -> None:
    scaling = {"min_capacity": 1, "max_capacity": 2}
    assert [path for path, _, _ in variant_scalings(spec_of({**SINGLE, "autoscaling": scaling}))] == [
        ("autoscaling",)
    ]
    inside = {**SINGLE, "variant": {**SINGLE["variant"], "autoscaling": scaling}}
    assert [path for path, _, _ in variant_scalings(spec_of(inside))] == [("variant", "autoscaling")]


def test_a_container_knows_the_instance_types_of_the_variants_that_host_it() -> None:
    spec = spec_of(
        {
            "kind": "single-model",
            "endpoint_name": "ab",
            "models": {"a": {"image": "a"}, "b": {"image": "b"}},
            "variants": [
                {"variant_name": "x", "model_name": "a", "instance_type": "ml.m5.large"},
                {"variant_name": "y", "model_name": "b", "instance_type": "ml.g5.xlarge"},
            ],
        }
    )
    assert {it.image: it.instance_types for it in containers(spec)} == {
        "a": ("ml.m5.large",),
        "b": ("ml.g5.xlarge",),
    }
    assert [name for _, name, _ in models(spec)] == ["a", "b"]


def test_a_component_is_on_the_variant_that_it_names() -> None:
    spec = spec_of(
        {
            "kind": "inference-components",
            "endpoint_name": "chat",
            "variants": [{"variant_name": "x"}, {"variant_name": "y"}],
            "inference_components": {
                "a": {"variant_name": "y", "autoscaling": {"min_capacity": 0, "max_capacity": 1}},
                "b": {"variant_name": "z"},
                "c": {},
            },
        }
    )
    hosts = {
        name: [it.variant_name for it in component_variants(spec, component)]
        for _, name, component in components(spec)
    }
    assert hosts == {"a": ["y"], "b": [], "c": ["x"]}
    assert [name for _, name, _, _ in component_scalings(spec)] == ["a"]


@pytest.mark.parametrize(
    ("change", "hosting"),
    [
        ({}, "instances"),
        ({"kind": "multi-model"}, "multi-model"),
        ({"variant": {"serverless_config": {"memory_size_in_mb": 1024, "max_concurrency": 1}}}, "serverless"),
        ({"endpoint_config": {"async_inference_config": {"output_config": {}}}}, "async"),
    ],
)
def test_what_an_endpoint_publishes_follows_from_its_hosting(change: dict[str, object], hosting: str) -> None:
    assert hosting_of(spec_of({**SINGLE, **change})) == hosting
