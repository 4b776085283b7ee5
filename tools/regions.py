"""Generates ``regions.json`` and ``inference-component-regions.json``."""

from pathlib import Path

from tools.sources import Json, package_file, read_json

COMPONENT = "AWS::SageMaker::InferenceComponent"


def generate() -> dict[str, Json]:
    """The two data files, by file name."""
    partitions = read_json(package_file("botocore", "botocore/data/partitions.json"))["partitions"]
    return {
        "regions.json": {
            partition["id"]: {
                "dns_suffix": partition["outputs"]["dnsSuffix"],
                "region_pattern": partition["regionRegex"],
                "regions": sorted(name for name in partition["regions"] if not name.endswith("-global")),
            }
            for partition in partitions
        },
        "inference-component-regions.json": {
            path.stem: COMPONENT in read_json(path) for path in sorted(_registries()) if path.stem != "sam"
        },
    }


def _registries() -> list[Path]:
    """One file per region with the resource types that its registry knows, and one for SAM's transform."""
    return list(package_file("cfn-lint", "cfnlint/data/schemas/providers").glob("*.json"))
