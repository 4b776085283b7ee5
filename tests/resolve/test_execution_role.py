"""The role can do what the spec implies, and nothing else."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.damaged_specs import FILES
from support.resolving import BASES, Resolved, merged, of_type, only

from inferstack.check.load import load_spec, parse_spec
from inferstack.facts.role import LONGEST_POLICY, makes_role, policies_made
from inferstack.problems import SpecError
from inferstack.resolve import resolve_template

POLICY = "AWS::IAM::ManagedPolicy"


def statements(template: dict[str, Any]) -> dict[str, Any]:
    return {s["Sid"]: s for s in only(template, POLICY)["PolicyDocument"]["Statement"]}


def plain(value: Any) -> str:
    return json.dumps(value)


SHAPES = sorted((Path(__file__).parents[1] / "shapes").glob("*.yaml"))


@pytest.mark.parametrize("file", [*FILES, *SHAPES], ids=lambda file: file.stem)
def test_a_statement_of_the_spec_cannot_have_the_name_of_one_that_is_made(
    file: Path, resolve: Resolved
) -> None:
    loaded = load_spec(file)
    if not makes_role(loaded.spec):
        return
    template = resolve_template(loaded.spec, region="us-east-1", source_of=loaded.source_of)
    policies = {name: it for name, it in of_type(template, POLICY).items() if name != "InvokerPolicy"}
    documents = [it["PolicyDocument"] for it in policies.values()]
    sids = {it["Sid"] for document in documents for it in document["Statement"] if "Sid" in it}
    role = loaded.spec.execution_role
    made = sids - {it.sid for it in (() if role is None else role.statements)}
    assert made
    for sid in made:
        statement = f"{{sid: {sid}, action: [s3:GetObject], resource: ['arn:aws:s3:::b/*']}}"
        with pytest.raises(SpecError, match="IS825"):
            resolve("single", f"execution_role: {{statements: [{statement}]}}")


def test_one_archive_is_read_and_nothing_beside_it(resolve: Resolved) -> None:
    read = statements(resolve("single"))["ReadModelFiles"]
    assert read["Action"] == ["s3:GetObject"]
    assert read["Resource"] == [{"Fn::Sub": "arn:${AWS::Partition}:s3:::models/one/model.tar.gz"}]


def test_of_a_prefix_without_slash_everything_that_requests_can_name_is_read(resolve: Resolved) -> None:
    found = statements(resolve("multi", "{triton: null, model: {model_data_url: s3://models/many}}"))
    assert found["ReadModelFiles"]["Resource"] == [{"Fn::Sub": "arn:${AWS::Partition}:s3:::models/many*"}]
    assert found["ListModelFiles"]["Condition"] == {"StringLike": {"s3:prefix": ["many*"]}}


def test_of_a_multi_model_prefix_everything_is_read(resolve: Resolved) -> None:
    found = statements(resolve("multi"))
    assert found["ReadModelFiles"]["Resource"] == [{"Fn::Sub": "arn:${AWS::Partition}:s3:::models/many/*"}]
    assert found["ListModelFiles"]["Condition"] == {"StringLike": {"s3:prefix": ["many/*"]}}


@pytest.mark.parametrize(
    ("base", "url", "expected"),
    [
        ("single", "s3://models/one/model", "one/model-sha256-????????????????.tar.gz"),
        ("multi", "s3://models/many/", "many/sha256-????????????????/*"),
    ],
)
def test_of_an_uploaded_archive_every_version_is_read(
    resolve: Resolved, base: str, url: str, expected: str
) -> None:
    # New weights do not change permissions.
    digest = "-sha256-0123456789abcdef.tar.gz" if base == "single" else "sha256-0123456789abcdef/"
    read = statements(resolve(base, f"model: {{model_data_url: {url}{digest}}}"))["ReadModelFiles"]
    assert read["Resource"] == [{"Fn::Sub": f"arn:${{AWS::Partition}}:s3:::models/{expected}"}]


def test_buckets_are_listed_each_under_its_own_prefixes(resolve: Resolved) -> None:
    change = """
        model: null
        models:
          a: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1", model_data_url: s3://bucket1/x.tar.gz}
          b: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1", model_data_url: "https://bucket2.s3.us-east-1.amazonaws.com/y.tar.gz"}
        variant: null
        variants:
          - {variant_name: A, model_name: a, instance_type: ml.m5.large, initial_instance_count: 1}
          - {variant_name: B, model_name: b, instance_type: ml.m5.large, initial_instance_count: 1}
    """
    found = statements(resolve("single", change))
    lists = [s for sid, s in found.items() if sid.startswith("ListModelFiles")]
    assert [s["Condition"]["StringLike"]["s3:prefix"] for s in lists] == [["x.tar.gz"], ["y.tar.gz"]]
    assert "bucket2/y.tar.gz" in plain(found["ReadModelFiles"])


def test_the_image_is_pulled_from_its_own_repository_only(resolve: Resolved) -> None:
    pull = statements(resolve("single"))["PullImage"]["Resource"]
    assert pull == [{"Fn::Sub": "arn:${AWS::Partition}:ecr:us-east-1:111122223333:repository/net"}]


def test_a_repository_may_have_a_placeholder_in_its_name(resolve: Resolved) -> None:
    change = "model: {image: '111122223333.dkr.ecr.us-east-1.amazonaws.com/net-${AWS::Region}:1'}"
    pull = plain(statements(resolve("single", change))["PullImage"]["Resource"])
    assert ':repository/net-${AWS::Region}"' in pull


def test_an_image_outside_ecr_needs_no_ecr_rights(resolve: Resolved) -> None:
    change = """
        model:
          image: registry.example.com/net:1
          image_config: {repository_access_mode: Vpc}
          vpc_config: {subnets: [subnet-1], security_group_ids: [sg-1]}
    """
    assert not {"PullImage", "LogInToRegistry"} & set(statements(resolve("single", change)))


def test_logs_are_written_for_the_endpoint_and_its_components_only(resolve: Resolved) -> None:
    logs = plain(statements(resolve("components"))["WriteLogs"]["Resource"])
    assert "/aws/sagemaker/Endpoints/shared" in logs
    assert "/aws/sagemaker/InferenceComponents/chat" in logs


@pytest.mark.parametrize(
    ("change", "sid", "what"),
    [
        (
            "endpoint_config: {data_capture_config: {destination_s3_uri: 's3://captured/x', initial_sampling_percentage: 1, capture_options: [{capture_mode: Input}]}}",
            "WriteResults",
            "s3:::captured/x/*",
        ),
        (
            "endpoint_config: {async_inference_config: {output_config: {s3_output_path: 's3://outbox/y/'}}}",
            "WriteResults",
            "s3:::outbox/y/*",
        ),
        (
            # The whole bucket, as named by its domain name.
            "endpoint_config: {async_inference_config: {output_config: {s3_output_path: 'https://outbox.s3.eu-west-1.amazonaws.com'}}}",
            "WriteResults",
            "s3:::outbox/*",
        ),
        (
            "endpoint_config: {async_inference_config: {output_config: {s3_output_path: 's3://outbox/y/', notification_config: {success_topic: 'arn:aws:sns:us-east-1:111122223333:ok'}}}}",
            "NotifyTopics",
            "arn:aws:sns:us-east-1:111122223333:ok",
        ),
        (
            "model: {vpc_config: {subnets: [subnet-0a], security_group_ids: [sg-0b]}}",
            "JoinVpc",
            "security-group/sg-0b",
        ),
        (
            "variant: {core_dump_config: {destination_s3_uri: 's3://dumps/z'}}",
            "WriteResults",
            "s3:::dumps/z/*",
        ),
        ("variant: {enable_ssm_access: true}", "OpenSessions", "ssmmessages:OpenDataChannel"),
        (
            "execution_role: {kms_key_arns: ['arn:aws:kms:us-east-1:111122223333:key/abc']}",
            "DecryptFiles",
            "arn:aws:kms:us-east-1:111122223333:key/abc",
        ),
    ],
)
def test_what_a_block_implies_is_allowed(resolve: Resolved, change: str, sid: str, what: str) -> None:
    assert sid not in statements(resolve("single"))
    assert what in plain(statements(resolve("single", change))[sid])


def test_a_subnet_that_another_account_shares_is_named_as_that_accounts(resolve: Resolved) -> None:
    vpc = "model: {vpc_config: {subnets: [subnet-0a], security_group_ids: [sg-0b]}}"
    found = statements(resolve("single", f"{{{vpc}, execution_role: {{subnet_owner_id: '444455556666'}}}}"))
    assert [
        it.partition(":ec2:${AWS::Region}:")[2]
        for it in (arn["Fn::Sub"] for arn in found["JoinVpc"]["Resource"])
    ] == [
        "444455556666:subnet/subnet-0a",
        "${AWS::AccountId}:security-group/sg-0b",
        "${AWS::AccountId}:network-interface/*",
    ]


def test_in_a_vpc_network_interfaces_are_made_and_removed_again(resolve: Resolved) -> None:
    # The rights that https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html lists for a VPC.
    found = statements(
        resolve("single", "model: {vpc_config: {subnets: [subnet-0a], security_group_ids: [sg-0b]}}")
    )
    assert {sid: sorted(found[sid]["Action"]) for sid in ("JoinVpc", "LookAtVpc")} == {
        "JoinVpc": [
            "ec2:CreateNetworkInterface",
            "ec2:CreateNetworkInterfacePermission",
            "ec2:DeleteNetworkInterface",
            "ec2:DeleteNetworkInterfacePermission",
        ],
        "LookAtVpc": [
            "ec2:DescribeDhcpOptions",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeSubnets",
            "ec2:DescribeVpcs",
        ],
    }


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("alias/ml", '"kms:ResourceAliases": ["alias/ml"]'),
        ("alias/ml-${AWS::Region}", '"kms:ResourceAliases": [{"Fn::Sub": "alias/ml-${AWS::Region}"}]'),
        ("1234abcd-12ab-34cd-56ef-1234567890ab", ":key/1234abcd-12ab-34cd-56ef-1234567890ab"),
        ("arn:aws:kms:eu-west-1:111122223333:key/k1", "arn:aws:kms:eu-west-1:111122223333:key/k1"),
    ],
)
def test_a_key_is_named_however_the_spec_names_it(resolve: Resolved, key: str, expected: str) -> None:
    change = "{variant: {instance_type: ml.m5.large}, endpoint_config: {kms_key_id: '" + key + "'}}"
    found = statements(resolve("single", change))
    assert expected in plain({**found.get("UseKeys", {}), **found.get("UseKeysByAlias", {})})
    grants = [it for it in found.values() if it["Action"] == ["kms:CreateGrant"]]
    assert [it["Condition"]["Bool"] for it in grants] == [{"kms:GrantIsForAWSResource": "true"}]


@pytest.mark.parametrize(
    ("key", "sid"), [("key/abc", "DecryptFiles"), ("alias/models", "DecryptFilesByAlias")]
)
def test_with_the_keys_of_model_files_the_role_may_read_and_no_more(
    resolve: Resolved, key: str, sid: str
) -> None:
    change = f"execution_role: {{kms_key_arns: ['arn:aws:kms:us-east-1:111122223333:{key}']}}"
    found = {name: it["Action"] for name, it in statements(resolve("single", change)).items()}
    with_keys = {name: it for name, it in found.items() if any(one.startswith("kms:") for one in it)}
    assert with_keys == {sid: ["kms:Decrypt"]}


def test_stars_stand_only_where_iam_knows_no_resource(resolve: Resolved) -> None:
    change = """
        model: {vpc_config: {subnets: [subnet-0a], security_group_ids: [sg-0b]}}
        variant: {enable_ssm_access: true}
    """
    starred = {sid for sid, s in statements(resolve("single", change)).items() if "*" in s["Resource"]}
    assert starred == {"LogInToRegistry", "LookAtVpc", "OpenSessions", "PublishMetrics"}


def test_without_a_shell_nobody_opens_sessions(resolve: Resolved) -> None:
    assert "OpenSessions" not in statements(resolve("single", "variant: {enable_ssm_access: false}"))
    opens = statements(resolve("single", "variant: {enable_ssm_access: true}"))["OpenSessions"]["Action"]
    assert opens == [
        "ssmmessages:CreateControlChannel",
        "ssmmessages:CreateDataChannel",
        "ssmmessages:OpenControlChannel",
        "ssmmessages:OpenDataChannel",
    ]


def test_a_role_of_your_own_is_used_as_it_is(resolve: Resolved) -> None:
    template = resolve("single", "execution_role: 'arn:aws:iam::111122223333:role/ml'")
    assert not of_type(template, POLICY)
    assert not of_type(template, "AWS::IAM::Role")
    assert only(template, "AWS::SageMaker::Model")["ExecutionRoleArn"] == "arn:aws:iam::111122223333:role/ml"


def test_additions_to_the_role_are_kept(resolve: Resolved) -> None:
    change = """
        execution_role:
          permissions_boundary: arn:aws:iam::111122223333:policy/edge
          managed_policy_arns: [arn:aws:iam::aws:policy/AmazonDynamoDBReadOnlyAccess]
          path: /ml/
          statements:
            - {sid: Lookup, action: [dynamodb:GetItem], resource: ["arn:aws:dynamodb:us-east-1:111122223333:table/t"]}
    """
    template = resolve("single", change)
    role = only(template, "AWS::IAM::Role")
    assert role["PermissionsBoundary"] == "arn:aws:iam::111122223333:policy/edge"
    assert role["ManagedPolicyArns"] == ["arn:aws:iam::aws:policy/AmazonDynamoDBReadOnlyAccess"]
    assert role["Path"] == "/ml/"
    assert statements(template)["Lookup"]["Action"] == ["dynamodb:GetItem"]


@pytest.mark.parametrize(("base", "user"), [("single", "Model"), ("components", "EndpointConfig")])
def test_whatever_uses_the_role_waits_for_its_policy(resolve: Resolved, base: str, user: str) -> None:
    template = resolve(base)
    (policy,) = of_type(template, POLICY)
    assert only(template, POLICY)["Roles"] == [{"Ref": "ExecutionRole"}]
    using = template["Resources"][user]
    assert using["Properties"]["ExecutionRoleArn"] == {"Fn::GetAtt": ["ExecutionRole", "Arn"]}
    assert using["DependsOn"] == [policy]


def test_nobody_waits_for_the_policy_of_a_role_from_elsewhere(resolve: Resolved) -> None:
    template = resolve("single", "execution_role: arn:aws:iam::111122223333:role/ours")
    assert "DependsOn" not in template["Resources"]["Model"]


def test_other_rights_are_another_policy_so_that_the_old_fleet_keeps_its_own(resolve: Resolved) -> None:
    before = resolve("single")["Resources"]
    after = resolve("single", "model: {model_data_url: s3://models/two.tar.gz}")["Resources"]
    assert before["ExecutionRole"] == after["ExecutionRole"]
    (old,), (new,) = ({it for it in made if it.startswith("ExecutionPolicy")} for made in (before, after))
    assert old != new
    assert old in resolve("single", "variant: {instance_type: ml.g5.xlarge}")["Resources"]


def test_the_numbers_of_cdks_tokens_do_not_make_another_policy(resolve: Resolved) -> None:
    """A key of another construct has another number in every run, but is the same key."""

    def policy(number: int) -> str:
        key = f'"${{Token[TOKEN.{number}]}}"'
        made = resolve("single", f"endpoint_config: {{kms_key_id: {key}}}")["Resources"]
        (name,) = (it for it in made if it.startswith("ExecutionPolicy"))
        assert f"TOKEN.{number}" in json.dumps(made[name])
        return name

    assert policy(7) == policy(1234)


def test_a_policy_is_never_longer_than_iam_allows(resolve: Resolved) -> None:
    component = """
        specification:
          container: {image: "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1", artifact_url: s3://models/%s/model.tar.gz}
          compute_resource_requirements: {number_of_cpu_cores_required: 0.25, min_memory_required_in_mb: 128}
    """
    data = {
        f"component-{i}": yaml.safe_load(component % f"a-rather-long-name-of-a-model-{i}") for i in range(40)
    }
    template = resolve("components", json.dumps({"alarms": False, "inference_components": data}))
    policies = of_type(template, POLICY)
    assert len(policies) > 1
    assert all(
        len(json.dumps(it["PolicyDocument"], separators=(",", ":"))) < 6144 * 1.4 for it in policies.values()
    )
    assert all(it["Roles"] == [{"Ref": "ExecutionRole"}] for it in policies.values())
    assert template["Resources"]["EndpointConfig"]["DependsOn"] == list(policies)
    everything = plain(policies)
    assert all(f"a-rather-long-name-of-a-model-{i}/model.tar.gz" in everything for i in range(40))


def test_a_statement_on_many_resources_has_its_name_once_in_a_policy_and_no_name_of_another(
    resolve: Resolved,
) -> None:
    def statement(sid: str, count: int) -> dict[str, Any]:
        tables = [f"arn:aws:dynamodb:us-east-1:111122223333:table/{sid}-{i}" for i in range(count)]
        return {"sid": sid, "action": ["dynamodb:GetItem"], "resource": tables}

    names = ("Table", "Table2", "ReadModelFiles2")
    own = [statement(sid, 41) for sid in names]
    policies = of_type(resolve("single", json.dumps({"execution_role": {"statements": own}})), POLICY)
    documents = [it["PolicyDocument"]["Statement"] for it in policies.values()]
    assert len(documents) > 1
    for document in documents:
        assert len({it["Sid"] for it in document}) == len(document)
    made = [it for document in documents for it in document]
    for sid in names:
        tables = {table for it in made if it["Sid"] == sid for table in it["Resource"]}
        assert tables == set(statement(sid, 41)["resource"])
    assert all(plain(made).count(table) == 1 for it in own for table in map(plain, it["resource"]))


def adapters(numbers: Iterable[int]) -> str:
    def adapter(number: int) -> dict[str, Any]:
        files = {"artifact_url": f"s3://acme-llm/adapters/customer-{number}/adapter.tar.gz"}
        return {"specification": {"base_inference_component_name": "chat", "container": files}}

    named = {f"adapter-{number}": adapter(number) for number in numbers}
    return json.dumps({"alarms": False, "dashboard": False, "inference_components": named})


@pytest.mark.parametrize("later", [range(1, 100), [999, *range(100)], [*range(40), 999, *range(41, 100)]])
def test_one_adapter_more_or_less_is_another_policy_for_few(resolve: Resolved, later: Iterable[int]) -> None:
    """During an update the old policies exist beside the new ones, and a role may have ten in all by default."""
    before = of_type(resolve("components", adapters(range(100))), POLICY)
    after = of_type(resolve("components", adapters(later)), POLICY)
    assert len(before) == len(after) == 6
    assert 0 < len(after.keys() - before.keys()) <= 4
    assert len(after.keys() | before.keys()) <= 10


@pytest.mark.parametrize("count", [1, 5, 15, 20, 40, 65, 100, 130])
def test_how_many_policies_are_made_is_known_before(resolve: Resolved, count: int) -> None:
    made = of_type(resolve("components", adapters(range(count))), POLICY)
    data = merged(yaml.safe_load(BASES["components"]), yaml.safe_load(adapters(range(count))))
    told = policies_made(parse_spec(data).spec)
    assert abs(told - len(made)) <= 1


def test_what_is_spread_over_policies_is_what_one_would_have(resolve: Resolved) -> None:
    policies = of_type(resolve("components", adapters(range(65))), POLICY).values()
    made = plain([it["PolicyDocument"]["Statement"] for it in policies])
    for number in range(65):
        assert made.count(f"s3:::acme-llm/adapters/customer-{number}/adapter.tar.gz") == 1
        assert made.count(f'"adapters/customer-{number}/adapter.tar.gz"') == 1
        assert made.count(f"InferenceComponents/adapter-{number}:*") == 1


def test_a_model_package_is_named_by_its_arn(resolve: Resolved) -> None:
    change = "model: {image: null, model_data_url: null, model_package_name: ranker/3}"
    (arn,) = statements(resolve("single", change))["ReadModelPackages"]["Resource"]
    assert arn == {
        "Fn::Sub": "arn:${AWS::Partition}:sagemaker:${AWS::Region}:${AWS::AccountId}:model-package/ranker/3"
    }


def test_whoever_brings_a_model_package_may_log_in_to_its_registry(resolve: Resolved) -> None:
    package = "model: {image: null, model_data_url: null, model_package_name: ranker/3}"
    assert "LogInToRegistry" in statements(resolve("single", package))


@pytest.mark.parametrize(
    ("url", "arn"),
    [
        ("s3://models/mistral", "s3:::models/mistral/*"),
        ("s3://models/mistral/", "s3:::models/mistral/*"),
        ("s3://models/source.tar.gz", "s3:::models/source.tar.gz"),
        ("s3://models/Qwen2.5-7B-Instruct", "s3:::models/Qwen2.5-7B-Instruct/*"),
        ("s3://models/qwen.gguf", "s3:::models/qwen.gguf"),
    ],
)
def test_files_that_the_environment_names_are_read(resolve: Resolved, url: str, arn: str) -> None:
    read = statements(resolve("single", f"model: {{environment: {{HF_MODEL_ID: '{url}'}}}}"))[
        "ReadModelFiles"
    ]
    assert {"Fn::Sub": f"arn:${{AWS::Partition}}:{arn}"} in read["Resource"]


@pytest.mark.parametrize(
    "url",
    [
        "s3://*/llm/",
        "s3://acme/l?m/",
        "s3://acme/${aws:username}/llm/",
        "s3://acme",
        "s3://acme/",
        "s3://acme//",
        "s3:///x",
    ],
)
def test_a_wildcard_or_a_whole_bucket_in_the_environment_gives_no_rights(resolve: Resolved, url: str) -> None:
    plain_role = resolve("single")
    template = resolve("single", f"model: {{environment: {{LOG_LEVEL: info, HF_MODEL_ID: '{url}'}}}}")
    assert only(template, POLICY) == only(plain_role, POLICY)


def test_the_baseline_of_explanations_is_read(resolve: Resolved) -> None:
    shap = "{shap_baseline_config: {shap_baseline_uri: 's3://models/baseline.csv'}}"
    change = f"endpoint_config: {{explainer_config: {{clarify_explainer_config: {{shap_config: {shap}}}}}}}"
    assert "models/baseline.csv" in plain(statements(resolve("single", change))["ReadModelFiles"]["Resource"])


def test_conditions_of_ones_own_are_filled_in_at_deployment(resolve: Resolved) -> None:
    change = """
        execution_role:
          statements:
            - action: ["dynamodb:GetItem"]
              resource: ["*"]
              condition: {StringEquals: {"aws:SourceAccount": ["${AWS::AccountId}", "123456789012"]}}
            - {action: ["sqs:SendMessage"], resource: ["*"], condition: {StringEquals: {"aws:SourceAccount": ["1", "2"]}}}
    """
    statements = only(resolve("single", change), POLICY)["PolicyDocument"]["Statement"]
    (filled,) = [it for it in statements if it["Action"] == ["dynamodb:GetItem"]]
    (plain,) = [it for it in statements if it["Action"] == ["sqs:SendMessage"]]
    assert filled["Condition"] == {
        "StringEquals": {"aws:SourceAccount": [{"Fn::Sub": "${AWS::AccountId}"}, "123456789012"]}
    }
    assert plain["Condition"] == {"StringEquals": {"aws:SourceAccount": ["1", "2"]}}


def test_a_value_from_elsewhere_takes_the_room_of_a_long_one(resolve: Resolved) -> None:
    def count(*resources: str) -> int:
        statements = [{"action": ["s3:GetObject"], "resource": [it]} for it in resources]
        change = {"execution_role": {"statements": statements}}
        return len(of_type(resolve("single", json.dumps(change)), "AWS::IAM::ManagedPolicy"))

    known = [f"arn:aws:s3:::{'b' * 90}-{it}/*" for it in range(20)]
    for number, policies in ((0, 1), (20, 2)):
        unknown = [f"arn:aws:s3:::${{import:bucket-{it}}}/*" for it in range(number)]
        as_long = [f"arn:aws:s3:::{'c' * 126}{it:02}/*" for it in range(number)]
        assert count(*known, *unknown) == count(*known, *as_long) == policies


def test_a_policy_is_as_long_as_iam_allows_which_counts_no_blanks(resolve: Resolved) -> None:
    def made(last: int) -> list[Any]:
        names = [*("b" * 90 for _ in range(20)), "b" * last]
        resources = [f"arn:aws:s3:::{name}-{it}/*" for it, name in enumerate(names)]
        statements = [{"action": ["s3:GetObject"], "resource": [it]} for it in resources]
        change = {"execution_role": {"statements": statements}}
        return [*of_type(resolve("single", json.dumps(change)), POLICY).values()]

    (one,) = made(1)
    length = len(json.dumps(one["PolicyDocument"]["Statement"], separators=(",", ":")))
    assert len(made(1 + LONGEST_POLICY - length)) == 1
    assert len(made(101 + LONGEST_POLICY - length)) == 2
