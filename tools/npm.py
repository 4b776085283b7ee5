"""npm and npx of the Node that the project uses, even on machines that have none of their own.

``python -m tools.npm ci`` installs the CDK CLI that package.json pins.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from inferstack.node_runtime import VARIABLE, select_node


def node() -> str:
    """The path of Node: from the `node` extra if that is installed, else the machine's."""
    environment = dict(os.environ)
    select_node(environment)
    found = shutil.which("node") if VARIABLE not in environment else environment[VARIABLE]
    return str(found)


def command(program: str) -> list[str]:
    """How to run ``npm`` or ``npx``: with this Node, or as installed on the machine."""
    bundled = Path(node()).parents[1] / "lib" / "node_modules" / "npm" / "bin" / f"{program}-cli.js"
    return [node(), str(bundled)] if bundled.is_file() else [program]


if __name__ == "__main__":
    path = f"{Path(node()).parent}{os.pathsep}{os.environ['PATH']}"
    sys.exit(subprocess.call([*command("npm"), *sys.argv[1:]], env={**os.environ, "PATH": path}))
