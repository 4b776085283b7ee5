"""What helps when AWS refuses something, or cannot be reached."""

import string
from collections.abc import Iterable

import pytest
from botocore import exceptions
from botocore.exceptions import BotoCoreError, ClientError

from inferstack.account.connection import AccountError, explained


def said_of(error: Exception, rights: str = "it needs s3:X") -> str:
    with pytest.raises(AccountError) as raised, explained("it cannot be done", rights=rights):
        raise error
    return str(raised.value)


def refusal(code: str, message: str = "No.") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "PutObject")


def failure(name: str) -> BotoCoreError:
    """An exception of botocore, which must have one of this name."""
    kind = getattr(exceptions, name)
    fields = {field for _, field, _, _ in string.Formatter().parse(kind.fmt) if field}
    found: BotoCoreError = kind(**dict.fromkeys(fields, "x"))
    return found


REFUSALS = {
    # https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html, and of all services
    # https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html; numbers are answers without a body
    "log in again": (
        "ExpiredToken",
        "ExpiredTokenException",
        "RequestExpired",
        "TokenRefreshRequired",
        "400",
    ),
    "set AWS_PROFILE": (
        *("InvalidAccessKeyId", "InvalidClientTokenId", "InvalidToken", "SignatureDoesNotMatch"),
        "UnrecognizedClientException",
    ),
    "it needs s3:X": ("AccessDenied", "AccessDeniedException", "AllAccessDisabled", "403"),
    "wait a moment": (
        *("SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded", "RequestTimeout"),
        *("InternalError", "ServiceUnavailable", "500", "503"),
    ),
    "create the bucket": ("NoSuchBucket", "404"),
    "make sure that the key is enabled": (
        *("KMS.NotFoundException", "KMS.DisabledException", "KMS.KMSInvalidStateException"),
    ),
    "correct the clock": ("RequestTimeTooSkewed",),
    "the archive changed while it was uploaded": ("BadDigest",),
    "something aborted the upload": ("NoSuchUpload",),
}
FAILURES = {
    "log in again": ("TokenRetrievalError", "SSOTokenLoadError", "UnauthorizedSSOTokenError"),
    "set AWS_PROFILE": (
        *("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "ProfileNotFound"),
    ),
    "check the network": (
        *("EndpointConnectionError", "ConnectTimeoutError", "ReadTimeoutError", "SSLError"),
        *("ConnectionClosedError", "ProxyConnectionError", "ResponseStreamingError"),
    ),
    "set AWS_REGION": ("NoRegionError",),
}


def each(helps: dict[str, tuple[str, ...]]) -> Iterable[tuple[str, str]]:
    return [(name, text) for text, names in helps.items() for name in names]


@pytest.mark.parametrize(("code", "helps"), each(REFUSALS))
def test_what_aws_refuses_is_explained_by_its_code(code: str, helps: str) -> None:
    assert said_of(refusal(code)).startswith(f"it cannot be done: AWS answers {code}: No; {helps}")


@pytest.mark.parametrize(("name", "helps"), each(FAILURES))
def test_what_does_not_reach_aws_is_explained_by_its_exception(name: str, helps: str) -> None:
    error = failure(name)
    assert said_of(error).startswith(f"it cannot be done: {str(error).rstrip('.')}; {helps}")


def test_what_is_new_is_told_as_aws_tells_it() -> None:
    assert said_of(refusal("Teapot", "")) == "it cannot be done: AWS answers Teapot"
    assert said_of(failure("UnknownServiceError")).startswith("it cannot be done: Unknown service")


def test_an_answer_without_an_error_is_still_one() -> None:
    assert said_of(ClientError({}, "PutObject")) == "it cannot be done: AWS answers "
