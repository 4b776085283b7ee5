"""Short ways to make CDK apps and stacks, and to see what they synthesize to."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import aws_cdk as cdk
import yaml
from constructs import IConstruct
from jsii._kernel.providers import process
from support.resolving import BASES, Template, merged

from inferstack.check.load import LoadedSpec, parse_spec
from inferstack.constructs import InferenceEndpoint


def spec(base: str, change: str | dict[str, Any] = "{}") -> LoadedSpec:
    """A base spec with a change merged in."""
    wanted = yaml.safe_load(change) if isinstance(change, str) else change
    return parse_spec(merged(yaml.safe_load(BASES[base]), wanted))


def stack(region: str | None = "us-east-1", name: str = "Stack") -> cdk.Stack:
    """A stack in an app of its own; its template contains only what a test puts into it."""
    synthesizer = cdk.DefaultStackSynthesizer(generate_bootstrap_version_rule=False)
    env = cdk.Environment(account="111122223333", region=region) if region else None
    return cdk.Stack(cdk.App(analytics_reporting=False), name, env=env, synthesizer=synthesizer)


def template(of: cdk.Stack) -> Template:
    """What a stack synthesizes to."""
    made: Template = cdk.App.of(of).synth().get_stack_by_name(of.stack_name).template
    return made


def endpoint(base: str, change: str | dict[str, Any] = "{}", **options: Any) -> InferenceEndpoint:
    """An endpoint in a stack of its own."""
    return InferenceEndpoint(stack(), "Net", spec=spec(base, change), **options)


def synthesised(of: IConstruct) -> Template:
    """The template of the stack that a construct is in."""
    return template(cdk.Stack.of(of))


@contextmanager
def crossings() -> Iterator[list[str]]:
    """Counts the requests to Node during the block."""
    asked: list[str] = []
    send = process._NodeProcess.send

    def counted(self: Any, request: Any, response_type: Any) -> Any:
        asked.append(type(request).__name__)
        return send(self, request, response_type)

    process._NodeProcess.send = counted
    try:
        yield asked
    finally:
        process._NodeProcess.send = send
