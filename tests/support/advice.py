"""What is found in a spec, and what it is told to write instead."""

from typing import Any

from inferstack.check.load import parse_spec
from inferstack.problems import Problem, SpecError

SINGLE = {
    "kind": "single-model",
    "endpoint_name": "churn",
    "model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/churn:1"},
    "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
}
NEEDS = {"min_memory_required_in_mb": 1024}
FITTING = {
    "image": {"framework": "pytorch", "version": "2.6.0"},
    "model_data_url": "s3://acme-models/net.tar.gz",
}
MODELLED = {
    "kind": "inference-components",
    "endpoint_name": "shared",
    "models": {"net": FITTING},
    "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
    "inference_components": {
        "one": {"specification": {"model_name": "net", "compute_resource_requirements": NEEDS}}
    },
}


def found(spec: dict[str, Any]) -> tuple[Problem, ...]:
    """Its problems, or the warnings if there are no errors."""
    try:
        return parse_spec(spec).warnings
    except SpecError as refused:
        return tuple(refused.problems)


def fix(code: str, spec: dict[str, Any]) -> str:
    """How to mend the only problem with this code."""
    (text,) = [problem.fix for problem in found(spec) if problem.code == code]
    return text
