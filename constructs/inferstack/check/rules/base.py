"""The table of rules about specs, and the pages of AWS that several of them cite.

A rule sees a spec whose structure is already right, for one stage.
"""

from inferstack.problems.rules import RuleTable

RULES = RuleTable()
"""All rules by code, filled as the rule modules are imported."""
error, warning = RULES.error, RULES.warning

AWS = "https://docs.aws.amazon.com"
GUIDE, API = f"{AWS}/sagemaker/latest/dg", f"{AWS}/sagemaker/latest/APIReference"

ALARM_PAGE = f"{AWS}/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html"
CONFIG_PAGE = f"{API}/API_CreateEndpointConfig.html"
CONTAINER_PAGE = f"{API}/API_ContainerDefinition.html"
GUARDRAILS_PAGE = f"{GUIDE}/deployment-guardrails-configuration.html"
METRICS_PAGE = f"{GUIDE}/monitoring-cloudwatch.html"
MULTI_MODEL_PAGE = f"{GUIDE}/multi-model-endpoints.html"
POOLS_PAGE = f"{GUIDE}/realtime-endpoints-heterogeneous.html"
SERVERLESS_PAGE = f"{GUIDE}/serverless-endpoints.html"
TRACKING_PAGE = (
    f"{AWS}/autoscaling/application/APIReference/API_TargetTrackingScalingPolicyConfiguration.html"
)
"""AWS's pages that rules in three or more modules cite. All others are beside their rules."""
