"""API Gateway in front of an endpoint, without a function in between."""

import aws_cdk as cdk
from aws_cdk import aws_apigateway as apigateway

from inferstack.constructs import InferenceEndpoint
from inferstack.spec import load_spec

app = cdk.App()
stack = cdk.Stack(app, "Quotes", env=cdk.Environment(region="us-east-1"))
quotes = InferenceEndpoint(stack, "Endpoint", spec=load_spec("quotes.yaml"))

invoke = apigateway.SagemakerIntegration(
    quotes,
    request_parameters={"integration.request.header.Content-Type": "method.request.header.Content-Type"},
    integration_responses=[
        apigateway.IntegrationResponse(status_code="200", selection_pattern="200"),
        apigateway.IntegrationResponse(status_code="400", selection_pattern="400"),
        apigateway.IntegrationResponse(status_code="502"),  # for every other answer
    ],
)

api = apigateway.RestApi(stack, "Api", cloud_watch_role=False)
api.root.add_resource("quotes").add_method(
    "POST",
    invoke,
    authorization_type=apigateway.AuthorizationType.IAM,
    request_parameters={"method.request.header.Content-Type": True},
    method_responses=[apigateway.MethodResponse(status_code=code) for code in ("400", "502")],
)

app.synth()
