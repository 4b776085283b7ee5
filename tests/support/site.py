"""Builds the website."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SCRIPT = ROOT / "node_modules" / "@mermaid-js" / "tiny"
SITE = ROOT / "build" / "tested-site"
"""Stays for the next test, since Sphinx takes half a minute for it, and a second for pages that it has."""
_ITS_FILES = "https://git.example.com/acme/blob/main"


def build_site(*options: str) -> str:
    """Builds the whole website, or only what has changed since; returns its warnings."""
    return build(DOCS, SITE, "-D", f"repository_files={_ITS_FILES}", *options)


def build(source: Path, target: Path, *options: str) -> str:
    """Builds a site as `make site` does; returns its warnings."""
    strict = ("--quiet", "--fail-on-warning", "--keep-going", "--doctree-dir", f"{target}-doctrees")
    command = (sys.executable, "-m", "sphinx", *strict, "--conf-dir", DOCS, *options, source, target)
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode == 0) == (done.stderr == ""), done.stderr
    return done.stderr
