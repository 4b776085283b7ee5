"""What the stack makes for asynchronous requests, and composite alarms, as constructs of CDK."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import (
    aws_cloudwatch_actions as actions,
    aws_iam as iam,
    aws_kms as kms,
    aws_sns as sns,
    aws_sns_subscriptions as subscriptions,
)
from support.cdk import endpoint, spec, stack, template
from support.resolving import merged, of_type

from inferstack.constructs import EndpointAlarms, ExecutionRole, InferenceEndpoint

MADE = {
    "endpoint_config": {
        "async_inference_config": {"create": {"bucket": {}, "success_topic": {}, "error_topic": {}}}
    }
}
ARN = "arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
COMPOSITE = {"alarms": {"composite_alarms": {"Sick": {"alarm_rule": "ALARM(MemoryUtilization)"}}}}


def with_key(key: str) -> dict[str, Any]:
    config = {"async_inference_config": {"output_config": {"kms_key_id": key}}}
    return merged(MADE, {"endpoint_config": config})


def rights(made: InferenceEndpoint) -> dict[str, Any]:
    """What a client may do that is granted the requests of an endpoint, by the first word of the action."""
    client = iam.Role(made, "Client", assumed_by=iam.AccountRootPrincipal())
    made.async_bucket.grant_put(client, "requests/*")
    (policy,) = of_type(template(cdk.Stack.of(made)), "AWS::IAM::Policy").values()
    return {it["Action"][0].partition(":")[0]: it["Resource"] for it in policy["PolicyDocument"]["Statement"]}


def test_clients_are_granted_the_bucket_like_any_other():
    made = endpoint("single", MADE)
    bucket = cdk.Stack.of(made).resolve(made.async_bucket.bucket_arn)
    assert rights(made) == {"s3": {"Fn::Join": ["", [bucket, "/requests/*"]]}}


def test_a_grant_includes_the_key_that_is_known_by_its_arn():
    assert rights(endpoint("single", with_key(ARN)))["kms"] == ARN


def test_a_grant_includes_a_key_of_the_app():
    here = stack()
    key = kms.Key(here, "Key")
    made = InferenceEndpoint(here, "Endpoint", spec=spec("single", with_key(key.key_arn)))
    assert "Key" in str(rights(made)["kms"])


def test_of_an_alias_no_key_is_known():
    assert rights(endpoint("single", with_key("alias/ml"))).keys() == {"s3"}


def test_the_bucket_keeps_its_only_policy_and_stays():
    made = template(cdk.Stack.of(endpoint("single", MADE)))["Resources"]
    kept = {it["Type"]: it["DeletionPolicy"] for it in made.values() if "DeletionPolicy" in it}
    assert kept == dict.fromkeys(("AWS::S3::Bucket", "AWS::S3::BucketPolicy"), "RetainExceptOnCreate")


@pytest.mark.parametrize("topic", ["success_topic", "error_topic"])
def test_a_topic_takes_subscriptions(topic: str):
    made = endpoint("single", MADE)
    getattr(made, topic).add_subscription(subscriptions.EmailSubscription("ml@example.com"))
    (subscribed,) = of_type(template(cdk.Stack.of(made)), "AWS::SNS::Subscription").values()
    name = subscribed["TopicArn"]["Ref"]
    assert {"success_topic": "AsyncSuccessTopic", "error_topic": "AsyncErrorTopic"}[topic] in name


@pytest.mark.parametrize("attribute", ["async_bucket", "success_topic", "error_topic"])
def test_what_is_not_made_is_an_error(attribute: str):
    with pytest.raises(ValueError, match="makes no"):
        getattr(endpoint("single"), attribute)


def test_an_action_is_added_to_a_composite_alarm():
    made = endpoint("single", COMPOSITE)
    topic = sns.Topic(made, "Topic")
    made.composite_alarm("Sick").add_alarm_action(actions.SnsAction(topic))
    (alarm,) = of_type(template(cdk.Stack.of(made)), "AWS::CloudWatch::CompositeAlarm").values()
    assert alarm["AlarmActions"] == [cdk.Stack.of(made).resolve(topic.topic_arn)]
    (l1,) = made.cfn_composite_alarms
    assert l1.alarm_actions


def test_a_composite_alarm_that_is_not_there_is_an_error_that_names_those_that_are():
    with pytest.raises(ValueError, match="no composite alarm `Sik`; did you mean `Sick`"):
        endpoint("single", COMPOSITE).composite_alarm("Sik")


def test_alarms_beside_an_endpoint_include_composite_ones():
    here = stack()
    part = EndpointAlarms(here, "Part", spec=spec("single", COMPOSITE))
    assert len(part.cfn_composite_alarms) == 1
    assert of_type(template(here), "AWS::CloudWatch::CompositeAlarm")


def test_a_role_apart_cannot_know_what_the_endpoints_stack_makes():
    with pytest.raises(ValueError, match=r"`bucket`, `success_topic` and `error_topic`.*name existing ones"):
        ExecutionRole(stack(), "Role", spec=spec("single", MADE))
