"""Regenerates the data files of ``inferstack.catalog`` from the installed AWS models.

    python -m tools.update_catalog            writes what has changed
    python -m tools.update_catalog --check    writes nothing, exits 1 and names what has changed

Sources: botocore (API models, regions), cfn-lint (CloudFormation registry schemas, forms of ids),
sagemaker-core (image registries). ``instance-types.csv`` and ``metrics.csv`` are kept by hand, the first from
EC2's DescribeInstanceTypes, the second from CloudWatch's documentation.
"""

import difflib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from tools import cloudformation, generated_files, images, instances, regions, text_forms
from tools.sources import Json, package_version

DATA = generated_files.ROOT / "constructs" / "inferstack" / "catalog" / "data"
PACKAGES = ("botocore", "cfn-lint", "sagemaker-core")
COMMAND = "python -m tools.update_catalog"
LINES_SHOWN = 20


def generated() -> dict[Path, str]:
    """The text of every generated data file."""
    sources = (cloudformation, images, regions, text_forms)
    documents = {name: document for source in sources for name, document in source.generate().items()}
    return {DATA / name: _render(document) for name, document in documents.items()}


def differences() -> list[str]:
    """What has changed since the data was committed, one paragraph per file; empty if nothing has."""
    found = [moved for path, text in generated().items() for moved in _moved(path, text)]
    unlisted = instances.unlisted((DATA / "instance-types.csv").read_text(encoding="utf-8"))
    if unlisted:
        found.append(f"instance-types.csv has no row for {', '.join(unlisted)}: add them by hand")
    return found


def _render(document: Json) -> str:
    """JSON with the same bytes on every run and a readable diff."""
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def _moved(path: Path, text: str) -> Iterator[str]:
    committed = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = difflib.unified_diff(committed.splitlines(), text.splitlines(), n=0, lineterm="")
    changes = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    if changes:
        rest = len(changes) - LINES_SHOWN
        more = [f"... and {rest} more lines"] if rest > 0 else []
        yield "\n  ".join([f"{path.name} has moved on:", *changes[:LINES_SHOWN], *more])


def main(arguments: list[str]) -> int:
    """The command line; returns its exit status."""
    parser = generated_files.parser(COMMAND, "Regenerate the catalog's data.")
    if not parser.parse_args(arguments).check:
        generated_files.write(generated())
    found = differences()
    if found:
        versions = ", ".join(f"{package} {package_version(package)}" for package in PACKAGES)
        print("\n".join([*found, f"Installed: {versions}. To take this over, run: {COMMAND}"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
