"""A failing update is rolled back, and the endpoint keeps answering as before."""

import copy
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from botocore.exceptions import ClientError
from emulator.clients import EmulatedAws
from emulator.deploying import deploy, events, failures
from emulator.inventory import inventory
from support.promises import broken_promises

from inferstack.check.load import LoadedSpec, load_spec
from inferstack.resolve import resolve_template

ROOT = Path(__file__).parents[2]


class Container(BaseHTTPRequestHandler):
    """A model server that answers with the request and its path."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        status = 500 if body == "break" else 200
        answer = json.dumps({"path": self.path, "body": body}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing to standard error."""


@pytest.fixture
def container(aws: EmulatedAws) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Container)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    with aws.container(f"http://127.0.0.1:{server.server_port}"):
        yield
    server.shutdown()
    thread.join()
    server.server_close()


def example(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[LoadedSpec, dict[str, Any]]:
    monkeypatch.chdir(ROOT)
    loaded = load_spec(Path("model_specs") / f"{name}.yaml", region="us-east-1")
    return loaded, resolve_template(loaded.spec, region="us-east-1", source_of=loaded.source_of)


def ask(aws: EmulatedAws, endpoint: str, body: str = "a request", **to: str) -> Any:
    answer = aws.client("sagemaker-runtime").invoke_endpoint(EndpointName=endpoint, Body=body, **to)
    return json.loads(answer["Body"].read())


def broken_update(template: dict[str, Any]) -> dict[str, Any]:
    """Another model, which the endpoint gets before its scaling target is refused."""
    changed = copy.deepcopy(template)
    for resource in changed["Resources"].values():
        properties = resource["Properties"]
        match resource["Type"]:
            case "AWS::SageMaker::Model":
                properties["PrimaryContainer"]["Environment"] |= {"CHANGED": "1"}
            case "AWS::ApplicationAutoScaling::ScalableTarget":
                properties |= {"MinCapacity": 9, "MaxCapacity": 1}
    return changed


def test_it_is_taken_back_and_the_old_endpoint_answers(
    aws: EmulatedAws, container: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, template = example("bert-large", monkeypatch)
    name = loaded.spec.endpoint_name
    assert deploy(aws, "stack", template) == "CREATE_COMPLETE"
    before, answer = inventory(aws), ask(aws, name)
    assert deploy(aws, "stack", broken_update(template)) == "UPDATE_ROLLBACK_COMPLETE"
    assert "Maximum capacity cannot be less" in failures(aws, "stack")[0]
    assert [it["LogicalResourceId"] for it in events(aws, "stack")].count("Endpoint") > 4
    assert inventory(aws) == before
    assert broken_promises(aws, loaded.spec) == []
    assert ask(aws, name) == answer == {"path": "/invocations", "body": "a request"}


def test_a_component_keeps_its_model_where_the_new_one_is_not_there(aws: EmulatedAws) -> None:
    loaded = load_spec(ROOT / "tests/shapes/triton-models.yaml")
    template = resolve_template(loaded.spec, region="us-east-1", source_of=loaded.source_of)
    assert deploy(aws, "stack", template) == "CREATE_COMPLETE"
    before = inventory(aws)
    changed = copy.deepcopy(template)
    [component] = [
        it["Properties"]
        for it in changed["Resources"].values()
        if it["Properties"].get("InferenceComponentName") == "documents"
    ]
    component["Specification"]["ModelName"] = "elsewhere"
    assert deploy(aws, "stack", changed) == "UPDATE_ROLLBACK_COMPLETE"
    assert "component-model-exists" in failures(aws, "stack")[0]
    assert inventory(aws) == before


def test_after_it_the_same_stack_can_be_updated(aws: EmulatedAws, monkeypatch: pytest.MonkeyPatch) -> None:
    _, template = example("bert-large", monkeypatch)
    deploy(aws, "stack", template)
    deploy(aws, "stack", broken_update(template))
    assert deploy(aws, "stack", template) == "NO CHANGES"
    mended = broken_update(template)
    mended["Resources"]["ScalableTargetAllTraffic"] = template["Resources"]["ScalableTargetAllTraffic"]
    assert deploy(aws, "stack", mended) == "UPDATE_COMPLETE"


def test_what_scaling_has_reached_survives_an_update(
    aws: EmulatedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, template = example("bert-large", monkeypatch)
    name, sagemaker = loaded.spec.endpoint_name, aws.client("sagemaker")
    deploy(aws, "stack", template)
    wanted = [{"VariantName": "AllTraffic", "DesiredInstanceCount": 4}]
    sagemaker.update_endpoint_weights_and_capacities(EndpointName=name, DesiredWeightsAndCapacities=wanted)
    changed = copy.deepcopy(template)
    changed["Resources"]["Model"]["Properties"]["PrimaryContainer"]["Environment"] |= {"CHANGED": "1"}
    assert deploy(aws, "stack", changed) == "UPDATE_COMPLETE"
    [fleet] = sagemaker.describe_endpoint(EndpointName=name)["ProductionVariants"]
    assert fleet["DesiredInstanceCount"] == 4


def test_a_new_weight_moves_the_traffic_of_a_scaled_fleet(
    aws: EmulatedAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, template = example("sentiment-ab", monkeypatch)
    name, sagemaker = loaded.spec.endpoint_name, aws.client("sagemaker")
    deploy(aws, "stack", template)
    wanted = [{"VariantName": "Stable", "DesiredInstanceCount": 3, "DesiredWeight": 2.0}]
    sagemaker.update_endpoint_weights_and_capacities(EndpointName=name, DesiredWeightsAndCapacities=wanted)
    changed = copy.deepcopy(template)
    stable, _ = changed["Resources"]["EndpointConfig"]["Properties"]["ProductionVariants"]
    stable["InitialVariantWeight"] = 5
    assert deploy(aws, "stack", changed) == "UPDATE_COMPLETE"
    fleet = next(
        it
        for it in sagemaker.describe_endpoint(EndpointName=name)["ProductionVariants"]
        if it["VariantName"] == "Stable"
    )
    assert (fleet["DesiredInstanceCount"], fleet["DesiredWeight"]) == (3, 5)


def test_a_multi_model_endpoint_is_asked_for_a_model(
    aws: EmulatedAws, container: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, template = example("resnet-mme", monkeypatch)
    deploy(aws, "stack", template)
    answer = ask(aws, loaded.spec.endpoint_name, TargetModel="cats.tar.gz")
    assert answer["path"] == "/models/cats.tar.gz/invoke"


def test_a_component_is_asked_by_its_name_and_not_without(
    aws: EmulatedAws, container: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, template = example("travel-chat", monkeypatch)
    deploy(aws, "stack", template)
    assert ask(aws, "travel-chat", InferenceComponentName="llama2-europe")["path"] == "/invocations"
    for wrong in ({}, {"InferenceComponentName": "other"}):
        with pytest.raises(ClientError, match="nference Component"):
            ask(aws, "travel-chat", **wrong)


def test_an_error_of_the_model_reaches_the_client(
    aws: EmulatedAws, container: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, template = example("bert-large", monkeypatch)
    deploy(aws, "stack", template)
    with pytest.raises(ClientError, match=r"Received server error \(500\)") as error:
        ask(aws, "bert-large", "break")
    assert error.value.response["OriginalStatusCode"] == 500
