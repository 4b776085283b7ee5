"""The result of a job that measured a model: its answer, and the measurements in it."""

import io
import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from inferstack.account.recommender import Ended, Recommender
from inferstack.endpoint.of_spec import instance_counts
from inferstack.facts.walk import every_variant, instance_types
from inferstack.format.kinds import ModelSpec
from inferstack.problems import FilePlace, Problem, SpecError
from inferstack.problems.file_codes import UNUSABLE_RESULT
from inferstack.sizing.measurement import Measurement
from inferstack.sizing.measurements import measured_in
from inferstack.sizing.results import usable_part
from inferstack.source.other_files import MOST_BYTES

_PROFILE = "profile_export_aiperf.json"


class JobResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a job has found."""

    block: str
    is_complete: bool
    answer: Mapping[str, Any]
    """As AWS or AIPerf gives it."""
    measurements: Sequence[Measurement]
    complaints: tuple[str, ...]
    """What went wrong, the job's own words included."""

    @property
    def found_anything(self) -> bool:
        """Whether the job recommends or has measured something."""
        parts = ("InferenceRecommendations", "EndpointPerformances", "Recommendations")
        return bool(self.measurements or any(self.answer.get(it) for it in parts))


def result_of(
    spec: ModelSpec, recommender: Recommender, job: str, ended: Ended, *, instances: int | None
) -> JobResult:
    """The result of a job that has ended. ``instances`` is how many a benchmark measured, if not the spec's.

    Raises:
        AccountError: when the results in S3 cannot be read.
        SpecError: when they have nothing that can be used.
    """
    is_complete = ended.status == "COMPLETED"
    answer: Mapping[str, Any] = ended.description
    types, count = _measured_instances(spec)
    if recommender.block == "ai_benchmark_job" and is_complete:
        answer = _profile(job, recommender.output(ended.description["OutputConfig"]["S3OutputLocation"]))
    usable, wrong = usable_part(answer)
    measured = measured_in(
        usable, source=job, instance_type=types, instances=count if instances is None else instances
    )
    result = JobResult(
        block=recommender.block,
        is_complete=is_complete,
        answer=answer,
        measurements=measured,
        complaints=(*wrong, *_complaints(job, ended)),
    )
    if not is_complete or result.found_anything:
        return result
    why = ended.description.get("FailureReason", "AWS gives no reason")
    nothing = f"{job}: {ended.status}, but it recommends nothing: {why}"
    return replace(result, complaints=(*result.complaints, nothing))


def _measured_instances(spec: ModelSpec) -> tuple[str | None, int]:
    """The only instance type of a spec, and how many instances start."""
    types = {name for _, variant in every_variant(spec) for name in instance_types(variant)}
    counts = instance_counts(spec)
    start = None if counts is None else counts.start
    return types.pop() if len(types) == 1 else None, max(1, start or 1)


def _complaints(job: str, ended: Ended) -> Iterator[str]:
    if ended.status != "COMPLETED":
        yield f"{job}: {ended.status}: {ended.description.get('FailureReason', 'AWS gives no reason')}"
    for step in ended.steps:
        benchmark = step.get("InferenceBenchmark") or {}
        if benchmark.get("FailureReason"):
            on = configured_as(benchmark.get("EndpointConfiguration") or {})
            yield f"{on}: {step['Status']}: {benchmark['FailureReason']}"


def configured_as(configuration: Mapping[str, Any]) -> str:
    """What a configuration of an endpoint runs on."""
    serverless = configuration.get("ServerlessConfig")
    if serverless is not None:
        return f"serverless {serverless['MemorySizeInMB']} MB x {serverless['MaxConcurrency']}"
    return str(configuration.get("InstanceType", "the endpoint"))


# ---------------------------------------------------------------- benchmarks


def _profile(job: str, archive: bytes | None) -> Mapping[str, Any]:
    """The summary of AIPerf in the archive of a benchmark."""
    if archive is not None:
        try:
            with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as files:
                for member in (it for it in files if it.isfile() and it.size <= MOST_BYTES):
                    if member.name.rpartition("/")[2] == _PROFILE:
                        file = files.extractfile(member)
                        profile = json.loads(file.read()) if file is not None else None
                        if isinstance(profile, dict):
                            return profile
        except (tarfile.TarError, OSError, EOFError, ValueError, RecursionError):
            pass
    message = f"the job's archive in S3 is missing, or has no {_PROFILE}"
    fix = "look at the log of the job"
    raise SpecError([Problem(FilePlace(job), message, fix, UNUSABLE_RESULT)])
