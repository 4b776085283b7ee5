"""The account that the credentials belong to, how answers are read, and explanations of what AWS refuses.

:class:`AccountError` is the one exception that leaves this package.
"""

import html
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from inferstack.catalog import regions
from inferstack.problems.words import did_you_mean
from inferstack.texts.placeholders import PLACEHOLDER

# ---------------------------------------------------------------- AWS's refusals in words


_AGAIN = "then run the command again"
_RESUME = f"{_AGAIN}: nothing is uploaded twice"
_LOG_IN = f"log in again, such as with `aws sso login`, {_AGAIN}"
_CREDENTIALS = "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use `aws sso login`"
_PERMISSIONS = (
    "uploading needs s3:ListBucket on the bucket, s3:GetObject, s3:PutObject and s3:AbortMultipartUpload on "
    "its objects, and for a KMS key kms:GenerateDataKey and kms:Decrypt; where the bucket's policy asks for "
    "encryption, --sse and --sse-kms-key-id"
)
_KEY = "make sure that the key is enabled and in the bucket's region; name one of another account by its ARN"
_BUSY = f"wait a moment, {_AGAIN}"
_NETWORK = f"check the network and the proxy settings, {_AGAIN}"
_BUCKET = "create the bucket, or correct its name in the spec"

# By the service's error code or the name of botocore's exception; an answer without a body only has a status.
_HELP = {
    **dict.fromkeys(
        (
            *("ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"),
            *("TokenRetrievalError", "SSOTokenLoadError", "UnauthorizedSSOTokenError", "400"),
        ),
        _LOG_IN,
    ),
    **dict.fromkeys(
        (
            *("InvalidAccessKeyId", "InvalidClientTokenId", "InvalidToken", "SignatureDoesNotMatch"),
            *("UnrecognizedClientException", "NoCredentialsError", "PartialCredentialsError"),
            *("CredentialRetrievalError", "ProfileNotFound"),
        ),
        _CREDENTIALS,
    ),
    **dict.fromkeys(
        ("AccessDenied", "AccessDeniedException", "AllAccessDisabled", "UnauthorizedOperation", "403"),
        _PERMISSIONS,
    ),
    **dict.fromkeys(
        (
            *("SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded", "RequestTimeout"),
            "TooManyRequestsException",
            *("InternalError", "ServiceUnavailable", "500", "502", "503", "504"),
        ),
        _BUSY,
    ),
    **dict.fromkeys(
        (
            *("EndpointConnectionError", "ConnectTimeoutError", "ReadTimeoutError", "SSLError"),
            *("ConnectionClosedError", "ProxyConnectionError", "ResponseStreamingError"),
        ),
        _NETWORK,
    ),
    **dict.fromkeys(("NoSuchBucket", "404"), _BUCKET),
    **dict.fromkeys(("KMS.NotFoundException", "KMS.DisabledException", "KMS.KMSInvalidStateException"), _KEY),
    "RequestTimeTooSkewed": "correct the clock of this machine",
    "BadDigest": f"the archive changed while it was uploaded; make sure that nothing writes to it, {_RESUME}",
    "NoRegionError": "set AWS_REGION, or `env: {region: …}` in the spec",
    "NoSuchUpload": f"something aborted the upload, perhaps a lifecycle rule of the bucket; {_RESUME}",
}


class AccountError(Exception):
    """Something cannot be done in the account; one line says what, why, and what helps.

    ``code`` is AWS's error code, or the name of botocore's exception; None where nothing of AWS's failed.
    ``fix`` is the part of the line that says what helps, where it is known, and ``said`` the one before.
    """

    def __init__(self, said: str, code: str | None = None, fix: str = "") -> None:
        super().__init__(f"{said}; {fix}" if fix else said)
        self.said, self.code, self.fix = said, code, fix

    @property
    def is_about_credentials(self) -> bool:
        """Whether AWS accepts no request with these credentials, or there are none."""
        return self.code is not None and _HELP.get(self.code) in (_LOG_IN, _CREDENTIALS)


class UnusableAnswerError(AccountError):
    """An answer lacks what is needed."""


class NotFromAwsError(UnusableAnswerError):
    """Something else has answered, such as a proxy."""


@contextmanager
def explained(what: str, *, rights: str = _PERMISSIONS) -> Iterator[None]:
    """Turns boto3's exceptions in the block into an :class:`AccountError` that begins with ``what``.

    ``rights`` says which rights the block needs.
    """
    from boto3.exceptions import Boto3Error  # noqa: PLC0415 - comes with an extra
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        yield
    except (BotoCoreError, ClientError, Boto3Error) as error:
        cause = _cause(error)
        said = f"{what}: {_in_words(cause, error_code(cause))}"
        raise AccountError(said, _code(cause), _help(cause, rights)) from None
    except UnusableAnswerError as error:
        raise type(error)(f"{what}: {error}") from None


def _help(cause: BaseException, rights: str) -> str:
    """What helps, where that is known; else nothing."""
    known = _HELP.get(_code(cause), "")
    return rights if known is _PERMISSIONS else known


def _cause(error: BaseException) -> BaseException:
    """What made a transfer fail, which wraps it; else the error itself."""
    context = error.__context__
    return context if context is not None and hasattr(context, "response") else error


def _code(error: BaseException) -> str:
    code = error_code(error)
    return type(error).__name__ if code is None else code


def error_code(error: BaseException | None) -> str | None:
    """The error code in AWS's answer, such as ``NoSuchBucket``; None for an error that is not an answer."""
    response: Any = getattr(error, "response", None)
    return None if response is None else str(response.get("Error", {}).get("Code", ""))


def _in_words(error: BaseException | None, code: str | None) -> str:
    if code is None:
        return str(error).rstrip(".")
    response: Any = getattr(error, "response", {})
    message = str(response.get("Error", {}).get("Message", "")).rstrip(".")
    return f"AWS answers {code}: {message}" if message else f"AWS answers {code}"


# ---------------------------------------------------------------- AWS's answers
#
# Every answer goes through here. It may lack whatever AWS's model does not require, or be somebody else's.


class AnswerOfAws(dict[str, Any]):
    """A part of an answer. What it lacks is an error only where it is needed: `get` does without."""

    call: str

    def __missing__(self, name: str) -> Any:
        compare = f"compare it with what the AWS CLI gets for {self.call}"
        raise UnusableAnswerError(f"AWS's answer to {self.call} has no `{name}`; {compare}")


def _answer(value: Any, call: str) -> Any:
    match value:
        case dict():
            made = AnswerOfAws({name: _answer(it, call) for name, it in value.items()})
            made.call = call
            return made
        case list():
            return [_answer(it, call) for it in value]
        case _:
            return value


_ERROR, _SERVER_ERROR = 300, 500
_PAGE, _TITLE = (
    re.compile(rb"\s*<(!doctype\s+)?html\b", re.I),
    re.compile(rb"<title>(.*?)</title>", re.I | re.S),
)
_LONGEST_TITLE = 80
_WITH_JSON = "json"


class _Parser:
    """A parser of botocore's that knows what is no answer of AWS's."""

    def __init__(self, parser: Any, protocol: str) -> None:
        self._parser, self._protocol = parser, protocol

    def parse(self, response: Any, shape: Any) -> Any:
        """The answer to a request. ``shape`` is what AWS's model says of it.

        Raises:
            NotFromAwsError: when it is a page, or has not the form of the service's answers.
        """
        from botocore.parsers import ResponseParserError  # noqa: PLC0415 - comes with an extra

        body, status = response["body"], response["status_code"]
        call = "AWS" if shape is None else re.sub("(Output|Response|Result)$", "", shape.name)
        if isinstance(body, bytes) and _PAGE.match(body):
            if status < _SERVER_ERROR:
                require_no_page(call, body, status)
            # AWS's own load balancers answer so, too: botocore tries again what fails without a body.
            response = {**response, "body": b""}
        try:
            parsed = self._parser.parse(response, shape)
        except (ResponseParserError, AttributeError, KeyError, TypeError, ValueError, RecursionError):
            # What botocore's parsers raise where the content has another form than the model's.
            raise _not_from_aws(call, f"content of another form, with status {status}") from None
        if status >= _ERROR:
            return parsed
        is_json = self._protocol.endswith(_WITH_JSON) and isinstance(body, bytes)
        if is_json and body.strip()[:1] not in (b"", b"{"):
            raise _not_from_aws(call, f"no JSON, with status {status}")
        return _answer(parsed, call)


class _Parsers:
    """What botocore's clients ask for a parser."""

    def __init__(self, factory: Any) -> None:
        self._factory = factory

    def create_parser(self, protocol: str) -> _Parser:
        """The parser of a protocol."""
        return _Parser(self._factory.create_parser(protocol), protocol)


def require_no_page(call: str, body: bytes, status: int) -> None:
    """Refuses a page, such as a proxy's, in place of an answer.

    Raises:
        NotFromAwsError: when it is one.
    """
    if _PAGE.match(body):
        raise _not_from_aws(call, _described(body, status))


def _described(page: bytes, status: int) -> str:
    found = _TITLE.search(page)
    title = "" if found is None else " ".join(html.unescape(found[1].decode("utf-8", "replace")).split())
    titled = f' titled "{title[:_LONGEST_TITLE]}"' if title else ""
    return f"a page of HTML{titled}, with status {status}"


def _not_from_aws(call: str, what: str) -> NotFromAwsError:
    return NotFromAwsError(f"the answer to {call} is not AWS's, but {what}, such as a proxy's; {_NETWORK}")


# ---------------------------------------------------------------- The account


# Where no region is known: STS answers in any, and S3 says where a bucket is.
_ANY_REGION = "us-east-1"
# More than botocore makes by itself: an upload may take an hour, and S3 asks to slow down now and then.
_ATTEMPTS = 8
_MOST_CONNECTIONS = 16
_BRIEF = 5


class Connection(msgspec.Struct, frozen=True):
    """An account that was reached. ``region`` is the spec's, else that of the environment or profile."""

    account: str
    region: str | None
    session: Any
    _clients: dict[tuple[str, str | None], Any] = {}

    def s3(self, region: str | None = None) -> Any:
        """A boto3 client of S3, by default for the connection's region."""
        return self.client("s3", self.region if region is None else region)

    def sagemaker(self, region: str) -> Any:
        """A boto3 client of SageMaker."""
        return self.client("sagemaker", region)

    def client(self, service: str, region: str | None) -> Any:
        """A boto3 client of a service, by boto3's name for it."""
        # Making one takes longer than most requests.
        if (service, region) not in self._clients:
            self._clients[service, region] = _client(self.session, service, region)
        return self._clients[service, region]

    def runtime(self, region: str, *, connections: int, seconds: float) -> Any:
        """A boto3 client of endpoints that tries nothing twice. ``seconds``: for each answer."""
        from botocore.config import Config  # noqa: PLC0415 - comes with an extra

        config = Config(
            max_pool_connections=connections, read_timeout=seconds, retries={"total_max_attempts": 1}
        )
        return self.session.client("sagemaker-runtime", region_name=region, config=config)

    def kms(self, region: str) -> Any:
        """A boto3 client of KMS that gives up early: KMS may be out of reach, and answers are optional."""
        from botocore.config import Config  # noqa: PLC0415 - comes with an extra

        brief = Config(connect_timeout=_BRIEF, read_timeout=_BRIEF, retries={"total_max_attempts": 2})
        return self.session.client("kms", region_name=region, config=brief)

    def require_account(self, account: str | None) -> None:
        """Refuses what is in another account; None is in any.

        Raises:
            AccountError: when it is.
        """
        if account not in (None, self.account):
            said = f"the spec is for the account {account}, but the credentials are for {self.account}"
            raise AccountError(said, fix=f"use credentials for {account}, or another stage")

    def require_region(self, account: str | None = None) -> str:
        """The region, for something that is in this account; None is in any.

        Raises:
            AccountError: when no region is known, or it is in another account.
        """
        self.require_account(account)
        if self.region is None:
            raise AccountError("no region is known", fix="add --region")
        return self.region

    @property
    def pseudo_parameters(self) -> dict[str, str]:
        """Values of CloudFormation's ``AWS::…`` pseudo parameters, as far as they are known.

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
        """The text with pseudo parameters filled in; unknown placeholders stay."""
        return PLACEHOLDER.sub(lambda it: self.pseudo_parameters.get(it[1], it[0]), text)


def connect(region: str | None) -> Connection:
    """Finds credentials and asks STS which account they belong to. ``region`` is the spec's, None if it names
    none.

    https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html

    Raises:
        AccountError: without boto3, without credentials, with credentials that are not accepted, or with a
            setting that boto3 cannot read.
    """
    try:
        import boto3  # noqa: PLC0415 - comes with an extra
        from botocore.exceptions import EndpointConnectionError  # noqa: PLC0415
        from botocore.session import get_session  # noqa: PLC0415
    except ModuleNotFoundError:
        raise AccountError("boto3 is not installed; install it with: pip install 'inferstack[aws]'") from None
    with explained("AWS cannot be asked"):
        try:
            core = get_session()
            parsers = "response_parser_factory"
            core.register_component(parsers, _Parsers(core.get_component(parsers)))
            session = boto3.Session(botocore_session=core)
            used_region = _region_around(session) if region is None else region
            client = _client(session, "sts", used_region)
        except ValueError as error:
            # Such as a number that is not one; boto3 does not say which setting.
            where = "check the variables that begin with `AWS_` and the profile"
            raise AccountError(f"AWS cannot be asked: a boto3 setting is wrong: {error}; {where}") from None
        try:
            account = client.get_caller_identity()["Account"]
        except EndpointConnectionError as error:
            if used_region is None or regions.is_region(used_region):
                raise
            fix = did_you_mean(used_region, regions.names(), _NETWORK)
            said = f"AWS cannot be asked: {error}; {used_region} is not a known region"
            raise AccountError(said, type(error).__name__, fix) from None
    return Connection(str(account), used_region, session)


def reached(region: str | None) -> Connection | AccountError:
    """The account for a region as by :func:`connect`, or why it is not reached."""
    try:
        return connect(region)
    except AccountError as error:
        return error


def _region_around(session: Any) -> str | None:
    """The region that the CDK CLI would deploy to; boto3 alone does not look at AWS_REGION.

    A pipeline without a value for a variable sets it to an empty text, which counts as not set.
    """
    named = next(filter(None, (os.environ.get("AWS_REGION"), session.region_name)), None)
    if named is not None and not regions.has_form(named):
        fix = "correct AWS_REGION, AWS_DEFAULT_REGION or the profile"
        raise AccountError(f'AWS cannot be asked: "{named}" is not an AWS region; {fix}')
    return named


def _client(session: Any, service: str, region: str | None) -> Any:
    from botocore.config import Config  # noqa: PLC0415

    config = Config(max_pool_connections=_MOST_CONNECTIONS)
    if os.environ.get("AWS_MAX_ATTEMPTS") is None and os.environ.get("AWS_RETRY_MODE") is None:
        config = config.merge(Config(retries={"mode": "standard", "total_max_attempts": _ATTEMPTS}))
    return session.client(service, region_name=_ANY_REGION if region is None else region, config=config)
