"""Scores one lead: {"features": [34, 0, 1.5]} in, {"score": 0.81} out."""

import os
from typing import Any

import boto3

RUNTIME = boto3.client("sagemaker-runtime")


def handler(event: dict[str, Any], context: object) -> dict[str, float]:
    answer = RUNTIME.invoke_endpoint(
        EndpointName=os.environ["ENDPOINT_NAME"],
        ContentType="text/csv",
        Body=",".join(map(str, event["features"])),
    )
    return {"score": float(answer["Body"].read())}
