"""An endpoint in another stack's VPC, with that stack's bucket and key."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2, aws_kms as kms, aws_s3 as s3
from constructs import Construct

from inferstack.constructs import InferenceEndpoint, vpc_config
from inferstack.spec import load_spec


class Platform(cdk.Stack):
    """What the platform team provides."""

    def __init__(self, scope: Construct, construct_id: str, *, env: cdk.Environment) -> None:
        super().__init__(scope, construct_id, env=env)
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            max_azs=2,
            subnet_configuration=[
                ec2.SubnetConfiguration(name="Models", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)
            ],
        )
        # There is no way to the internet, and none is needed: only the weights have to come in.
        self.vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
        self.key = kms.Key(self, "Key", enable_key_rotation=True)
        self.weights = s3.Bucket(self, "Weights", encryption_key=self.key, enforce_ssl=True)


class Propensity(cdk.Stack):
    """The endpoint: its spec says what it is, the app says where."""

    def __init__(
        self, scope: Construct, construct_id: str, *, platform: Platform, env: cdk.Environment
    ) -> None:
        super().__init__(scope, construct_id, env=env)
        group = ec2.SecurityGroup(self, "Group", vpc=platform.vpc)
        spec = load_spec(
            "propensity.yaml",
            overrides={
                "model": {
                    "model_data_url": platform.weights.s3_url_for_object("propensity/model.tar.gz"),
                    "vpc_config": vpc_config(platform.vpc, security_groups=[group]),
                },
                "endpoint_config": {"kms_key_id": platform.key.key_arn},
            },
        )
        InferenceEndpoint(self, "Endpoint", spec=spec)


app = cdk.App()
env = cdk.Environment(region="us-east-1")
platform = Platform(app, "Platform", env=env)
Propensity(app, "Propensity", platform=platform, env=env)
app.synth()
