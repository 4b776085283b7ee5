"""An endpoint that another stack, or something else altogether, created."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

import aws_cdk as cdk
from constructs import Construct

from inferstack.constructs.interface import IInferenceEndpoint, known_component
from inferstack.constructs.metrics import imported_parts
from inferstack.facts.publications import Publisher
from inferstack.format.kinds import HOSTING_NAME, LONGEST_HOSTING_NAME
from inferstack.texts.placeholders import is_opaque, is_settled

_ENDPOINT_ARN = re.compile(r"arn:[^:]+:sagemaker:[^:]+:[^:]+:endpoint/[^/]+")


class ImportedEndpoint(IInferenceEndpoint):
    """An endpoint known by name and perhaps by ARN; without one, its account and region are its stack's."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        endpoint_name: str | None,
        endpoint_arn: str | None,
        variant_names: Sequence[str],
        inference_components: Sequence[str],
    ) -> None:
        if endpoint_name is None and endpoint_arn is None:
            raise ValueError(f"the endpoint `{construct_id}` needs its name or its ARN")
        if endpoint_name is not None:
            _refuse_no_name("endpoint_name", endpoint_name, "pass it to `from_endpoint_arn`")
        if endpoint_name is not None and endpoint_arn is not None:
            _refuse_other_name(endpoint_arn, endpoint_name)
        variants = _names("variant_names", variant_names)
        components = _names("inference_components", inference_components)
        super().__init__(scope, construct_id)
        self._given_arn = endpoint_arn
        self._name = self._components.resource_name or "" if endpoint_name is None else endpoint_name
        self._variant_names = variants
        self._component_names = components

    @property
    def endpoint_name(self) -> str:
        """Name to invoke."""
        return self._name

    @property
    def endpoint_arn(self) -> str:
        """ARN of the endpoint. SageMaker writes names in ARNs in lower case."""
        return self._arn("endpoint", self._name) if self._given_arn is None else self._given_arn

    @cached_property
    def _env(self) -> cdk.interfaces.ResourceEnvironment:
        if self._given_arn is None:
            return super()._env
        account, region = self._components.account, self._components.region
        return cdk.interfaces.ResourceEnvironment(account=account or "", region=region or "")

    @cached_property
    def _components(self) -> cdk.ArnComponents:
        """The fields of the ARN, where one is given.

        Raises:
            ValueError: when it is the ARN of something else.
        """
        arn = "" if self._given_arn is None else self._given_arn
        if not is_opaque(arn) and _ENDPOINT_ARN.fullmatch(arn) is None:
            form = "arn:aws:sagemaker:us-east-1:111122223333:endpoint/name"
            raise ValueError(f'"{arn}" is not the ARN of an endpoint, such as {form}')
        return cdk.Stack.of(self).split_arn(arn, cdk.ArnFormat.SLASH_RESOURCE_NAME)

    def inference_component_name(self, name: str) -> str:
        """Name to invoke an inference component by: ``name`` itself, which is only checked.

        Raises:
            ValueError: when it is not one of the names that were given.
        """
        return known_component(name, self._component_names)

    def inference_component_arn(self, name: str) -> str:
        """ARN of an inference component.

        Raises:
            ValueError: when ``name`` is not one of the names that were given.
        """
        return self._arn("inference-component", known_component(name, self._component_names))

    def _component_arns(self) -> Iterator[str]:
        return map(self.inference_component_arn, self._component_names)

    def _arn(self, resource: str, name: str) -> str:
        return cdk.Stack.of(self).format_arn(
            account=self.env.account,
            region=self.env.region,
            partition=None if self._given_arn is None else self._components.partition,
            service="sagemaker",
            resource=resource,
            resource_name=name if is_opaque(name) else name.lower(),
            arn_format=cdk.ArnFormat.SLASH_RESOURCE_NAME,
        )

    def _known_name(self) -> str:
        return self._name

    def _publishers(self) -> Sequence[Publisher]:
        return tuple(imported_parts(self._name, self._variant_names, self._component_names))

    def _hosting(self) -> None:
        return None


def _names(option: str, given: Sequence[str]) -> tuple[str, ...]:
    # A text is itself a sequence of texts, so that type checkers accept it.
    if isinstance(given, str):
        raise TypeError(f"`{option}` is the text {given!r}; write a list: `[{given!r}]`")
    for name in given:
        _refuse_no_name(option, name, f'write "{name.rpartition("/")[2]}"')
    return tuple(given)


def _refuse_no_name(option: str, name: str, instead_of_arn: str) -> None:
    if not is_settled(name) or (len(name) <= LONGEST_HOSTING_NAME and re.fullmatch(HOSTING_NAME, name)):
        return
    if name.startswith("arn:"):
        raise ValueError(f'`{option}` has the ARN "{name}", but takes a name; {instead_of_arn}')
    form = f"1 to {LONGEST_HOSTING_NAME} letters, digits and hyphens, with a letter or digit at both ends"
    raise ValueError(f'`{option}` has "{name}", which is not a valid name; write {form}')


def _refuse_other_name(arn: str, name: str) -> None:
    """Refuses an ARN and a name of two endpoints: metrics would be for one, grants for the other."""
    in_arn = arn.rpartition("/")[2]
    if is_settled(in_arn) and is_settled(name) and in_arn.lower() != name.lower():
        raise ValueError(f'the ARN "{arn}" is not that of the endpoint `{name}`; pass both of one endpoint')
