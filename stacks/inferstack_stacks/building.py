"""Makes the app from specs, which are read before anything of CDK is needed."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inferstack.check.files import idle_stage, names_taken_twice, spec_files, stack_name, taken_names
from inferstack.check.load import LoadedSpec, load_spec
from inferstack.cli.report import text
from inferstack.format.kinds import ModelSpec
from inferstack.garbage_collection import without_collection
from inferstack.problems import Problem, SpecError
from inferstack.resolve.template import resolve_ahead
from inferstack.source.spec_file import relative_to_cwd
from inferstack_stacks.context import default_place, specs_and_stage

if TYPE_CHECKING:
    from aws_cdk import App, Environment, IReusableStackSynthesizer
    from constructs import Construct

    from inferstack_stacks.endpoint_stack import EndpointStack

# No traces of where in Node a construct was made: they do not show Python, and cost a tenth of synthesis.
_NO_CREATION_STACKS = "aws:cdk:disable-creation-stack-traces"
# Set by the CDK CLI for the app that it runs.
_OUTDIR = "CDK_OUTDIR"


def build(
    specs_dir: Path | str,
    context: Mapping[str, Any],
    outdir: str | None,
    synthesizer: "IReusableStackSynthesizer | None",
    starting: Callable[[], bool],
) -> "App":
    """The app of all specs in a folder, as :func:`inferstack_stacks.build_app` says, of which as much as
    possible is done while CDK is ``starting``.
    """
    specs, stage = specs_and_stage(context)
    account, region = default_place()
    with without_collection():
        try:
            loaded = _load_specs(specs_dir if specs is None else specs, stage, region)
            if (said := idle_stage([one.document.file for one in loaded], stage)) is not None:
                sys.stderr.write(f"warning: {said}\n")
            loaded = _resolved_while(starting, loaded)
            app = _app(context, outdir, synthesizer)
            _add_stacks(app, loaded, _or_else(account, region))
            if _OUTDIR not in os.environ:
                # The CDK CLI shows the constructs' warnings; without it, nothing else would.
                sys.stderr.write(text(tuple(_warnings(loaded))))
        except SpecError as error:
            sys.stderr.write(text(error.problems))
            sys.exit(1)
    return app


def add_stacks(
    scope: "Construct", specs_dir: Path | str = "model_specs", *, stage: str | None = None
) -> "tuple[EndpointStack, ...]":
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
    from aws_cdk import Stage  # noqa: PLC0415 - `build` reads specs before CDK is there

    around = scope if isinstance(scope, Stage) else Stage.of(scope)
    region = None if around is None else around.region
    with without_collection():
        return _add_stacks(scope, _load_specs(specs_dir, stage, region), lambda _: None)


def _resolved_while(starting: Callable[[], bool], loaded: Iterable[LoadedSpec]) -> tuple[LoadedSpec, ...]:
    """The specs, of which the first are resolved: as many as there is time for while CDK is starting."""
    return tuple(resolve_ahead(one) if starting() else one for one in loaded)


def _or_else(account: str | None, region: str | None) -> "Callable[[ModelSpec], Environment]":
    """Returns what says where a spec goes: the place that it names, else this account and region."""
    from aws_cdk import Environment  # noqa: PLC0415 - waits for Node

    from inferstack_stacks.endpoint_stack import environment  # noqa: PLC0415 - waits for Node

    return partial(environment, otherwise=Environment(account=account, region=region))


def _app(
    context: Mapping[str, Any], outdir: str | None, synthesizer: "IReusableStackSynthesizer | None"
) -> "App":
    from aws_cdk import App  # noqa: PLC0415 - waits for Node

    return App(
        outdir=str(_writable(Path(os.environ.get(_OUTDIR, "cdk.out") if outdir is None else outdir))),
        context={_NO_CREATION_STACKS: True, **context},
        default_stack_synthesizer=synthesizer,
        analytics_reporting=False,
        # Stack traces would name lines of JavaScript, never of Python.
        stack_traces=False,
        # An incomplete app must not be written; under the CLI, CDK would write it on exit by default.
        auto_synth=False,
    )


def _writable(folder: Path) -> Path:
    """Makes the folder. Its path is absolute, since Node keeps the working directory that it was started in.

    CDK would make it, too, but would show a traceback from Node if it cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = f"choose another by {_OUTDIR}, or `cdk synth -o DIR`"
        sys.exit(f"{relative_to_cwd(str(folder))}: the output folder cannot be made: {error.strerror}; {fix}")
    return folder.absolute()


def _load_specs(specs: Path | str, stage: str | None, region: str | None) -> tuple[LoadedSpec, ...]:
    """All specs of a folder, for one stage; ``region`` is for specs that name none.

    Raises:
        SpecError: with every problem of every file, when there is an error in any.
    """
    loaded: list[LoadedSpec] = []
    problems: list[Problem] = []
    for file in spec_files(specs):
        try:
            loaded.append(load_spec(relative_to_cwd(str(file)), stage=stage, region=region))
        except SpecError as error:
            problems += error.problems
    problems += names_taken_twice(map(taken_names, loaded))
    if problems:
        raise SpecError([*problems, *_warnings(loaded)])
    return tuple(loaded)


def _add_stacks(
    scope: "Construct", loaded: Sequence[LoadedSpec], place: Callable[[ModelSpec], "Environment | None"]
) -> "tuple[EndpointStack, ...]":
    from inferstack_stacks.endpoint_stack import EndpointStack  # noqa: PLC0415 - waits for Node

    names = Counter(stack_name(one.spec.endpoint_name) for one in loaded)
    made: list[EndpointStack] = []
    problems: list[Problem] = []
    for one in loaded:
        try:
            made.append(EndpointStack(scope, _stack_id(one, names), spec=one, env=place(one.spec)))
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError([*problems, *_warnings(loaded)])
    return tuple(made)


def _stack_id(one: LoadedSpec, names: Mapping[str, int]) -> str:
    """The stack's name, with account and region if several specs are for endpoints of the same name."""
    name = stack_name(one.spec.endpoint_name)
    if names[name] == 1:
        return name
    return "-".join(part for part in (name, one.spec.account, one.spec.region) if part is not None)


def _warnings(loaded: Sequence[LoadedSpec]) -> Iterator[Problem]:
    return (warning for one in loaded for warning in one.warnings)
