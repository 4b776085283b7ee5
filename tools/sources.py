"""Where the catalog's data comes from: files inside development packages, read as plain data.

Nothing of those packages is imported. So a maintainer need not start an AWS client, a linter or a
machine-learning SDK, and reads exactly what is installed.
"""

import gzip
import json
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

Json = Mapping[str, Any]


def package_file(package: str, path: str) -> Path:
    """The path of a file or folder that an installed distribution ships."""
    return Path(str(distribution(package).locate_file(path)))


def read_json(path: Path) -> Any:
    """A JSON document, gzipped or not."""
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


def service_model(service: str) -> Json:
    """botocore's newest model of an AWS API (``operations`` and ``shapes``)."""
    folder = package_file("botocore", f"botocore/data/{service}")
    newest = max(child for child in folder.iterdir() if child.is_dir())
    return dict(read_json(next(newest.glob("service-2.json*"))))


def registry_schema(type_name: str) -> Json:
    """The CloudFormation registry's schema of a resource type, as cfn-lint ships it for us-east-1."""
    schemas = package_file("cfn-lint", "cfnlint/data/schemas")
    digest = read_json(schemas / "providers/us-east-1.json")[type_name]
    return dict(read_json(schemas / f"resources/{digest}.json"))
