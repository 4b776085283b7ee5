"""CDK's context, and its default account and region, as far as known before there is an app."""

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inferstack.catalog import regions
from inferstack.problems.words import slip_of

# Set by the CDK CLI for the app that it runs: the context, and a file with whatever does not fit into that.
_CONTEXT = "CDK_CONTEXT_JSON"
_OVERFLOW = "CONTEXT_OVERFLOW_LOCATION_ENV"
# Account and region of the credentials; without credentials, the CLI sets neither.
_ACCOUNT, _REGION = "CDK_DEFAULT_ACCOUNT", "CDK_DEFAULT_REGION"

SPECS, STAGE = "specs", "stage"
"""The keys that the app reads from its context."""


def specs_and_stage(given: Mapping[str, Any] | None) -> tuple[str | None, str | None]:
    """The specs and the stage that the context chooses; None for what it does not say.

    A key that is probably a misspelling of one of these ends the process: ignoring it would silently deploy
    the specs without it.
    """
    context = cdk_context(given)
    _refuse_slips(context)
    _refuse_data(context)
    specs, stage = (None if context.get(key) is None else str(context[key]) for key in (SPECS, STAGE))
    if specs == "":
        sys.exit(f"`-c {SPECS}=` names no folder; write `-c {SPECS}=DIR`, or leave it out")
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
            sys.exit(f"the context has `{key}`: {json.dumps(value)}; it is one text, as behind `-c {key}=`")


def default_place() -> tuple[str | None, str | None]:
    """Account and region for specs that name none; None where the CDK CLI says nothing.

    A value that cannot be an account or region ends the process: it is not an error in any spec.
    """
    # A pipeline without a value for a variable sets it to an empty text.
    account, region = (os.environ.get(name, "").strip() or None for name in (_ACCOUNT, _REGION))
    if account is not None and re.fullmatch("[0-9]{12}", account) is None:
        sys.exit(f'{_ACCOUNT} is "{account}", which is no account: it has 12 digits; name one, or unset it')
    if region is not None and not regions.has_form(region):
        sys.exit(f'{_REGION} is "{region}", which is no AWS region; name one, or unset it')
    return account, region


def cdk_context(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The context that an `App` made with this one has; cdk.json and the command line take precedence.

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
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        sys.exit(f'{variable}: no JSON object; the CDK CLI sets it to `{{"name": "value"}}`')
    return found
