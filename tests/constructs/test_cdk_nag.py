import aws_cdk as cdk
import pytest
from cdk_nag import AwsSolutionsChecks, NIST80053R5Checks
from support.cdk import endpoint

KEY = "endpoint_config: {kms_key_id: 'arn:aws:kms:us-east-1:111122223333:key/1234abcd'}"


def findings(change: str) -> str:
    made = endpoint("single", change, preserve_logical_ids=True)
    app = cdk.App.of(made)
    cdk.Validations.of(app).add_plugins(NIST80053R5Checks(app), AwsSolutionsChecks(app))
    with pytest.raises(RuntimeError) as raised:
        app.synth()
    return str(raised.value)


def test_cdk_nag_sees_l1_constructs_and_their_properties():
    without, having = findings("{}"), findings(KEY)
    assert "Stack/Net/EndpointConfig aws-cdk-lib.aws_sagemaker.CfnEndpointConfig" in without
    assert "SageMakerEndpointConfigurationKMSKeyConfigured" in without
    assert "SageMakerEndpointConfigurationKMSKeyConfigured" not in having
    assert "AwsSolutions-IAM5[Resource::*]" in having
