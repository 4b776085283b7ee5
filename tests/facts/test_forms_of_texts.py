"""Texts have the form that AWS requires from their first character to their last."""

import pytest

from inferstack.check.load import parse_spec
from inferstack.problems import SpecError
from inferstack.source.compose import compose

SINGLE = """\
kind: single-model
endpoint_name: churn
env: {region: us-east-1}
model: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/own:1", model_data_url: s3://acme-models/churn/model.tar.gz}
variant: {instance_type: ml.m5.large, initial_instance_count: 2}
"""
COMPONENTS = """\
kind: inference-components
endpoint_name: chat
env: {region: us-east-1}
variant: {instance_type: ml.m5.xlarge, initial_instance_count: 1}
inference_components:
  chat:
    specification:
      container: {image: IMAGE, artifact_url: s3://acme-models/chat/model.tar.gz}
      compute_resource_requirements: {number_of_cpu_cores_required: 1, min_memory_required_in_mb: 1024}
    runtime_config: {copy_count: 1}
"""
ALARM = "alarms: {{rules: [{{namespace: {}, metric_name: Lag, statistic: Average, threshold: 1, dimensions: [{{name: {}, value: {}}}]}}]}}\n"
STEP = "autoscaling: {{min_capacity: 1, max_capacity: 2, step_policies: [{{namespace: Acme, metric_name: Lag, dimensions: [{{name: {}, value: {}}}], statistic: Average, threshold: 1, adjustment_type: ChangeInCapacity, step_adjustments: [{{metric_interval_lower_bound: 0, scaling_adjustment: 1}}]}}]}}\n"
RESERVATION = "variant: {{instance_type: ml.g5.xlarge, initial_instance_count: 1, capacity_reservation_config: {{ml_reservation_arn: {}}}}}\n"
BASELINE = "endpoint_config: {{explainer_config: {{clarify_explainer_config: {{shap_config: {{shap_baseline_config: {{mime_type: {}, shap_baseline: '1'}}}}}}}}}}\n"
PLAN = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/a"
KEY = "endpoint_config: {{kms_key_id: {}}}\n"
LOGIN = """\
kind: single-model
endpoint_name: churn
env: {{region: us-east-1}}
model:
  image: registry.acme.example/churn:1
  image_config: {{repository_access_mode: Vpc, repository_auth_config: {{repository_credentials_provider_arn: {}}}}}
  vpc_config: {{subnets: [subnet-11111111, subnet-22222222], security_group_ids: [sg-11111111]}}
variant: {{instance_type: ml.m5.large, initial_instance_count: 2}}
"""
HUB = """\
kind: single-model
endpoint_name: churn
env: {{region: us-east-1}}
model:
  image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/own:1"
  model_data_source:
    s3_data_source:
      s3_uri: s3://acme-models/llama/
      s3_data_type: S3Prefix
      compression_type: None
      hub_access_config: {{hub_content_arn: {}}}
variant: {{instance_type: ml.m5.large, initial_instance_count: 2}}
"""
MADE = "execution_role: {{path: {}, permissions_boundary: {}}}\n"
BOUNDARY = "arn:aws:iam::111122223333:policy/Boundary"
FUNCTION = "arn:aws:lambda:us-east-1:111122223333:function:login"
CONTENT = "arn:aws:sagemaker:us-east-1:aws:hub-content/SageMakerPublicHub/Model/llama/1.0.0"
IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.36.0-lmi27.0.0-cu130"


def codes_of(text: str) -> set[tuple[str, str]]:
    """Each code with the key that it is reported at."""
    try:
        loaded = parse_spec(compose("spec.yaml", text).data)
    except SpecError as error:
        return {
            (it.code, next(str(at) for at in reversed(it.path) if isinstance(at, str)))
            for it in error.problems
        }
    return {(it.code, "") for it in loaded.warnings if it.severity == "error"}


def alarm(namespace: str = "Acme", name: str = "Service", value: str = "churn") -> str:
    return SINGLE + ALARM.format(namespace, name, value)


def step(name: str = "Service", value: str = "churn") -> str:
    return SINGLE + STEP.format(name, value)


def reserved(arn: str) -> str:
    return SINGLE.rpartition("variant")[0] + RESERVATION.format(arn)


def explained(mime_type: str) -> str:
    return SINGLE + BASELINE.format(mime_type)


def component(image: str) -> str:
    return COMPONENTS.replace("IMAGE", image)


RIGHT = {
    "a namespace": alarm(),
    "the longest dimension": alarm(name="n" * 255, value="v" * 1024),
    "a step's dimension": step(),
    "a dimension known at deployment": alarm(value='"${AWS::Region}"'),
    "a reservation": reserved(PLAN),
    "a type of content": explained("application/x-a+b.c"),
    **{
        f"the key {key}": SINGLE + KEY.format(f'"{key}"')
        for key in (
            "1234abcd-12ab-34cd-56ef-1234567890ab",
            "mrk-1234abcd12ab34cd56ef1234567890ab",
            "alias/acme/models",
            "arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
            "arn:${AWS::Partition}:kms:${AWS::Region}:${AWS::AccountId}:alias/models",
            "{{resolve:ssm:/key}}",
        )
    },
    "a role and its boundary": SINGLE
    + MADE.format("/ml/te.a+m=_-/", "arn:aws:iam::111122223333:policy/x/B_1"),
    "a path of nothing": SINGLE + MADE.format("/", "arn:aws:iam::aws:policy/ReadOnlyAccess"),
    "a role of one's own": SINGLE
    + "execution_role: arn:aws:iam::111122223333:role/service-role/SageMaker_1\n",
    "a function": LOGIN.format(FUNCTION),
    "a function of the stack's account": LOGIN.format(
        '"arn:aws:lambda:us-east-1:${AWS::AccountId}:function:a:1"'
    ),
    "a hub's content": HUB.format(CONTENT),
    "content of an own hub": HUB.format(CONTENT.replace(":aws:hub", ":111122223333:hub")),
    "tags": SINGLE
    + 'tags: {a: "é ß 漢 ①\\u00a0²", b: "a b+c=d_e.f:g/h-i@j", "Ключ": "{{resolve:ssm:/a}}"}\n',
    "an image": component(IMAGE),
    "an image in the stack's account": component(
        '"${AWS::AccountId}.dkr.ecr.${AWS::Region}.${AWS::URLSuffix}/a:1"'
    ),
}
WRONG = {
    "a namespace on two lines": (alarm('"Acme/Serving\\n"'), "IS105", "namespace"),
    "a dimension without a name": (alarm(name='""'), "IS107", "name"),
    "a dimension with a long name": (alarm(name="n" * 256), "IS107", "name"),
    "a dimension without a value": (alarm(value='""'), "IS107", "value"),
    "a dimension with a long value": (alarm(value="v" * 1025), "IS107", "value"),
    "a step's dimension without a value": (step(value='""'), "IS107", "value"),
    "a step's dimension with a long name": (step("n" * 256), "IS107", "name"),
    "a reservation on two lines": (reserved(f'"{PLAN}\\n"'), "IS105", "ml_reservation_arn"),
    "a type of content on two lines": (explained('"text/csv\\n"'), "IS105", "mime_type"),
    "a type of content with more behind it": (explained("text/csvé"), "IS105", "mime_type"),
    **{
        f"the key {key}": (SINGLE + KEY.format(key), "IS105", "kms_key_id")
        for key in (
            "alias:dumps",
            "arn:aws:kms:us-east-1:111122223333:alias:x",
            "arn:aws:s3:us-east-1:111122223333:key/x",
            "a/b",
            "ALIAS/DUMPS",
        )
    },
    "a path that a policy may not have": (SINGLE + MADE.format('"/ml:team/"', BOUNDARY), "IS105", "path"),
    "a path with an empty part": (SINGLE + MADE.format("/ml//team/", BOUNDARY), "IS105", "path"),
    "a path that does not end": (SINGLE + MADE.format("/ml", BOUNDARY), "IS105", "path"),
    "a path that is too long": (SINGLE + MADE.format(f"/{'p' * 511}/", BOUNDARY), "IS107", "path"),
    "a policy beyond ASCII": (
        SINGLE + MADE.format("/", "arn:aws:iam::111122223333:policy/Grenze-München"),
        "IS105",
        "permissions_boundary",
    ),
    "a role beyond ASCII": (
        SINGLE + "execution_role: arn:aws:iam::111122223333:role/Zürich\n",
        "IS105",
        "execution_role",
    ),
    "a function's name": (LOGIN.format("login"), "IS105", "repository_credentials_provider_arn"),
    "a topic for a function": (
        LOGIN.format(FUNCTION.replace("lambda", "sns")),
        "IS105",
        "repository_credentials_provider_arn",
    ),
    "a hub's name": (HUB.format("my-hub"), "IS105", "hub_content_arn"),
    "a hub": (HUB.format("arn:aws:sagemaker:us-east-1:111122223333:hub/acme"), "IS105", "hub_content_arn"),
    **{
        f"a tag with {what}": (SINGLE + f'tags: {{team: "{text}"}}\n', "IS222", "team")
        for what, text in {
            "a line break": "travel\\n",
            "a tabulator": "a\\tb",
            "a dash that is no hyphen": "a \\u2013 b",
            "a curly quote": "a\\u2019s",
            "a currency": "€",
        }.items()
    },
    "a component's image behind a space": (component(f'" {IMAGE}"'), "IS105", "image"),
    "a component's image with more behind it": (
        component(f"{IMAGE} # x".replace(" #", "  x")),
        "IS105",
        "image",
    ),
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_what_aws_takes_is_right(text: str) -> None:
    assert codes_of(text) == set()


@pytest.mark.parametrize(("text", "code", "key"), WRONG.values(), ids=WRONG)
def test_what_aws_refuses_is_an_error_at_its_key(text: str, code: str, key: str) -> None:
    assert codes_of(text) == {(code, key)}
