"""No secret is in an environment variable unnoticed, none is repeated, and little else is mistaken for one.

Secrets are made up at run time: scanners of repositories would refuse a file that contains one.
"""

import json
import random
import string
from pathlib import Path

import pytest
import yaml
from support.cdk import endpoint, synthesised
from support.checking import check_file
from support.resolving import BASES, merged

from inferstack.check.load import parse_spec
from inferstack.problems import Problem, SpecError
from inferstack.texts.secrets import is_secret

_RANDOM = random.Random(20261120)
_DIGITS = string.digits
_HEX = string.hexdigits[:16]
_MIXED = string.ascii_letters + _DIGITS


def made(length: int, characters: str = _MIXED) -> str:
    return "".join(_RANDOM.choices(characters, k=length))


SECRETS = {
    "access key": ("AWS_ACCESS_KEY_ID", "AKIA" + made(16, string.ascii_uppercase + "234567")),
    "session's access key": ("KEY", "ASIA" + made(16, string.ascii_uppercase + "234567")),
    "Hugging Face": ("HF_TOKEN", "hf_" + made(34)),
    "Hugging Face, under any name": ("ANYTHING", "hf_" + made(34)),
    "OpenAI": ("ANYTHING", "sk-proj-" + made(48)),
    "Anthropic": ("ANYTHING", "sk-ant-api03-" + made(40) + "-" + made(40)),
    "GitHub": ("ANYTHING", "ghp_" + made(36)),
    "GitHub, fine-grained": ("ANYTHING", "github_pat_" + made(22) + "_" + made(59)),
    "GitLab": ("ANYTHING", "glpat-" + made(20)),
    "Slack": ("ANYTHING", "xoxb-" + made(12, _DIGITS) + "-" + made(24)),
    "Google": ("ANYTHING", "AIza" + made(35)),
    "NVIDIA": ("NGC_CLI", "nvapi-" + made(64)),
    "Databricks": ("ANYTHING", "dapi" + made(32, _HEX)),
    "Azure": ("ANYTHING", "AccountName=x;AccountKey=" + made(86) + "=="),
    "private key": ("ANYTHING", "-----BEGIN RSA PRIVATE KEY-----\n" + made(64)),
    "JWT": ("ANYTHING", f"Bearer eyJ{made(20)}.eyJ{made(60)}.{made(43)}"),
    "URL": ("FEATURES", f"postgresql+psycopg://reader:{made(9)}@db.internal:5432/features"),
    "URL without user": ("CACHE", f"redis://:{made(9)}@cache.internal"),
    "JDBC": ("FEATURES", f"jdbc:mysql://db.internal/x?user=reader&password={made(9)}&ssl=true"),
    "JSON": ("FEATURES", f'{{"user": "reader", "password": "{made(9)}"}}'),
    "presigned": ("MODEL", f"https://x.s3.amazonaws.com/y?X-Amz-Expires=9&X-Amz-Signature={made(64, _HEX)}"),
    "after what is filled in": ("URL", f"https://${{AWS::Region}}.example.com?password={made(9)}"),
    "short password": ("DB_PASSWORD", made(7, string.ascii_lowercase)),
    "shortest password": ("DB_PASSWORD", made(4, string.ascii_lowercase)),
    "numbered password": ("DB_PASSWORD_2", made(12, _DIGITS)),
    "hex under a name": ("WANDB_API_KEY", made(40, _HEX)),
    "UUID under a name": ("clientSecret", "-".join(made(n, _HEX) for n in (8, 4, 4, 4, 12))),
    "UUID of few digits": ("API_KEY", "-".join(made(n, "abcdef") for n in (8, 4, 4, 4, 12))),
    "AWS's secret key": ("AWS_SECRET_ACCESS_KEY", made(40, _MIXED + "/+")),
    "base64 under a name": ("SIGNING_KEY", made(43) + "="),
    **{f"GitHub, {kind}": ("ANYTHING", f"{kind}_{made(36)}") for kind in ("gho", "ghr", "ghs", "ghu")},
    **{
        f"{word}=": ("FEATURES", f"user=reader;{word}={made(9)}")
        for word in ("passwd", "passphrase", "pwd", "PassWord", "pa\u017f\u017fword")
    },
}

HARMLESS = {
    "SAGEMAKER_SUBMIT_DIRECTORY": "s3://acme-models/code/2026-11-20T10:11:12Z/sourcedir.tar.gz",
    "SAGEMAKER_TRITON_ADDITIONAL_ARGS": "--pinned-memory-pool-byte-size=268435456 --model-control-mode=none",
    "HF_MODEL_ID": "TheBloke/Mistral-7B-Instruct-v0.2-GPTQ",
    "HF_TASK": "text-classification",
    "HF_TOKEN_PATH": "/opt/ml/hub/token",
    "PLACEHOLDER": "hf_" + 34 * "x",
    "ANOTHER": "ghp_" + 36 * "0",
    "HF_TOKEN": "<YOUR HUGGING FACE READ TOKEN>",
    "HUGGING_FACE_HUB_TOKEN": "REPLACE_WITH_YOUR_TOKEN",
    "MAX_TOTAL_TOKENS": "4096",
    "OPTION_MAX_ROLLING_BATCH_PREFILL_TOKENS": "16000",
    "TOKENIZERS_PARALLELISM": "false",
    "EOS_TOKEN": "</s>",
    "STOP_TOKEN": "<|eot_id|>",
    "DECODER_START_TOKEN": "<|startoftranscript|>",
    "TOKEN": "us-east-1-llama-3-70b-instruct-v1",
    "OPENAI_API_KEY": "EMPTY",
    "API_KEY": "x-api-key",
    "API_KEY_HEADER": "x-api-key",
    "DB_SECRET": "prod/features/reader",
    "DB_SECRET_NAME": "prod-features-reader-2026",
    "DB_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:111122223333:secret:features-AbCdEf",
    "CLIENT_SECRET": "arn:aws:secretsmanager:us-east-1:111122223333:secret:features-AbCdEf",
    "SECRET": "MyServiceSecret2026",
    "DB_PASSWORD": "${DB_PASSWORD}",
    "REDIS_PASSWORD": "/run/secrets/redis",
    "REQUIRE_PASSWORD": "true",
    "ASK_PASSWORD": "True",
    "ADMIN_PASSWORD": "changeme",
    "ASK_FOR_PASSWORD": "off",
    "DB_PASSWORD_FILE": "/run/secrets/db",
    "PWD": "/opt/ml/model",
    "GOOGLE_APPLICATION_CREDENTIALS": "/opt/ml/model/credentials.json",
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "IMAGE": "sk-learn-container-2024-extended-version-py3",
    "DIGEST": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "COMMIT": "dff3db1e0c5f4b0f6a0b7d1c2e3f4a5b6c7d8e9f",
    "ENDPOINT": "http://localhost:8080/v1",
    "DSN": "postgres://reader@db.internal/features",
    "PIP": "git+https://github.com/acme/model@v1.2",
    "JAVA_OPTS": "-Xmx4g -Djavax.net.ssl.keyStoreType=PKCS12",
    "EMPTY_TOKEN": "",
}

FILLED_IN = {
    "all of it": "{{resolve:secretsmanager:hub:SecretString:token}}",
    "by ARN": "{{resolve:secretsmanager:arn:aws:secretsmanager:us-east-1:111122223333:secret:hub-AbCdEf:SecretString:token::}}",
    "part of it": "postgres://reader:{{resolve:secretsmanager:db:SecretString:password}}@db.internal/features",
    "with a pseudo parameter": "{{resolve:secretsmanager:hub-${AWS::Region}:SecretString:token}}",
    "Parameter Store": "{{resolve:ssm:/features/url:3}}",
    "CDK": "${Token[TOKEN.123]}",
}


def environment(values: dict[str, str], base: str = "single") -> dict[str, object]:
    data = yaml.safe_load(BASES[base])
    if base == "components":
        container = {"container": {"environment": values}}
        return merged(data, {"inference_components": {"chat": {"specification": container}}})
    return merged(data, {"model": {"environment": values}})


def problems(values: dict[str, str], base: str = "single") -> list[Problem]:
    """What the rules on this topic report."""
    try:
        found = parse_spec(environment(values, base)).warnings
    except SpecError as error:
        found = error.problems
    return [it for it in found if it.code in ("IS214", "IS215", "IS216")]


@pytest.mark.parametrize("base", ["single", "components"])
@pytest.mark.parametrize(("key", "value"), SECRETS.values(), ids=SECRETS)
def test_a_secret_is_noticed_once_at_its_variable(key: str, value: str, base: str) -> None:
    (problem,) = problems({"LOG_LEVEL": "info", key: value}, base)
    assert problem.severity == "warning"
    assert problem.path[-2:] == ("environment", key)


@pytest.mark.parametrize(("key", "value"), SECRETS.values(), ids=SECRETS)
def test_no_message_repeats_a_secret(key: str, value: str, tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(json.dumps(environment({key: value})))
    said = [text for it in check_file(file) for text in (it.message, it.fix, str(it))]
    pieces = {value[at : at + 6] for at in range(len(value) - 5)}
    assert said
    assert [
        piece for piece in pieces if any(char.isdigit() for char in piece) and piece in "\n".join(said)
    ] == []
    assert value not in "\n".join(said)


@pytest.mark.parametrize(("key", "value"), HARMLESS.items(), ids=HARMLESS)
def test_what_is_no_secret_is_left_alone(key: str, value: str) -> None:
    assert problems({key: value}) == []


def test_of_random_tokens_hardly_any_goes_unnoticed() -> None:
    for characters in (_MIXED, _HEX, string.ascii_lowercase + _DIGITS):
        tokens = [made(length, characters) for length in (24, 32, 40, 64) for _ in range(100)]
        assert sum(bool(problems({"SOME_API_KEY": token})) for token in tokens) >= 0.95 * len(tokens)


@pytest.mark.parametrize("value", FILLED_IN.values(), ids=FILLED_IN)
@pytest.mark.parametrize("key", ["HF_TOKEN", "DB_PASSWORD", "URL"])
def test_what_cloudformation_fills_in_is_no_secret_of_the_spec(key: str, value: str) -> None:
    assert problems({key: value}) == []


@pytest.mark.parametrize("value", list(FILLED_IN.values())[:3])
def test_a_reference_to_a_secret_reaches_the_template_as_it_is(value: str) -> None:
    template = synthesised(endpoint("single", {"model": {"environment": {"HF_TOKEN": value}}}))
    (model,) = (it for it in template["Resources"].values() if it["Type"] == "AWS::SageMaker::Model")
    assert model["Properties"]["PrimaryContainer"]["Environment"]["HF_TOKEN"] == value


@pytest.mark.parametrize(
    ("reference", "found", "fix"),
    [
        ("{{resolve:ssm-secure:/hub/token:1}}", "does not resolve `ssm-secure`", "resolve:secretsmanager:"),
        ("{{resolve:secretmanager:hub:SecretString:token}}", '"secretmanager"', "`secretsmanager`?"),
    ],
)
def test_a_reference_that_cannot_be_resolved_is_an_error(reference: str, found: str, fix: str) -> None:
    (problem,) = problems({"HF_TOKEN": reference})
    assert (problem.code, problem.severity) == ("IS216", "error")
    assert found in problem.message
    assert fix in problem.fix


@pytest.mark.parametrize(
    ("name", "value", "hidden"),
    [
        ("API_TOKEN", "abc", True),
        ("DB_PASSWORD", "x", True),
        ("apiKey", "plain words", True),
        ("DB_PASSWORD", "summer/rain", True),
        ("DB_PASSWORD", "summer-${parameter:Year}", True),
        ("API_TOKEN", "{{resolve:secretsmanager:token}}", False),
        ("API_TOKEN", "${parameter:Token}", False),
        ("TOKEN_SECRET", "arn:aws:secretsmanager:us-east-1:111122223333:secret:token", False),
        ("MAX_TOKENS", "4096", False),
    ],
)
def test_a_review_hides_what_is_named_a_secret_even_if_it_is_a_plain_word(
    name: str, value: str, hidden: bool
) -> None:
    assert is_secret(name, value) is hidden
