"""An image in Amazon ECR is the same image under each of its addresses, for all code that looks at it."""

import pytest
import yaml
from support.resolving import BASES, merged

from inferstack.catalog.images import EcrImage, architectures, ecr_image, region_of_images
from inferstack.check.load import parse_spec
from inferstack.facts.triton import is_triton, shows_triton
from inferstack.problems import SpecError
from inferstack.resolve.images import ecr_repository_arn

HOSTS = (
    "763104351884.dkr.ecr.us-west-2.amazonaws.com",
    "763104351884.dkr.ecr-fips.us-west-2.amazonaws.com",
    "763104351884.dkr-ecr.us-west-2.on.aws",
    "763104351884.dkr-ecr-fips.us-west-2.on.aws",
)


def codes(uri: str, region: str) -> set[str]:
    change = {"model": {"image": uri}, "env": {"region": region}}
    try:
        return {it.code for it in parse_spec(merged(yaml.safe_load(BASES["single"]), change)).warnings}
    except SpecError as error:
        return {it.code for it in error.problems}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("tag", ["", ":1.13.1-cpu", "@sha256:abcdef"])
def test_every_address_of_a_repository_is_known(host: str, tag: str) -> None:
    uri = f"{host}/pytorch-inference-graviton{tag}"
    assert ecr_image(uri) == EcrImage("763104351884", "us-west-2", "pytorch-inference-graviton")
    arn = "arn:${AWS::Partition}:ecr:us-west-2:763104351884:repository/pytorch-inference-graviton"
    assert ecr_repository_arn(uri) == arn
    assert architectures(uri) == {"arm64"}
    assert region_of_images(f'{{"Image": "{uri}"}}') == "us-west-2"
    assert {"IS247", "IS702"} & codes(uri, "us-west-2") == set()
    assert {"IS247", "IS702"} & codes(uri, "eu-west-1") == {"IS702"}


@pytest.mark.parametrize(
    "uri",
    [
        "${AWS::AccountId}.dkr.ecr.${AWS::Region}.${AWS::URLSuffix}/net:1",
        "111122223333.dkr.ecr.${AWS::Region}.amazonaws.com/net:1",
    ],
)
def test_an_image_that_follows_the_stack_is_where_the_stack_is(uri: str) -> None:
    assert {"IS247", "IS702"} & codes(uri, "eu-west-1") == set()


@pytest.mark.parametrize("uri", ["nginx", "docker.io/library/nginx:1", "public.ecr.aws/acme/net:1"])
def test_an_image_of_another_registry_is_none_in_ecr(uri: str) -> None:
    assert ecr_image(uri) is None
    assert "IS247" in codes(uri, "us-east-1")


def test_a_registry_called_triton_serves_other_images_too() -> None:
    assert not is_triton("tritonserver.acme.com/bert:1")
    assert not shows_triton("triton.acme.com/bert:1")
    assert is_triton("registry.acme.com/nvidia/tritonserver:25.09-py3")
    assert shows_triton("registry.acme.com/serving:triton-25.09")
