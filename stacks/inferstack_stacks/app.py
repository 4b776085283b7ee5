"""The app: one stack for each spec in a folder.

It reads two keys of CDK's context, in cdk.json or from ``-c name=value``: `specs`, a folder or a file
(``specs_dir`` by default), and `stage`, the stage to make all specs for. A key that is almost one of these,
such as `stages=prod`, ends the process.
"""

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inferstack.catalog import regions
from inferstack.check.files import idle_stage, load_specs, warnings_of
from inferstack.check.load import LoadedSpec
from inferstack.cli.report import text
from inferstack.node_runtime import NodeMissingError, select_node
from inferstack.problems import SpecError
from inferstack.problems.words import slip_of
from inferstack.source.spec_file import relative_to_cwd

if TYPE_CHECKING:
    from aws_cdk import App, IReusableStackSynthesizer

# No traces of where in Node a construct was made: they do not show Python, and cost a tenth of synthesis.
_NO_CREATION_STACKS = "aws:cdk:disable-creation-stack-traces"
# Set by the CDK CLI for the app that it runs.
_OUTDIR = "CDK_OUTDIR"


def build_app(
    specs_dir: Path | str = "model_specs",
    *,
    context: Mapping[str, Any] | None = None,
    outdir: str | None = None,
    default_stack_synthesizer: "IReusableStackSynthesizer | None" = None,
) -> "App":
    """The app of all specs in a folder. Its output folder is made at once, as for any CDK app, and stays
    empty until ``synth()``.

    If specs have errors, all errors of all files are printed to standard error, one per line, and the process
    ends with status 1. It also ends if Node is missing, if the context or environment cannot be used, or if
    the output folder cannot be made.

    Args:
        specs_dir: folder, relative to the working directory, which under the CDK CLI is that of cdk.json.
        context: further CDK context; cdk.json and the command line take precedence.
        outdir: where ``synth()`` writes; by default what the CDK CLI says, and `cdk.out` without it.
        default_stack_synthesizer: how stacks are deployed, if not in the way that `cdk bootstrap` prepares.
    """
    try:
        select_node()
    except NodeMissingError as missing:
        sys.exit(str(missing))
    given = {} if context is None else context
    specs, stage = specs_and_stage(given)
    place = default_place()
    try:
        loaded = load_specs(specs_dir if specs is None else specs, stage=stage, region=place[1])
        if (warning := idle_stage([one.document.file for one in loaded], stage)) is not None:
            sys.stderr.write(f"warning: {warning}\n")
        app = _app_of(loaded, place, given, outdir, default_stack_synthesizer)
        if _OUTDIR not in os.environ:
            # The CDK CLI shows the constructs' warnings; without it, nothing else would.
            sys.stderr.write(text(tuple(warnings_of(loaded)), sys.stderr))
    except SpecError as error:
        sys.stderr.write(text(error.problems, sys.stderr, stage_by="-c stage=…"))
        sys.exit(1)
    return app


def _app_of(
    loaded: Sequence[LoadedSpec],
    place: tuple[str | None, str | None],
    context: Mapping[str, Any],
    outdir: str | None,
    synthesizer: "IReusableStackSynthesizer | None",
) -> "App":
    # Node starts here, after the specs were read: nobody has to wait for it to see what is wrong with them.
    from aws_cdk import App, Environment  # noqa: PLC0415

    from inferstack_stacks.endpoint_stack import stacks_of  # noqa: PLC0415

    app = App(
        outdir=str(_writable(Path(os.environ.get(_OUTDIR, "cdk.out") if outdir is None else outdir))),
        context={_NO_CREATION_STACKS: True, **context},
        default_stack_synthesizer=synthesizer,
        analytics_reporting=False,
        # Stack traces would name lines of JavaScript, never of Python.
        stack_traces=False,
        # An incomplete app must not be written; under the CLI, CDK would write it on exit by default.
        auto_synth=False,
    )
    account, region = place
    stacks_of(app, loaded, Environment(account=account, region=region))
    return app


def _writable(folder: Path) -> Path:
    """Makes the folder. Its path is absolute, since Node keeps the working directory that it was started in.

    CDK would create it, too, but would show a traceback from Node on failure.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = f"choose another by {_OUTDIR}, or `cdk synth -o DIR`"
        sys.exit(f"{relative_to_cwd(str(folder))}: the output folder cannot be made: {error.strerror}; {fix}")
    return folder.absolute()


# ---------------------------------------------------------------- CDK's context, before there is an app

# Set by the CDK CLI for the app that it runs: the context, and a file with whatever does not fit into that.
_CONTEXT = "CDK_CONTEXT_JSON"
_OVERFLOW = "CONTEXT_OVERFLOW_LOCATION_ENV"
# Account and region of the credentials; without credentials, the CLI sets neither.
_ACCOUNT, _REGION = "CDK_DEFAULT_ACCOUNT", "CDK_DEFAULT_REGION"

SPECS, STAGE = "specs", "stage"
"""The keys that the app reads from its context."""


def specs_and_stage(given: Mapping[str, Any] | None) -> tuple[str | None, str | None]:
    """The specs and the stage that the context chooses; None for a missing key.

    A key that is probably a misspelling of one of these ends the process: ignoring it would silently deploy
    the specs without it.
    """
    context = cdk_context(given)
    _refuse_slips(context)
    _refuse_data(context)
    specs, stage = (None if context.get(key) is None else str(context[key]) for key in (SPECS, STAGE))
    if specs == "":
        sys.exit(f"`-c {SPECS}=` does not name a folder; write `-c {SPECS}=DIR`, or leave it out")
    return specs, stage


def _refuse_slips(context: Mapping[str, Any]) -> None:
    for key, value in context.items():
        meant = None if key in (SPECS, STAGE) else slip_of(key, (SPECS, STAGE))
        # `-c` can only give text: anything else is an app's own data.
        if meant is not None and meant not in context and isinstance(value, str):
            own = f'if it is one of your own, say `"{meant}": null` in the context of cdk.json'
            sys.exit(f"the context has `{key}`: did you mean `-c {meant}={value}`? {own}")


def _refuse_data(context: Mapping[str, Any]) -> None:
    for key in (SPECS, STAGE):
        if isinstance(value := context.get(key), list | dict):
            sys.exit(f"the context has `{key}`: {json.dumps(value)}; write one text, as after `-c {key}=`")


def default_place() -> tuple[str | None, str | None]:
    """Account and region for specs that do not name them; None where the CDK CLI says nothing.

    A value that cannot be an account or region ends the process: it is not an error in any spec.
    """
    # A pipeline without a value for a variable sets it to an empty text.
    account, region = (os.environ.get(name, "").strip() or None for name in (_ACCOUNT, _REGION))
    if account is not None and re.fullmatch("[0-9]{12}", account) is None:
        sys.exit(f'{_ACCOUNT} is "{account}", which is not an account: 12 digits; correct or unset it')
    if region is not None and not regions.has_form(region):
        sys.exit(f'{_REGION} is "{region}", which is not an AWS region; correct or unset it')
    return account, region


def cdk_context(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The context of an `App` made with this one; cdk.json and the command line take precedence.

    An app cannot be asked before Node has started, and specs are read in the meantime.
    """
    context = dict({} if given is None else given)
    if text := os.environ.get(_CONTEXT):
        context |= _object(_CONTEXT, text)
    if file := os.environ.get(_OVERFLOW):
        context |= _object(_OVERFLOW, _content(Path(file)))
    return context


def _content(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        sys.exit(f"{file}: {error.strerror}; {_OVERFLOW} names a file of the CDK CLI's")


def _object(variable: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        sys.exit(f'{variable}: not a JSON object; the CDK CLI sets it to `{{"name": "value"}}`')
    return value
