"""What docs/constructs.md shows works exactly as shown."""

import contextlib
import inspect
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from support.pages import code_blocks
from support.resolving import Template, of_type, only

import inferstack.constructs
from inferstack.check.load import load_spec, parse_spec
from inferstack.constructs import InferenceEndpoint
from inferstack_stacks import EndpointStack, add_stacks

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "constructs.md"
PAGE = FILE.read_text("utf-8")
CHURN = "s3://acme-models/churn/model.tar.gz"
ENDPOINT, ALARM, POLICY = "AWS::SageMaker::Endpoint", "AWS::CloudWatch::Alarm", "AWS::IAM::Policy"


class Made:
    """What the page's program leaves behind: its names, what it printed, and its templates by stack."""

    def __init__(self, folder: Path) -> None:
        self.names: dict[str, Any] = {}
        printed = io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
            for number, block in enumerate(code_blocks(FILE, "python"), 1):
                exec(compile(block, f"docs/constructs.md, block {number}", "exec"), self.names)
        self.printed = printed.getvalue()
        assembly = self.names["app"].synth()
        self.templates: dict[str, Template] = {it.stack_name: it.template for it in assembly.stacks}
        self.folder = Path(assembly.directory)

    def written(self, stack: str) -> str:
        return "".join(file.read_text("utf-8") for file in self.folder.glob(f"{stack}*.json"))


def with_the_spec(folder: Path) -> Path:
    (folder / "model_specs").mkdir()
    (spec,) = code_blocks(FILE, "yaml")
    (folder / "model_specs" / "churn.yaml").write_text(spec, "utf-8")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(with_the_spec(tmp_path_factory.mktemp("page")))


def test_nothing_that_cdk_gives_up_is_used(tmp_path: Path) -> None:
    # Node keeps the environment that it was started with.
    (with_the_spec(tmp_path) / "app.py").write_text(
        "\n".join([*code_blocks(FILE, "python"), "app.synth()"]), "utf-8"
    )
    paths = os.pathsep.join(str(ROOT / it) for it in ("constructs", "stacks"))
    environment = os.environ | {"JSII_DEPRECATED": "fail", "PYTHONPATH": paths, "CDK_VALIDATION": "false"}
    command = [sys.executable, "app.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_program_prints_what_stands_under_it(made: Made) -> None:
    assert [made.printed] == code_blocks(FILE, "text")


def test_nothing_is_asked_of_an_account_so_that_the_cdk_cli_needs_no_credentials(made: Made) -> None:
    assert "missing" not in json.loads((made.folder / "manifest.json").read_text("utf-8"))


def test_two_endpoints_are_in_one_stack_and_bring_no_outputs(made: Made) -> None:
    template = made.templates["Customers"]
    names = [it["EndpointName"] for it in of_type(template, ENDPOINT).values()]
    assert sorted(names) == ["churn", "churn-isolated", "churn-typed", "returns"]
    assert list(template["Outputs"]) == ["EndpointName"]
    assert "Description" not in template


def test_grants_and_tokens_reach_the_template(made: Made) -> None:
    template = made.templates["Customers"]
    actions = json.dumps([it["PolicyDocument"] for it in of_type(template, POLICY).values()])
    assert "sagemaker:InvokeEndpointWithResponseStream" in actions
    assert ":inference-component/legal" in actions
    alarms = of_type(template, ALARM).values()
    assert any("AlarmActions" in it for it in alarms)
    assert 500_000 in [it["Threshold"] for it in alarms]
    models = [it for it in of_type(template, "AWS::SageMaker::Model").values() if "VpcConfig" in it]
    (returns,) = [
        it["PrimaryContainer"]["ModelDataUrl"]
        for it in models
        if it["PrimaryContainer"]["ModelDataUrl"] != CHURN
    ]
    assert "Fn::Join" in returns


def test_a_file_meets_the_network_and_key_of_the_app(made: Made) -> None:
    template = made.templates["Customers"]
    (model,) = [
        it
        for it in of_type(template, "AWS::SageMaker::Model").values()
        if "VpcConfig" in it and it["PrimaryContainer"]["ModelDataUrl"] == CHURN
    ]
    assert "Ref" in model["VpcConfig"]["Subnets"][0]
    assert any("KmsKeyId" in it for it in of_type(template, "AWS::SageMaker::EndpointConfig").values())
    boundaries = [it.get("PermissionsBoundary") for it in of_type(template, "AWS::IAM::Role").values()]
    assert "policy/boundary" in json.dumps(boundaries)


def test_the_override_is_in_the_template(made: Made) -> None:
    endpoints = of_type(made.templates["Customers"], ENDPOINT).values()
    assert [it["EndpointName"] for it in endpoints if it.get("RetainDeploymentConfig")] == ["churn"]


def test_scaling_beside_its_endpoint_waits_for_it(made: Made) -> None:
    resources = made.templates["Busy"]["Resources"]
    (target,) = (it for it in resources.values() if it["Type"].endswith("ScalableTarget"))
    (waited_for,) = target["DependsOn"]
    assert resources[waited_for]["Properties"]["EndpointName"] == "churn-busy"


def test_an_acknowledged_warning_is_gone_and_the_others_stay(made: Made) -> None:
    assert "[ack: IS820]" not in made.written("Customers")
    assert "[ack: IS820]" in made.written("Alone")


def test_a_part_makes_its_own_resources_only(made: Made) -> None:
    kinds = {it["Type"] for it in made.templates["Roles"]["Resources"].values()}
    assert kinds == {"AWS::IAM::Role", "AWS::IAM::ManagedPolicy"}
    assert {it["Type"] for it in made.templates["Alarms"]["Resources"].values()} == {ALARM}


def test_a_stack_of_its_own_has_the_endpoints_name_and_outputs(made: Made) -> None:
    assert {"EndpointName", "EndpointArn"} <= made.templates["churn"]["Outputs"].keys()
    assert only(made.templates["churn"], ENDPOINT)["EndpointName"] == "churn"


def test_a_folder_goes_where_its_stage_goes(made: Made) -> None:
    (stack,) = made.names["app"].synth().get_nested_assembly("assembly-Prod").stacks
    assert stack.environment.name == "aws://444455556666/us-east-1"
    assert only(stack.template, ENDPOINT)["EndpointName"] == "churn"


def test_the_table_of_metrics_is_true(made: Made) -> None:
    rows = re.findall(r"^\| `(metric_\w+)\(\)` \| `(\w+)` \| (\w+) \| (.*) \|$", PAGE, re.MULTILINE)
    methods = {name for name in dir(InferenceEndpoint) if name.startswith("metric_")}
    assert {method for method, *_ in rows} == methods
    gpus = parse_spec(
        {
            "kind": "single-model",
            "endpoint_name": "one",
            "model": {"image": "111122223333.dkr.ecr.us-east-1.amazonaws.com/net:1"},
            "variant": {"instance_type": "ml.g5.xlarge", "initial_instance_count": 2},
        }
    )
    endpoint = InferenceEndpoint(cdk.Stack(), "One", spec=gpus)
    for method, name, statistic, counts in rows:
        metric = getattr(endpoint, method)()
        unit = {"**": "MICROSECONDS", "pe": "PERCENT", "re": None}[counts[:2]]
        assert (metric.metric_name, metric.statistic) == (name, statistic)
        assert (None if metric.unit is None else metric.unit.name) == unit


def test_every_construct_is_on_the_page() -> None:
    assert all(f"`{name}`" in PAGE for name in inferstack.constructs.__all__)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (InferenceEndpoint.__init__, "InferenceEndpoint"),
        (EndpointStack.__init__, "EndpointStack"),
        (add_stacks, "add_stacks"),
        (InferenceEndpoint.alarm, "alarm"),
        (load_spec, "load_spec"),
        (parse_spec, "parse_spec"),
    ],
)
def test_every_argument_is_on_the_page(function: Any, name: str) -> None:
    (shown,) = re.findall(rf"`{name}\((\w.*, \*, .*?)\)`", PAGE)
    options = [
        it.name for it in inspect.signature(function).parameters.values() if it.kind is it.KEYWORD_ONLY
    ]
    # Reading without the lock is only for code that writes it.
    assert [it.partition("=")[0] for it in shown.partition("*, ")[2].split(", ")] == [
        it for it in options if it != "locked"
    ]
