"""What can be done with any endpoint, of this app or not."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property
from typing import cast

import aws_cdk as cdk
import jsii

from inferstack.constructs.cdk_interfaces import OfSageMaker
from inferstack.constructs.invoking import Invokable
from inferstack.constructs.tokens import for_cdk
from inferstack.problems.words import did_you_mean_then, listed


@jsii.implements(OfSageMaker)
class IInferenceEndpoint(Invokable, metaclass=jsii.JSIIAbstractClass):
    """An inference endpoint, whether this app makes it or not."""

    @property
    @abstractmethod
    def endpoint_name(self) -> str:
        """Name to invoke."""

    @property
    @abstractmethod
    def endpoint_arn(self) -> str:
        """ARN of the endpoint."""

    @property
    def endpoint_ref(self) -> cdk.interfaces.aws_sagemaker.EndpointReference:
        """A reference to the endpoint, for CDK's own constructs."""
        return cdk.interfaces.aws_sagemaker.EndpointReference(endpoint_arn=self.endpoint_arn)

    @abstractmethod
    def inference_component_name(self, name: str) -> str:
        """Name to invoke an inference component by."""

    @abstractmethod
    def inference_component_arn(self, name: str) -> str:
        """ARN of an inference component."""

    @property
    def stack(self) -> cdk.Stack:
        """The stack that the construct is in."""
        return cdk.Stack.of(self)

    @property
    def env(self) -> cdk.interfaces.ResourceEnvironment:
        """Account and region of the endpoint; tokens where only the deployment knows them."""
        return self._env

    @cached_property
    def _env(self) -> cdk.interfaces.ResourceEnvironment:
        # Each is a round trip to Node.
        stack = cdk.Stack.of(self)
        return cdk.interfaces.ResourceEnvironment(account=stack.account, region=stack.region)

    def apply_removal_policy(self, policy: cdk.RemovalPolicy) -> None:
        """What becomes of the endpoint when it leaves its stack: of its main resource, as with CDK's own.

        Raises:
            ValueError: when the app only imports the endpoint.
        """
        main = self.node.default_child
        if main is None:
            raise ValueError(f"the app does not make the endpoint {self.endpoint_name}, and cannot keep it")
        cast("cdk.CfnResource", main).apply_removal_policy(policy)

    def on_state_change(
        self,
        construct_id: str,
        *,
        target: cdk.aws_events.IRuleTarget | None = None,
        description: str | None = None,
        event_pattern: cdk.aws_events.EventPattern | None = None,
        rule_name: str | None = None,
    ) -> cdk.aws_events.Rule:
        """A rule for the event that SageMaker sends when the endpoint is created, updated, has failed or is
        deleted. ``event_pattern`` narrows it, for instance to a status: `{"EndpointStatus": ["FAILED"]}` as
        its `detail`.

        https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
        """
        targets = [] if target is None else [target]
        rule = cdk.aws_events.Rule(
            self,
            construct_id,
            description=description,
            event_pattern=event_pattern,
            rule_name=rule_name,
            targets=targets,
        )
        # Not the name that the endpoint has once it is there: the rule also sees how it comes to be.
        rule.add_event_pattern(
            source=["aws.sagemaker"],
            detail_type=["SageMaker Endpoint State Change"],
            detail={"EndpointName": [for_cdk(self._known_name())]},
        )
        return rule


def known_component(name: str, known: Iterable[str]) -> str:
    """``name``, where the endpoint has an inference component of that name.

    Raises:
        ValueError: when it has none.
    """
    names = list(known)
    if name not in names:
        rest = f"it has {listed(names, last='and')}" if names else "it has none"
        hint = did_you_mean_then(name, names, rest)
        raise ValueError(f"the endpoint has no inference component `{name}`; {hint}")
    return name
