"""AWS's refusals in words that help, and the one exception of this package."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_AGAIN = "then run the command again: what is uploaded is not uploaded twice"
_LOG_IN = f"log in again, such as by `aws sso login`, {_AGAIN}"
_CREDENTIALS = "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or log in by `aws sso login`"
_PERMISSIONS = (
    "uploading takes s3:ListBucket on the bucket, s3:GetObject, s3:PutObject and s3:AbortMultipartUpload on "
    "its objects, and for a KMS key kms:GenerateDataKey and kms:Decrypt; where the bucket's policy asks for "
    "encryption, --sse and --sse-kms-key-id"
)
_KEY = "see that the key is enabled and of the bucket's region; name one of another account by its ARN"
_BUSY = f"wait a little, {_AGAIN}"
_NETWORK = f"see whether the network is there, and proxies are set, {_AGAIN}"
_BUCKET = "make the bucket, or correct its name in the spec"

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
    **dict.fromkeys(("AccessDenied", "AccessDeniedException", "AllAccessDisabled", "403"), _PERMISSIONS),
    **dict.fromkeys(
        (
            *("SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded", "RequestTimeout"),
            *("InternalError", "ServiceUnavailable", "500", "503"),
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
    "RequestTimeTooSkewed": "set the clock of this machine",
    "BadDigest": f"the archive changed while it was uploaded; let nothing write to it, {_AGAIN}",
    "NoRegionError": "set AWS_REGION, or `env: {region: …}` in the spec",
    "NoSuchUpload": f"somebody ended the upload, maybe a lifecycle rule of the bucket; {_AGAIN}",
}


class AccountError(Exception):
    """Something cannot be done in the account; its one line says what, why, and what helps."""


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turns what boto3 raises in the block into an :class:`AccountError` that begins with ``what``."""
    from boto3.exceptions import Boto3Error  # noqa: PLC0415 - comes with an extra
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        yield
    except (BotoCoreError, ClientError, Boto3Error) as error:
        raise AccountError(f"{what}: {explanation(error)}") from None


def explanation(error: BaseException) -> str:
    """What AWS said, and what helps where that is known."""
    # A failed transfer wraps what made it fail.
    cause = error.__context__ if hasattr(error.__context__, "response") else error
    code = error_code(cause)
    said = _in_words(cause, code)
    known = _HELP.get(type(cause).__name__ if code is None else code)
    return said if known is None else f"{said}; {known}"


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
