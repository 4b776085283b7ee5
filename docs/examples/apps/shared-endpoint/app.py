"""An inference component of our own, on the endpoint of another team."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from inferstack.constructs import InferenceComponents, InferenceEndpoint
from inferstack.spec import load_spec

app = cdk.App()
stack = cdk.Stack(app, "Summaries", env=cdk.Environment(region="us-east-1"))

shared = InferenceEndpoint.from_endpoint_name(
    stack, "Shared", "shared-gpus", inference_components=["summaries"]
)
InferenceComponents(stack, "Components", spec=load_spec("summaries.yaml"), endpoint=shared)

# Others may have components on the endpoint, too: the web application may invoke ours.
web = iam.Role(stack, "Web", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))
shared.grant_invoke(web)

app.synth()
