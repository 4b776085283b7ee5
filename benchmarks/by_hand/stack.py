"""One endpoint of the family as a stack of typed L1 constructs."""

from aws_cdk import (
    App,
    CfnOutput,
    DefaultStackSynthesizer,
    Environment,
    Fn,
    Stack,
    Tags,
    aws_sagemaker as sagemaker,
)

from benchmarks.by_hand import fleets, models
from benchmarks.by_hand.alarms import component_alarms, variant_alarms
from benchmarks.by_hand.components import Component, inference_component, output_id
from benchmarks.by_hand.dashboard import dashboard
from benchmarks.by_hand.role import execution_role
from benchmarks.by_hand.scaling import component_scaling, variant_scaling
from benchmarks.family import Endpoint

ACCOUNT, REGION = "111122223333", "us-east-1"
_TAGS = {"single-model": "search", "inference-components": "travel"}
_CONSOLE = "https://${AWS::Region}.console.aws.amazon.com/cloudwatch/home"


class HandWrittenStack(Stack):
    """Role, model or components, configuration, endpoint, scaling, alarms, dashboard, outputs."""

    def __init__(self, app: App, endpoint: Endpoint) -> None:
        super().__init__(
            app,
            endpoint.name,
            env=Environment(account=ACCOUNT, region=REGION),
            description=f"SageMaker endpoint {endpoint.name} ({endpoint.kind}), made by inferstack",
            analytics_reporting=False,
            synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
        )
        parts = _components(endpoint)
        role = execution_role(self, endpoint, parts)
        if parts:
            made, alarms = self._fleet_of_components(endpoint, role.attr_arn, parts)
        else:
            made, alarms = self._fleet_of_models(endpoint, role.attr_arn)
        user = "EndpointConfig" if parts else "Model"
        self.node.find_child(user).add_resource_dependency(self.node.find_child("ExecutionPolicy"))
        board = dashboard(self, endpoint, parts, alarms)
        self._outputs(made, parts)
        url = f"{_CONSOLE}?region=${{AWS::Region}}#dashboards/dashboard/${{{board.logical_id}}}"
        CfnOutput(self, "DashboardUrl", description="Dashboard of the endpoint", value=Fn.sub(url))
        if endpoint.kind in _TAGS:
            Tags.of(self).add("team", _TAGS[endpoint.kind])
            Tags.of(self).add("cost-center", "4711")

    def _fleet_of_models(self, endpoint: Endpoint, role_arn: str) -> tuple[sagemaker.CfnEndpoint, list[str]]:
        model = models.model(self, endpoint, role_arn)
        config = fleets.model_config(self, endpoint, model)
        made = fleets.endpoint(self, endpoint, config)
        variant_scaling(self, endpoint, made)
        return made, variant_alarms(self, endpoint)

    def _fleet_of_components(
        self, endpoint: Endpoint, role_arn: str, parts: tuple[Component, ...]
    ) -> tuple[sagemaker.CfnEndpoint, list[str]]:
        config = fleets.component_config(self, endpoint, role_arn)
        made = fleets.endpoint(self, endpoint, config)
        self._made = {part: inference_component(self, part, made) for part in parts}
        for part, resource in self._made.items():
            component_scaling(self, endpoint, part, resource)
        return made, component_alarms(self, endpoint, parts)

    def _outputs(self, made: sagemaker.CfnEndpoint, parts: tuple[Component, ...]) -> None:
        CfnOutput(self, "EndpointName", description="Name to invoke", value=made.attr_endpoint_name)
        CfnOutput(self, "EndpointArn", description="ARN of the endpoint", value=made.ref)
        for part in parts:
            CfnOutput(
                self,
                output_id(part),
                description="Name of an inference component to invoke",
                value=Fn.select(0, [part.name, self._made[part].ref]),
            )


def _components(endpoint: Endpoint) -> tuple[Component, ...]:
    if endpoint.kind != "inference-components":
        return ()
    return (
        Component(endpoint.name, f"{endpoint.name}-europe", is_split=True),
        Component(endpoint.name, f"{endpoint.name}-america", is_split=False),
    )
