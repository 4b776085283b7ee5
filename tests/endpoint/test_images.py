"""The same image in another form: of any region, and of the region that is named."""

import pytest

from inferstack.endpoint.containers import is_same_image

OPEN = "….dkr.ecr.${AWS::Region}.${AWS::URLSuffix}/sagemaker-scikit-learn:1.2-1-cpu-py3"
HERE = "683313688378.dkr.ecr.us-east-1.amazonaws.com/sagemaker-scikit-learn:1.2-1-cpu-py3"
OWN = "111122223333.dkr.ecr.${AWS::Region}.amazonaws.com/net:1"
IN_CHINA = "111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn/net:1"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, None),
        (HERE, HERE),
        (OPEN, HERE),
        (HERE, "141502667606.dkr.ecr.eu-west-1.amazonaws.com/sagemaker-scikit-learn:1.2-1-cpu-py3"),
        (OWN, "111122223333.dkr.ecr.eu-west-1.amazonaws.com/net:1"),
        (OWN.replace("amazonaws.com", "${AWS::URLSuffix}"), IN_CHINA),
    ],
)
def test_an_image_is_the_same_where_its_region_is_filled_in(one: str | None, other: str | None) -> None:
    assert is_same_image(one, other)
    assert is_same_image(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (HERE, None),
        (OPEN, HERE.replace("1.2-1", "1.4-2")),
        (OPEN, HERE.replace("scikit-learn", "xgboost")),
        # Another account may have anything under the name.
        (OPEN, HERE.replace("683313688378", "444455556666")),
        # The account of another region.
        (OPEN, HERE.replace("us-east-1", "eu-west-1")),
        (OWN, "444455556666.dkr.ecr.us-east-1.amazonaws.com/net:1"),
        (OWN, IN_CHINA),
        # Whose account it is, only the deployment knows.
        (
            OWN.replace("111122223333", "${AWS::AccountId}"),
            "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1",
        ),
        (
            "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1",
            "111122223333.dkr.ecr.eu-west-1.amazonaws.com/net:1",
        ),
        (OWN, "registry.example.com/net:1"),
        (OWN, OPEN),
    ],
)
def test_another_image_is_another_image(one: str | None, other: str | None) -> None:
    assert not is_same_image(one, other)
    assert not is_same_image(other, one)
