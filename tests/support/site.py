"""Builds the website."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SCRIPT = ROOT / "node_modules" / "@mermaid-js" / "tiny"


def build(source: Path, target: Path, *options: str) -> str:
    """Builds a site as `make site` does; returns its warnings."""
    strict = ("--quiet", "--fail-on-warning", "--keep-going", "--doctree-dir", f"{target}-doctrees")
    command = (sys.executable, "-m", "sphinx", *strict, "--conf-dir", DOCS, *options, source, target)
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode == 0) == (done.stderr == ""), done.stderr
    return done.stderr
