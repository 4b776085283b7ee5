"""Checks ``instance-types.csv``, which is kept by hand, against the instance types that botocore knows."""

import csv
from collections.abc import Mapping

from tools.sources import service_model

# Hosting types without a row. EC2 no longer sells the p2 and p3; nobody has noted down the others' facts.
KNOWN_MISSING = frozenset(
    {
        "ml.dl1.24xlarge",
        "ml.p2.16xlarge",
        "ml.p2.8xlarge",
        "ml.p2.xlarge",
        "ml.p3.16xlarge",
        "ml.p3.2xlarge",
        "ml.p3.8xlarge",
        "ml.p6e-gb200.36xlarge",
    }
)


def unlisted(table: str) -> list[str]:
    """Instance types that can host a model and have neither a row in ``table`` nor an excuse."""
    hosting: Mapping[str, list[str]] = service_model("sagemaker")["shapes"]["ProductionVariantInstanceType"]
    rows = {row["instance_type"] for row in csv.DictReader(table.splitlines())}
    return sorted(set(hosting["enum"]) - rows - KNOWN_MISSING)
