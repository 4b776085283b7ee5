"""Images that AWS does not build, or not for their host: what the fix says to write instead."""

from typing import Any

import pytest
from support.advice import FITTING, MODELLED, SINGLE, fix, found

from inferstack.catalog import images, instances
from inferstack.check.rules.containers.images import PROPOSED_TYPES


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ({"framework": "tritn", "version": "26.05"}, "did you mean `triton`? allowed: `triton` and "),
        (
            {"framework": "djl-inference", "version": "0.33.0"},
            "that is the name of a repository; write `djl-lmi` or `djl-tensorrtllm`",
        ),
        (
            {"framework": "sagemaker-scikit-learn", "version": "99"},
            "that is the name of a repository; write `sklearn`",
        ),
        # Letter for letter it is more like 2.1 than like 2.3.0.
        ({"framework": "pytorch", "version": "2.3.1"}, "did you mean `2.3.0`? allowed: `2."),
        # Letter for letter these are like 0.28, 25.04 and 23.12.
        ({"framework": "vllm", "version": "0.8"}, "did you mean `0.13`? allowed: `0."),
        ({"framework": "triton", "version": "25.06"}, "did you mean `25.04` or `25.09`? allowed: `2"),
        ({"framework": "triton", "version": "22.12"}, "allowed: `2"),
        ({"framework": "pytorch", "version": "2"}, "did you mean `2.6.0`? allowed: `2."),
        ({"framework": "pytorch", "version": "v2.5.1"}, "did you mean `2.5.1`? allowed: `2."),
        ({"framework": "pytorch", "version": "newest"}, "allowed: `2."),
    ],
)
def test_what_is_allowed_instead_of_a_build_is_said(image: dict[str, str], said: str) -> None:
    assert fix("IS700", {**SINGLE, "model": {"image": image}}).startswith(said)


@pytest.mark.parametrize(
    ("framework", "version", "instance_type", "said"),
    [
        # What the SDK's `get_huggingface_llm_image_uri` is called with.
        (
            "huggingface",
            "2.0.0",
            "ml.g5.xlarge",
            "write `framework: huggingface-llm`, which has it; allowed: ",
        ),
        (
            "huggingface-neuronx",
            "0.0.17",
            "ml.inf2.8xlarge",
            "write `framework: huggingface-llm-neuronx`, which has it; allowed: ",
        ),
        # TGI has no image for CPUs in this version.
        ("huggingface", "2.0.0", "ml.m5.xlarge", "allowed: "),
        # `image-classification-neo` has it, but that is for compiled models.
        ("image-classification", "latest", "ml.m4.xlarge", "allowed: `1`"),
    ],
)
def test_a_version_of_what_the_sdk_calls_so_says_which_framework_has_it(
    framework: str, version: str, instance_type: str, said: str
) -> None:
    image = {"framework": framework, "version": version}
    variant = {"instance_type": instance_type, "initial_instance_count": 1}
    assert fix("IS700", {**SINGLE, "model": {"image": image}, "variant": variant}).startswith(said)


@pytest.mark.parametrize(
    ("framework", "version"), [("triton", "26.06"), ("triton", "22.10"), ("tritonserver", "22.10")]
)
def test_an_image_beyond_the_catalog_may_be_written_as_its_uri(framework: str, version: str) -> None:
    said = fix("IS700", {**SINGLE, "model": {"image": {"framework": framework, "version": version}}})
    assert said.endswith("; any other image is written as its URI")


def test_a_version_without_its_last_words_is_completed() -> None:
    spec = {**SINGLE, "model": {"image": {"framework": "sklearn", "version": "1.4-2"}}}
    assert fix("IS700", spec).startswith("did you mean `1.4-2-py312`?")


ON_CPUS = {"instance_type": "ml.m5.xlarge", "initial_instance_count": 2}
ON_INFERENTIA = {"instance_type": "ml.inf2.xlarge", "initial_instance_count": 2}
ON_GRAVITON = {"instance_type": "ml.c7g.xlarge", "initial_instance_count": 2}
ON_NOTHING = {"serverless_config": {"memory_size_in_mb": 2048, "max_concurrency": 3}}


@pytest.mark.parametrize(
    ("framework", "version", "variant", "said"),
    [
        ("vllm", "0.30", ON_CPUS, "choose an instance type with a GPU, such as ml.g5.xlarge"),
        (
            "vllm",
            "0.30",
            ON_NOTHING,
            "replace `serverless_config` with an instance type with a GPU, such as ml.g5.xlarge",
        ),
        (
            "triton",
            "26.05",
            ON_INFERENTIA,
            "choose an instance type with x86 CPUs alone, such as ml.m5.xlarge, or with a GPU, such as ml.g5.xlarge",
        ),
        ("djl-lmi", "0.36.0", ON_GRAVITON, "choose an instance type with a GPU, such as ml.g5.xlarge"),
        (
            "huggingface-llm-neuronx",
            "0.3.0",
            ON_CPUS,
            "choose an instance type with Inferentia2, such as ml.inf2.xlarge",
        ),
        (
            "huggingface-tei",
            "1.8",
            ON_NOTHING,
            "write `framework: huggingface-tei-cpu`, or replace `serverless_config` with an instance type with a GPU, "
            "such as ml.g5.xlarge",
        ),
        (
            "llama-cpp-arm64",
            "1.0.1",
            ON_CPUS,
            "write `framework: llama-cpp`, or choose an instance type with Arm CPUs, such as ml.c7g.xlarge",
        ),
        (
            "sklearn",
            "1.2-1",
            ON_GRAVITON,
            "choose an instance type with x86 CPUs alone, such as ml.m5.xlarge",
        ),
        (
            "tensorflow",
            "2.19.0",
            ON_GRAVITON,
            "choose an instance type with x86 CPUs alone, such as ml.m5.xlarge, or with a GPU, such as ml.g5.xlarge",
        ),
        ("triton", "1.0", ON_GRAVITON, "choose an instance type with x86 CPUs"),
    ],
)
def test_an_image_for_other_processors_is_sent_to_instances_that_have_them(
    framework: str, version: str, variant: dict[str, Any], said: str
) -> None:
    image = {"framework": framework, "version": version}
    assert fix("IS700", {**SINGLE, "model": {"image": image}, "variant": variant}) == said


@pytest.mark.parametrize("framework", images.frameworks())
def test_each_image_runs_on_some_instance_type_that_can_be_proposed(framework: str) -> None:
    names = [name for _, name in PROPOSED_TYPES]
    assert all(map(instances.find, names))
    for version in images.versions(framework):
        assert not all(isinstance(refused(framework, version, name), images.NoBuild) for name in names)


def refused(framework: str, version: str, instance_type: str) -> Exception | None:
    try:
        images.find(framework, version, instance_type)
    except images.UnknownImage as unknown:
        return unknown
    return None


@pytest.mark.parametrize("variant", [ON_CPUS, ON_NOTHING])
def test_the_only_build_that_aws_has_is_sent_to_gpus(variant: dict[str, Any]) -> None:
    image = {"framework": "djl-lmi", "version": "0.36.0"}
    assert "with a GPU, such as ml.g5.xlarge" in fix(
        "IS705", {**SINGLE, "model": {"image": image}, "variant": variant}
    )


def test_a_model_that_nothing_hosts_needs_no_processor_for_its_image() -> None:
    spec = {
        "kind": "single-model",
        "endpoint_name": "churn",
        "models": {"a": SINGLE["model"], "b": {"image": {"framework": "vllm", "version": "0.30"}}},
        "variant": {"model_name": "a", **ON_NOTHING},
    }
    codes = {problem.code for problem in found(spec)}
    assert "IS203" in codes
    assert "IS700" not in codes


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("triton:26.05", '{framework: triton, version: "26.05"} for'),
        ("nvcr.io/nvidia/tritonserver:24.10-py3", '{framework: triton, version: "…"} for'),
        ("acme/huggingface-llm", '{framework: huggingface-llm, version: "…"} for'),
        ("docker.io/library/nginx:latest", "{framework, version} of an image that AWS publishes"),
    ],
)
def test_an_image_from_elsewhere_is_sent_to_the_one_of_that_name_in_ecr(image: str, said: str) -> None:
    assert fix("IS247", {**SINGLE, "model": {"image": image}}).startswith(f"write the ECR URI, or {said}")


POOLS = [{"instance_type": "ml.m5.large", "priority": 1}, {"instance_type": "ml.c7g.xlarge", "priority": 2}]


@pytest.mark.parametrize(
    ("code", "change", "said"),
    [
        (
            "IS203",
            {"models": {"net": FITTING, "old": FITTING}},
            "name it in `specification.model_name` of one, or remove it",
        ),
        (
            "IS320",
            {"models": {"net": {**FITTING, "containers": []}}},
            "write the container's properties directly under `models.net`, or choose `kind: pipeline`",
        ),
        ("IS408", {"models": {"nets": FITTING}}, "did you mean `nets`? if not, ignore IS408"),
        (
            "IS706",
            {"variant": {"instance_pools": POOLS, "initial_instance_count": 2}},
            "write `models`, one for each, and name them in the `specifications` for the instance types",
        ),
    ],
)
def test_what_is_wrong_with_the_model_of_a_component_is_mended_there(
    code: str, change: dict[str, Any], said: str
) -> None:
    assert fix(code, MODELLED | change) == said


@pytest.mark.parametrize("account", ["11112222333", "1111-2222-3333", "acme"])
def test_a_registry_without_an_account_is_told_from_other_registries(account: str) -> None:
    image = f"{account}.dkr.ecr.${{AWS::Region}}.amazonaws.com/churn:1"
    (problem,) = found({**SINGLE, "model": {"image": image}})
    assert (problem.code, problem.fix) == (
        "IS247",
        "write the 12 digits of the registry's account before `.dkr`",
    )


def test_a_registry_without_a_repository_is_not_said_to_have_no_account() -> None:
    (problem,) = found({**SINGLE, "model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/:1"}})
    assert problem.code == "IS247"
    assert problem.fix.startswith("write the ECR URI")
