"""Jobs that measure models: started, watched, stopped and read.

SageMaker's Python SDK has classes for these jobs, too. But their wait gives up at the first lost connection,
and reports nothing about the single tests; and the SDK brings dozens of packages and sessions of its own. So
this polls by itself, with botocore's retries, and needs nothing that the extra ``aws`` does not have.

https://docs.aws.amazon.com/sagemaker/latest/dg/inference-recommender.html
https://docs.aws.amazon.com/sagemaker/latest/dg/generative-ai-inference-recommendations.html
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from inferstack.account.connection import (
    AccountError,
    Connection,
    NotFromAwsError,
    error_code,
    explained,
)
from inferstack.account.existing import endpoint_with_config, pages

_POLL_SECONDS = 30
# botocore has tried again by then; AWS may still be back in a minute.
_PASSES = frozenset(
    {
        *(
            "Throttling",
            "ThrottlingException",
            "RequestLimitExceeded",
            "InternalFailure",
            "ServiceUnavailable",
        ),
        # Of a page, such as that of a load balancer.
        *("500", "502", "503", "504"),
    }
)
_ENDED = frozenset({"COMPLETED", "FAILED", "STOPPED", "DELETED"})
_TAKEN, _UNKNOWN = "ResourceInUse", "ResourceNotFound"
_RIGHTS = (
    "docs/pipelines/iam/recommend-policy.json has the rights that starting, watching, stopping and reading"
    " jobs needs"
)
Answer = Mapping[str, Any]


class JobKind(NamedTuple):
    """A kind of job: how its operations and members are called."""

    noun: str
    """In the names of boto3's methods."""
    name: str
    status: str


KINDS: Mapping[str, JobKind] = {
    "load_test": JobKind("inference_recommendations_job", "JobName", "Status"),
    "ai_benchmark_job": JobKind("ai_benchmark_job", "AIBenchmarkJobName", "AIBenchmarkJobStatus"),
    "ai_recommendation_job": JobKind(
        "ai_recommendation_job", "AIRecommendationJobName", "AIRecommendationJobStatus"
    ),
}
"""By the key of their block in a spec."""

_METHODS = {
    "CreateInferenceRecommendationsJob": "create_inference_recommendations_job",
    "CreateAIWorkloadConfig": "create_ai_workload_config",
    "CreateAIBenchmarkJob": "create_ai_benchmark_job",
    "CreateAIRecommendationJob": "create_ai_recommendation_job",
}


class Progress(NamedTuple):
    """How far a job is."""

    status: str
    steps: tuple[Answer, ...] = ()
    """The tests of a load test, in the API's form."""


class Ended(NamedTuple):
    """A job that has ended, with its description and its tests."""

    status: str
    """In capitals, as only some kinds of job have it."""
    description: Answer
    steps: tuple[Answer, ...]


class NoSuchJobError(AccountError):
    """AWS has no job of this name, of this kind, in this region."""


class Recommender:
    """SageMaker in one region, for one kind of job."""

    def __init__(self, connection: Connection, region: str, block: str) -> None:
        self._connection, self._region = connection, region
        self._client = connection.sagemaker(region)
        self.block, self._kind = block, KINDS[block]

    def deployed_model(self, endpoint: str) -> str:
        """The name of the only model that an endpoint runs.

        Raises:
            AccountError: when there is no such endpoint, or it has several models.
        """
        with explained(f"the model of the endpoint {endpoint} cannot be looked up", rights=_RIGHTS):
            _, config = endpoint_with_config(self._connection, self._region, endpoint)
        named = {it.get("ModelName") for it in config["ProductionVariants"]}
        if len(named) != 1 or None in named:
            raise AccountError(f"the endpoint {endpoint} has no single model; name one with `model_name`")
        return str(named.pop())

    def start(self, requests: Mapping[str, Answer]) -> bool:
        """Makes the requests in order. False if AWS has this job already.

        Raises:
            AccountError: when AWS refuses one.
        """
        is_new = True
        for operation, request in requests.items():
            with explained(f"{operation} fails", rights=_RIGHTS):
                is_new = self._made(_METHODS[operation], self._filled(request))
        return is_new

    def _made(self, method: str, request: Any) -> bool:
        from botocore.exceptions import ClientError  # noqa: PLC0415 - comes with an extra

        try:
            getattr(self._client, method)(**request)
        except ClientError as error:
            # The name follows from the request: what has it is the same.
            if error_code(error) == _TAKEN:
                return False
            raise
        return True

    def _filled(self, value: Any) -> Any:
        """The value with AWS's pseudo parameters filled in."""
        match value:
            case str():
                return self._connection.filled(value)
            case list():
                return [self._filled(it) for it in value]
            case Mapping():
                return {key: self._filled(it) for key, it in value.items()}
            case _:
                return value

    def stop(self, job: str) -> None:
        """Asks AWS to stop a job.

        Raises:
            AccountError: when there is no such job, or AWS refuses.
        """
        with explained(f"{job} cannot be stopped", rights=_RIGHTS):
            getattr(self._client, f"stop_{self._kind.noun}")(**{self._kind.name: job})

    def ended(self, job: str, report: Callable[[Progress], None]) -> "Ended":
        """Waits until a job has ended.

        Raises:
            AccountError: when there is no such job, or AWS refuses. A lost connection is waited for.
        """
        while True:
            try:
                description = self._described(job)
                status, steps = str(description[self._kind.status]), tuple(self._steps(job))
                if status.upper() in _ENDED:
                    return Ended(status.upper(), description, steps)
                report(Progress(status, steps))
            except _Unreachable as lost:
                report(Progress(str(lost)))
            time.sleep(_POLL_SECONDS)

    def _described(self, job: str) -> Answer:
        with explained(f"{job} cannot be looked at", rights=_RIGHTS), self._existing(job), _waiting():
            found: Answer = getattr(self._client, f"describe_{self._kind.noun}")(**{self._kind.name: job})
        return found

    @contextmanager
    def _existing(self, job: str) -> Iterator[None]:
        """Says within the block that there is no such job, which may be one of another block or region."""
        from botocore.exceptions import ClientError  # noqa: PLC0415 - comes with an extra

        try:
            yield
        except ClientError as error:
            if error_code(error) != _UNKNOWN:
                raise
            where = f"`{self.block}` has no job {job} in {self._region}"
            raise NoSuchJobError(f"{where}; check its name, --block and --region") from None

    def _steps(self, job: str) -> Iterator[Answer]:
        if self.block == "load_test":
            with explained(f"the tests of {job} cannot be listed", rights=_RIGHTS), _waiting():
                operation = "list_inference_recommendations_job_steps"
                yield from pages(self._client, operation, "Steps", JobName=job)

    def scaling(self, job: str, recommendation: str, **asked: Any) -> Answer:
        """What SageMaker recommends for scaling, after a load test.

        https://docs.aws.amazon.com/sagemaker/latest/dg/inference-recommender-autoscaling.html

        Raises:
            AccountError: when AWS refuses.
        """
        with explained(f"the scaling for {recommendation} cannot be obtained", rights=_RIGHTS):
            scaling: Answer = self._client.get_scaling_configuration_recommendation(
                InferenceRecommendationsJobName=job, RecommendationId=recommendation, **asked
            )
        return scaling

    def output(self, url: str) -> bytes | None:
        """The newest archive below an S3 URL that a job has written; None if there is none.

        Raises:
            AccountError: when S3 refuses.
        """
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        s3 = self._connection.s3(self._region)
        with explained(f"the results in {url} cannot be read", rights=_RIGHTS):
            every = pages(s3, "list_objects_v2", "Contents", Bucket=bucket, Prefix=prefix)
            archives = [it for it in every if it.get("Key", "").endswith("output.tar.gz")]
            if not archives:
                return None
            newest = max(archives, key=lambda it: it["LastModified"])
            content: bytes = s3.get_object(Bucket=bucket, Key=newest["Key"])["Body"].read()
        return content


class _Unreachable(Exception):  # noqa: N818 - no error: it passes
    """AWS cannot be asked now; the job does not depend on that."""


@contextmanager
def _waiting() -> Iterator[None]:
    """Within the block, what passes is no failure."""
    from botocore.exceptions import ClientError, ConnectionError, HTTPClientError  # noqa: PLC0415

    try:
        yield
    except (ConnectionError, HTTPClientError, NotFromAwsError):
        raise _Unreachable("AWS is out of reach; trying again") from None
    except ClientError as error:
        if error_code(error) not in _PASSES:
            raise
        raise _Unreachable(f"AWS answers {error_code(error)}; trying again") from None
