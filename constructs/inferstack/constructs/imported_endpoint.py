"""An endpoint that another stack, or something else altogether, has made."""

from collections.abc import Iterator, Sequence

from aws_cdk import ArnFormat, Stack
from constructs import Construct

from inferstack.constructs.interface import IInferenceEndpoint, known_component
from inferstack.constructs.measurement import imported_parts
from inferstack.spec.parts.measured import Measured
from inferstack.spec.placeholders import is_opaque


class ImportedEndpoint(IInferenceEndpoint):
    """An endpoint in the stack's account and region of which only names are known."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        endpoint_name: str,
        variant_names: Sequence[str],
        inference_components: Sequence[str],
    ) -> None:
        super().__init__(scope, construct_id)
        self._name = endpoint_name
        self._variant_names = tuple(variant_names)
        self._component_names = tuple(inference_components)

    @property
    def endpoint_name(self) -> str:
        """Name to invoke."""
        return self._name

    @property
    def endpoint_arn(self) -> str:
        """ARN of the endpoint. SageMaker writes names in ARNs in lower case."""
        return self._arn("endpoint", self._name)

    def inference_component_name(self, name: str) -> str:
        """The name, if it was given.

        Raises:
            ValueError: when it was not.
        """
        return known_component(name, self._component_names)

    def inference_component_arn(self, name: str) -> str:
        """ARN of an inference component.

        Raises:
            ValueError: when its name was not given.
        """
        return self._arn("inference-component", known_component(name, self._component_names))

    def _component_arns(self) -> Iterator[str]:
        return map(self.inference_component_arn, self._component_names)

    def _arn(self, resource: str, name: str) -> str:
        return Stack.of(self).format_arn(
            service="sagemaker",
            resource=resource,
            resource_name=name if is_opaque(name) else name.lower(),
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )

    def _measured(self) -> Sequence[Measured]:
        return tuple(imported_parts(self._name, self._variant_names, self._component_names))

    def _kind(self) -> None:
        return None
