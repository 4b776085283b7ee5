"""Checks ``instance-types.csv``, which is kept by hand, against the instance types that botocore knows."""

import csv
from collections.abc import Mapping

from tools.sources import service_model

# Hosting types without a row: nobody has collected their facts.
KNOWN_MISSING = frozenset({"ml.dl1.24xlarge", "ml.p6e-gb200.36xlarge"})


def unlisted(table: str) -> list[str]:
    """Instance types that can host a model, but have no row in ``table`` and are not known to be missing."""
    hosting: Mapping[str, list[str]] = service_model("sagemaker")["shapes"]["ProductionVariantInstanceType"]
    rows = {row["instance_type"] for row in csv.DictReader(table.splitlines())}
    return sorted(set(hosting["enum"]) - rows - KNOWN_MISSING)
