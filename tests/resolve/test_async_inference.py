"""What a stack makes for asynchronous requests, and what the endpoint's role may do with it."""

import json
from typing import Any

import pytest
from support.resolving import Resolved, of_type, resolved

MADE = (
    "{endpoint_config: {async_inference_config: {create: {bucket: {}, success_topic: {}, error_topic: {}}}}}"
)
KEY = "arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
WITH_KEY = MADE.replace("create:", f"output_config: {{kms_key_id: '{KEY}'}}, create:")


def resources(change: str) -> dict[str, Any]:
    found: dict[str, Any] = resolved("single", change)["Resources"]
    return found


def properties(change: str, logical_id: str) -> dict[str, Any]:
    found: dict[str, Any] = resources(change)[logical_id]["Properties"]
    return found


def statement(change: str, sid: str) -> dict[str, Any] | None:
    policies = (it for it in resources(change).values() if it["Type"] == "AWS::IAM::ManagedPolicy")
    found = [it for policy in policies for it in policy["Properties"]["PolicyDocument"]["Statement"]]
    return next((it for it in found if it["Sid"] == sid), None)


def test_the_configuration_names_what_is_made() -> None:
    made = properties(MADE, "EndpointConfig")["AsyncInferenceConfig"]["OutputConfig"]
    assert made == {
        "S3OutputPath": {"Fn::Sub": "s3://${AsyncBucket}/responses/"},
        "S3FailurePath": {"Fn::Sub": "s3://${AsyncBucket}/failures/"},
        "NotificationConfig": {
            "SuccessTopic": {"Ref": "AsyncSuccessTopic"},
            "ErrorTopic": {"Ref": "AsyncErrorTopic"},
        },
    }


def test_the_role_reads_requests_writes_responses_and_publishes() -> None:
    read, write, publish = (statement(MADE, sid) for sid in ("ReadRequests", "WriteResults", "NotifyTopics"))
    assert read is not None
    assert write is not None
    assert publish is not None
    assert (read["Action"], read["Resource"]) == (
        ["s3:GetObject"],
        [{"Fn::Sub": "${AsyncBucket.Arn}/requests/*"}],
    )
    assert write["Resource"] == [
        {"Fn::Sub": "${AsyncBucket.Arn}/responses/*"},
        {"Fn::Sub": "${AsyncBucket.Arn}/failures/*"},
    ]
    assert publish["Resource"] == [{"Ref": "AsyncSuccessTopic"}, {"Ref": "AsyncErrorTopic"}]


def test_requests_of_a_bucket_of_ones_own_can_be_read() -> None:
    own = "{endpoint_config: {async_inference_config: {s3_input_path: 's3://in/x', output_config: {s3_output_path: 's3://out/'}}}}"
    read = statement(own, "ReadRequests")
    assert read is not None
    assert read["Resource"] == [{"Fn::Sub": "arn:${AWS::Partition}:s3:::in/x/*"}]


def test_without_a_key_s3_and_sns_encrypt_with_theirs() -> None:
    [rule] = properties(MADE, "AsyncBucket")["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule == {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    assert properties(MADE, "AsyncErrorTopic")["KmsMasterKeyId"] == "alias/aws/sns"
    assert statement(MADE, "UseKeys") is None


def test_the_key_of_the_spec_encrypts_all_of_it_and_the_role_may_use_it() -> None:
    [rule] = properties(WITH_KEY, "AsyncBucket")["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": KEY}
    assert properties(WITH_KEY, "AsyncSuccessTopic")["KmsMasterKeyId"] == KEY
    use = statement(WITH_KEY, "UseKeys")
    assert use is not None
    assert use["Resource"] == [KEY]
    # SNS needs both of whoever publishes to an encrypted topic, and S3 the first of whoever reads requests.
    assert {"kms:Decrypt", "kms:GenerateDataKey"} <= set(use["Action"])


@pytest.mark.parametrize(
    ("logical_id", "action"),
    [
        ("AsyncBucketPolicy", "s3:*"),
        ("AsyncSuccessTopicPolicy", "sns:Publish"),
        ("AsyncErrorTopicPolicy", "sns:Publish"),
    ],
)
def test_whatever_does_not_come_by_tls_is_denied(logical_id: str, action: str) -> None:
    [deny] = properties(MADE, logical_id)["PolicyDocument"]["Statement"]
    assert (deny["Effect"], deny["Principal"], deny["Action"]) == ("Deny", "*", action)
    assert deny["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_the_bucket_is_private_and_outlives_the_stack() -> None:
    found = resources(MADE)
    assert found["AsyncBucket"]["Properties"]["PublicAccessBlockConfiguration"] == {
        "BlockPublicAcls": True,
        "BlockPublicPolicy": True,
        "IgnorePublicAcls": True,
        "RestrictPublicBuckets": True,
    }
    for logical_id in ("AsyncBucket", "AsyncBucketPolicy"):
        # A stack that could not be made leaves no empty bucket behind, whose name would be taken.
        assert found[logical_id]["DeletionPolicy"] == "RetainExceptOnCreate"
        assert found[logical_id]["UpdateReplacePolicy"] == "Retain"
    assert "DeletionPolicy" not in found["AsyncErrorTopic"]


def test_what_expires_is_all_or_nothing() -> None:
    def rules(change: str) -> dict[str, Any]:
        found = properties(change, "AsyncBucket")["LifecycleConfiguration"]["Rules"]
        return {it["Id"]: it for it in found}

    assert rules(MADE).keys() == {"Uploads"}
    assert (
        rules(MADE.replace("bucket: {}", "bucket: {expiration_in_days: 30}"))["Expiration"][
            "ExpirationInDays"
        ]
        == 30
    )


def test_clients_are_told_where_to_put_requests_and_what_to_subscribe_to() -> None:
    outputs = {
        name: it["Value"] for name, it in resolved("single", MADE)["Outputs"].items() if "Async" in name
    }
    assert outputs == {
        "AsyncBucketName": {"Ref": "AsyncBucket"},
        "AsyncRequestsPath": {"Fn::Sub": "s3://${AsyncBucket}/requests/"},
        "AsyncSuccessTopicArn": {"Ref": "AsyncSuccessTopic"},
        "AsyncErrorTopicArn": {"Ref": "AsyncErrorTopic"},
    }


def test_who_invokes_puts_requests_and_gets_results_with_the_key_of_the_bucket(resolve: Resolved) -> None:
    key = "arn:aws:kms:us-east-1:111122223333:key/1"
    config = {"create": {"bucket": {}}, "output_config": {"kms_key_id": key}}
    change = {"invokers": {}, "endpoint_config": {"async_inference_config": config}}
    policies = of_type(resolve("single", json.dumps(change)), "AWS::IAM::ManagedPolicy")
    _, *statements = policies["InvokerPolicy"]["PolicyDocument"]["Statement"]
    objects = [{"Fn::Sub": f"${{AsyncBucket.Arn}}/{it}/*"} for it in ("requests", "responses", "failures")]
    use = ["kms:Decrypt", "kms:GenerateDataKey"]
    assert statements == [
        {"Sid": "PutRequests", "Effect": "Allow", "Action": ["s3:PutObject"], "Resource": objects[:1]},
        {"Sid": "GetResults", "Effect": "Allow", "Action": ["s3:GetObject"], "Resource": objects[1:]},
        {"Sid": "UseKey", "Effect": "Allow", "Action": use, "Resource": [key]},
    ]
