"""One endpoint, one stack."""

from aws_cdk import DefaultStackSynthesizer, Environment, IStackSynthesizer, Stack
from constructs import Construct

from inferstack.constructs import InferenceEndpoint
from inferstack.constructs.rendered import AnySpec
from inferstack.constructs.taken import know_place
from inferstack.resolve.template import description
from inferstack.spec.blocks.kinds import ModelSpec
from inferstack.spec.check import LoadedSpec, checked
from inferstack.spec.names_across_files import stack_name

_ANY_REGION = "${AWS::Region}"


class EndpointStack(Stack):
    """A stack that holds one endpoint and nothing else: its template is what `inferstack render` prints.

    The stack has the endpoint's name. Logical ids do not depend on ``construct_id``, so that a stack can move
    in the construct tree without replacing anything.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: AnySpec,
        env: Environment | None = None,
        synthesizer: IStackSynthesizer | None = None,
    ) -> None:
        """Makes the stack.

        Args:
            scope: the app or a stage of it.
            construct_id: name of the stack for the CDK CLI.
            spec: from a file or made in Python.
            env: account and region where the spec names none; without either the template works anywhere.
            synthesizer: how the stack is deployed; the default asks the bootstrap stack for roles and
                leaves the check of its version to the CDK CLI, so that the template has no parameter.

        Raises:
            SpecError: with every error of the spec, when it has any; or with each of its names that another
                stack of the app has taken, in the same account and region.
        """
        loaded = spec if isinstance(spec, LoadedSpec) else checked(spec)
        env, name = environment(loaded.spec, env), stack_name(loaded.spec.endpoint_name)
        super().__init__(
            scope,
            construct_id,
            env=env,
            stack_name=name,
            description=description(loaded.spec),
            analytics_reporting=False,
            synthesizer=_without_version_rule() if synthesizer is None else synthesizer,
        )
        know_place(self, scope, name, env)
        self.kind = loaded.spec.kind
        region = _ANY_REGION if env.region is None else env.region
        self.endpoint = InferenceEndpoint(
            self, "Endpoint", spec=loaded, region=region, preserve_logical_ids=True
        )


def environment(spec: ModelSpec, otherwise: Environment | None) -> Environment:
    """Where the stack goes: account and region as the spec names them, else those of ``otherwise``."""
    account, region = spec.account, spec.region
    if otherwise is not None:
        account = otherwise.account if account is None else account
        region = otherwise.region if region is None else region
    return Environment(account=account, region=region)


def _without_version_rule() -> DefaultStackSynthesizer:
    # One for each stack: those that share one share its list of assets, too, which grows with their square.
    return DefaultStackSynthesizer(generate_bootstrap_version_rule=False)
