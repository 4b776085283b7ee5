import pytest

from inferstack.catalog import regions


@pytest.mark.parametrize(
    ("region", "partition", "dns_suffix"),
    [
        ("us-east-1", "aws", "amazonaws.com"),
        ("cn-north-1", "aws-cn", "amazonaws.com.cn"),
        ("us-gov-west-1", "aws-us-gov", "amazonaws.com"),
        ("eusc-de-east-1", "aws-eusc", "amazonaws.eu"),
        ("us-iso-east-1", "aws-iso", "c2s.ic.gov"),
        # Too new to be known, but its form is enough.
        ("eu-south-9", "aws", "amazonaws.com"),
        ("cn-south-9", "aws-cn", "amazonaws.com.cn"),
    ],
)
def test_a_region_has_a_partition_and_a_dns_suffix(region: str, partition: str, dns_suffix: str) -> None:
    assert (regions.partition(region), regions.dns_suffix(region)) == (partition, dns_suffix)


@pytest.mark.parametrize("look_up", [regions.partition, regions.dns_suffix])
def test_a_name_without_a_regions_form_is_refused(look_up: object) -> None:
    assert callable(look_up)
    with pytest.raises(LookupError, match="'us-east'"):
        look_up("us-east")


@pytest.mark.parametrize(
    ("name", "known"), [("us-east-1", True), ("eu-south-9", False), ("aws-global", False)]
)
def test_only_known_regions_are_regions(name: str, known: bool) -> None:
    assert regions.is_region(name) is known
    assert (name in regions.names()) is known


@pytest.mark.parametrize(
    ("region", "supported"), [("us-east-1", True), ("us-west-1", False), ("eu-south-9", None), ("sam", None)]
)
def test_support_of_inference_components_is_known_unknown_or_absent(
    region: str, supported: bool | None
) -> None:
    assert regions.supports_inference_components(region) is supported
