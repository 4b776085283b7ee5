"""The account that the credentials are of."""

import os
from dataclasses import dataclass
from typing import Any

from inferstack.account.errors import AccountError, explained
from inferstack.catalog import regions
from inferstack.spec.texts.placeholders import PLACEHOLDER

# Where no region is known: STS answers in any, and S3 says where a bucket is.
_ANY_REGION = "us-east-1"
# More than botocore makes by itself: an upload may take an hour, and S3 asks to slow down now and then.
_ATTEMPTS = 8
_MOST_CONNECTIONS = 16
_BRIEF = 5


@dataclass(frozen=True, slots=True)
class Connection:
    """An account that was reached. ``region`` is the spec's, else that of the environment or profile."""

    account: str
    region: str | None
    session: Any

    def s3(self, region: str | None = None) -> Any:
        """A boto3 client of S3, by default for the connection's region."""
        return _client(self.session, "s3", self.region if region is None else region)

    def kms(self, region: str) -> Any:
        """A boto3 client of KMS that soon gives up: a network may not reach KMS, and answers are optional."""
        from botocore.config import Config  # noqa: PLC0415 - comes with an extra

        brief = Config(connect_timeout=_BRIEF, read_timeout=_BRIEF, retries={"total_max_attempts": 2})
        return self.session.client("kms", region_name=region, config=brief)

    @property
    def pseudo_parameters(self) -> dict[str, str]:
        """Values of CloudFormation's ``AWS::…`` here, as far as they are known.

        https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html
        """
        if self.region is None:
            return {"AWS::AccountId": self.account}
        return {
            "AWS::AccountId": self.account,
            "AWS::Region": self.region,
            "AWS::Partition": regions.partition(self.region),
            "AWS::URLSuffix": regions.dns_suffix(self.region),
        }

    def filled(self, text: str) -> str:
        """The text with pseudo parameters filled in; placeholders that are not known stay."""
        return PLACEHOLDER.sub(lambda it: self.pseudo_parameters.get(it[1], it[0]), text)


def connect(region: str | None) -> Connection:
    """Finds credentials and asks STS whose they are. ``region`` is the spec's, None if it names none.

    https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html

    Raises:
        AccountError: without boto3, without credentials, with credentials that are not accepted, or with a
            setting that boto3 cannot read.
    """
    try:
        import boto3  # noqa: PLC0415 - comes with an extra
    except ModuleNotFoundError:
        raise AccountError("boto3 is not installed; install it with: pip install 'inferstack[aws]'") from None
    with explained("AWS cannot be asked"):
        try:
            session = boto3.Session()
            found = _region_around(session) if region is None else region
            client = _client(session, "sts", found)
        except ValueError as error:
            # Such as a number that is none; boto3 does not say which setting.
            where = "look at the variables that begin with `AWS_` and at the profile"
            raise AccountError(
                f"AWS cannot be asked: a setting of boto3's is wrong: {error}; {where}"
            ) from None
        identity = client.get_caller_identity()
    return Connection(str(identity["Account"]), found, session)


def _region_around(session: Any) -> str | None:
    """The region that the CDK CLI would deploy to; boto3 alone does not look at AWS_REGION.

    A pipeline without a value for a variable sets it to an empty text, which counts as not set.
    """
    named = next(filter(None, (os.environ.get("AWS_REGION"), session.region_name)), None)
    if named is not None and not regions.has_form(named):
        fix = "correct AWS_REGION, AWS_DEFAULT_REGION or the profile"
        raise AccountError(f'AWS cannot be asked: "{named}" is no AWS region; {fix}')
    return named


def _client(session: Any, service: str, region: str | None) -> Any:
    from botocore.config import Config  # noqa: PLC0415

    config = Config(max_pool_connections=_MOST_CONNECTIONS)
    if os.environ.get("AWS_MAX_ATTEMPTS") is None and os.environ.get("AWS_RETRY_MODE") is None:
        config = config.merge(Config(retries={"mode": "standard", "total_max_attempts": _ATTEMPTS}))
    return session.client(service, region_name=_ANY_REGION if region is None else region, config=config)
