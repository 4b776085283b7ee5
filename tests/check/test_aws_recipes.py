"""AWS's own recipes for language models, of which nothing is refused and only what is true is remarked.

Of https://github.com/aws-samples/sagemaker-genai-hosting-examples (07-benchmark) as of August 2026: the image, the
instance type, the limit of the start and the variables that its deployer makes of each recipe.
"""

import csv
import json
from pathlib import Path

import pytest

from inferstack.check.load import parse_spec

RECIPES = list(csv.DictReader(Path(__file__).with_name("aws_recipes.csv").read_text("utf-8").splitlines()))
REGISTRY = "763104351884.dkr.ecr.us-west-2.amazonaws.com"
IDLE = "vLLM 0.15.1 uses 1 GPU, but ml.g6e.12xlarge has 4"
REMARKED = {"gpt-oss-20b-g6e-eagle3": IDLE, "gpt-oss-20b-g6e-vanilla": IDLE}


def test_there_are_all() -> None:
    assert len(RECIPES) == 49


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda it: it["recipe"])
def test_only_what_is_true_is_remarked(recipe: dict[str, str]) -> None:
    image = f"{REGISTRY}/{recipe['image']}"
    data = {
        **{"kind": "single-model", "endpoint_name": recipe["recipe"].replace(".", "-")},
        "model": {"image": image, "environment": json.loads(recipe["environment"])},
        "variant": {
            **{"instance_type": recipe["instance_type"], "initial_instance_count": 2},
            "container_startup_health_check_timeout_in_seconds": int(recipe["start_seconds"]),
        },
    }
    said = [it.message for it in parse_spec(data).warnings]
    assert said == ([REMARKED[recipe["recipe"]]] if recipe["recipe"] in REMARKED else [])
