"""Alarms and a dashboard for an endpoint that another team deploys."""

import aws_cdk as cdk
from aws_cdk import (
    aws_cloudwatch as cloudwatch,
    aws_cloudwatch_actions as actions,
    aws_events as events,
    aws_events_targets as targets,
    aws_sns as sns,
)

from inferstack.constructs import EndpointAlarms, EndpointDashboard, InferenceEndpoint
from inferstack.spec import load_spec

app = cdk.App()
stack = cdk.Stack(app, "Oncall", env=cdk.Environment(region="us-east-1"))
topic = sns.Topic(stack, "Topic")

# The usual alarms, and those of the spec.
spec = load_spec("fraud-scores.yaml", overrides={"alarms": {"actions": [topic.topic_arn]}})
EndpointAlarms(stack, "Alarms", spec=spec)
EndpointDashboard(stack, "Dashboard", spec=spec)

# An alarm of one's own on a metric of the endpoint: this takes no spec, only its name.
endpoint = InferenceEndpoint.from_endpoint_name(stack, "Endpoint", "fraud-scores")
silence = endpoint.metric_invocations(period=cdk.Duration.minutes(15)).create_alarm(
    stack,
    "Silence",
    threshold=1,
    evaluation_periods=2,
    comparison_operator=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
    treat_missing_data=cloudwatch.TreatMissingData.BREACHING,
)
silence.add_alarm_action(actions.SnsAction(topic))

# And what SageMaker says of the endpoint itself.
failed = events.EventPattern(detail={"EndpointStatus": ["FAILED", "UPDATE_ROLLBACK_FAILED"]})
endpoint.on_state_change("Failed", target=targets.SnsTopic(topic), event_pattern=failed)

app.synth()
