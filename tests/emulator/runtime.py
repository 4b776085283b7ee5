"""SageMaker's runtime: invocations reach what runs behind an endpoint, or are refused as SageMaker refuses them.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html
"""

import json
import os
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlsplit

from emulator.account import Account, account
from moto.sagemakerruntime.responses import SageMakerRuntimeResponse

CONTAINER = "EMULATOR_CONTAINER_URL"
"""Names the model server behind all endpoints, which answers like a container."""
ENDPOINT = "x-emulator-endpoint"
"""Header that tells the model server which endpoint was invoked."""
COMPONENT = "x-amzn-sagemaker-inference-component"
TARGET = "x-amzn-sagemaker-target-model"
_TIMEOUT_SECONDS = 60

Answer = tuple[int, dict[str, str], str | bytes]


class Runtime(SageMakerRuntimeResponse):
    """Checks whether what is invoked exists, then asks the container; without one, moto answers."""

    use_raw_body = True

    def invoke_endpoint(self) -> Answer:
        """One invocation."""
        headers = {key.lower(): value for key, value in self.headers.items()}
        name = self.path.split("/")[2]
        missing = _missing(account(self.current_account, self.region), name, headers)
        if missing is not None:
            return _error(400, "ValidationError", {"message": missing})
        url = os.environ.get(CONTAINER)
        return super().invoke_endpoint() if url is None else _forwarded(url, name, headers, self.body)


def _missing(here: Account, endpoint: str, headers: dict[str, str]) -> str | None:
    if endpoint not in here.endpoints:
        return f"Endpoint {endpoint} of account {here.number} not found."
    component = headers.get(COMPONENT)
    on_it = {name for name, it in here.components.items() if it["EndpointName"] == endpoint}
    if component is None and on_it:
        return "Inference Component Name header is required for endpoints to which you plan to deploy inference components."
    if component is not None and component not in on_it:
        return f"Inference Component {component} of endpoint {endpoint} not found."
    return None


def _forwarded(url: str, endpoint: str, headers: dict[str, str], body: bytes) -> Answer:
    """The container's answer. A multi-model container is asked for the model by its name."""
    model = headers.get(TARGET)
    path = "/invocations" if model is None else f"/models/{quote(model, safe='')}/invoke"
    sent = {key: it for key, it in headers.items() if key in ("content-type", "accept") or "sagemaker" in key}
    sent[ENDPOINT] = endpoint
    connection = HTTPConnection(urlsplit(url).netloc, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request("POST", path, body, sent)
        answer = connection.getresponse()
        got = answer.read()
    finally:
        connection.close()
    if answer.status >= 400:
        return _error(424, "ModelError", _model_error(answer.status, got))
    return 200, {"Content-Type": answer.headers.get("Content-Type", "application/octet-stream")}, got


def _model_error(status: int, body: bytes) -> dict[str, Any]:
    whose = "client" if status < 500 else "server"
    told = f"Received {whose} error ({status}) from primary"
    return {"message": told, "OriginalStatusCode": status, "OriginalMessage": body.decode(errors="replace")}


def _error(status: int, kind: str, told: dict[str, Any]) -> Answer:
    headers = {"status": str(status), "Content-Type": "application/json", "x-amzn-ErrorType": kind}
    return status, headers, json.dumps(told)
