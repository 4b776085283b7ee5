"""AWS Marketplace: the accounts with the model packages that a subscription gives access to.

They are from the ARNs and tables of aws/amazon-sagemaker-examples (aws_marketplace/*/src/*_arns.py) and of
tests/integ/marketplace_utils.py in aws/sagemaker-python-sdk. What SageMaker JumpStart sells is there, too.
"""

from collections.abc import Mapping
from types import MappingProxyType

ACCOUNTS: Mapping[str, str] = MappingProxyType(
    {
        "ap-east-1": "822005858737",
        "ap-northeast-1": "977537786026",
        "ap-northeast-2": "745090734665",
        "ap-south-1": "077584701553",
        "ap-southeast-1": "192199979996",
        "ap-southeast-2": "666831318237",
        "ca-central-1": "470592106596",
        "eu-central-1": "446921602837",
        "eu-north-1": "136758871317",
        "eu-west-1": "985815980388",
        "eu-west-2": "856760150666",
        "eu-west-3": "843114510376",
        "sa-east-1": "270155090741",
        "us-east-1": "865070037744",
        "us-east-2": "057799348421",
        "us-west-1": "382657785993",
        "us-west-2": "594846645681",
    }
)
"""By region; the accounts of other regions are not published."""
