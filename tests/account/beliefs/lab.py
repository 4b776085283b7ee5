"""An account while experiments run: what they make has a name and a tag by which it is found and removed again."""

import gzip
import io
import json
import secrets
import tarfile
from collections.abc import Callable, Mapping
from functools import cached_property
from time import monotonic, sleep
from typing import Any, Literal, NamedTuple

import boto3
from botocore.exceptions import ClientError

from inferstack.account.existing import pages
from inferstack.catalog import images

PREFIX = "inferstack-belief-"
TAG = {"Key": "inferstack:belief", "Value": "experiment"}
_SECONDS = 15
_SETTLING = 15
"""Seconds until a new role can be assumed."""
_BUSY = ("CREATE_PENDING", "_IN_PROGRESS", "Creating", "Updating", "RollingBack", "Deleting")
_CODE = """\
def model_fn(folder):
    return 1
"""
VARIANT = "AllTraffic"


class Answer(NamedTuple):
    """What an experiment has found, and by what."""

    finding: Literal["holds", "wrong", "cannot tell"]
    evidence: str

    @classmethod
    def of(cls, holds: bool, evidence: str) -> "Answer":
        return cls("holds" if holds else "wrong", evidence)


class OutOfTimeError(Exception):
    """An experiment took longer than it may."""


class Lab:
    """The account, and what experiments share. Nothing is made before an experiment asks for it."""

    def __init__(self, region: str, instance_type: str) -> None:
        self.region, self.instance_type = region, instance_type
        self.ends = float("inf")
        self._session = boto3.Session(region_name=region)
        self._clients: dict[str, Any] = {}
        self.account = self.client("sts").get_caller_identity()["Account"]
        self.bucket_name = f"{PREFIX}{self.account}-{region}"
        self.role_name = f"{PREFIX}{region}"
        self._endpoints: list[str] = []
        self._stacks: list[str] = []

    def client(self, service: str) -> Any:
        # Making one takes longer than most requests.
        if service not in self._clients:
            self._clients[service] = self._session.client(service)
        return self._clients[service]

    @property
    def sagemaker(self) -> Any:
        return self.client("sagemaker")

    @property
    def cloudformation(self) -> Any:
        return self.client("cloudformation")

    @property
    def scaling(self) -> Any:
        return self.client("application-autoscaling")

    def name(self) -> str:
        return PREFIX + secrets.token_hex(4)

    # ------------------------------------------------------------ waiting and refusals

    def seen(self, look: Callable[[], str]) -> list[str]:
        """Each status that something has until it does not change by itself any more; the last one is the end."""
        found = [look()]
        while any(it in found[-1] for it in _BUSY):
            if monotonic() > self.ends:
                raise OutOfTimeError(f"it was {found[-1]} for too long")
            sleep(_SECONDS)
            found.append(look())
        return [*dict.fromkeys(found[:-1]), found[-1]]

    # ------------------------------------------------------------ what experiments share

    @cached_property
    def role(self) -> str:
        """ARN of a role for SageMaker and CloudFormation, which may read what is under `readable/`."""
        iam = self.client("iam")
        trusted = ["sagemaker.amazonaws.com", "cloudformation.amazonaws.com"]
        trust = _allow("sts:AssumeRole", Principal={"Service": trusted})
        arn = iam.create_role(RoleName=self.role_name, AssumeRolePolicyDocument=trust, Tags=[TAG])["Role"][
            "Arn"
        ]
        read = f"arn:aws:s3:::{self.bucket}/readable/*"
        iam.put_role_policy(
            RoleName=self.role_name, PolicyName="read", PolicyDocument=_allow("s3:GetObject", Resource=read)
        )
        others = [
            *("ecr:GetAuthorizationToken", "ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage"),
            *(
                "ecr:GetDownloadUrlForLayer",
                "logs:CreateLogGroup",
                "logs:CreateLogStream",
                "logs:DescribeLogStreams",
            ),
            *(
                "logs:PutLogEvents",
                "cloudwatch:PutMetricData",
                "sagemaker:*EndpointConfig",
                "sagemaker:*Tags",
            ),
        ]
        iam.put_role_policy(
            RoleName=self.role_name, PolicyName="run", PolicyDocument=_allow(others, Resource="*")
        )
        sleep(_SETTLING)
        return str(arn)

    @cached_property
    def bucket(self) -> str:
        s3 = self.client("s3")
        # us-east-1 is where S3 makes buckets without a place, and it must not be named.
        place = (
            {}
            if self.region == "us-east-1"
            else {"CreateBucketConfiguration": {"LocationConstraint": self.region}}
        )
        s3.create_bucket(Bucket=self.bucket_name, **place)
        s3.put_bucket_tagging(Bucket=self.bucket_name, Tagging={"TagSet": [TAG]})
        return self.bucket_name

    def archive(
        self, folder: str = "readable", files: Mapping[str, bytes] = {"code/inference.py": _CODE.encode()}
    ) -> str:
        """The URL of a new archive."""
        body = io.BytesIO()
        with gzip.GzipFile(fileobj=body, mode="wb") as packed, tarfile.open(fileobj=packed, mode="w") as made:
            for name, content in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                made.addfile(entry, io.BytesIO(content))
        key = f"{folder}/{secrets.token_hex(4)}/model.tar.gz"
        self.client("s3").put_object(Bucket=self.bucket, Key=key, Body=body.getvalue())
        return f"s3://{self.bucket}/{key}"

    def container(self, url: str, *, runs_code: bool = True) -> dict[str, Any]:
        """XGBoost's image with the code of an archive, or with the archive as a model of its own."""
        found = images.find("xgboost", "1.7-1", self.instance_type)
        code = {"SAGEMAKER_PROGRAM": "inference.py", "SAGEMAKER_SUBMIT_DIRECTORY": "/opt/ml/model/code"}
        return {
            "Image": found.uri(self.region),
            "ModelDataUrl": url,
            "Environment": code if runs_code else {},
        }

    def model(self, container: Mapping[str, Any] | None = None) -> str:
        """The name of a new model: by default, one that starts."""
        given = self.container(self.archive()) if container is None else container
        name = self.name()
        self.sagemaker.create_model(
            ModelName=name, ExecutionRoleArn=self.role, PrimaryContainer=given, Tags=[TAG]
        )
        return name

    def variant(self, **more: Any) -> dict[str, Any]:
        """A production variant on one instance, without a model."""
        return {"VariantName": VARIANT, "InstanceType": self.instance_type, "InitialInstanceCount": 1, **more}

    def config(self, *variants: Mapping[str, Any], **more: Any) -> str:
        """The name of a new endpoint configuration: by default, with one variant and a model that starts."""
        name, given = self.name(), [*variants] or [self.variant(ModelName=self.model())]
        self.sagemaker.create_endpoint_config(
            EndpointConfigName=name, ProductionVariants=given, Tags=[TAG], **more
        )
        return name

    def endpoint(self, config: str | None = None) -> str:
        """The name of a new endpoint that serves."""
        name = self.name()
        self.sagemaker.create_endpoint(
            EndpointName=name, EndpointConfigName=self.config() if config is None else config, Tags=[TAG]
        )
        self._endpoints.append(name)
        *_, status = self.statuses(name)
        if status != "InService":
            raise RuntimeError(
                f"an endpoint for the experiment is {status}: {self.described(name).get('FailureReason')}"
            )
        return name

    @cached_property
    def shared(self) -> str:
        """The name of an endpoint that experiments use one after another, and leave serving."""
        name = self.endpoint()
        self._endpoints.remove(name)
        return name

    def described(self, endpoint: str) -> dict[str, Any]:
        found: dict[str, Any] = self.sagemaker.describe_endpoint(EndpointName=endpoint)
        return found

    def statuses(self, endpoint: str) -> list[str]:
        return self.seen(lambda: str(self.described(endpoint)["EndpointStatus"]))

    def end(self) -> None:
        """Ends what one experiment has made and costs. What cannot be removed yet is left to the end of the run."""
        for name in self._endpoints:
            refused(self.sagemaker.delete_endpoint, EndpointName=name)
        for name in self._stacks:
            refused(self.cloudformation.delete_stack, StackName=name)
        self._endpoints, self._stacks = [], []

    # ------------------------------------------------------------ stacks

    def submit(self, template: Mapping[str, Any], stack: str | None = None) -> str:
        """Begins to create or update a stack, and returns its name."""
        name = stack or self.name()
        operation = self.cloudformation.create_stack if stack is None else self.cloudformation.update_stack
        operation(StackName=name, TemplateBody=json.dumps(template), Tags=[TAG])
        self._stacks.append(name)
        return name

    def deploy(self, template: Mapping[str, Any], stack: str | None = None) -> tuple[str, str]:
        """Creates or updates a stack, waits, and returns its name and status."""
        name = self.submit(template, stack)
        return name, self.seen(lambda: str(self.stack(name)["StackStatus"]))[-1]

    def stack(self, name: str) -> dict[str, Any]:
        [found] = self.cloudformation.describe_stacks(StackName=name)["Stacks"]
        return dict(found)

    def events(self, stack: str) -> list[tuple[str, str]]:
        """Logical id and status of what happened, the oldest first."""
        found = pages(self.cloudformation, "describe_stack_events", "StackEvents", StackName=stack)
        return [(it["LogicalResourceId"], it["ResourceStatus"]) for it in found][::-1]

    def refused_import(
        self, template: Mapping[str, Any], resource: Mapping[str, Any], **more: Any
    ) -> str | None:
        """Why CloudFormation refuses an import, at once or in the change set; None if it does not. Nothing is executed."""
        given = {"StackName": self.name(), "ChangeSetName": "import", "ChangeSetType": "IMPORT", **more}
        told = refused(
            self.cloudformation.create_change_set,
            **given,
            TemplateBody=json.dumps(template),
            ResourcesToImport=[resource],
        )
        if told is not None:
            return told
        named = {key: given[key] for key in ("StackName", "ChangeSetName")}
        *_, status = self.seen(lambda: str(self.cloudformation.describe_change_set(**named)["Status"]))
        reason = self.cloudformation.describe_change_set(**named).get("StatusReason", "no reason")
        # Without resources and tags, such a stack would only be found by its name.
        self.cloudformation.delete_stack(StackName=given["StackName"])
        return str(reason) if status == "FAILED" else None


def refused(operation: Callable[..., Any], **request: Any) -> str | None:
    """What AWS says when it refuses; None when it does not."""
    try:
        operation(**request)
    except ClientError as error:
        found = error.response["Error"]
        if found["Code"] in ("AccessDenied", "AccessDeniedException", "ThrottlingException", "Throttling"):
            raise
        return f"{found['Code']}: {found['Message']}"
    return None


def is_refused(told: str | None) -> Answer:
    """The answer of an experiment on whether AWS refuses something."""
    return Answer.of(told is not None, told or "accepted")


def _allow(actions: str | list[str], **more: Any) -> str:
    return json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, **more}]}
    )
