"""Texts that are secrets, or look like one: nothing that shows them may repeat them."""

import re
from itertools import pairwise

import msgspec

from inferstack.texts.placeholders import DYNAMIC_REFERENCE

_KNOWN_AT_DEPLOYMENT = rf"{DYNAMIC_REFERENCE}|[$#]\{{[^{{}}]*\}}"


class _Form(msgspec.Struct, frozen=True):
    """How a kind of secret is written. The group `secret` is the part to hide, otherwise all of it.

    ``holds``: it contains one of these, in any case. Compiling a pattern takes longer than checking a spec.
    """

    kind: str
    holds: tuple[str, ...]
    pattern: str


_FORMS = (
    _Form("an AWS access key (`AKIA…`)", ("akia", "asia"), r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    _Form(
        "a private key (`-----BEGIN…`)",
        ("-----begin",),
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----",
    ),
    _Form("a JSON Web Token (`eyJ…`)", ("eyj",), r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    _Form("a Hugging Face token (`hf_…`)", ("hf_",), r"\bhf_[A-Za-z0-9]{30,}"),
    # Words with hyphens (`sk-learn-…`) have no such run of letters and digits.
    _Form("an API key (`sk-…`)", ("sk-",), r"(?<![\w-])sk-(?:[\w-]*[-_])?(?=[A-Za-z]*[0-9])[A-Za-z0-9]{16,}"),
    _Form(
        "a GitHub token (`gh…_`)",
        ("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_"),
        r"\b(?:gh[opsru]_[A-Za-z0-9]{36,}|github_pat_\w{22,})",
    ),
    _Form("a GitLab token (`glpat-…`)", ("glpat-",), r"\bglpat-[\w-]{20,}"),
    _Form("a Slack token (`xox…`)", ("xox",), r"\bxox[abeoprs]-[\w-]{10,}"),
    _Form("a Google API key (`AIza…`)", ("aiza",), r"\bAIza[\w-]{35}"),
    _Form("an NVIDIA API key (`nvapi-…`)", ("nvapi-",), r"\bnvapi-[\w-]{40,}"),
    _Form("a Databricks token (`dapi…`)", ("dapi",), r"\bdapi[0-9a-f]{32}"),
    _Form("a storage account's key (`AccountKey=…`)", ("accountkey=",), r"\bAccountKey=[A-Za-z0-9+/]{40,}"),
    _Form("a presigned URL (`X-Amz-Signature=…`)", ("signature=",), r"\bX-Amz-Signature=[0-9a-f]{64}"),
    _Form(
        "a URL with a password",
        ("://",),
        r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://[^\s:/@]*:(?P<secret>[^\s/@]+)@",
    ),
    _Form(
        "a password (`password=…`)",
        ("pass", "pwd"),
        r"(?i)(?<![a-z])(?:password|passwd|passphrase|pwd)(?:=|\"\s*:\s*\")(?P<secret>[^\s&;,\"']{4,})",
    ),
)

# The last words of a name decide: `HF_TOKEN` holds one, `HF_TOKEN_PATH` and `MAX_TOKENS` do not.
_PASSWORD_NAME = r"(?:^|_)(?:PASSWORD|PASSWD|PASSPHRASE|PWD)(?:_?[0-9]+|_VALUE)?$"
_SECRET_NAME = (
    r"(?:^|_)(?:TOKEN|SECRET|CREDENTIALS?|(?:API|ACCESS|PRIVATE|SECRET|SIGNING|ENCRYPTION|AUTH)_?KEY)"
    r"(?:_?[0-9]+|_VALUE)?$"
)
_PLACEHOLDER = (
    r"(?i)^<.*>$|^\[.*\]$|\*{3}|\.{3}|…|x{4}|(.)\1{7}"
    r"|example|change.?me|replace.?(?:me|with)|placeholder|dummy|your[-_ ]"
)
_SWITCHES = frozenset(
    {"true", "false", "yes", "no", "none", "null", "enabled", "disabled", "required", "optional"}
)
_UUID = r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"


def is_secret(name: str, value: str) -> bool:
    """Whether a variable may hold a secret: by its name, unless it says where the secret is, or by its form.

    What is shown to others is stricter than a rule: a password may be a plain word.
    """
    text = value.strip()
    is_elsewhere = text.startswith("arn:") or not re.sub(_KNOWN_AT_DEPLOYMENT, "", text)
    return known_kind(value) is not None or (_has_secret_name(name) and not is_elsewhere)


def known_kind(value: str) -> str | None:
    """The kind of secret in the text, if its form gives it away."""
    text = re.sub(_KNOWN_AT_DEPLOYMENT, " ", value) if "{" in value else value
    folded = text.casefold()
    written_so = (form for form in _FORMS if any(part in folded for part in form.holds))
    return next((form.kind for form in written_so if _is_in(text, form)), None)


def _is_in(text: str, form: _Form) -> bool:
    found = (it.groupdict().get("secret", it[0]) for it in re.finditer(form.pattern, text))
    return not all(map(_stands_for_another, found))


def is_named_secret(name: str, value: str) -> bool:
    """Whether a variable is named like a secret and holds what looks like one."""
    if not _has_secret_name(name):
        return False
    if re.search(_KNOWN_AT_DEPLOYMENT, value) or _says_where(value) or _stands_for_another(value):
        return False
    return len(value) >= 4 if re.search(_PASSWORD_NAME, _words(name)) else _looks_random(value)


def _has_secret_name(name: str) -> bool:
    return re.search(f"{_PASSWORD_NAME}|{_SECRET_NAME}", _words(name)) is not None


def _words(name: str) -> str:
    """The words of a name; `openaiApiKey` consists of the same ones as `OPENAI_API_KEY`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def _says_where(value: str) -> bool:
    """Whether a text says where a secret is: an ARN, a URL, or a path of plain words."""
    return value.startswith("arn:") or "://" in value or ("/" in value and not _looks_random(value))


def _stands_for_another(text: str) -> bool:
    """Whether a text is a placeholder, or a switch instead of a password."""
    return text.lower() in _SWITCHES or re.search(_PLACEHOLDER, text) is not None


def _looks_random(text: str) -> bool:
    """Whether some part between separators is long, and mixed in a way that no word, number or name is."""
    return re.fullmatch(_UUID, text) is not None or any(map(_is_mixed, re.split(r"[-_/.:,;\s]+", text)))


def _is_mixed(part: str) -> bool:
    # Random text changes between kinds of characters at almost every second one. From a capital to a small
    # letter does not count: words begin like that.
    kinds = [_kind(character) for character in part]
    turns = sum(a != b and (a, b) != ("upper", "lower") for a, b in pairwise(kinds))
    return len(part) >= 12 and len(set(part)) >= 8 and turns * 5 >= len(part)


def _kind(character: str) -> str:
    if character.isdigit():
        return "digit"
    if character.isalpha():
        return "upper" if character.isupper() else "lower"
    return "other"
