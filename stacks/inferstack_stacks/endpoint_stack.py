"""One endpoint, one stack; and the stacks of several specs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from aws_cdk import (
    App,
    DefaultStackSynthesizer,
    Environment,
    IPropertyInjector,
    IStackSynthesizer,
    PermissionsBoundary,
    Stack,
    Stage,
)
from constructs import Construct

from inferstack.check.files import load_specs, warnings_of
from inferstack.check.in_stack import in_place, named_after
from inferstack.check.load import LoadedSpec, ruled, structured
from inferstack.check.stack_names import stack_ids, stack_name, stack_of
from inferstack.constructs import InferenceEndpoint
from inferstack.constructs.names_taken import know_place, notes_on, settled
from inferstack.constructs.rendered import AnySpec, spec_by_name
from inferstack.format.kinds import NAMELESS, ModelSpec
from inferstack.problems import Problem, SpecError
from inferstack.resolve.template import description
from inferstack.texts.placeholders import is_opaque

if TYPE_CHECKING:
    from aws_cdk.aws_iam import IRole, Role

# The end of the context key under which CDK keeps an app's synthesizer; no property has it.
_SYNTHESIZER_OF_THE_APP = ":core/defaultStackSynthesizer"


class StackOptions(TypedDict, total=False):
    """The other options of CDK's stacks.

    https://docs.aws.amazon.com/cdk/api/v2/python/aws_cdk/StackProps.html
    """

    termination_protection: bool
    """Whether deleting the stack is refused."""
    tags: Mapping[str, str]
    """Tags of the stack and of all in it."""
    cross_region_references: bool
    """Whether stacks in other regions may refer to this one."""
    permissions_boundary: PermissionsBoundary
    """The boundary of every role in the stack."""
    notification_arns: Sequence[str]
    """SNS topics that receive the stack's events."""
    stack_name: str
    """Another name than the endpoint's."""
    description: str
    """Another description than the spec's."""
    suppress_template_indentation: bool
    """Whether the template is written without indentation."""
    property_injectors: Sequence[IPropertyInjector]
    """Change the properties of constructs that the app adds; resources of the spec stay as the spec says."""
    analytics_reporting: bool
    """Whether the template reports to AWS which constructs it is made of; it does not when absent."""


class EndpointStack(Stack):
    """A stack that holds one endpoint and nothing else: its template is what `inferstack render` prints.

    The stack has the endpoint's name. Logical ids do not depend on ``construct_id``, so that a stack can move
    in the construct tree without replacing anything. ``endpoint`` is the
    :class:`~inferstack.constructs.InferenceEndpoint`, ``kind`` the spec's `kind`.
    """

    @spec_by_name
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: AnySpec,
        role: "IRole | Role | None" = None,
        env: Environment | dict[str, Any] | None = None,
        synthesizer: IStackSynthesizer | None = None,
        **options: Unpack[StackOptions],
    ) -> None:
        """Makes the stack.

        Args:
            scope: the app or a stage of it.
            construct_id: name of the stack for the CDK CLI.
            spec: from a file or made in Python.
            role: from another stack or from outside the app, as for
                :class:`inferstack.constructs.InferenceEndpoint`.
            env: account and region, for a spec that names none; by default those of a stage around the stack.
                If nothing names them, the template works anywhere. Like CDK's stacks, it takes a dict, too.
            synthesizer: how the stack is deployed; by default the app's own. Where the app has none either,
                CDK's default one: it uses the roles of the bootstrap stack, and leaves checking that stack's
                version to the CDK CLI, so that the template has no parameter.
            **options: of CDK's stack, such as ``termination_protection``.

        Raises:
            SpecError: with all errors, when the spec has any; when it names another account or region than
                ``env`` or the stage; or when another stack of the app has taken some of its names, in the
                same account and region.
            TypeError: when ``role`` is not a role.
            ValueError: when ``role`` has an ARN that is not a role's; or when only the deployment knows the
                endpoint's name, and there is no ``stack_name``.
        """
        loaded = spec if isinstance(spec, LoadedSpec) else structured(spec)
        if loaded.spec.endpoint_name == NAMELESS:
            spec = loaded = ruled(named_after(loaded, f"{scope.node.path}/{construct_id}"))
        env = _place(loaded, scope, Environment(**env) if isinstance(env, dict) else env)
        name = options["stack_name"] = _name(options, loaded.spec.endpoint_name)
        options.setdefault("description", description(loaded.spec))
        options.setdefault("analytics_reporting", False)
        if synthesizer is None and not _has_synthesizer(scope):
            synthesizer = _without_version_rule()
        super().__init__(scope, construct_id, env=env, synthesizer=synthesizer, **options)
        know_place(self, scope, name, env)
        self.kind = loaded.spec.kind
        self.endpoint = _endpoint_in(self, scope, construct_id, spec, role)


def _endpoint_in(
    stack: Stack, scope: Construct, construct_id: str, spec: AnySpec, role: "IRole | Role | None"
) -> InferenceEndpoint:
    try:
        return InferenceEndpoint(stack, "Endpoint", spec=spec, role=role, preserve_logical_ids=True)
    except SpecError:
        # An app that goes on does so without a stack that has nothing in it.
        scope.node.try_remove_child(construct_id)
        raise


def _place(loaded: LoadedSpec, scope: Construct, env: Environment | None) -> Environment:
    """Where the stack goes, from ``env``, a stage or the spec, which may not contradict one another."""
    account, region = (None, None) if env is None else (env.account, env.region)
    # Most stacks are directly in an app, which is a stage without account and region.
    stage = scope if isinstance(scope, Stage) else Stage.of(scope)
    if stage is not None and not isinstance(stage, App):
        account = stage.account if account is None else account
        region = stage.region if region is None else region
    in_place(loaded, settled(account), settled(region))
    return _environment(loaded.spec, Environment(account=account, region=region))


def _name(options: StackOptions, endpoint_name: str) -> str:
    """The stack's name: the app's own, or else the endpoint's."""
    if "stack_name" in options:
        return options["stack_name"]
    if is_opaque(endpoint_name):
        raise ValueError(
            "only the deployment knows the endpoint's name, but a stack needs one first: pass `stack_name=`"
        )
    return stack_name(endpoint_name)


def _has_synthesizer(scope: Construct) -> bool:
    notes = notes_on(scope)
    if notes.has_synthesizer is None:
        # This includes the context of all constructs above.
        context = scope.node.get_all_context()
        notes.has_synthesizer = any(key.endswith(_SYNTHESIZER_OF_THE_APP) for key in context)
    return notes.has_synthesizer


def _environment(spec: ModelSpec, otherwise: Environment) -> Environment:
    """Account and region as the spec names them, else those of ``otherwise``."""
    return Environment(
        account=otherwise.account if spec.account is None else spec.account,
        region=otherwise.region if spec.region is None else spec.region,
    )


def _without_version_rule() -> DefaultStackSynthesizer:
    # One for each stack: stacks that share one also share its list of assets, and then all their lists
    # together grow with the square of their number.
    return DefaultStackSynthesizer(generate_bootstrap_version_rule=False)


# ---------------------------------------------------------------- the stacks of several specs


def add_stacks(
    scope: Construct, specs_dir: Path | str = "model_specs", *, stage: str | None = None
) -> tuple[EndpointStack, ...]:
    """Makes a stack for each spec in a folder, in an app or a ``Stage`` that may have other stacks, too.

    Account and region are those of the ``Stage``, else those of the spec.

    Args:
        scope: the app, or a ``Stage`` of it.
        specs_dir: folder or file, relative to the working directory.
        stage: the stage of the specs that stacks are made for; without it, the specs apply without a stage.

    Raises:
        SpecError: with all errors of all files, if there are any. A spec that names another account or region
            than the ``Stage`` has an error.
    """
    around = scope if isinstance(scope, Stage) else Stage.of(scope)
    region = None if around is None else around.region
    return stacks_of(scope, load_specs(specs_dir, stage=stage, region=region))


def stacks_of(
    scope: Construct, loaded: Sequence[LoadedSpec], otherwise: Environment | None = None
) -> tuple[EndpointStack, ...]:
    """A stack for each of some specs. ``otherwise`` is the account and region for specs that name none.

    Raises:
        SpecError: with the errors of all of them, if there are any.
    """
    made: list[EndpointStack] = []
    problems: list[Problem] = []
    for one, stack_id in zip(loaded, stack_ids([*map(stack_of, loaded)]), strict=True):
        env = None if otherwise is None else _environment(one.spec, otherwise)
        try:
            made.append(EndpointStack(scope, stack_id, spec=one, env=env))
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError([*problems, *warnings_of(loaded)])
    return tuple(made)
