"""Specs in Python alone: an endpoint for each market, all of them alike."""

import aws_cdk as cdk

from inferstack.format import (
    Alarms,
    Autoscaling,
    FrameworkImage,
    Model,
    ScalingPolicy,
    SingleModelSpec,
    Variant,
)
from inferstack_stacks import EndpointStack

# What differs: how many instances a market has at least.
MARKETS = {"de": 2, "fr": 2, "us": 6}

# What does not.
IMAGE = FrameworkImage(framework="xgboost", version="1.7-1")
BUSY = ScalingPolicy(metric="SageMakerVariantInvocationsPerInstance", target_value=600)
ALARMS = Alarms(actions=("arn:aws:sns:us-east-1:111122223333:oncall",))

app = cdk.App()
for market, instances in MARKETS.items():
    spec = SingleModelSpec(
        endpoint_name=f"returns-{market}",
        model=Model(image=IMAGE, model_data_url=f"s3://acme-models/returns/{market}/model.tar.gz"),
        variant=Variant(instance_type="ml.m5.large", initial_instance_count=instances),
        autoscaling=Autoscaling(min_capacity=instances, max_capacity=4 * instances, policies=(BUSY,)),
        alarms=ALARMS,
    )
    EndpointStack(app, f"returns-{market}", spec=spec, env=cdk.Environment(region="us-east-1"))

app.synth()
