"""The app: one stack for each spec in a folder.

It reads two keys of CDK's context, in cdk.json or from ``-c name=value``: `specs`, a folder or a file
(``specs_dir`` by default), and `stage`, the stage to make all specs for. A key that is nearly one of these,
such as `stages=prod`, ends the process.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inferstack.node_runtime import NodeMissingError, select_node
from inferstack_stacks.cdk_import import cdk_import_beside

if TYPE_CHECKING:
    from aws_cdk import App, IReusableStackSynthesizer


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
    with cdk_import_beside() as starting:
        from inferstack_stacks.building import build  # noqa: PLC0415 - meanwhile, too

        given = {} if context is None else context
        return build(specs_dir, given, outdir, default_stack_synthesizer, starting)
