"""Generates the data files of ``inferstack.catalog`` from the installed AWS models.

Sources: botocore (API models, regions), cfn-lint (CloudFormation registry schemas, forms of ids),
sagemaker-core (image registries). Kept by hand: ``instance-types.csv``, from EC2's DescribeInstanceTypes;
``metrics.csv``, from CloudWatch's documentation; ``image-contents.csv``, from AWS's page of images and the
files that make them.
"""

import json

from tools import cloudformation, images, regions, text_forms
from tools.generated_files import PACKAGE, Contents
from tools.sources import Json

DATA = PACKAGE / "catalog" / "data"


def generate() -> Contents:
    sources = (cloudformation, images, regions, text_forms)
    return {
        DATA / name: _render(document) for source in sources for name, document in source.generate().items()
    }


def _render(document: Json) -> str:
    """JSON with the same bytes on every run and a readable diff."""
    return json.dumps(document, indent=1, sort_keys=True) + "\n"
