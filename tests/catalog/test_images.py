import csv
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from inferstack import catalog
from inferstack.catalog import document, images, regions
from inferstack.catalog.image_contents import contents

Sdk = Callable[..., str]
# One instance type for each kind of processor, and two of the Graviton families that the SDK knows.
INSTANCE_TYPES = {
    "x86_64": ("ml.m5.xlarge", "ml.g5.2xlarge", "ml.p5.48xlarge", "ml.inf1.xlarge", "ml.inf2.xlarge"),
    "arm64": ("ml.c7g.large", "ml.m6gd.large"),
}
SDK_NAMES: dict[str, dict[str, str]] = {
    "triton": {"framework": "sagemaker-tritonserver"},
    "huggingface-neuron": {"framework": "huggingface", "inference_tool": "neuron"},
    "huggingface-neuronx": {"framework": "huggingface", "inference_tool": "neuronx"},
    # As the SDK's `get_huggingface_llm_image_uri` calls it.
    "huggingface-llm-neuronx": {"framework": "huggingface-llm-neuronx", "inference_tool": "neuronx"},
}
# Where the SDK is wrong, by framework and pattern of instance types.
DIFFERENCES = {
    # The SDK refuses its own images on the processors that they are made for, and accepts others.
    ("huggingface-vllm-neuronx", r"ml\.inf2\..*"),
    ("huggingface-neuronx", r"ml\.inf1\..*"),
    ("llama-cpp-arm64", r"ml\.(c7g|m6gd)\..*"),
}


def left_out() -> set[tuple[str, str]]:
    """Versions that AWS's page of images lists, and the SDK does not have any more."""
    rows = csv.DictReader(catalog.text("image-contents.csv").splitlines())
    return {(row["framework"], row["version"]) for row in rows if row["framework"]}


def cases(framework: str) -> Iterator[dict[str, Any]]:
    """Every version, alias, base framework, Python version and kind of processor."""
    for architecture, line in document("images.json")["frameworks"][framework].items():
        for version in (*line["versions"], *line["aliases"]):
            full = line["aliases"].get(version, version)
            for row in line["versions"][full] if (framework, full) not in left_out() else ():
                for base in (row["base"], *row.get("base_aliases", ())) if "base" in row else (None,):
                    for instance_type in INSTANCE_TYPES[architecture]:
                        yield {
                            "version": version,
                            "instance_type": instance_type,
                            "py_version": row.get("py"),
                            "base_framework_version": base,
                        }


def difference(framework: str, instance_type: str) -> tuple[str, str] | None:
    matching = (it for it in DIFFERENCES if it[0] == framework and re.fullmatch(it[1], instance_type))
    return next(matching, None)


def answer(call: Callable[..., str], **arguments: Any) -> str | None:
    try:
        return call(**arguments)
    except (images.UnknownImage, ValueError):
        return None


def uri(framework: str, version: str, region: str, instance_type: str | None = None, **flavour: Any) -> str:
    return images.find(framework, version, instance_type, **flavour).uri(region)


@pytest.mark.parametrize("framework", images.frameworks())
def test_every_uri_is_the_one_that_the_sdk_gives(framework: str, sdk_image_uri: Sdk) -> None:
    name = {"framework": framework, "image_scope": "inference"} | SDK_NAMES.get(framework, {})
    compared, different = 0, set()
    for case in cases(framework):
        for region in (*regions.names(), "mars-north-1"):
            ours = answer(uri, framework=framework, region=region, **case)
            theirs = answer(sdk_image_uri, region=region, **name, **case)
            compared += ours is not None
            if ours != theirs:
                assert difference(framework, case["instance_type"]), (case, region, ours, theirs)
                different.add(difference(framework, case["instance_type"]))
    assert compared > 0
    # Once the SDK is fixed, the difference must be removed from the list.
    assert different == {it for it in DIFFERENCES if it[0] == framework}


@pytest.mark.parametrize(
    ("framework", "version", "instance_type", "image"),
    [
        ("triton", "26.05", "ml.g5.xlarge", "sagemaker-tritonserver:26.05-py3"),
        ("triton", "26.05", "ml.m5.xlarge", "sagemaker-tritonserver:26.05-py3-cpu"),
        ("sagemaker-tritonserver", "26.05", "ml.g5.xlarge", "sagemaker-tritonserver:26.05-py3"),
        # The tag repeats a short version as the user wrote it.
        ("pytorch", "1.13", "ml.g5.xlarge", "pytorch-inference:1.13-gpu-py39"),
        ("pytorch", "1.13.1", "ml.g5.xlarge", "pytorch-inference:1.13.1-gpu-py39"),
        # Graviton has its own images, even for families that the SDK considers x86.
        ("pytorch", "2.6", "ml.c7g.large", "pytorch-inference-arm64:2.6-cpu-py312-ubuntu22.04-sagemaker"),
        ("pytorch", "2.6", "ml.c8g.large", "pytorch-inference-arm64:2.6-cpu-py312-ubuntu22.04-sagemaker"),
        ("llama-cpp-arm64", "1.0.1", "ml.c8g.large", "llama-cpp-arm64:server-sagemaker-cpu-v1.0.1"),
        ("triton", "26.05", images.SERVERLESS, "sagemaker-tritonserver:26.05-py3-cpu"),
        ("huggingface-tei-cpu", "1.8", images.SERVERLESS, "tei-cpu:2.0.1-tei1.8.2-cpu-py310-ubuntu22.04"),
        # Nothing says where it runs, so it runs on CPUs, or is the only image that there is.
        ("triton", "26.05", None, "sagemaker-tritonserver:26.05-py3-cpu"),
        ("huggingface-llm", "1.4.5", None, None),
        (
            "huggingface-vllm-neuronx",
            "0.4.4",
            "ml.inf2.xlarge",
            "huggingface-vllm-inference-neuronx:0.11.0-optimum0.4.4-neuronx-py310-sdk2.26.1-ubuntu22.04",
        ),
        (
            "huggingface-llm-neuronx",
            "0.0.25",
            "ml.inf2.xlarge",
            "huggingface-pytorch-tgi-inference:2.1.2-optimum0.0.25-neuronx-py310-ubuntu22.04",
        ),
        (
            "huggingface-llm-neuronx",
            "0.0.25",
            "ml.trn1.32xlarge",
            "huggingface-pytorch-tgi-inference:2.1.2-optimum0.0.25-neuronx-py310-ubuntu22.04",
        ),
        (
            "huggingface-neuronx",
            "4.55.4",
            "ml.trn1.32xlarge",
            "huggingface-pytorch-inference-neuronx:2.8.0-transformers4.55.4-neuronx-py310-sdk2.26.0-ubuntu22.04",
        ),
    ],
)
def test_the_image_suits_the_processor(
    framework: str, version: str, instance_type: str | None, image: str | None
) -> None:
    found = images.find(framework, version, instance_type)
    if image is None:
        assert "gpu" in found.tag
    else:
        assert f"{found.repository}:{found.tag}" == image


@pytest.mark.parametrize(
    ("wanted", "message", "allowed"),
    [
        (("tritn", "26.05", "us-east-1", "ml.g5.xlarge"), "'tritn' is not a framework", "triton"),
        (("triton", "26.5", "us-east-1", "ml.g5.xlarge"), "triton has no version '26.5'", "26.05"),
        (("triton", "26.05", "us-est-1", "ml.g5.xlarge"), "has not been published in us-est-1", "us-east-1"),
        (("triton", "26.05", "us-east-1", "ml.inf2.xlarge"), "has no image for ml.inf2.xlarge", "gpu"),
        (("triton", "26.05", "us-east-1", "ml.c7g.large"), "no image for Arm CPUs", "x86_64"),
        (
            ("sklearn", "1.2-1", "us-east-1", "ml.c7g.large"),
            "sklearn 1.2-1 has no image for Arm CPUs",
            "x86_64",
        ),
        (("sklearn", "1.2-7", "us-east-1", "ml.c7g.large"), "sklearn has no version '1.2-7'", "1.0-1"),
        (("pytorch", "2.6", "us-east-1", "ml.inf2.xlarge"), "has no image for ml.inf2.xlarge", "cpu"),
        (
            ("huggingface-neuronx", "4.55.4", "us-east-1", "ml.inf1.xlarge"),
            "has no image for ml.inf1",
            "neuronx",
        ),
        (("pytorch", "1.2.0", "us-east-1", "ml.g5.xlarge"), "py_version must say which", "py3"),
        (
            ("huggingface", "4.26", "us-east-1", "ml.g5.xlarge"),
            "base_framework_version must",
            "pytorch1.13.1",
        ),
    ],
)
def test_an_unknown_image_is_refused_with_what_is_allowed(
    wanted: tuple[str, str, str, str], message: str, allowed: str
) -> None:
    with pytest.raises(images.UnknownImage) as error:
        uri(*wanted)
    assert message in error.value.message
    assert allowed in error.value.allowed


@pytest.mark.parametrize("framework", ["huggingface-llm", "vllm", "huggingface-llm-neuronx"])
def test_a_serverless_endpoint_gets_no_image_for_gpus_or_accelerators(framework: str) -> None:
    version = images.versions(framework)[-1]
    with pytest.raises(images.NoBuild, match=f"{framework} {version} has no image for a serverless endpoint"):
        images.find(framework, version, images.SERVERLESS)


def test_a_wrong_flavour_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(images.UnknownImage) as error:
        images.find("pytorch", "2.6", "ml.g5.xlarge", py_version="py27")
    assert error.value.allowed == ("py312",)


def test_versions_are_in_the_order_of_their_numbers() -> None:
    found = images.versions("pytorch")
    assert found.index("1.9.0") < found.index("1.10.0") < found.index("2.6.0") < found.index("1.13")


def test_the_accounts_are_those_of_the_uris() -> None:
    accounts = images.find("triton", "24.09", "ml.g5.xlarge").registries
    assert accounts["us-east-1"] == "763104351884"
    assert uri("triton", "24.09", "cn-north-1", "ml.g5.xlarge") == (
        f"{accounts['cn-north-1']}.dkr.ecr.cn-north-1.amazonaws.com.cn/sagemaker-tritonserver:24.09-py3"
    )


def test_what_the_sdk_has_forgotten_is_added() -> None:
    lmi = uri("djl-lmi", "0.36.0-lmi26.0.0", "us-east-1", "ml.g6.xlarge")
    assert lmi.endswith(".dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.36.0-lmi26.0.0-cu130")
    assert uri("vllm", "0.17", "us-east-1", "ml.g6.xlarge") == uri("vllm", "0.17.1", "us-east-1")


ON_CPUS = {"huggingface-tei-cpu", "llama-cpp", "llama-cpp-arm64"}
ENGINES = {"djl-lmi", "huggingface-llm", "huggingface-tei", "huggingface-vllm", "sglang", "vllm", *ON_CPUS}


@pytest.mark.parametrize("framework", sorted(ENGINES))
def test_the_contents_of_each_image_with_an_engine_are_known(framework: str) -> None:
    """Fails when the SDK has a newer one: then `image-contents.csv` needs its row."""
    (line,) = document("images.json")["frameworks"][framework].values()
    for version in line["versions"]:
        found = images.find(framework, version)
        inside = contents(found.repository, found.tag)
        assert inside is not None, version
        assert inside.engine is not None, version
        assert (inside.cuda is None) is (framework in ON_CPUS), version


@pytest.mark.parametrize(
    ("repository", "tag", "engine", "version", "cuda"),
    [
        ("vllm", "0.27.1-gpu-py312-cu130-ubuntu22.04-sagemaker", "vllm", "0.27.1", (13, 0)),
        ("vllm", "0.27-gpu-py312", "vllm", "0.27.1", (13, 0)),  # The newest 0.27.
        ("vllm", "server-sagemaker-cuda-v1", "vllm", "0.19.1", (12, 9)),
        ("vllm", "server-sagemaker-cuda-v2.3", "vllm", "0.27.0", (13, 0)),
        ("vllm", "server-sagemaker-cuda-v2.99", "vllm", None, (13, 0)),  # One of the line v2.
        ("vllm", "omni-sagemaker-cuda-v1.0", "vllm-omni", "0.18.0", (12, 9)),
        ("vllm", "9.9.9-gpu-py399-cu199", "vllm", "9.9.9", None),  # Newer than the table.
        ("sglang", "server-sagemaker-cuda-v1.2", "sglang", "0.5.14", (13, 0)),
        ("djl-inference", "0.36.0-lmi22.0.0-cu129", "lmi", "0.17.0", (12, 9)),
        ("djl-inference", "0.36-lmi18.0.0-cu128-v1", "lmi", "0.12.0", (12, 8)),
        ("djl-inference", "0.99.0-lmi99.0.0-cu199", "lmi", None, None),
        ("djl-inference", "0.33.0-tensorrtllm0.21.0-cu128", "tensorrt-llm", "0.21.0", (12, 8)),
        ("tei", "2.0.1-tei1.9.3-gpu-py310-cu129-ubuntu24.04", "tei", "1.9.3", (12, 9)),
        ("tei-cpu", "2.0.1-tei1.8.2-cpu-py310-ubuntu22.04", "tei", "1.8.2", None),
        ("sagemaker-tritonserver", "25.09-py3", "triton", None, (13, 0)),
        ("sagemaker-tritonserver", "25.09-py3-cpu", "triton", None, None),
    ],
)
def test_what_is_inside(
    repository: str, tag: str, engine: str, version: str | None, cuda: tuple[int, int] | None
) -> None:
    found = contents(repository, tag)
    assert found is not None
    assert (found.engine, found.engine_version, found.cuda) == (engine, version, cuda)


def test_nothing_is_said_of_other_tags() -> None:
    assert [contents(*it) for it in (("vllm", "latest"), ("vllm", ""), ("acme", "0.27.1"))] == [None] * 3
