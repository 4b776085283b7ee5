"""Whatever a spec accepts may be a CDK token and means the same, or a code refuses it and says what to write."""

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from support.cdk import stack, template
from support.resolving import Template
from support.tokens import LISTS, TEXTS, Given, Leaf, changed, deployed, leaves

from inferstack.check.load import parse_spec
from inferstack.constructs import InferenceEndpoint
from inferstack.problems import Problem, Severity, SpecError
from inferstack.source.document import read_document

ROOT = Path(__file__).parents[2]
# What a spec takes from elsewhere stands for such tokens already.
SPECS = sorted(
    it
    for it in (*(ROOT / "tests/shapes").glob("*.yaml"), *(ROOT / "model_specs").glob("*.yaml"))
    if it.stem not in ("elsewhere", "existing-models")
)
NUMBER = -1.8881545897087503e289

# A name that is referred to must be in the spec literally.
REFERENCES = {"IS124", "IS206", "IS430", "IS802"}
LEFT_OUT = {"kind", "env", "stages", "ignore", "load_test"}
# Of a bucket of the stack, objects are meant; what a topic refers to itself by is its ARN.
IAM_ARN = re.compile(r"\*|<\d+\.Arn>(/\w+/\*)?|<\d+\.None>|arn:[\w-]+:[\w-]+:[\w-]*:(\d{12}|\*|aws)?:\S+")
TOKEN_LEFT = re.compile(r"[$#]\{Token\[|1\.888|1888154589")


def data_of(file: Path) -> dict[str, Any]:
    data = read_document(file).data
    return {key: value for key, value in data.items() if key not in LEFT_OUT - {"kind", "env"}}


def errors(data: Mapping[str, Any]) -> list[Problem]:
    try:
        parse_spec(data)
    except SpecError as error:
        return [it for it in error.problems if it.severity is Severity.ERROR]
    return []


def candidates(data: Any) -> list[Leaf]:
    return [it for it in leaves(data) if it.path[0] not in LEFT_OUT]


def one_of(leaf: Leaf) -> Any:
    return {"text": "${Token[TOKEN.77]}", "number": NUMBER, "list": ["#{Token[TOKEN.77]}"]}[leaf.kind]


@dataclass(frozen=True)
class Tried:
    """The data of a spec, and what is wrong with it when there is a token in one place, for each of them."""

    data: dict[str, Any]
    found: list[tuple[Leaf, list[Problem]]]

    def places(self) -> list[Leaf]:
        """Every place that accepts a token."""
        return [leaf for leaf, found in self.found if not found]


def place(kind: str, leaf: Leaf) -> tuple[Any, ...]:
    """Where a leaf is, for specs of a kind: one entry of a list is as good as another."""
    return (kind, leaf.kind, *(0 if isinstance(step, int) else step for step in leaf.path))


@pytest.fixture(scope="module")
def said() -> dict[tuple[Any, ...], list[Problem]]:
    """What is said of a token in each place where one was tried."""
    return {}


@pytest.fixture(scope="module", params=SPECS, ids=lambda it: it.stem)
def tried(request: pytest.FixtureRequest, said: dict[tuple[Any, ...], list[Problem]]) -> Tried:
    data = data_of(request.param)
    found = []
    for leaf in candidates(data):
        at = place(data["kind"], leaf)
        if at not in said:
            said[at] = errors(changed(data, {leaf.path: one_of(leaf)}))
        found.append((leaf, said[at]))
    return Tried(data, found)


def test_a_token_is_taken_everywhere_or_refused_by_a_code(tried: Tried) -> None:
    for leaf, found in tried.found:
        codes = {it.code for it in found}
        assert "IS112" in codes or codes <= REFERENCES, (leaf, found)
        assert not any("888" in str(it) for it in found if it.code == "IS112"), found


def filled(data: Any, taken: list[Leaf], given: Given, make: Mapping[str, Any]) -> Any:
    """The data with tokens in all places of a kind."""
    fit = [it for it in taken if it.kind in make and not _means_something_else(it)]
    values = {it.path: make[it.kind](given, it.value) for it in fit}
    for _ in range(5):
        wrong = {it.path for it in errors(changed(data, values))}
        if not wrong:
            break
        values = {at: it for at, it in values.items() if not any(_is_about(path, at) for path in wrong)}
    assert values or make.keys() == {"list"}
    return changed(data, values)


def _is_about(problem: tuple[str | int, ...], path: tuple[str | int, ...]) -> bool:
    """Together, tokens may break what none breaks alone: a name that is referred to, such as a variant's."""
    return problem[: len(path)] == path or path[-1] in ("variant_name", "instance_type")


def _means_something_else(leaf: Leaf) -> bool:
    """Nobody can know that a token in an environment variable will be an S3 URL, or that an image runs an engine of
    language models. And the name of a model that the spec does not have is that of an existing model.
    """
    is_url = "environment" in leaf.path and str(leaf.value).startswith("s3://")
    is_engine = leaf.path[-1] == "image" and "-lmi" in str(leaf.value)
    return is_url or is_engine or leaf.path[-1] in ("model_name", "model_name_override")


def made(data: Any, home: cdk.Stack) -> Template:
    InferenceEndpoint(home, "Net", spec=parse_spec(data))
    return template(home)


def same_everywhere(resources: list[tuple[str, Any]], *, lists: bool) -> list[Any]:
    """What must not differ: everything except what a text says about a number, how statements are distributed over
    policies, and which names in a bucket may be listed.
    """
    shown: list[Any] = []
    for kind, properties in resources:
        properties.pop("AlarmDescription", None)
        statements = properties.pop("PolicyDocument", {"Statement": ()})["Statement"]
        if kind == "AWS::IAM::ManagedPolicy":
            shown += [one for it in statements if not _varies(it, lists=lists) for one in _one_by_one(it)]
        else:
            shown.append((kind, properties))
    written = (re.sub(r"<\d+\.", "<", json.dumps(it, sort_keys=True)) for it in shown)
    # The files of an adapter may be in a folder.
    return sorted(it.replace(".tar.gz*", ".tar.gz") for it in written)


def _one_by_one(statement: Any) -> list[Any]:
    return [{**statement, "Resource": it} for it in dict.fromkeys(statement["Resource"])]


def _varies(statement: Any, *, lists: bool) -> bool:
    sid = statement.get("Sid", "")
    return sid.startswith(("ListModelFiles", "DecryptFiles")) or "Keys" in sid or (lists and sid == "JoinVpc")


def arns(resources: list[tuple[str, Any]]) -> list[str]:
    documents = (it["PolicyDocument"] for kind, it in resources if kind == "AWS::IAM::ManagedPolicy")
    return [arn for document in documents for it in document["Statement"] for arn in it["Resource"]]


MEANINGS = {
    **{f"text: {name}": {"text": make} for name, make in TEXTS.items()},
    "number": {"number": Given.number},
    **{f"list: {name}": {"list": make} for name, make in LISTS.items()},
}


def test_a_value_means_the_same_as_a_token(tried: Tried) -> None:
    data, taken = tried.data, tried.places()
    region = data.get("env", {}).get("region", "us-east-1")
    plain = made(data, stack(region))
    for kind, make in MEANINGS.items():
        home = stack(region)
        given = Given(home, region)
        written = made(filled(data, taken, given, make), home)
        assert not TOKEN_LEFT.search(json.dumps(written)), kind
        found = deployed(written, given, "Net")
        assert [it for it in arns(found) if not IAM_ARN.fullmatch(it)] == [], kind
        expected = deployed(copy.deepcopy(plain), Given(home, region), "Net")
        lists = "list" in make
        assert same_everywhere(found, lists=lists) == same_everywhere(expected, lists=lists), kind


BASE: dict[str, Any] = {
    "kind": "single-model",
    "endpoint_name": "churn",
    "model": {
        "image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1",
        "model_data_url": "s3://models/churn/model.tar.gz",
    },
    "variant": {"instance_type": "ml.m5.large", "initial_instance_count": 2},
}
COMPONENT = {
    "specification": {
        "container": {
            "image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/llm:1",
            "artifact_url": "s3://models/chat.tar.gz",
        },
        "compute_resource_requirements": {
            "number_of_cpu_cores_required": 1,
            "min_memory_required_in_mb": 1024,
        },
    }
}
SCALED = {
    "min_capacity": 1,
    "max_capacity": 2,
    "policies": [{"metric": "CPUUtilization", "target_value": 50}],
}

STEP = {"metric": "ModelLatency", "threshold": "1 s", "adjustment_type": "ChangeInCapacity"}


def of_single(**change: Any) -> dict[str, Any]:
    """A model on a variant, with other blocks; keys of `model` are merged into the base's own."""
    return {**BASE, **change, "model": {**BASE["model"], **change.pop("model", {})}}


def of_components(*names: str, **change: Any) -> dict[str, Any]:
    parts = {"kind": "inference-components", "inference_components": dict.fromkeys(names, COMPONENT)}
    return {**{key: it for key, it in BASE.items() if key != "model"}, **parts, **change}


def name_of(home: cdk.Stack, parameter: str) -> str:
    return f"chat-{cdk.CfnParameter(home, parameter).value_as_string}"


def known(text: str) -> str:
    """A token that stands for a text; CDK would not make one of a plain text."""
    return cdk.Token.as_string({"Fn::Sub": text})


def everything(home: cdk.Stack) -> dict[str, Any]:
    """Tokens wherever some part of a text goes into an ID."""
    name = name_of(home, "Name")
    policy = {"metric": "CPUUtilizationNormalized", "target_value": 50, "policy_name": f"busy-{name}"}
    scaling = {**SCALED, "policies": [policy]}
    component = {**COMPONENT, "variant_name": name, "autoscaling": scaling}
    return of_components(
        variant={**BASE["variant"], "variant_name": name},
        endpoint_name=name,
        inference_components={name: component},
        execution_role={
            "statements": [
                {"action": ["s3:GetObject"], "resource": [cdk.aws_s3.Bucket(home, "B").bucket_arn]}
            ]
        },
        tags={"b": name, "a": name},
    )


def test_nothing_depends_on_how_many_tokens_an_app_has() -> None:
    templates = []
    for others in (0, 7):
        home = stack()
        for index in range(others):
            cdk.Token.as_string({"Ref": f"Other{index}"})
            cdk.Token.as_list({"Ref": f"Other{index}"})
        templates.append(made(everything(home), home))
    assert templates[0] == templates[1]


def test_two_names_that_are_tokens_have_two_ids() -> None:
    home = stack()
    names = [name_of(home, "One"), name_of(home, "Other")]
    resources = made(of_components(*names, endpoint_name=name_of(home, "Name")), home)["Resources"]
    assert sum(it["Type"] == "AWS::SageMaker::InferenceComponent" for it in resources.values()) == 2


def test_an_id_of_a_token_that_has_a_text_is_that_of_the_text() -> None:
    home = stack()
    token = made(of_components("chat", endpoint_name=f"chat-{known('eu')}"), home)
    assert token == made(of_components("chat", endpoint_name="chat-eu"), stack())


@pytest.mark.parametrize("is_known", [True, False])
def test_what_is_asked_for_later_has_the_ids_of_the_template(is_known: bool) -> None:
    home = stack()
    name = f"chat-{known('eu')}" if is_known else name_of(home, "Name")
    data = of_components(
        name,
        endpoint_name=name,
        alarms={"rules": [{"metric": "CPUUtilizationNormalized", "threshold": "90 %"}]},
    )
    endpoint = InferenceEndpoint(home, "Net", spec=parse_spec(data))
    endpoint.grant_invoke(cdk.aws_iam.Role(home, "R", assumed_by=cdk.aws_iam.AccountRootPrincipal()))
    assert endpoint.alarm("CPUUtilizationNormalized").alarm_arn
    assert endpoint.metric("CPUUtilizationNormalized", inference_component=name).dimensions == {
        "InferenceComponentName": name
    }


def policies(data: dict[str, Any], home: cdk.Stack) -> dict[str, Any]:
    return {
        logical_id: it["Properties"]["PolicyDocument"]["Statement"]
        for logical_id, it in made(data, home)["Resources"].items()
        if it["Type"] == "AWS::IAM::ManagedPolicy"
    }


def of_bucket(chosen: str) -> set[str]:
    home = stack()
    buckets = {name: cdk.aws_s3.Bucket(home, name) for name in ("A", "B")}
    return set(
        policies(of_single(model={"model_data_url": buckets[chosen].s3_url_for_object("m.tar.gz")}), home)
    )


def test_the_policy_of_another_bucket_is_another_policy() -> None:
    assert of_bucket("A") == of_bucket("A")
    assert of_bucket("A").isdisjoint(of_bucket("B"))


def test_a_policy_leaves_room_for_what_tokens_become() -> None:
    home = stack()
    arns = [cdk.aws_s3.Bucket(home, f"B{index}").arn_for_objects("*") for index in range(45)]
    role = {"statements": [{"action": ["s3:GetObject"], "resource": [arn]} for arn in arns]}
    name = f"arn:aws:s3:::{'b' * 63}/*"
    found = policies(of_single(execution_role=role), home)
    for statements in found.values():
        as_long = re.sub(r'\{"Fn::Join".*?\]\]\}', f'"{name}"', json.dumps(statements, separators=(",", ":")))
        assert len(as_long) < 6144
    assert sum(map(len, found.values())) > 45


def statement(data: dict[str, Any], home: cdk.Stack, sid: str, given: Mapping[str, Any]) -> list[str]:
    """The resources of a statement after deployment."""
    values = Given(home, "us-east-1")
    values.values |= given
    found = deployed(made(data, home), values, "Net")
    documents = [it["PolicyDocument"] for kind, it in found if kind == "AWS::IAM::ManagedPolicy"]
    return next(
        it["Resource"] for document in documents for it in document["Statement"] if it.get("Sid") == sid
    )


def archive(folder: Path) -> str:
    (folder / "model.tar.gz").write_bytes(b"weights")
    return str(folder / "model.tar.gz")


@pytest.mark.parametrize("region", ["us-east-1", None])
@pytest.mark.parametrize("url", ["s3_object_url", "http_url"])
def test_an_asset_is_a_models_file(tmp_path: Path, url: str, region: str | None) -> None:
    home = stack(region)
    asset = cdk.aws_s3_assets.Asset(home, "Asset", path=archive(tmp_path))
    data = of_single(model={"model_data_url": getattr(asset, url)})
    (arn,) = statement(data, home, "ReadModelFiles", {})
    assert re.fullmatch(r"arn:aws:s3:::cdk-hnb659fds-assets-111122223333-us-east-1/[0-9a-f]{64}\.gz", arn)


def test_a_bucket_of_the_app_may_be_named_by_any_of_its_urls() -> None:
    for url in ("s3_url_for_object", "url_for_object", "virtual_hosted_url_for_object"):
        home = stack()
        bucket = cdk.aws_s3.Bucket(home, "B", bucket_name=None)
        (logical_id,) = (it for it in template(home)["Resources"])
        home = stack()
        bucket = cdk.aws_s3.Bucket(home, "B")
        data = of_single(model={"model_data_url": getattr(bucket, url)("m/model.tar.gz")})
        written = json.dumps(made(data, home)).replace(
            json.dumps({"Fn::GetAtt": [logical_id, "RegionalDomainName"]}),
            '"models.s3.us-east-1.amazonaws.com"',
        )
        found = deployed(
            json.loads(written.replace(json.dumps({"Ref": logical_id}), '"models"')),
            Given(home, "us-east-1"),
            "Net",
        )
        read = [it for it in arns(found) if ":s3:" in it]
        assert read == ["arn:aws:s3:::models/m/model.tar.gz", "arn:aws:s3:::models"], url


def test_answers_may_go_to_a_bucket_that_is_named_by_its_host_alone() -> None:
    home = stack()
    host = cdk.CfnParameter(home, "Host").value_as_string
    for_answers = {"async_inference_config": {"output_config": {"s3_output_path": f"https://{host}"}}}
    given = {"Host": "answers.s3.us-east-1.amazonaws.com"}
    assert statement(of_single(endpoint_config=for_answers), home, "WriteResults", given) == [
        "arn:aws:s3:::answers/*"
    ]


KEY = "1234abcd-12ab-34cd-56ef-1234567890ab"
HERE, THERE = "arn:aws:kms:us-east-1:111122223333", "arn:aws:kms:us-east-1:444455556666"


@pytest.mark.parametrize(
    ("key", "sid", "arn"),
    [
        (KEY, "UseKeys", f"{HERE}:key/{KEY}"),
        (f"{THERE}:key/{KEY}", "UseKeys", f"{THERE}:key/{KEY}"),
        ("alias/ml", "UseKeysByAlias", f"{HERE}:key/*"),
        (f"{THERE}:alias/ml", "UseKeysByAlias", f"{THERE}:key/*"),
    ],
)
def test_a_key_may_be_known_by_id_alias_or_arn(key: str, sid: str, arn: str) -> None:
    home = stack()
    token = cdk.CfnParameter(home, "Key").value_as_string
    assert statement(of_single(endpoint_config={"kms_key_id": token}), home, sid, {"Key": key}) == [arn]


@pytest.mark.parametrize("name", ["alias_name", "alias_arn"])
def test_an_alias_of_the_app_is_known(name: str) -> None:
    home = stack()
    alias = cdk.aws_kms.Key(home, "Key").add_alias("alias/ml")
    (found,) = policies(of_single(endpoint_config={"kms_key_id": getattr(alias, name)}), home).values()
    by_alias = next(it for it in found if it["Sid"] == "UseKeysByAlias")
    assert by_alias["Condition"] == {"ForAnyValue:StringEquals": {"kms:ResourceAliases": ["alias/ml"]}}
    assert "UseKeys" not in [it["Sid"] for it in found]


def test_a_key_of_the_app_is_named_by_its_own_arn() -> None:
    home = stack()
    key = cdk.aws_kms.Key(home, "Key")
    (found,) = policies(of_single(endpoint_config={"kms_key_id": key.key_arn}), home).values()
    (named,) = (it["Resource"] for it in found if it["Sid"] == "UseKeys")
    assert named == [{"Fn::GetAtt": [home.get_logical_id(key.node.default_child), "Arn"]}]


IMAGES = (
    "444455556666.dkr.ecr.us-east-1.amazonaws.com/ml/net:v1",
    "444455556666.dkr.ecr.us-east-1.amazonaws.com/ml/net@sha256:abcdef",
    "444455556666.dkr.ecr.us-east-1.amazonaws.com/ml/net",
    "444455556666.dkr.ecr.cn-north-1.amazonaws.com.cn/ml/net:v1",
)


@pytest.mark.parametrize("image", IMAGES)
def test_the_role_pulls_the_repository_of_an_image_that_a_token_names(image: str) -> None:
    home = stack()
    data = of_single(model={"image": cdk.CfnParameter(home, "Image").value_as_string})
    (arn,) = statement(data, home, "PullImage", {"Image": image})
    assert arn == f"arn:aws:ecr:{image.split('.')[3]}:444455556666:repository/ml/net"


def test_a_repository_of_another_account_is_named() -> None:
    home = stack()
    other = cdk.Environment(account="444455556666", region="us-east-1")
    shared = cdk.Stack(cdk.App.of(home), "Shared", env=other)
    repository = cdk.aws_ecr.Repository(shared, "Repository", repository_name="ml/net")
    data = of_single(model={"image": repository.repository_uri_for_tag("v1")})
    assert statement(data, home, "PullImage", {}) == ["arn:aws:ecr:us-east-1:444455556666:repository/ml/net"]


def test_parts_of_an_address_may_be_tokens() -> None:
    home = stack()
    name = cdk.CfnParameter(home, "Name").value_as_string
    data = of_single(model={"image": f"444455556666.dkr-ecr.us-east-1.on.aws/{name}:v1"})
    arn = "arn:aws:ecr:us-east-1:444455556666:repository/ml/net"
    assert statement(data, home, "PullImage", {"Name": "ml/net"}) == [arn]


def test_an_app_gets_through_before_its_look_ups_are_made() -> None:
    look_up = cdk.aws_ssm.StringParameter.value_from_lookup
    for path in (("model", "model_data_url"), ("model", "image"), ("execution_role",), ("endpoint_name",)):
        home = stack()
        assert made(changed(of_single(execution_role={}), {path: look_up(home, "/churn/it")}), home)


@pytest.mark.parametrize("subnet_type", cdk.aws_ec2.SubnetType)
def test_a_network_is_not_judged_before_it_is_looked_up(subnet_type: cdk.aws_ec2.SubnetType) -> None:
    home = stack()
    vpc = cdk.aws_ec2.Vpc.from_lookup(home, "Vpc", vpc_id="vpc-0a1b2c3d4e5f60718")
    subnets = vpc.select_subnets(subnet_type=subnet_type).subnet_ids
    network = {"subnets": subnets, "security_group_ids": ["sg-0a1b2c3d4e5f60718"]}
    assert "IS249" not in {it.code for it in parse_spec(of_single(model={"vpc_config": network})).warnings}


def found_in(data: dict[str, Any]) -> list[str]:
    # The number of a token differs between processes.
    return [f"{it.code} {'.'.join(map(str, it.path))}".replace(TEXT, "TEXT") for it in errors(data)]


LIST = cdk.Token.as_list({"Ref": "List"})
TEXT = cdk.Token.as_string({"Ref": "Text"})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"description": TEXT}, "IS112 description"),
        ({"tags": {TEXT: "a"}}, "IS112 tags.TEXT"),
        ({"model": {"environment": {TEXT: "a"}}}, "IS112 model.environment.TEXT"),
        ({"alarms": {"rules": [{"metric": TEXT, "threshold": 5}]}}, "IS112 alarms.rules.0.metric"),
        (
            {"alarms": {"rules": [{"metric": "ModelLatency", "threshold": TEXT}]}},
            "IS112 alarms.rules.0.threshold",
        ),
        (
            {
                "autoscaling": {
                    **SCALED,
                    "step_policies": [
                        {
                            **STEP,
                            "step_adjustments": [
                                {"metric_interval_lower_bound": TEXT, "scaling_adjustment": 1}
                            ],
                        }
                    ],
                }
            },
            "IS112 autoscaling.step_policies.0.step_adjustments.0.metric_interval_lower_bound",
        ),
        ({"model": {"image": {"framework": "sklearn", "version": TEXT}}}, "IS112 model.image.version"),
        ({"alarms": {"actions": [*LIST, TEXT]}}, "IS113 alarms.actions.0"),
        (
            {"autoscaling": {**SCALED, "step_policies": [{**STEP, "actions": LIST}]}},
            "IS113 autoscaling.step_policies.0.actions.0",
        ),
        ({"execution_role": LIST[0]}, "IS113 execution_role"),
        ({"autoscaling": {**SCALED, "max_capacity": TEXT}}, "IS103 autoscaling.max_capacity"),
        ({"tags": {"a": cdk.Token.as_number({"Ref": "Number"})}}, "IS103 tags.a"),
    ],
)
def test_a_token_that_cannot_be_is_refused(change: dict[str, Any], problem: str) -> None:
    assert problem in found_in(of_single(**change))


@pytest.mark.parametrize(("ends", "codes"), [((44, 44), []), ((44, 45), ["IS532"])])
def test_a_number_may_be_any_other_one_of_the_spec(ends: tuple[int, int], codes: list[str]) -> None:
    adjustments = [
        {"metric_interval_lower_bound": 0, "metric_interval_upper_bound": 33, "scaling_adjustment": 1},
        {
            "metric_interval_lower_bound": NUMBER,
            "metric_interval_upper_bound": ends[0],
            "scaling_adjustment": 2,
        },
        {"metric_interval_lower_bound": ends[1], "scaling_adjustment": 3},
    ]
    step = {**STEP, "metric": "Invocations", "threshold": 70}
    steps = [{**step, "step_adjustments": adjustments}]
    found = errors(of_single(autoscaling={**SCALED, "step_policies": steps}))
    assert [it.code for it in found] == codes


def test_what_a_token_turns_out_to_be_is_checked() -> None:
    data = of_single(model={"model_data_url": known("s3://models/model.zip")})
    with pytest.raises(SpecError, match="IS231"):
        made(data, stack())


def test_a_list_of_security_groups_cannot_be_connected() -> None:
    network = {"subnets": ["subnet-0a1b2c3d4e5f60718"], "security_group_ids": LIST}
    endpoint = InferenceEndpoint(stack(), "Net", spec=parse_spec(of_single(model={"vpc_config": network})))
    with pytest.raises(ValueError, match="only the deployment knows"):
        endpoint.connections  # noqa: B018 - a property


def test_a_stack_with_a_name_that_is_a_token_has_a_plain_description() -> None:
    home = stack()
    InferenceEndpoint(home, "Net", spec=parse_spec(of_single(endpoint_name=TEXT)), preserve_logical_ids=True)
    assert "Description" not in template(home) or isinstance(template(home)["Description"], str)
