"""Messages on a value of the right type: what was found, and what is allowed."""

import re
from collections.abc import Callable

from inferstack.check.structure import (
    NOT_AN_OPTION,
    OUT_OF_RANGE,
    WRONG_COUNT,
    WRONG_FORM,
    WRONG_LENGTH,
    WRONG_TYPE,
)
from inferstack.check.structure.keys import NOT_YET, is_api_only_value
from inferstack.check.structure.validator import Error
from inferstack.check.structure.wrong_types import bounds_in_words, wrong_type
from inferstack.problems import Fix
from inferstack.problems.words import ask, choose, describe, span
from inferstack.texts.arns import ALARM_ACTION, KMS_KEY
from inferstack.texts.placeholders import OR_PLACEHOLDER
from inferstack.texts.statistic import STATISTIC, WHAT_A_STATISTIC_IS

_NAME = "letters and digits, with hyphens only between them"
_S3_URL = "an S3 URL: s3://bucket/key"
WHAT_A_PATTERN_MEANS = {
    r"^[a-zA-Z0-9](-*[a-zA-Z0-9])*$": _NAME,
    r"^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$": f"{_NAME}, at most 63 characters",
    r"^[a-zA-Z0-9]([\-a-zA-Z0-9]*[a-zA-Z0-9])?$": _NAME,
    r"^(https|s3)://([^/]+)/?(.*)$": _S3_URL,
    r"^(https|s3)://([^/])/?(.*)$": _S3_URL,
    r"^(?:(https|s3)://([^/]+)/?(.*))$": _S3_URL,
    r"^[0-9]{12}$": 'twelve digits in quotes: "111122223333"',
    r"^arn:aws[a-z\-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/\-]+$": (
        "a role's ARN: arn:aws:iam::111122223333:role/name"
    ),
    r"^arn:aws[a-z\-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9_+=,.@/\-]+$": (
        "a managed policy's ARN: arn:aws:iam::aws:policy/name"
    ),
    ALARM_ACTION: (
        "the ARN of a topic, function, OpsItem, response plan, investigation group or scaling policy: "
        "arn:aws:sns:us-east-1:111122223333:name"
    ),
    r"^arn:aws[a-z\-]*:sns:[a-z0-9\-]*:[0-9]{12}:[a-zA-Z0-9_.-]+$": (
        "an SNS topic's ARN: arn:aws:sns:us-east-1:111122223333:name"
    ),
    r"^arn:aws[a-z\-]*:kms:[a-z0-9\-]+:[0-9]{12}:(key|alias)/.+$": (
        "a KMS key's ARN: arn:aws:kms:us-east-1:111122223333:key/id"
    ),
    r"^(?!(.*/)?\.\.?/)[^/].*\.tar\.gz$": "a path below the prefix that ends in .tar.gz, without `..`",
    f"^{KMS_KEY}$": (
        "a KMS key's id, an alias such as alias/name, or the ARN of one: "
        "arn:aws:kms:us-east-1:111122223333:key/id"
    ),
    r"^(?:arn:[0-9A-Za-z\-]+:lambda:[0-9A-Za-z\-]+:[0-9]{12}:function:.*)$": (
        "a function's ARN: arn:aws:lambda:us-east-1:111122223333:function:name"
    ),
    r"^arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]+:([0-9]{12}|aws):hub-content/[^/]+/[^/]+/\S+$": (
        "a hub content's ARN: arn:aws:sagemaker:us-east-1:aws:hub-content/hub/Model/name/1.0.0"
    ),
    (
        r"^(arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:[a-z\-]*\/)?"
        r"([a-zA-Z0-9]([a-zA-Z0-9-]){0,62})(?<!-)(\/[0-9]{1,9})?$"
    ): "a model package's name or ARN: arn:aws:sagemaker:us-east-1:111122223333:model-package/name/1",
    (
        r"^(?:(arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:[a-z\-]*\/)?"
        r"([a-zA-Z0-9]([a-zA-Z0-9-]){0,62})(?<!-))$"
    ): (
        "a model package group's name or ARN: "
        "arn:aws:sagemaker:us-east-1:111122223333:model-package-group/name"
    ),
    "^latest-approved$": "a version's number without quotes, or latest-approved",
    r"^(?:((/[A-Za-z0-9\.,\+@=_-]+)*)/)$": "a path between slashes, of letters, digits and .,+@=_-: /name/",
    STATISTIC: WHAT_A_STATISTIC_IS,
    r"^(?:(?!((^[ ]+.*)|(.*([\u0000-\u001f]|[\u007f-\u009f]|[:/|])+.*)|(.*[ ]+$))).+)$": (
        "text without `:`, `/` and `|`, and without spaces at either end"
    ),
    "^(?:[\\u0020-\\uD7FF\\uE000-\\uFFFD\U00010000-\U0010ffff\\r\\n\\t]*)$": (
        "text without control characters"
    ),
    r"^(\*|[a-zA-Z0-9\-]+:[a-zA-Z0-9*?]+)$": "an action: service:Action",
    r"^(\*|arn:[^:]+:[^:]+:[^:]*:([0-9]{12}|\*|aws)?:.+)$": "an ARN: arn:aws:s3:::bucket/prefix/*",
    r"^[A-Za-z0-9]+$": "letters and digits",
    r"^P9[59]$": "P95 or P99",
    r"^IS[0-9]{3}$": "a warning's code: IS203",
    r"^[A-Za-z0-9:-]+$": "letters, digits, colons and hyphens",
    r"^[A-Za-z0-9_+=,.@-]+$": "a name without a path, of letters, digits and _+=,.@-",
    r"^([a-z0-9.-]+\.amazonaws\.com(\.cn)?|[0-9]{12}|arn:aws[a-z\-]*:(iam|sts)::[0-9]{12}:[^*?]+)$": (
        "a service, an account, or the ARN of a role: arn:aws:iam::111122223333:role/name"
    ),
    r"^[\S]+$": "text without spaces",
    r"^(?:[\S]+)$": "text without spaces",
    r"^(?:[^:].*)$": "text on one line that does not begin with `:`",
    r"^(?:[a-zA-Z0-9](-*[a-zA-Z0-9])*\/[a-zA-Z0-9](-*[a-zA-Z0-9+.])*)$": "a content type: text/csv",
    r"^(?:arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:[a-z0-9\-]{1,14}/.*)$": (
        "a reservation's ARN: arn:aws:sagemaker:us-east-1:111122223333:training-plan/name"
    ),
}
"""AWS's patterns in words: what a text must look like. A pattern that is missing here is shown as it is."""

_PATTERNS_OF_NAMES = frozenset(
    it for it, meaning in WHAT_A_PATTERN_MEANS.items() if meaning.startswith(_NAME)
)
"""The patterns for what AWS refers to by name, not by the ARN that ends with the name."""


def _enum(name: str, error: Error) -> tuple[str, str]:
    message = f"{name} cannot be {describe(error.instance)}"
    if is_api_only_value(name.strip("`"), error.instance):
        message = f"{message}: {NOT_YET}"
    found, options = error.instance, error.validator_value
    # The prefix of instance types is the same for all of them, so many people leave it out.
    whole = f"ml.{found}"
    fix = choose(found, options)
    return message, Fix(fix, found, whole) if whole in options else fix


def _arn_for_a_name(name: str, error: Error) -> tuple[str, str] | None:
    """Message and fix for an ARN if AWS wants only the name at its end."""
    pattern, found = _form(error), error.instance
    if pattern not in _PATTERNS_OF_NAMES or not isinstance(found, str) or not found.startswith("arn:"):
        return None
    alone = re.split("[:/]", found)[-1]
    said = f"{name} is an ARN" if found in name else f"{name} is an ARN: {describe(found)}"
    return said, Fix(f"write only the name: {alone}", found, alone) if alone else "write only the name"


def _form(error: Error) -> str:
    return str(error.schema.get("pattern", "")).removesuffix(OR_PLACEHOLDER)


# Not the placeholder itself, which has been replaced by now, or is reported where no stage was chosen.
_STAGE_IN_CAPITALS = re.compile(r"\$\{(?!stage\})(?i:stage)\}")


def _pattern(name: str, error: Error) -> tuple[str, str]:
    pattern = _form(error)
    meaning = WHAT_A_PATTERN_MEANS.get(pattern, f"text that matches {pattern}")
    fix = f"write {meaning}"
    if in_capitals := _STAGE_IN_CAPITALS.search(str(error.instance)):
        fix = Fix(f"{ask(['${stage}'])} {fix}", in_capitals[0], "${stage}")
    wrong = (f"{name} has the wrong format: {describe(error.instance)}", fix)
    return _arn_for_a_name(name, error) or wrong


def _bounds(name: str, error: Error) -> tuple[str, str]:
    return (
        f"{name} is out of range: {error.instance}",
        f"allowed: {bounds_in_words(error.schema, error.instance)}",
    )


def _length(name: str, error: Error) -> tuple[str, str]:
    low, high = error.schema.get("minLength"), error.schema.get("maxLength")
    wrong = (f"{name} has {len(error.instance)} characters", f"allowed: {span(low, high)} characters")
    return _arn_for_a_name(name, error) or wrong


def _count(name: str, error: Error) -> tuple[str, str]:
    words = (
        ("minItems", "maxItems") if isinstance(error.instance, list) else ("minProperties", "maxProperties")
    )
    low, high = (error.schema.get(word) for word in words)
    return f"{name} has {len(error.instance)} entries", f"allowed: {span(low, high)}"


def _twice(name: str, _: Error) -> tuple[str, str]:
    return f"{name} has the same entry twice", "remove the second one"


SAYINGS: dict[str, tuple[str, Callable[[str, Error], tuple[str, str]]]] = {
    "type": (WRONG_TYPE, wrong_type),
    "enum": (NOT_AN_OPTION, _enum),
    "pattern": (WRONG_FORM, _pattern),
    "minimum": (OUT_OF_RANGE, _bounds),
    "maximum": (OUT_OF_RANGE, _bounds),
    "minLength": (WRONG_LENGTH, _length),
    "maxLength": (WRONG_LENGTH, _length),
    "minItems": (WRONG_COUNT, _count),
    "maxItems": (WRONG_COUNT, _count),
    "minProperties": (WRONG_COUNT, _count),
    "uniqueItems": (WRONG_COUNT, _twice),
}
"""By the JSON Schema keyword that a value breaks: the code, and the function for its message and fix."""
