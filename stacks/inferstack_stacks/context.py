"""CDK's context, known before there is an app."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Set by the CDK CLI for the app that it runs: the context, and a file with what the first could not hold.
_CONTEXT = "CDK_CONTEXT_JSON"
_OVERFLOW = "CONTEXT_OVERFLOW_LOCATION_ENV"


def cdk_context(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """What `App` with this context answers; that of cdk.json and of the command line wins.

    An app cannot be asked before Node has started, and specs are read meanwhile.
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
