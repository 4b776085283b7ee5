"""Names that can exist only once in an account and region, across several specs."""

from typing import Any

import pytest
import yaml
from support.resolving import BASES, merged

from inferstack.check.load import parse_spec
from inferstack.check.unique_names import TakenNames, names_taken_twice, taken_names


def taken(base: str, change: str) -> TakenNames:
    data: dict[str, Any] = merged(yaml.safe_load(BASES[base]), yaml.safe_load(change))
    return taken_names(parse_spec(data))


OTHER_NAME = "endpoint_name: other"
ELSEWHERE = "{endpoint_name: other, env: {region: eu-west-1}, inference_components: {chat: {specification: {container: {image: 111122223333.dkr.ecr.eu-west-1.amazonaws.com/llm:1}}}}}"
NAMED = "{alarms: {rules: [{metric: ModelLatency, threshold: 1 s, alarm_name: slow}]}}"
COMPOSITE = "{alarms: {composite_alarms: {Any: {alarm_rule: 'TRUE', alarm_name: slow}}}}"
MADE = (
    "{endpoint_config: {async_inference_config: {create: {bucket: {bucket_name: acme-video},"
    " error_topic: {topic_name: failed}}}}}"
)
BUCKET = "{endpoint_config: {async_inference_config: {create: {bucket: {bucket_name: acme-video}}}}}"
IN_CHINA = "111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn/net:1"
INVOKED = "{invokers: {role: {role_name: Web, trusted: [lambda.amazonaws.com]}}}"
BY_REGION = INVOKED[1:-1].replace("Web", '"Web-${AWS::Region}"')
EXPORTED = "{exports: {endpoint_arn: net}}"


@pytest.mark.parametrize(
    ("base", "one", "other", "code"),
    [
        ("single", "{}", "{}", "IS041"),
        ("single", "endpoint_name: Net", "endpoint_name: net", "IS041"),
        ("components", "{}", OTHER_NAME, "IS042"),
        (
            "single",
            "dashboard: {dashboard_name: ml}",
            "{endpoint_name: other, dashboard: {dashboard_name: ml}}",
            "IS043",
        ),
        # Dashboards are global.
        (
            "multi",
            "{env: {region: us-east-1}, dashboard: {dashboard_name: ml}}",
            "{endpoint_name: other, env: {region: eu-west-1}, dashboard: {dashboard_name: ml}}",
            "IS043",
        ),
        (
            "single",
            "{endpoint_name: one, env: {region: us-east-1}}",
            "{endpoint_name: other, dashboard: {dashboard_name: one-us-east-1}}",
            "IS043",
        ),
        ("single", "endpoint_name: endpoint-1abc", "endpoint_name: 1abc", "IS044"),
        ("single", NAMED, f"{{{OTHER_NAME}, {NAMED[1:-1]}}}", "IS064"),
        ("single", NAMED, f"{{{OTHER_NAME}, {COMPOSITE[1:-1]}}}", "IS064"),
        ("single", MADE, f"{{{OTHER_NAME}, {MADE[1:-1]}}}", "IS074"),
        ("single", MADE, f"{{{OTHER_NAME}, {MADE[1:-1]}}}", "IS084"),
        # Buckets have one name space for all accounts and regions.
        (
            "multi",
            f"{{env: {{account: '111122223333', region: us-east-1}}, {BUCKET[1:-1]}}}",
            f"{{{OTHER_NAME}, env: {{account: '444455556666', region: eu-west-1}}, {BUCKET[1:-1]}}}",
            "IS074",
        ),
        ("single", "{exports: {endpoint_name: net}}", f"{{{OTHER_NAME}, {EXPORTED[1:-1]}}}", "IS094"),
        # IAM has no regions, and does not tell names apart by case.
        (
            "multi",
            f"{{env: {{region: us-east-1}}, {INVOKED[1:-1]}}}",
            f"{{{OTHER_NAME}, env: {{region: eu-west-1}}, {INVOKED[1:-1].replace('Web', 'web')}}}",
            "IS095",
        ),
        (
            "single",
            "{invokers: {managed_policy_name: web}}",
            f"{{{OTHER_NAME}, invokers: {{managed_policy_name: web}}}}",
            "IS096",
        ),
    ],
)
def test_a_name_that_is_taken_is_reported(base: str, one: str, other: str, code: str) -> None:
    (problem,) = [it for it in names_taken_twice([taken(base, one), taken(base, other)]) if it.code == code]
    assert "is taken" in problem.message


@pytest.mark.parametrize(
    ("base", "one", "other"),
    [
        ("single", "{}", OTHER_NAME),
        ("single", "endpoint_name: abc", "endpoint_name: 1abc"),
        ("components", "env: {region: us-east-1}", ELSEWHERE),
        ("single", NAMED, f"{{{OTHER_NAME}, {NAMED[1:-1].replace('slow', 'Slow')}}}"),
        (
            "single",
            f"{{env: {{region: us-east-1}}, {BUCKET[1:-1]}}}",
            f"{{{OTHER_NAME}, env: {{region: cn-north-1}}, model: {{image: {IN_CHINA}}}, {BUCKET[1:-1]}}}",
        ),
        ("single", EXPORTED, f"{{{OTHER_NAME}, {EXPORTED[1:-1].replace(': net', ': Net')}}}"),
        (
            "multi",
            f"{{env: {{region: us-east-1}}, {BY_REGION}}}",
            f"{{{OTHER_NAME}, env: {{region: eu-west-1}}, {BY_REGION}}}",
        ),
        ("multi", f"{{{BY_REGION}}}", f"{{{OTHER_NAME}, {BY_REGION}}}"),
        (
            "multi",
            f"{{env: {{region: us-east-1}}, {EXPORTED[1:-1]}}}",
            f"{{{OTHER_NAME}, env: {{region: eu-west-1}}, {EXPORTED[1:-1]}}}",
        ),
    ],
)
def test_names_in_other_places_are_free(base: str, one: str, other: str) -> None:
    assert not names_taken_twice([taken(base, one), taken(base, other)])


def test_endpoints_of_one_name_are_said_to_be_so_once() -> None:
    problems = names_taken_twice([taken("single", "{}"), taken("single", "{}")])
    assert [problem.code for problem in problems] == ["IS041"]
