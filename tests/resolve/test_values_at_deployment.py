"""What the role may use of things that only the deployment knows, whichever way they turn out to be named."""

import json
from typing import Any

import pytest
from emulator.cloudformation.evaluation import Evaluation, symbol
from support.resolving import Resolved, of_type

from inferstack.resolve.resource import at_deployment
from inferstack.texts.placeholders import PSEUDO_PARAMETERS

IT = "${import:it}"
KEY = "1234abcd-12ab-34cd-56ef-1234567890ab"
HERE, THERE = "us-east-1:111122223333", "eu-west-1:444455556666"
CHINA = "cn-north-1:444455556666"
REGISTRY = "444455556666.dkr.ecr.eu-west-1.amazonaws.com"


def allowed(resolve: Resolved, change: dict[str, Any], it: str, base: str = "single") -> dict[str, Any]:
    """The statements of the deployed role, where another stack exports ``it``."""
    template = resolve(base, json.dumps(change))
    pseudo = PSEUDO_PARAMETERS | {"AWS::Region": "us-east-1", "AWS::AccountId": "111122223333"}
    deployed = Evaluation(template, pseudo, symbol, {"it": it})
    policies = of_type(template, "AWS::IAM::ManagedPolicy").values()
    written = [statement for policy in policies for statement in policy["PolicyDocument"]["Statement"]]
    return {found["Sid"]: found for found in map(deployed.value, written)}


def test_tokens_of_a_text_are_variables_in_the_order_of_the_text() -> None:
    one, other = "${Token[TOKEN.7]}", "${Token[TOKEN.4]}"
    assert at_deployment(f"{one}-{other}/${{AWS::Region}}") == {
        "Fn::Sub": ["${Token1}-${Token2}/${AWS::Region}", {"Token1": one, "Token2": other}]
    }


@pytest.mark.parametrize(
    ("key", "sid", "arn"),
    [
        (KEY, "UseKeys", f"arn:aws:kms:{HERE}:key/{KEY}"),
        (f"arn:aws:kms:{THERE}:key/{KEY}", "UseKeys", f"arn:aws:kms:{THERE}:key/{KEY}"),
        ("alias/ml", "UseKeysByAlias", f"arn:aws:kms:{HERE}:key/*"),
        (f"arn:aws:kms:{THERE}:alias/ml", "UseKeysByAlias", f"arn:aws:kms:{THERE}:key/*"),
    ],
)
def test_a_key_may_turn_out_to_be_an_id_an_alias_or_an_arn(
    key: str, sid: str, arn: str, resolve: Resolved
) -> None:
    found = allowed(resolve, {"endpoint_config": {"kms_key_id": IT}}, key)
    assert found[sid]["Resource"] == [arn]
    if "alias" in key:
        assert found[sid]["Condition"] == {"ForAnyValue:StringEquals": {"kms:ResourceAliases": ["alias/ml"]}}


def test_a_whole_list_of_keys_decrypts_files(resolve: Resolved) -> None:
    keys = [f"arn:aws:kms:{place}:key/{KEY}" for place in (HERE, THERE)]
    found = allowed(resolve, {"execution_role": {"kms_key_arns": IT}}, ",".join(keys))
    assert found["DecryptFiles"]["Resource"] == keys
    assert "DecryptFilesByAlias" not in found


@pytest.mark.parametrize(
    ("image", "repository"),
    [
        (f"{REGISTRY}/ml/net:v1", f"{THERE}:repository/ml/net"),
        (f"{REGISTRY}/ml/net@sha256:abcdef", f"{THERE}:repository/ml/net"),
        (f"{REGISTRY}/ml/net", f"{THERE}:repository/ml/net"),
        (f"{REGISTRY}.cn/ml/net:v1".replace("eu-west-1", "cn-north-1"), f"{CHINA}:repository/ml/net"),
    ],
)
def test_an_image_may_turn_out_to_have_a_tag_or_a_digest(
    image: str, repository: str, resolve: Resolved
) -> None:
    found = allowed(resolve, {"model": {"image": IT}}, image)
    assert found["PullImage"]["Resource"] == [f"arn:aws:ecr:{repository}"]


@pytest.mark.parametrize(("image", "is_pulled"), [(IT, False), (f"{REGISTRY}/{IT}", True)])
def test_an_image_that_comes_through_the_vpc_is_from_a_private_registry_unless_it_names_ecrs(
    image: str, is_pulled: bool, resolve: Resolved
) -> None:
    model = {
        "image": image,
        "image_config": {"repository_access_mode": "Vpc"},
        "vpc_config": {"subnets": ["subnet-0a1b2c3d"], "security_group_ids": ["sg-0a1b2c3d"]},
    }
    assert ("PullImage" in allowed(resolve, {"model": model}, "registry.example.com/net:1")) is is_pulled


@pytest.mark.parametrize(
    ("name", "arn"),
    [
        ("net/3", f"arn:aws:sagemaker:{HERE}:model-package/net/3"),
        (f"arn:aws:sagemaker:{THERE}:model-package/net/3", f"arn:aws:sagemaker:{THERE}:model-package/net/3"),
    ],
)
def test_a_model_package_may_turn_out_to_be_a_name_or_an_arn(name: str, arn: str, resolve: Resolved) -> None:
    change = {"model": {"image": None, "model_data_url": None, "model_package_name": IT}}
    assert allowed(resolve, change, name)["ReadModelPackages"]["Resource"] == [arn]


@pytest.mark.parametrize(
    ("url", "it"),
    [
        (IT, "s3://models/a/model.tar.gz"),
        (f"s3://{IT}", "models/a/model.tar.gz"),
        (f"https://{IT}/a/model.tar.gz", "models.s3.us-east-1.amazonaws.com"),
    ],
)
def test_a_file_is_read_and_no_other(url: str, it: str, resolve: Resolved) -> None:
    found = allowed(resolve, {"model": {"model_data_url": url}}, it)
    assert found["ReadModelFiles"]["Resource"] == ["arn:aws:s3:::models/a/model.tar.gz"]
    assert found["ListModelFiles"]["Resource"] == ["arn:aws:s3:::models"]


@pytest.mark.parametrize("url", ["s3://adapters/sql/", IT])
def test_an_adapter_may_be_a_folder(url: str, resolve: Resolved) -> None:
    container = {"artifact_url": url}
    adapter = {"specification": {"base_inference_component_name": "chat", "container": container}}
    change = {"inference_components": {"sql": adapter}}
    found = allowed(resolve, change, "s3://adapters/sql/", base="components")
    files = ["arn:aws:s3:::models/chat.tar.gz", "arn:aws:s3:::adapters/sql/*"]
    assert found["ReadModelFiles"]["Resource"] == files


def test_an_image_that_no_function_can_take_apart_is_in_a_registry_of_the_account(resolve: Resolved) -> None:
    found = allowed(resolve, {"model": {"image": "{{resolve:ssm:/image}}"}}, "unused")
    assert found["PullImage"]["Resource"] == [f"arn:aws:ecr:{HERE}:repository/*"]


@pytest.mark.parametrize("url", ["s3://results/a", "s3://results/a/"])
def test_results_go_into_a_folder_with_or_without_a_slash_at_its_end(url: str, resolve: Resolved) -> None:
    config = {"async_inference_config": {"output_config": {"s3_output_path": IT}}}
    found = allowed(resolve, {"endpoint_config": config}, url)
    assert found["WriteResults"]["Resource"] == ["arn:aws:s3:::results/a/*"]
