"""The rights that ``inferstack recommend`` needs, and the emulator that it is tested with."""

import json
from pathlib import Path

from botocore.session import get_session
from emulator.clients import EmulatedAws
from support.jobs import COMPONENTS, Read, deploy, started, write
from support.program import Command
from support.s3 import Faults
from support.strict_walk import walk

POLICY = Path(__file__).parents[3] / "docs" / "pipelines" / "iam" / "recommend-policy.json"
# No operations, but AWS asks for them: for requests with a role or with tags.
BESIDES = {"iam:PassRole", "sagemaker:AddTags"}
ACTIONS = {"ListObjectsV2": "s3:ListBucket", "GetObject": "s3:GetObject"}


def test_the_policy_allows_what_is_called_and_nothing_else(
    recommend: Command, aws: EmulatedAws, faults: Faults, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")
    deploy(aws, "chat")
    assert recommend("--run", "--autoscaling") == 0
    job = started(capsys)
    recommend("--stop", job)
    write(COMPONENTS)
    for block in ("ai_benchmark_job", "ai_recommendation_job"):
        assert recommend("--block", block, "--run") == 0
        recommend("--block", block, "--stop", started(capsys))
    called = {it for it in faults.operations() if it != "GetCallerIdentity"}
    needed = {ACTIONS.get(it, f"sagemaker:{it}") for it in called}
    statements = json.loads(POLICY.read_text("utf-8"))["Statement"]
    actions = [it["Action"] if isinstance(it["Action"], list) else [it["Action"]] for it in statements]
    assert {action for each in actions for action in each} == needed | BESIDES


def test_answers_of_the_emulator_are_those_that_the_service_could_give(
    recommend: Command, aws: EmulatedAws, capsys: Read
) -> None:
    deploy(aws, "churn", "Model-1")
    recommend("--run")
    job = started(capsys)
    client, model = aws.client("sagemaker"), get_session().get_service_model("sagemaker")
    asked = {
        "DescribeInferenceRecommendationsJob": client.describe_inference_recommendations_job(JobName=job),
        "ListInferenceRecommendationsJobSteps": client.list_inference_recommendations_job_steps(JobName=job),
        "GetScalingConfigurationRecommendation": client.get_scaling_configuration_recommendation(
            InferenceRecommendationsJobName=job, RecommendationId=f"{job}/1"
        ),
    }
    for operation, answer in asked.items():
        answer.pop("ResponseMetadata")
        assert list(walk(model.operation_model(operation).output_shape, answer, "")) == []
