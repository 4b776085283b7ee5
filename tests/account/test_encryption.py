"""The encryption that a user can ask for is what S3 can do; anything that cannot be meant is refused at once."""

from pathlib import Path

import pytest
import yaml
from botocore.session import get_session
from support.locking import ONE
from support.program import Command
from support.s3 import ACCOUNT, Answer, Cloud, Faults
from support.stubbed import StubbedSession

from inferstack.account.bucket import ALGORITHMS, is_key
from inferstack.account.keys import advice
from inferstack.check.load import parse_spec
from inferstack.cli import main

KEY = "arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
# For file systems and backups behind access points: an object in a bucket is never encrypted like that.
OF_OTHER_STORES = {"aws:fsx", "aws:backup"}


def test_every_encryption_that_s3_has_for_buckets_can_be_asked_for() -> None:
    known = get_session().get_service_model("s3").shape_for("ServerSideEncryption").enum
    assert set(ALGORITHMS) == set(known) - OF_OTHER_STORES


@pytest.mark.parametrize(
    "text",
    [KEY, KEY.rpartition("/")[2], "mrk-1234abcd12ab34cd56ef1234567890ab", "alias/models", "alias/aws/s3",
     "arn:aws-us-gov:kms:us-gov-west-1:111122223333:alias/ml/models"],
)  # fmt: skip
def test_a_key_may_be_named_in_each_way_that_s3_knows(text: str) -> None:
    assert is_key(text)


@pytest.mark.parametrize(
    "text",
    ["", "aws/s3", "alias/", "key/1234", "alias/a\n", "alias/ä", "arn:aws:s3:::b", KEY.replace("1111", "1")],
)
def test_what_names_no_key_is_refused(
    text: str, package: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        package("--sse", "aws:kms", "--sse-kms-key-id", text)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert f"{text!r} is not a KMS key; write its ID, its ARN, or an alias such as alias/models" in said


WRONG = {
    "an encryption that s3 has not": (["--sse", "kms"], "(choose from"),
    "one of another store": (["--sse", "aws:fsx"], "(choose from"),
    "a key and no encryption": (
        ["--sse-kms-key-id", KEY],
        "--sse-kms-key-id needs --sse aws:kms or aws:kms:dsse, but --sse is not given",
    ),
    "a key and s3's own": (
        ["--sse", "AES256", "--sse-kms-key-id", KEY],
        "--sse-kms-key-id needs --sse aws:kms or aws:kms:dsse, but --sse AES256 uses S3's own key",
    ),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_what_s3_would_refuse_is_refused_before_anything_is_packed(
    wrong: tuple[list[str], str], package: Command, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    options, said = wrong
    with pytest.raises(SystemExit) as ended:
        package(*options)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert faults.seen == []
    assert not Path("packages").exists()


@pytest.mark.parametrize("options", [["--sse", "AES256"], ["--sse", "aws:kms", "--sse-kms-key-id", KEY]])
def test_encryption_without_an_upload_is_wrong_usage(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["package", "a.yaml", *options])
    assert ended.value.code == 2
    assert "--sse needs --upload" in capsys.readouterr().err


@pytest.mark.parametrize(
    "code", ["KMS.NotFoundException", "KMS.DisabledException", "KMS.KMSInvalidStateException"]
)
def test_a_key_that_kms_refuses_is_one_line_that_helps(
    code: str, package: Command, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    faults.answers["PutObject"] = [(400, code, "Invalid.")]
    assert package("--sse", "aws:kms", "--sse-kms-key-id", KEY) == 1
    assert f"AWS answers {code}: Invalid; make sure that the key is enabled" in capsys.readouterr().err


def test_who_is_denied_an_upload_is_told_of_encryption(
    package: Command, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    faults.answers["PutObject"] = [(403, "AccessDenied", "Access Denied")]
    assert package() == 1
    assert (
        "where the bucket's policy asks for encryption, --sse and --sse-kms-key-id" in capsys.readouterr().err
    )


def spec_with(more: str) -> None:
    Path("a.yaml").write_text(ONE + more)


def note(capsys: pytest.CaptureFixture[str]) -> str:
    """What is reported about keys."""
    return "".join(line for line in capsys.readouterr().err.splitlines() if line.startswith("note: "))


def uploaded_with(key: str, package: Command, capsys: pytest.CaptureFixture[str]) -> str:
    assert package("--sse", "aws:kms", "--sse-kms-key-id", key) == 0
    return note(capsys)


def test_a_key_that_the_role_may_not_use_is_pointed_out(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    key = cloud.key()
    said = uploaded_with(key, package, capsys)
    assert said.startswith("note: s3://acme-models/one/model-sha256-")
    assert f"is encrypted with {key}; the endpoint's role may not use it" in said
    assert said.endswith(f'add `execution_role: {{kms_key_arns: ["{key}"]}}`')
    spec_with(f'execution_role: {{kms_key_arns: ["{key}"]}}\n')
    assert uploaded_with(key, package, capsys) == ""


def test_the_key_of_a_bucket_is_pointed_out_as_well(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    key = cloud.key()
    cloud.encrypt(key)
    assert package() == 0
    assert f"is encrypted with {key}; the endpoint's role may not use it" in note(capsys)


def test_without_a_key_or_with_its_arn_in_the_spec_nothing_is_asked_of_kms(
    package: Command, faults: Faults, capsys: pytest.CaptureFixture[str]
) -> None:
    spec_with(f"execution_role: {{kms_key_arns: ['{KEY}']}}\n")
    assert package("--stage", "dev", "--sse", "AES256") == 0
    Path("weights/net.onnx").write_text("dogs")
    assert uploaded_with(KEY, package, capsys) == ""
    assert "DescribeKey" not in faults.operations()


ALLOWED = {
    "by its arn": 'execution_role: {kms_key_arns: ["KEY"]}',
    "by pseudo parameters": (
        "execution_role: {kms_key_arns: "
        '["arn:${AWS::Partition}:kms:${AWS::Region}:${AWS::AccountId}:key/ID"]}'
    ),
    "by its alias": f'execution_role: {{kms_key_arns: ["arn:aws:kms:us-east-1:{ACCOUNT}:alias/models"]}}',
    "for the volumes": "endpoint_config: {kms_key_id: ID}",
    "for the volumes, by its alias": "endpoint_config: {kms_key_id: alias/models}",
    "by a statement": "execution_role: {statements: [{action: ['kms:Dec*'], resource: ['KEY']}]}",
    "by a statement on all keys": (
        f"execution_role: {{statements: [{{action: ['kms:Decrypt'], resource: ['arn:aws:kms:us-east-1:{ACCOUNT}:key/*']}}]}}"
    ),
}


@pytest.mark.parametrize("allowed", ALLOWED.values(), ids=ALLOWED)
def test_a_key_that_the_spec_lets_the_role_use_is_no_news(
    allowed: str, package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    key = cloud.key("alias/models")
    spec_with(allowed.replace("KEY", key).replace("ID", key.rpartition("/")[2]) + "\n")
    assert uploaded_with(key, package, capsys) == ""


NOT_ALLOWED = {
    "another key": "execution_role: {kms_key_arns: ['arn:aws:kms:us-east-1:123456789012:key/other']}",
    "another alias": "endpoint_config: {kms_key_id: alias/other}",
    "another action": "execution_role: {statements: [{action: ['kms:Encrypt'], resource: ['KEY']}]}",
    "another resource": "execution_role: {statements: [{action: ['kms:Decrypt'], resource: ['KEYS']}]}",
}


@pytest.mark.parametrize("other", NOT_ALLOWED.values(), ids=NOT_ALLOWED)
def test_what_is_said_of_another_key_is_not_taken_for_this_one(
    other: str, package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    key = cloud.key()
    cloud.key("alias/other")
    spec_with(other.replace("KEY", key) + "\n")
    assert "the endpoint's role may not use it" in uploaded_with(key, package, capsys)


def test_every_role_may_use_the_key_that_aws_has_for_s3(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    assert uploaded_with(cloud.key(of_aws=True), package, capsys) == ""


DENIED: Answer = (400, "AccessDeniedException", "Not you.")
UNKNOWN = {
    "kms may not be asked": ("", DENIED),
    "nobody may ask what an alias is": ("endpoint_config: {kms_key_id: alias/other}", DENIED),
    "managed policies": (
        "execution_role: {managed_policy_arns: ['arn:aws:iam::123456789012:policy/own']}",
        None,
    ),
}


@pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=UNKNOWN)
def test_what_only_aws_knows_is_to_be_looked_at(
    unknown: tuple[str, Answer | None],
    package: Command,
    cloud: Cloud,
    faults: Faults,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text, answer = unknown
    key = cloud.key()
    spec_with(text + "\n")
    faults.answers["DescribeKey"] = [answer]
    said = uploaded_with(key, package, capsys)
    assert said.endswith(
        f'{key}; make sure that the endpoint\'s role may use it, such as with `execution_role: {{kms_key_arns: ["{key}"]}}`'
    )


def test_a_role_of_somebody_else_is_to_be_looked_at(
    package: Command, cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    role = f"arn:aws:iam::{ACCOUNT}:role/mine"
    spec_with(f"execution_role: {role}\n")
    assert uploaded_with(cloud.key(), package, capsys).endswith(
        f"; make sure that {role} may use it (kms:Decrypt)"
    )


def test_a_kms_that_cannot_be_reached_delays_nothing_and_fails_nothing(
    package: Command, cloud: Cloud, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_KMS", "http://127.0.0.1:9")
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    assert "make sure that the endpoint's role may use it" in uploaded_with(cloud.key(), package, capsys)


def test_an_alias_is_looked_up_in_the_account_of_the_endpoint() -> None:
    there = "arn:aws:kms:us-east-1:444455556666"
    data = yaml.safe_load(ONE)
    data |= {"env": {"account": "444455556666"}, "endpoint_config": {"kms_key_id": "alias/models"}}
    session = StubbedSession()
    metadata = {"KeyMetadata": {"KeyId": "k", "Arn": f"{there}:key/k"}}
    session.stub("kms").add_response("describe_key", metadata, {"KeyId": f"{there}:alias/models"})
    assert advice(f"{there}:key/k", parse_spec(data).spec, session.connection()) is None
    session.assert_all_asked()
