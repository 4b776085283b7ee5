"""The table of rules about specs, and the pages of AWS that several of them cite.

A rule sees a spec whose structure is already right, for one stage.
"""

from inferstack.problems.rules import RuleTable

RULES = RuleTable()
"""All rules by code, filled as the rule modules are imported."""
error, warning = RULES.error, RULES.warning

ALARM_PAGE = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html"
CONFIG_PAGE = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpointConfig.html"
CONTAINER_PAGE = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ContainerDefinition.html"
METRICS_PAGE = "https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html"
POOLS_PAGE = "https://docs.aws.amazon.com/sagemaker/latest/dg/realtime-endpoints-heterogeneous.html"
SERVERLESS_PAGE = "https://docs.aws.amazon.com/sagemaker/latest/dg/serverless-endpoints.html"
TRACKING_PAGE = "https://docs.aws.amazon.com/autoscaling/application/APIReference/API_TargetTrackingScalingPolicyConfiguration.html"
"""AWS's pages that rules in three or more modules cite. All others are beside their rules."""
