"""Drivers, GPUs and CUDA: what is known to run causes no warning, and no advice leads to another mistake."""

import re
from itertools import combinations, product
from typing import Any

import pytest

from inferstack.catalog import instances
from inferstack.catalog.instances import AMI_DRIVERS
from inferstack.check.load import parse_spec
from inferstack.check.rules import RULES
from inferstack.facts.amis import ami_of
from inferstack.problems import Problem
from inferstack.resolve.endpoint_config import resolve_endpoint_config

CODES = ("IS270", "IS271", "IS272", "IS370")
AWS = "763104351884.dkr.ecr.us-east-1.amazonaws.com"
OWN = "111122223333.dkr.ecr.us-east-1.amazonaws.com"
GPU_TYPES = {
    it.family: it.name for it in map(instances.find, instances.names()) if it is not None and it.gpus
}
LMI_12_8, LMI_12_9 = (
    f"{AWS}/djl-inference:0.33.0-lmi15.0.0-cu128",
    f"{AWS}/djl-inference:0.36.0-lmi22.0.0-cu129",
)
VLLM_13_0 = f"{AWS}/vllm:0.25.1-gpu-py312-cu130-ubuntu22.04-sagemaker"
RAY = f"{AWS}/ray:serve-ml-sagemaker-cuda-v1"
WHISPERX = f"{AWS}/whisperx:3.8.6-cu128-amzn2023-sagemaker"
SGLANG_13_0 = f"{AWS}/sglang:0.5.19-gpu-py312-cu130-ubuntu24.04-sagemaker"
SGLANG_SERVER = f"{AWS}/sglang:server-sagemaker-cuda-v1.3"
TRITON_13_2 = f"{AWS}/sagemaker-tritonserver:26.05-py3"
IMAGES = (
    f"{OWN}/model:1-cu118",
    f"{OWN}/model:1-cu124",
    f"{OWN}/model:1-cu128",
    f"{OWN}/model:1-cu130",
    f"{AWS}/pytorch:2.13-cu133-amzn2023-sagemaker",
    *(LMI_12_8, LMI_12_9, VLLM_13_0, RAY, WHISPERX, TRITON_13_2),
)
OLD = "al2-ami-sagemaker-inference-gpu-2"
AL2, AL2023 = "al2-ami-sagemaker-inference-gpu-3-1", "al2023-ami-sagemaker-inference-gpu-4-1"


def variant(instance_types: tuple[str, ...], ami: str | None) -> dict[str, Any]:
    pools = [{"instance_type": it, "priority": index} for index, it in enumerate(instance_types, start=1)]
    chosen = {"instance_type": instance_types[0]} if len(pools) == 1 else {"instance_pools": pools}
    return {**chosen, "initial_instance_count": 1, **({} if ami is None else {"inference_ami_version": ami})}


def found(image: str, instance_types: tuple[str, ...], ami: str | None) -> list[tuple[str, Problem]]:
    data = {"kind": "single-model", "endpoint_name": "llm", "model": {"image": image}}
    spec = parse_spec({**data, "variant": variant(instance_types, ami)}).spec
    return [(code, finding) for code in CODES for finding in RULES[code].check(spec)]


def codes(image: str, instance_type: str, ami: str | None) -> list[str]:
    return [code for code, _ in found(image, (instance_type,), ami)]


def advised(fix: str) -> str | None:
    """The AMI that a fix names; None if it says to use none."""
    if fix.startswith("remove `inference_ami_version`"):
        return None
    named = re.search(r"write `inference_ami_version: ([\w-]+)`", fix)
    assert named is not None, fix
    return named[1]


@pytest.mark.parametrize("family", GPU_TYPES)
def test_whoever_follows_the_advice_is_warned_no_more(family: str) -> None:
    for image, ami in product(IMAGES, (None, *AMI_DRIVERS)):
        host = (GPU_TYPES[family],)
        for code, finding in found(image, host, ami):
            then = advised(finding.fix)
            assert then != ami
            assert found(image, host, then) == [], f"{code} of {image} on {family} with {ami}: {finding.fix}"


def test_advice_serves_every_type_of_a_pool() -> None:
    for image, pair in product(IMAGES, combinations(GPU_TYPES.values(), 2)):
        for _, finding in found(image, pair, "al2-ami-sagemaker-inference-gpu-2"):
            if not finding.fix.startswith("use builds"):
                assert found(image, pair, advised(finding.fix)) == []


@pytest.mark.parametrize(
    ("image", "instance_type", "ami"),
    [
        (LMI_12_8, "ml.g5.24xlarge", None),
        (LMI_12_8, "ml.g4dn.xlarge", None),  # Its label makes SageMaker choose another driver.
        (LMI_12_8.replace(AWS, OWN), "ml.g4dn.xlarge", None),
        (WHISPERX, "ml.g4dn.xlarge", None),  # With the default AMI, as the next.
        (VLLM_13_0, "ml.g5.xlarge", None),
        (LMI_12_8, "ml.g6e.2xlarge", None),
        (LMI_12_9, "ml.g7e.48xlarge", None),
        (LMI_12_9, "ml.g7e.2xlarge", AL2023),
        (VLLM_13_0, "ml.g5.xlarge", AL2),
        (VLLM_13_0, "ml.p5en.48xlarge", AL2023),
        (RAY, "ml.g4dn.xlarge", AL2),
        (WHISPERX, "ml.g4dn.xlarge", AL2),
    ],
)
def test_what_was_seen_to_run_draws_no_warning(image: str, instance_type: str, ami: str | None) -> None:
    assert codes(image, instance_type, ami) == []


@pytest.mark.parametrize(
    ("image", "instance_type", "ami", "code"),
    [
        (RAY, "ml.g4dn.xlarge", AL2023, "IS271"),
        (WHISPERX, "ml.g4dn.xlarge", AL2023, "IS271"),
        (VLLM_13_0, "ml.p3.2xlarge", None, "IS270"),
        (VLLM_13_0, "ml.g5.xlarge", OLD, "IS270"),
        (SGLANG_13_0, "ml.g5.xlarge", AL2, "IS270"),
        (VLLM_13_0, "ml.g7.2xlarge", AL2023, "IS272"),
        (SGLANG_SERVER, "ml.g6e.xlarge", None, "IS370"),
        (SGLANG_SERVER, "ml.g7e.2xlarge", None, "IS370"),
        (TRITON_13_2, "ml.g5.xlarge", AL2, "IS270"),
    ],
)
def test_what_was_seen_to_fail_does(image: str, instance_type: str, ami: str | None, code: str) -> None:
    assert codes(image, instance_type, ami) == [code]


def test_images_of_others_are_not_known_to_bring_the_libraries() -> None:
    image = f"{OWN}/model:1-cu128"
    assert codes(image, "ml.p3.2xlarge", None) == ["IS270"]
    assert codes(f"{OWN}/model:1-cu124", "ml.g5.xlarge", None) == []
    assert codes(f"{OWN}/model:1-cu130", "ml.g5.xlarge", AL2) == ["IS270"]


@pytest.mark.parametrize("family", ["g7", "g7e", "p6-b200", "p6-b300"])
def test_no_ami_of_amazon_linux_2_knows_a_blackwell(family: str) -> None:
    old = [ami for ami in AMI_DRIVERS if codes(LMI_12_9, GPU_TYPES[family], ami) == ["IS272"]]
    assert old == [ami for ami in AMI_DRIVERS if ami.startswith("al2-") or family == "g7"]


def test_an_image_that_no_ami_fits_goes_without() -> None:
    ((code, finding),) = found(RAY, (GPU_TYPES["p6-b200"],), AL2)
    assert code == "IS272"
    assert finding.fix.startswith("remove `inference_ami_version`")


def test_each_container_of_a_pipeline_is_looked_at() -> None:
    data = {
        "kind": "pipeline",
        "endpoint_name": "llm",
        "model": {"containers": [{"image": f"{OWN}/model:1-cu118"}, {"image": VLLM_13_0}]},
        "variant": variant(("ml.p3.2xlarge",), None),
    }
    (finding,) = RULES["IS270"].check(parse_spec(data).spec)
    assert finding.path == ("model", "containers", 1, "image")


def test_a_container_for_one_type_of_a_pool_is_not_looked_at_on_another() -> None:
    old, new = "ml.g5.2xlarge", "ml.g7e.2xlarge"
    specifications = [
        {
            "instance_type": it,
            "container": {"image": image, "artifact_url": "s3://acme-models/llm/model.tar.gz"},
            "compute_resource_requirements": {
                "number_of_accelerator_devices_required": 1,
                "min_memory_required_in_mb": 1024,
            },
        }
        for it, image in ((old, f"{OWN}/model:1-cu118"), (new, f"{OWN}/model:1-cu130"))
    ]
    data = {
        "kind": "inference-components",
        "endpoint_name": "llm",
        "variant": variant((old, new), None),
        "inference_components": {"chat": {"specifications": specifications}},
    }
    assert list(RULES["IS270"].check(parse_spec(data).spec)) == []


@pytest.mark.parametrize(
    ("image", "instance_types", "ami"),
    [
        (VLLM_13_0, ("ml.g5.xlarge",), AL2023),
        (VLLM_13_0, ("ml.g6e.xlarge", "ml.p5.48xlarge"), AL2023),
        (f"{AWS}/vllm:0.27-gpu-py312", ("ml.g6.xlarge",), AL2023),  # No CUDA in its tag.
        (f"{AWS}/vllm:server-sagemaker-cuda-v2.3", ("ml.g6.xlarge",), AL2023),
        (f"{OWN}/llm:1-cu130", ("ml.g6.xlarge",), AL2023),
        (f"{AWS}/vllm:0.99.0-gpu-py312-cu130-sagemaker", ("ml.g6.xlarge",), AL2023),  # Newer than the table.
        (TRITON_13_2, ("ml.g4dn.xlarge",), AL2023),
        (f"{AWS}/vllm:server-sagemaker-cuda-v1", ("ml.g5.xlarge",), AL2),
        (WHISPERX, ("ml.g5.xlarge", "ml.g6.xlarge"), AL2),
        (WHISPERX, ("ml.g6.xlarge",), None),  # Its own driver is for CUDA 12.
        (WHISPERX, ("ml.g5.xlarge", "ml.g6e.xlarge"), None),  # Nobody documents that AMI for the second.
        (LMI_12_9, ("ml.g5.xlarge",), None),
        (VLLM_13_0, ("ml.g7.2xlarge",), None),
        (VLLM_13_0, ("ml.g7e.2xlarge",), None),
        (VLLM_13_0, ("ml.g5.xlarge", "ml.g7e.2xlarge"), None),
        (VLLM_13_0, ("ml.p6-b200.48xlarge",), None),
        (f"{OWN}/llm:latest", ("ml.g5.xlarge",), None),
        (f"{AWS}/vllm:0.99.0-cpu", ("ml.m5.xlarge",), None),
    ],
)
def test_the_ami_that_the_sdk_would_set_is_a_default(
    image: str, instance_types: tuple[str, ...], ami: str | None
) -> None:
    data = {"kind": "single-model", "endpoint_name": "llm", "model": {"image": image}}
    spec = parse_spec({**data, "variant": variant(instance_types, None)}).spec
    (made,) = resolve_endpoint_config(spec)["EndpointConfig"].properties["ProductionVariants"]
    assert made.get("InferenceAmiVersion") == ami
    written = parse_spec({**data, "variant": variant(instance_types, OLD)}).spec
    (made,) = resolve_endpoint_config(written)["EndpointConfig"].properties["ProductionVariants"]
    assert made["InferenceAmiVersion"] == OLD


def test_an_image_of_unknown_cuda_leaves_the_ami_alone() -> None:
    containers = [{"image": VLLM_13_0}, {"image": f"{OWN}/tokens:latest"}]
    data = {"kind": "pipeline", "endpoint_name": "llm", "model": {"containers": containers}}
    spec = parse_spec({**data, "variant": variant(("ml.g6.xlarge",), None)}).spec
    assert ami_of(spec, spec.variant) is None
