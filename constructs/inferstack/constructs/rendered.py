"""The one way from plain CloudFormation data to CDK.

``CfnInclude`` turns a template into real L1 constructs in a single call to Node, so that tags, aspects,
tokens of other constructs and escape hatches work as in any CDK construct.
https://docs.aws.amazon.com/cdk/v2/guide/use-cfn-template.html
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar, cast

import aws_cdk as cdk
import jsii
import msgspec
from aws_cdk import Annotations, Aws, CfnResource, Stack
from constructs import Construct, IValidation, Node
from msgspec.structs import replace

from inferstack.catalog.resource_types import LOG_GROUP_TYPE
from inferstack.check.in_stack import filled_in, in_place, named_after, under_role, with_texts
from inferstack.check.load import LoadedSpec, ruled, structured
from inferstack.constructs.app_buckets import refuse_names_for_urls, with_keys_of_buckets
from inferstack.constructs.handles import arn_of, made_of
from inferstack.constructs.include import Include
from inferstack.constructs.names_taken import place_of
from inferstack.constructs.tokens import Tokens, tokens_of
from inferstack.format.kinds import NAMELESS, ModelSpec
from inferstack.problems import IN_PYTHON, SpecError
from inferstack.resolve.template import Template, refuse_too_large, template_of

if TYPE_CHECKING:
    from aws_cdk.aws_iam import IRole
    from aws_cdk.cloudformation_include import CfnInclude

L1 = TypeVar("L1", bound=CfnResource)
AnySpec = ModelSpec | LoadedSpec
"""A spec made in Python, or one that was read from a file and knows its lines."""


Given = ParamSpec("Given")
_BY_POSITION = ("self", "scope", "construct_id")


def spec_by_name(make: Callable[Given, None]) -> Callable[Given, None]:
    """For constructors: says what to write when the spec is passed by position; Python only counts arguments.

    Errors of a spec made in Python, which has no file that they could name, say which construct got it.
    """

    @wraps(make)
    def made(*given: Given.args, **named: Given.kwargs) -> None:
        name = type(given[0]).__name__
        if len(given) > len(_BY_POSITION):
            raise TypeError(f"{name} takes its spec by name: {name}(scope, {given[2]!r}, spec=…)")
        try:
            make(*given, **named)
        except SpecError as error:
            if any(it.file == IN_PYTHON for it in error.problems):
                construct_id = given[2] if len(given) > 2 else named.get("construct_id")
                error.add_note(f"in {name} {construct_id!r}")
            raise

    return made


class SpecInStack(NamedTuple):
    """A spec for its place in an app, and what is made of it."""

    loaded: LoadedSpec
    """With the tokens that the app gave: CDK knows them."""
    lasting: ModelSpec
    """What ``template`` is made of: with lasting tokens, so that ids are the same in every run."""
    template: Template
    tokens: Tokens


_SEVERAL_IDS = (
    "the construct is several resources, each with a logical id of its own; "
    "ask one of its L1s, such as `cfn_endpoint`, or of `cfn_alarms`"
)


class _NoLogicalId:
    """Refuses to answer: the id that CDK has for the construct belongs to none of its resources."""

    def __get__(self, instance: object, owner: type) -> "_NoLogicalId":
        if instance is None:
            return self
        raise AttributeError(_SEVERAL_IDS)


class Rendered(Include):
    """A construct whose children come out of a CloudFormation template, each under its logical id there.

    It is the CfnInclude itself, since a construct around it would take one more call to Node.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        made: SpecInStack,
        *,
        main_id: str | None,
        preserve_logical_ids: bool = False,
    ) -> None:
        # Only this is kept of what was read: the rest is far larger.
        self._spec, self._lasting, self._tokens = made.loaded.spec, made.lasting, made.tokens
        self._types = {logical_id: it["Type"] for logical_id, it in made.template["Resources"].items()}
        self._main_id = main_id
        # In as few bytes as possible: what is too large even so is too large for CloudFormation. CDK checks
        # the size of the whole stack.
        content = made.tokens.put_back(msgspec.json.encode(made.template))
        refuse_too_large(replace(made.loaded, spec=made.lasting), made.template, len(content))
        with _file(content) as name:
            super().__init__(
                scope, construct_id, template_file=name, preserve_logical_ids=preserve_logical_ids
            )
        if LOG_GROUP_TYPE in self._types.values():
            super().node.add_validation(_LogGroupsOnce(self))
        for warning in made.loaded.warnings:
            # The code is the id by which a user acknowledges the warning in CDK.
            Annotations.of(self).add_warning_v2(warning.code, warning.without_severity)
        for name in made.template.get("Mappings", ()):
            # CDK advises the user to leave out a mapping in which it sees no look-up by a token. It does not
            # count those of the template, which are functions, so here is one.
            cast("CfnInclude", self).get_mapping(name).find_in_map(Aws.REGION, "Account")

    if not TYPE_CHECKING:

        @cached_property
        def node(self) -> Node:
            """The place in the construct tree; its `default_child` is the L1 that the construct is about."""
            # Not a plain property: jsii would take that for an override, and Node would call back at every
            # access. Cached, as each of these steps is a round trip to Node. And hidden from type checkers,
            # for which it stays the property that every construct has.
            node = super().node
            if self._main_id is not None:
                node.default_child = self._l1(self._main_id)
            return node

    def override_logical_id(self, new_logical_id: str) -> None:
        """Always refused: each resource has a logical id of its own.

        Raises:
            TypeError: always. CDK would accept the id and give it to no resource.
        """
        raise TypeError(f"{_SEVERAL_IDS}, and give that {new_logical_id!r}")

    if not TYPE_CHECKING:
        # Hidden from type checkers, and no property, as `node`: CDK itself reads it from every element.
        logical_id = _NoLogicalId()

    def _made_as(self, logical_id: str) -> CfnResource | None:
        """The L1 that has this logical id in the spec's plain template; None where it is not made here."""
        return self.get_resource(logical_id) if logical_id in self._types else None

    def _l1(self, logical_id: str) -> CfnResource:
        return self.get_resource(logical_id)

    def _l1s(self, wanted: type[L1], beginning: str = "") -> tuple[L1, ...]:
        """All L1s of a type whose logical id begins so, in the order of the template."""
        name = _type_name(wanted)
        ids = (it for it, found in self._types.items() if found == name and it.startswith(beginning))
        return tuple(cast("L1", self._l1(it)) for it in ids)

    def _only_l1(self, wanted: type[L1], beginning: str = "") -> L1:
        """The only L1 of a type whose logical id begins so.

        Raises:
            ValueError: when the construct makes none.
        """
        fitting = self._l1s(wanted, beginning)
        if not fitting:
            raise ValueError(f"the spec of {self._spec.endpoint_name} makes no {_type_name(wanted)}")
        return fitting[0]


@jsii.implements(IValidation)
class _LogGroupsOnce:
    """Refuses log groups that the app makes, too: CloudFormation would, in the middle of the deployment.

    At synthesis, since the app may make them later.
    """

    def __init__(self, construct: Rendered) -> None:
        self._construct = construct

    @jsii.member(jsii_name="validate")
    def validate(self) -> list[str]:
        """What is wrong, for CDK to report."""
        own = {it.log_group_name: it for it in self._construct._l1s(cdk.aws_logs.CfnLogGroup)}
        paths = {it.node.path for it in own.values()}
        made = Stack.of(self._construct).node.find_all()
        return [
            f"the log group {it.log_group_name} is made by {it.node.path}, too; "
            "remove `log_groups` from the spec, or that one"
            for it in made
            if isinstance(it, cdk.aws_logs.CfnLogGroup)
            and it.log_group_name in own
            and it.node.path not in paths
        ]


def _type_name(l1: Any) -> str:
    # Every L1 class has this attribute; the class that they all derive from does not.
    return str(l1.CFN_RESOURCE_TYPE_NAME)


def spec_in_stack(
    scope: Construct, spec: AnySpec, role: "IRole | None" = None, *, makes: str | None = None
) -> SpecInStack:
    """The spec as it is in the scope's stack. ``role`` is the one that the app passes, ``makes`` the id of
    the construct that makes the endpoint.

    The rules are applied once, after all that the stack adds; a file's spec to which it adds nothing has
    already passed them.

    Raises:
        SpecError: when the spec has errors, in that account and region or anywhere.
        TypeError: when the role is something else, such as a text.
        ValueError: when the role's ARN is that of something else.
    """
    given = spec if isinstance(spec, LoadedSpec) else structured(spec)
    if given.spec.endpoint_name == NAMELESS:
        given = named_after(given, None if makes is None else f"{scope.node.path}/{makes}")
    if role is not None:
        given = under_role(given, arn_of(role), made_of(role))
    place = place_of(scope)
    given = in_place(given, place.account, place.region)
    refuse_names_for_urls(given)
    granted = with_keys_of_buckets(given)
    tokens = tokens_of(scope, granted.spec)
    known = filled_in(granted, tokens.texts)
    loaded = known if known is spec else ruled(known)
    lasting = with_texts(loaded.spec, tokens.lasting_tokens)
    template = template_of(replace(loaded, spec=lasting))
    return SpecInStack(replace(loaded, spec=given.spec), lasting, template, tokens)


@contextmanager
def _file(content: bytes) -> Iterator[str]:
    # CfnInclude accepts nothing but a file, which it reads at once.
    handle, name = tempfile.mkstemp(suffix=".json")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        yield name
    finally:
        Path(name).unlink()
