"""Requests for the jobs that measure a model on SageMaker, made from a spec as plain data.

    load_test              CreateInferenceRecommendationsJob
    ai_benchmark_job       CreateAIWorkloadConfig, CreateAIBenchmarkJob
    ai_recommendation_job  CreateAIWorkloadConfig, CreateAIRecommendationJob

The same request always gets the same name, and AWS takes a name only once: so the same job, asked
for again after a lost connection or by mistake, is not paid for twice.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

from inferstack.catalog import cloudformation
from inferstack.facts.walk import bases_of_adapters, components, containers, models
from inferstack.format.ai_jobs import AiBenchmarkJob, AiRecommendationJob, AiWorkloadConfig
from inferstack.format.base import Block
from inferstack.format.kinds import ModelSpec
from inferstack.format.load_testing import LoadTest
from inferstack.problems import Problem
from inferstack.problems.file_codes import NOT_ENOUGH_FOR_A_JOB
from inferstack.texts.placeholders import is_settled, without_pseudo_parameters
from inferstack.texts.s3_urls import s3_url

Request = dict[str, Any]
Requests = dict[str, Request]
"""Requests by operation, in the order in which they are made; the last one starts the job."""

_NAME_LIMIT = 63
_DIGITS = 10
_VERSION_ARN = re.compile(r"arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]+:[0-9]{12}:model-package/\S+")


def job_blocks(spec: ModelSpec) -> tuple[str, ...]:
    """The keys of the spec's jobs."""
    return tuple(name for name in _MAKERS if getattr(spec, name) is not None)


def requests_of(
    spec: ModelSpec, block: str, *, model_name: str | None = None, job_name: str | None = None
) -> Requests:
    """The requests for the job of a block. ``model_name`` is that of a SageMaker model, which a load test
    measures instead of any that the spec names; ``job_name`` is one of your own.
    """
    return _MAKERS[block](spec, model_name, job_name)


def needs_model_name(spec: ModelSpec, block: str) -> bool:
    """Whether the model is not in the spec, but has to be looked up: deployed models have made-up names."""
    if block != "load_test":
        return False
    inputs = requests_of(spec, block)["CreateInferenceRecommendationsJob"]["InputConfig"]
    return not inputs.keys() & {"ModelName", "ModelPackageVersionArn"}


def _load_test(spec: ModelSpec, model_name: str | None, job_name: str | None) -> Requests:
    test = spec.load_test
    assert test is not None
    made = in_api_form(test)
    inputs, types = made["InputConfig"], list(test.instance_types or ())
    if types and test.job_type == "Advanced":
        others = inputs.get("EndpointConfigurations", [])
        inputs["EndpointConfigurations"] = [*({"InstanceType": it} for it in types), *others]
    elif types:
        put(inputs, ["ContainerConfig"], {"SupportedInstanceTypes": types})
    if model_name is not None:
        inputs.pop("ModelPackageVersionArn", None)
        inputs["ModelName"] = model_name
    elif not inputs.keys() & {"ModelName", "ModelPackageVersionArn"}:
        inputs |= _package(spec)
    made = _signed(spec, test, made)
    return _named(spec, "CreateInferenceRecommendationsJob", "JobName", made, job_name)


def _package(spec: ModelSpec) -> Request:
    """The version of a model package that is the spec's only model."""
    named = {model.model_package_name for _, _, model in models(spec)}
    arn = named.pop() if len(named) == 1 else None
    return {"ModelPackageVersionArn": arn} if arn is not None and _VERSION_ARN.fullmatch(arn) else {}


def _benchmark(spec: ModelSpec, _: str | None, job_name: str | None) -> Requests:
    job = spec.ai_benchmark_job
    assert job is not None
    made = in_api_form(job)
    target = made.setdefault("BenchmarkTarget", {}).setdefault("Endpoint", {})
    target.setdefault("Identifier", spec.endpoint_name)
    whole = [name for _, name, _ in components(spec) if name not in bases_of_adapters(spec)]
    if whole:
        target.setdefault("InferenceComponents", [{"Identifier": name} for name in whole])
    return _with_workload(spec, "AIBenchmarkJob", job, made, job_name)


def _recommendation(spec: ModelSpec, _: str | None, job_name: str | None) -> Requests:
    job = spec.ai_recommendation_job
    assert job is not None
    made = in_api_form(job)
    files = set(_files(spec))
    if job.s3_uri is None and len(files) == 1:
        put(made, ["ModelSource", "S3"], {"S3Uri": files.pop()})
    return _with_workload(spec, "AIRecommendationJob", job, made, job_name)


def _files(spec: ModelSpec) -> Iterator[str]:
    """Where the files of the spec's models are."""
    for placed in containers(spec):
        source = getattr(placed.container, "model_data_source", None)
        url = placed.url if source is None else source.s3_data_source.s3_uri
        if url is not None and not placed.is_of_adapter:
            yield url


def _with_workload(
    spec: ModelSpec,
    noun: str,
    job: AiBenchmarkJob | AiRecommendationJob,
    made: Request,
    job_name: str | None,
) -> Requests:
    before: Requests = {}
    if job.ai_workload_config_identifier is None and spec.ai_workload_config is not None:
        workload = _workload(spec.ai_workload_config) | _tags(spec)
        before = _named(spec, "CreateAIWorkloadConfig", "AIWorkloadConfigName", workload)
        made["AIWorkloadConfigIdentifier"] = before["CreateAIWorkloadConfig"]["AIWorkloadConfigName"]
    last = _named(spec, f"Create{noun}", f"{noun}Name", _signed(spec, job, made), job_name)
    request = last[f"Create{noun}"]
    output = request["OutputConfig"]
    # In one place, the results of several jobs could not be distinguished.
    output["S3OutputLocation"] = f"{output['S3OutputLocation'].rstrip('/')}/{request[f'{noun}Name']}/"
    return before | last


def _workload(config: AiWorkloadConfig) -> Request:
    plain = msgspec.to_builtins(config)
    # The names of the spec are those of the tool.
    filled = {name: plain[name] for name in ("parameters", "secrets", "tooling") if plain.get(name)}
    written = {"benchmark": {"type": "aiperf"}, **filled}
    inline = {"AIWorkloadConfigs": {"WorkloadSpec": {"Inline": json.dumps(written)}}}
    return {**in_api_form(config), **inline}


# ---------------------------------------------------------------- role, tags and name


def _signed(spec: ModelSpec, job: LoadTest | AiBenchmarkJob | AiRecommendationJob, made: Request) -> Request:
    """The request with a role and the spec's tags."""
    role = spec.execution_role if job.role_arn is None else job.role_arn
    named = isinstance(role, str) and is_settled(role)
    return made | ({"RoleArn": role} if named else {}) | _tags(spec)


def _tags(spec: ModelSpec) -> Request:
    """The spec's tags, without those whose value only a deployment knows."""
    known = {key: value for key, value in (spec.tags or {}).items() if _is_known(key + value)}
    return {"Tags": [{"Key": key, "Value": value} for key, value in known.items()]} if known else {}


def _is_known(text: str) -> bool:
    """Whether no more than the account and region have to be filled in."""
    return is_settled(without_pseudo_parameters(text))


def _named(spec: ModelSpec, operation: str, key: str, made: Request, name: str | None = None) -> Requests:
    """The request with its name in front: else the endpoint's, and digits that follow from the rest."""
    if name is not None:
        return {operation: {key: name, **made}}
    digits = hashlib.sha256(json.dumps([operation, made], sort_keys=True).encode()).hexdigest()[:_DIGITS]
    room = _NAME_LIMIT - _DIGITS - 1
    return {operation: {key: f"{spec.endpoint_name[:room].rstrip('-')}-{digits}", **made}}


_MAKERS: Mapping[str, Callable[[ModelSpec, str | None, str | None], Requests]] = {
    "load_test": _load_test,
    "ai_benchmark_job": _benchmark,
    "ai_recommendation_job": _recommendation,
}

# ---------------------------------------------------------------- what a spec does not say


def lacking(spec: ModelSpec, block: str, *, model_name: str | None = None) -> Iterator[Problem]:
    """What has to be added to a spec before its job can be requested. Deploying it takes none of that."""
    requests = requests_of(spec, block, model_name=model_name)
    request = next(reversed(requests.values()))
    if "RoleArn" not in request:
        message = "the job needs a role, and the stack's own role has no name in advance"
        yield _lacks(block, message, "add `role_arn`, or an ARN as `execution_role`")
    unknown = sorted({text for it in requests.values() for text in _texts(it) if not _is_known(text)})
    for text in unknown:
        yield _lacks(block, f"only a deployment knows `{text}`", "write what it stands for")
    if block == "load_test":
        yield from _unknown_model(request["InputConfig"])
        return
    if "AIWorkloadConfigIdentifier" not in request:
        message = "the job needs to know what to send"
        yield _lacks(block, message, "add `ai_workload_config`, or `ai_workload_config_identifier` here")
    source = request.get("ModelSource", {}).get("S3", {}).get("S3Uri")
    if block == "ai_recommendation_job" and (source is None or s3_url(source) is None):
        yield _lacks(block, "the job needs the model's files in S3", "add `s3_uri`")


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping() | list():
            for below in value.values() if isinstance(value, Mapping) else value:
                yield from _texts(below)


def _unknown_model(inputs: Request) -> Iterator[Problem]:
    """https://docs.aws.amazon.com/sagemaker/latest/dg/inference-recommender-troubleshooting.html"""
    if "ModelPackageVersionArn" in inputs:
        return
    config = inputs["ContainerConfig"]
    missing = [key for key in ("Domain", "Task", "Framework") if key not in config]
    if missing:
        names = ", ".join(f"`{it.lower()}`" for it in missing)
        message = f"without a model package, a load test also needs {names}"
        yield _lacks("load_test", message, "add what fits best, or `OTHER`")


def _lacks(block: str, message: str, fix: str) -> Problem:
    return Problem((block,), message, fix, NOT_ENOUGH_FOR_A_JOB)


# ---------------------------------------------------------------- blocks as parts of requests

LEVELS: Mapping[str, tuple[str, ...]] = {
    "sagemaker:RecommendationJobInputConfig": ("InputConfig",),
    "sagemaker:RecommendationJobContainerConfig": ("InputConfig", "ContainerConfig"),
    "sagemaker:RecommendationJobPayloadConfig": ("InputConfig", "ContainerConfig", "PayloadConfig"),
    "sagemaker:RecommendationJobCompiledOutputConfig": ("CompiledOutputConfig",),
    "sagemaker:AIWorkloadS3DataSource": ("DataSource", "S3DataSource"),
    "sagemaker:AIDatasetConfig": ("DatasetConfig",),
    "sagemaker:AIBenchmarkOutputConfig": ("OutputConfig",),
    "sagemaker:AIBenchmarkNetworkConfig": ("NetworkConfig",),
    "sagemaker:AIBenchmarkEndpoint": ("BenchmarkTarget", "Endpoint"),
    "sagemaker:AIRecommendationOutputConfig": ("OutputConfig",),
    "sagemaker:AIRecommendationPerformanceTarget": ("PerformanceTarget",),
    "sagemaker:AIRecommendationInferenceSpecification": ("InferenceSpecification",),
    "sagemaker:AIRecommendationComputeSpec": ("ComputeSpec",),
    "sagemaker:AIModelSourceS3": ("ModelSource", "S3"),
}
"""Structures whose members a block has among its own, and the levels down to them.

A field of a block is named after a member of one of its shapes. Where a shape is not the structure of the
request itself but one inside of it, this table says where.
"""


def in_api_form(value: object) -> Any:
    """A value of a block as the API has it; fields that the API does not know are left out."""
    match value:
        case Block():
            return _structure(value)
        case tuple() | list():
            return [in_api_form(it) for it in value]
        case _:
            return value


def _structure(block: Block) -> dict[str, Any]:
    made: dict[str, Any] = {}
    places = _places(type(block))
    for field in block.__struct_fields__:
        value = getattr(block, field)
        if field in places and value is not None:
            *levels, name = places[field]
            put(made, levels, {name: in_api_form(value)})
    return made


def put(request: dict[str, Any], levels: list[str], members: Mapping[str, Any]) -> None:
    """Adds members to a structure inside a request, which is made if it is not there yet."""
    for level in levels:
        request = request.setdefault(level, {})
    request.update(members)


@cache
def _places(block: type[Block]) -> Mapping[str, tuple[str, ...]]:
    """For each field that the API knows: the levels down to its member, and the member's name."""
    found: dict[str, tuple[str, ...]] = {}
    for shape in block.shapes:
        for key, member in cloudformation.shape(*shape.split(".")).items():
            found.setdefault(key, (*LEVELS.get(shape, ()), member.name))
    return found
