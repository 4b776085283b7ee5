"""A team's own app: one stack with an endpoint of the classes, and everything that a CDK app can do with it."""

import aws_cdk as cdk
from aws_cdk import (
    aws_applicationautoscaling as scaling,
    aws_ec2 as ec2,
    aws_events_targets as targets,
    aws_iam as iam,
    aws_kms as kms,
    aws_s3 as s3,
    aws_s3_assets as assets,
    aws_sns as sns,
)

from inferstack.constructs import InferenceEndpoint, vpc_config
from inferstack.format import (
    Alarms,
    Autoscaling,
    CaptureOption,
    DataCaptureConfig,
    EndpointConfig,
    FrameworkImage,
    Model,
    ScalingPolicy,
    SingleModelSpec,
    Variant,
)

app = cdk.App()
stack = cdk.Stack(app, "Shop", env=cdk.Environment(region="us-east-1"))

isolated = ec2.SubnetConfiguration(name="Models", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)
vpc: ec2.IVpc = ec2.Vpc(stack, "Vpc", max_azs=2, subnet_configuration=[isolated])
gateway = vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
group: ec2.ISecurityGroup = ec2.SecurityGroup(stack, "Group", vpc=vpc)
key: kms.IKey = kms.Key(stack, "Key")
captured: s3.IBucket = s3.Bucket(stack, "Captured", encryption_key=key)
weights = assets.Asset(stack, "Weights", path="weights.tar.gz")
topic = sns.Topic(stack, "Oncall")
caller = iam.Role(stack, "Caller", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))

busy = ScalingPolicy(metric="CPUUtilization", target_value=140)
capture = DataCaptureConfig(
    capture_options=[CaptureOption(capture_mode="InputAndOutput")],
    destination_s3_uri=captured.s3_url_for_object("shop"),
    initial_sampling_percentage=10,
    kms_key_id=key.key_arn,
)
spec = SingleModelSpec(
    model=Model(
        image=FrameworkImage(framework="xgboost", version="1.7-1"),
        model_data_url=weights.s3_object_url,
        vpc_config=vpc_config(
            vpc,
            security_groups=[group],
            vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_ISOLATED),
        ),
    ),
    variant=Variant(instance_type="ml.m5.large", initial_instance_count=2),
    autoscaling=Autoscaling(min_capacity=2, max_capacity=6, policies=[busy]),
    endpoint_config=EndpointConfig(kms_key_id=key.key_arn, data_capture_config=capture),
    alarms=Alarms(actions=[topic.topic_arn]),
)
shop = InferenceEndpoint(stack, "Endpoint", spec=spec)
shop.node.add_dependency(gateway)

# What a spec cannot say.
scaling.TargetTrackingScalingPolicy(
    stack,
    "ByMemory",
    scaling_target=shop.scalable_target(),
    custom_metric=shop.metric("MemoryUtilization"),
    target_value=60,
)
shop.add_to_role_policy(iam.PolicyStatement(actions=["sqs:SendMessage"], resources=["*"]))
shop.on_state_change("Changed", target=targets.SnsTopic(topic))
shop.grant_invoke(caller)
shop.connections.allow_from_any_ipv4(ec2.Port.tcp(443))
shop.cfn_endpoint_config.add_property_override("ProductionVariants.0.RoutingConfig.RoutingStrategy", "RANDOM")

cdk.CfnOutput(stack, "EndpointName", value=shop.endpoint_name)
cdk.CfnOutput(stack, "RoleName", value=shop.execution_role.role_name)
app.synth()
