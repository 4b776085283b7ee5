"""Jobs that measure models: Inference Recommender, benchmarks and recommendations for language models.

A job is one step further each time that it is looked at: waiting, running, ended. What it measures is made up from
its request, so that a test can expect it. Where a test wants a job to fail, the URL of its payload or files has
"broken" in it.

https://docs.aws.amazon.com/sagemaker/latest/dg/inference-recommender-load-test.html
https://docs.aws.amazon.com/sagemaker/latest/dg/inference-recommender-troubleshooting.html
https://docs.aws.amazon.com/sagemaker/latest/dg/generative-ai-inference-recommendations.html
"""

import io
import itertools
import json
import math
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from emulator.account import Account, Description
from emulator.answering import Operation, Refused, Request, invalid
from emulator.sagemaker.names import arn, described, existing, tag
from moto.s3.models import s3_backends

_PROFILE = Path(__file__).parents[2] / "sizing" / "results" / "profile_export_aiperf.json"
_RECOMMENDED = _PROFILE.with_name("recommendation_job.json")
_LOAD, _BENCHMARK, _RECOMMENDATION = (
    "inference-recommendations-job",
    "ai-benchmark-job",
    "ai-recommendation-job",
)
_WORKLOAD = "ai-workload-config"


def _kept(account: Account, kind: str) -> dict[str, Description]:
    return account.jobs.setdefault(kind, {})


def _new(account: Account, kind: str, name: str, request: Request, **more: Any) -> str:
    if name in _kept(account, kind):
        raise Refused("ResourceInUse", f"{kind} {name} already exists.")
    made = arn(account, kind, name)
    _kept(account, kind)[name] = described(request, **more)
    tag(account, made, request)
    return made


def _found(account: Account, kind: str, name: str) -> Description:
    if name not in _kept(account, kind):
        raise Refused("ResourceNotFound", f"{kind} {name} does not exist.")
    return _kept(account, kind)[name]


# ---------------------------------------------------------------- load tests


def create_load_test(account: Account, request: Request) -> dict[str, Any]:
    _refuse(account, request)
    name = request["JobName"]
    made = arn(account, _LOAD, name)
    _new(account, _LOAD, name, request, JobArn=made, Status="PENDING")
    return {"JobArn": made}


def _refuse(account: Account, request: Request) -> None:
    inputs = request["InputConfig"]
    if ("ModelName" in inputs) == ("ModelPackageVersionArn" in inputs):
        raise invalid("Specify either ModelName or ModelPackageVersionArn.")
    if "ModelName" in inputs:
        existing(account.models, account, "model", inputs["ModelName"])
        for name in ("Domain", "Framework"):
            if name not in inputs.get("ContainerConfig", {}):
                raise invalid(f"Specify {name}. {name} is a mandatory parameter for the job")
    pattern = inputs.get("TrafficPattern")
    if request["JobType"] == "Advanced" and (pattern is None or "StoppingConditions" not in request):
        raise invalid("Load tests require a traffic pattern and stopping conditions.")
    for it in inputs.get("EndpointConfigurations", ()):
        if it.get("InstanceType", "").startswith("ml.t2."):
            raise invalid(f"Burstable instance type {it['InstanceType']} is not allowed")
    phases = () if pattern is None else pattern.get("Phases", ())
    if sum(it["DurationInSeconds"] for it in phases) > inputs.get("JobDurationInSeconds", math.inf):
        raise invalid("Total Traffic duration (across) should not be more than Job duration")


def describe_load_test(account: Account, request: Request) -> Description:
    job = _found(account, _LOAD, request["JobName"])
    reason = (
        "Every benchmark failed: the payload cannot be read."
        if "broken" in json.dumps(job["InputConfig"])
        else None
    )
    _advance(job, "Status", ("PENDING", "IN_PROGRESS", "COMPLETED"), ("STOPPING", "STOPPED"), reason)
    if job["Status"] == "COMPLETED":
        job["InferenceRecommendations"] = [it for it, _ in _benchmarks(job)]
        job["EndpointPerformances"] = [
            {"EndpointInfo": it, "Metrics": {"MaxInvocations": 184, "ModelLatency": 1312}}
            for it in job["InputConfig"].get("Endpoints", ())
        ]
    return job


def _advance(
    job: Description, key: str, way: tuple[str, ...], stopping: tuple[str, str], reason: str | None
) -> None:
    """Takes a job one step further."""
    first, last = stopping
    if job[key] == first:
        job[key] = last
    elif job[key] in way[:-1]:
        job[key] = way[way.index(job[key]) + 1]
        if job[key] == way[-1] and reason is not None:
            job[key], job["FailureReason"] = ("FAILED" if last.isupper() else "Failed"), reason
    job["LastModifiedTime"] = datetime.now(UTC)


def _benchmarks(job: Description) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Recommendations, and the same as the benchmarks of steps."""
    inputs = job["InputConfig"]
    supported = inputs.get("ContainerConfig", {}).get("SupportedInstanceTypes", ["ml.m5.xlarge"])
    configurations = inputs.get("EndpointConfigurations") or [{"InstanceType": it} for it in supported]
    number = 0
    for it in configurations:
        for variables in _combinations(it):
            number += 1
            on = {key: it[key] for key in ("InstanceType", "ServerlessConfig") if key in it}
            measured = {
                "Metrics": {
                    "CostPerHour": 0.115 * number,
                    "CostPerInference": 3.2e-06,
                    "MaxInvocations": 600 * number,
                    "ModelLatency": 40 * number,
                },
                "EndpointConfiguration": {
                    "EndpointName": f"sm-epc-{number}",
                    "VariantName": "AllTraffic",
                    **on,
                    "InitialInstanceCount": 1,
                },
                "ModelConfiguration": {"EnvironmentParameters": variables} if variables else {},
            }
            yield {"RecommendationId": f"{job['JobName']}/{number}", **measured}, measured


def _combinations(configuration: dict[str, Any]) -> Iterator[list[dict[str, str]]]:
    ranges = configuration.get("EnvironmentParameterRanges", {}).get("CategoricalParameterRanges", ())
    for values in itertools.product(*(it["Value"] for it in ranges)):
        pairs = zip((it["Name"] for it in ranges), values, strict=True)
        yield [{"Key": name, "ValueType": "string", "Value": value} for name, value in pairs]


def list_steps(account: Account, request: Request) -> dict[str, Any]:
    job = _found(account, _LOAD, request["JobName"])
    if job["Status"] == "PENDING":
        return {"Steps": []}
    steps = []
    for number, (_, benchmark) in enumerate(_benchmarks(job)):
        # While it runs, the first is done.
        status = "COMPLETED" if number == 0 or job["Status"] == "COMPLETED" else job["Status"]
        failed = {"FailureReason": job["FailureReason"]} if "FailureReason" in job else {}
        steps.append(
            {
                "StepType": "BENCHMARK",
                "JobName": job["JobName"],
                "Status": "FAILED" if failed else status,
                "InferenceBenchmark": {**benchmark, **failed},
            }
        )
    return {"Steps": steps}


def recommend_scaling(account: Account, request: Request) -> dict[str, Any]:
    job = _found(account, _LOAD, request["InferenceRecommendationsJobName"])
    found = {it["RecommendationId"]: it for it in job.get("InferenceRecommendations", ())}
    if ("RecommendationId" in request) == ("EndpointName" in request):
        raise invalid("Specify either RecommendationId or EndpointName.")
    if request.get("RecommendationId") not in found:
        raise Refused("ResourceNotFound", f"No recommendation {request.get('RecommendationId')}.")
    rate = found[request["RecommendationId"]]["Metrics"]["MaxInvocations"]
    wanted = request.get("ScalingPolicyObjective", {})
    most, least = wanted.get("MaxInvocationsPerMinute", rate), wanted.get("MinInvocationsPerMinute", rate)
    target = rate // 2
    return {
        **{key: request[key] for key in request if key != "EndpointName"},
        "Metric": {"InvocationsPerInstance": rate, "ModelLatency": 40},
        "DynamicScalingConfiguration": {
            "MinCapacity": math.ceil(least / target),
            "MaxCapacity": math.ceil(most / target),
            "ScaleInCooldown": 300,
            "ScaleOutCooldown": 60,
            "ScalingPolicies": _policies(request, target),
        },
    }


def _policies(request: Request, target: int) -> list[dict[str, Any]]:
    cpu = {"MetricName": "CPUUtilization", "Namespace": "/aws/sagemaker/Endpoints", "Statistic": "Average"}
    return [
        _policy({"Predefined": {"PredefinedMetricType": "SageMakerVariantInvocationsPerInstance"}}, target),
        _policy({"Customized": cpu}, request.get("TargetCpuUtilizationPerCore", 50) * 4),
    ]


def _policy(metric: dict[str, Any], target: float) -> dict[str, Any]:
    return {"TargetTracking": {"MetricSpecification": metric, "TargetValue": float(target)}}


# ---------------------------------------------------------------- language models


def create_workload(account: Account, request: Request) -> dict[str, Any]:
    written = json.loads(request["AIWorkloadConfigs"]["WorkloadSpec"]["Inline"])
    if written.get("benchmark") != {"type": "aiperf"} or written.keys() - {
        *("benchmark", "parameters", "secrets", "tooling")
    }:
        raise invalid("The workload specification has unknown keys.")
    return {"AIWorkloadConfigArn": _new(account, _WORKLOAD, request["AIWorkloadConfigName"], request)}


def _workload(account: Account, request: Request) -> None:
    name = request["AIWorkloadConfigIdentifier"].rpartition("/")[2]
    if name not in _kept(account, _WORKLOAD):
        raise Refused("ResourceNotFound", f"{_WORKLOAD} {name} does not exist.")


def create_benchmark(account: Account, request: Request) -> dict[str, Any]:
    _workload(account, request)
    endpoint = request["BenchmarkTarget"]["Endpoint"]["Identifier"].rpartition("/")[2]
    if endpoint not in account.endpoints:
        raise Refused("ResourceNotFound", f"endpoint {endpoint} does not exist.")
    name = request["AIBenchmarkJobName"]
    made = arn(account, _BENCHMARK, name)
    more = {"AIBenchmarkJobArn": made, "AIBenchmarkJobStatus": "InProgress", "looked": 0}
    _new(account, _BENCHMARK, name, request, **more)
    return {"AIBenchmarkJobArn": made}


def describe_benchmark(account: Account, request: Request) -> Description:
    job = _found(account, _BENCHMARK, request["AIBenchmarkJobName"])
    target = job["BenchmarkTarget"]["Endpoint"]
    has_components = any(it["EndpointName"] == target["Identifier"] for it in account.components.values())
    reason = None
    if has_components and "InferenceComponents" not in target:
        reason = "Inference Component Name header is required for endpoints to which inference components are deployed."
    _advance_ai(job, "AIBenchmarkJobStatus", reason)
    if job["AIBenchmarkJobStatus"] == "Completed":
        _write_profile(account, job["OutputConfig"]["S3OutputLocation"], request["AIBenchmarkJobName"])
    return _shown(job)


def _advance_ai(job: Description, key: str, reason: str | None) -> None:
    job["looked"] += 1
    if job[key] == "Stopping" or job["looked"] > 1:
        _advance(job, key, ("InProgress", "Completed"), ("Stopping", "Stopped"), reason)


def _shown(job: Description) -> Description:
    return {key: value for key, value in job.items() if key not in ("looked", "LastModifiedTime")}


def _write_profile(account: Account, url: str, job: str) -> None:
    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        content = _PROFILE.read_bytes()
        member = tarfile.TarInfo("aiperf/profile_export_aiperf.json")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    key = f"{prefix}bmk-{job}/output/output.tar.gz"
    s3_backends[account.number]["aws"].put_object(bucket, key, packed.getvalue())


def create_recommendation(account: Account, request: Request) -> dict[str, Any]:
    _workload(account, request)
    name = request["AIRecommendationJobName"]
    made = arn(account, _RECOMMENDATION, name)
    more = {"AIRecommendationJobArn": made, "AIRecommendationJobStatus": "InProgress", "looked": 0}
    _new(account, _RECOMMENDATION, name, request, **more)
    return {"AIRecommendationJobArn": made}


def describe_recommendation(account: Account, request: Request) -> Description:
    job = _found(account, _RECOMMENDATION, request["AIRecommendationJobName"])
    reason = "The model cannot be loaded." if "broken" in json.dumps(job["ModelSource"]) else None
    _advance_ai(job, "AIRecommendationJobStatus", reason)
    if job["AIRecommendationJobStatus"] == "Completed":
        job["Recommendations"] = json.loads(_RECOMMENDED.read_text("utf-8"))["Recommendations"]
    return _shown(job)


def _stopping(kind: str, key: str, status: str, stopping: str, answer: str | None) -> Operation:
    def stop(account: Account, request: Request) -> dict[str, Any] | None:
        job = _found(account, kind, request[key])
        if job[status].upper() not in ("PENDING", "IN_PROGRESS", "INPROGRESS"):
            raise invalid(f"{kind} {request[key]} has ended.")
        job[status] = stopping
        return None if answer is None else {answer: job[answer]}

    return stop


OPERATIONS: dict[str, Operation] = {
    "CreateInferenceRecommendationsJob": create_load_test,
    "DescribeInferenceRecommendationsJob": describe_load_test,
    "ListInferenceRecommendationsJobSteps": list_steps,
    "StopInferenceRecommendationsJob": _stopping(_LOAD, "JobName", "Status", "STOPPING", None),
    "GetScalingConfigurationRecommendation": recommend_scaling,
    "CreateAIWorkloadConfig": create_workload,
    "CreateAIBenchmarkJob": create_benchmark,
    "DescribeAIBenchmarkJob": describe_benchmark,
    "StopAIBenchmarkJob": _stopping(
        _BENCHMARK, "AIBenchmarkJobName", "AIBenchmarkJobStatus", "Stopping", "AIBenchmarkJobArn"
    ),
    "CreateAIRecommendationJob": create_recommendation,
    "DescribeAIRecommendationJob": describe_recommendation,
    "StopAIRecommendationJob": _stopping(
        _RECOMMENDATION,
        "AIRecommendationJobName",
        "AIRecommendationJobStatus",
        "Stopping",
        "AIRecommendationJobArn",
    ),
}
