"""A Lambda function that asks an endpoint."""

import aws_cdk as cdk
from aws_cdk import aws_lambda

from inferstack.constructs import InferenceEndpoint
from inferstack.spec import load_spec

app = cdk.App()
stack = cdk.Stack(app, "Leads", env=cdk.Environment(region="us-east-1"))
leads = InferenceEndpoint(stack, "Endpoint", spec=load_spec("leads.yaml"))

score = aws_lambda.Function(
    stack,
    "Score",
    runtime=aws_lambda.Runtime.PYTHON_3_13,
    code=aws_lambda.Code.from_asset("function"),
    handler="score.handler",
    timeout=cdk.Duration.seconds(30),
    environment={"ENDPOINT_NAME": leads.endpoint_name},
)
leads.grant_invoke(score)

app.synth()
