"""Specs with jobs, and what they measure in an emulated account."""

from pathlib import Path

import pytest
from emulator.clients import EmulatedAws

ROLE = "arn:aws:iam::123456789012:role/load-tests"
SPEC = """\
kind: single-model
endpoint_name: churn
env: {region: us-east-1}
tags: {team: growth}
model:
  image: {framework: xgboost, version: "1.7-1"}
  model_data_url: s3://acme-models/churn/model.tar.gz
variant: {instance_type: ml.m5.xlarge, initial_instance_count: 2}
objective:
  requests_per_minute: 3000
  lowest_requests_per_minute: 600
  latency: {percentile: P95, value_in_milliseconds: 100}
"""
LOAD = f"""\
load_test:
  job_type: Advanced
  sample_payload_url: s3://acme-models-${{AWS::AccountId}}/payload.tar.gz
  supported_content_types: [text/csv]
  instance_types: [ml.m5.large, ml.m5.xlarge]
  endpoint_configurations:
    - serverless_config: {{memory_size_in_mb: 2048, max_concurrency: 5}}
  traffic_pattern:
    traffic_type: PHASES
    phases: [{{initial_number_of_users: 1, spawn_rate: 1, duration_in_seconds: 120}}]
  stopping_conditions:
    model_latency_thresholds: [{{percentile: P95, value_in_milliseconds: 100}}]
  domain: MACHINE_LEARNING
  task: CLASSIFICATION
  framework: XGBOOST
  role_arn: {ROLE}
"""
COMPONENTS = f"""\
kind: inference-components
endpoint_name: chat
env: {{region: us-east-1}}
variant: {{instance_type: ml.g5.2xlarge, initial_instance_count: 2}}
execution_role: {ROLE}
inference_components:
  llama:
    specification:
      container:
        image: {{framework: djl-lmi, version: "latest"}}
        artifact_url: s3://acme-models/llama.tar.gz
      compute_resource_requirements: {{number_of_accelerator_devices_required: 1, min_memory_required_in_mb: 8192}}
    runtime_config: {{copy_count: 1}}
ai_workload_config:
  parameters: {{prompt_input_tokens_mean: 550, output_tokens_mean: 150, concurrency: 8}}
ai_benchmark_job: {{s3_output_location: s3://acme-results/jobs}}
ai_recommendation_job:
  s3_output_location: s3://acme-results/jobs
  constraints: [{{metric: throughput}}]
  instance_types: [ml.g6.24xlarge]
"""


def write(text: str) -> None:
    Path("a.yaml").write_text(text)


def deploy(aws: EmulatedAws, name: str = "churn", *models: str) -> None:
    """An endpoint with models as a stack would have made them."""
    client = aws.client("sagemaker")
    for model in models:
        client.create_model(ModelName=model, PrimaryContainer={"Image": "churn:1"})
    fleet = {"InitialInstanceCount": 1, "InstanceType": "ml.m5.xlarge"}
    variants = [{"VariantName": f"v{it}", "ModelName": it, **fleet} for it in models]
    role = {} if models else {"ExecutionRoleArn": ROLE}
    variants = variants or [{"VariantName": "AllTraffic", **fleet}]
    client.create_endpoint_config(EndpointConfigName=name, ProductionVariants=variants, **role)
    client.create_endpoint(EndpointName=name, EndpointConfigName=name)


Read = pytest.CaptureFixture[str]


def started(capsys: Read) -> str:
    """The name of the job that a plan shows first."""
    return capsys.readouterr().out.splitlines()[0]
