"""A stand-in for hosting: containers with a real Triton behind the endpoints of the emulated SageMaker.

A container gets what SageMaker would give it: the deployed environment, and the archive's bytes from the emulated S3.
It is replaced as soon as something else is deployed.
"""

import json
import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, Self

from emulator.clients import EmulatedAws
from emulator.runtime import COMPONENT, ENDPOINT, TARGET
from support.rehearsal import SERVER_PYTHON

from inferstack.triton.archive.inspection import inspect_archive
from inferstack.triton.protocol import BINARY, JSON
from inferstack.triton.rehearsal.confinement import Confinement, Reply
from inferstack.triton.rehearsal.container import Host, launch_multi_model, launch_single
from inferstack.triton.rehearsal.layout import lay_out
from inferstack.triton.rehearsal.rehearsing import folder_of
from inferstack.triton.rehearsal.server import InstalledServer, find_server

_SECONDS = 60.0


class Deployed(NamedTuple):
    """What a container is started with."""

    url: str
    environment: Mapping[str, str]


class Hosting:
    """Context manager: a server that answers for all endpoints; ``url`` is its address."""

    def __init__(self, aws: EmulatedAws, folder: Path) -> None:
        self.loaded: list[str] = []
        """URLs of the archives that containers loaded, in order."""
        self._aws, self._folder = aws, folder
        self._server = find_server(SERVER_PYTHON)
        self._running: dict[tuple[str, str | None], tuple[Deployed, _Container]] = {}
        self._http = HTTPServer(("127.0.0.1", 0), _handler(self._answer))
        self._thread = Thread(target=self._http.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
        for _, container in self._running.values():
            container.stop()

    def _answer(self, body: bytes, headers: Mapping[str, str]) -> Reply:
        key = (headers[ENDPOINT], headers.get(COMPONENT))
        deployed = _deployed(self._aws.client("sagemaker"), *key)
        before, container = self._running.get(key, (None, None))
        if container is None or before != deployed:
            if container is not None:
                container.stop()
            container = _Container(self._server, deployed, self._download)
            self._running[key] = (deployed, container)
        return container.ask(body, headers)

    def _download(self, url: str) -> Path:
        bucket, _, name = url.removeprefix("s3://").partition("/")
        # Each in a folder of its own, since an archive is identified by its name.
        target = self._folder / str(len(self.loaded)) / name.rpartition("/")[2]
        target.parent.mkdir(parents=True)
        self._aws.client("s3").download_file(bucket, name, str(target))
        self.loaded.append(url)
        return target


class _Container:
    """One container. It starts when it is made; a multi-model one loads the archives that requests name."""

    def __init__(self, server: InstalledServer, deployed: Deployed, download: Callable[[str], Path]) -> None:
        self._deployed, self._download = deployed, download
        self._own = ExitStack()
        self._host = Host(self._own.enter_context(Confinement(server.needs)), server, _SECONDS)
        self._models: set[str] = set()
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        self._own.close()

    def ask(self, body: bytes, headers: Mapping[str, str]) -> Reply:
        target = headers.get(TARGET)
        if target is None:
            return self._host.sagemaker.ask("POST", "/invocations", body, headers)
        if target not in self._models:
            loaded = self._load(target, headers)
            if loaded.status != 200:
                return loaded
            self._models.add(target)
        return self._host.sagemaker.ask("POST", f"/models/{_hash(target)}/invoke", body, headers)

    def _start(self) -> None:
        url, environment = self._deployed
        if url.endswith("/"):
            empty = self._host.confinement.folder / "no-models"
            empty.mkdir()
            self._host.start(launch_multi_model(environment, str(empty)), [])
        else:
            folders = self._unpacked(url, "model", multi_model=False)
            self._host.start(launch_single(environment, folders), [])

    def _load(self, target: str, headers: Mapping[str, str]) -> Reply:
        folder = folder_of(target)
        self._unpacked(f"{self._deployed.url}{target}", folder, multi_model=True)
        body = json.dumps({"model_name": _hash(target), "url": f"/opt/ml/{folder}"}).encode()
        return self._host.sagemaker.ask("POST", "/models", body, {**headers, "content-type": JSON})

    def _unpacked(self, url: str, folder: str, *, multi_model: bool) -> tuple[str, ...]:
        archive = self._download(url)
        repository = inspect_archive(archive, multi_model=multi_model).repository
        assert repository is not None
        return lay_out(archive, repository, self._host.models / folder, {}).folders


def _hash(target: str) -> str:
    """SageMaker's name for an archive, which is also the name of its folder."""
    return folder_of(target).split("/")[1]


def _deployed(sagemaker: Any, endpoint: str, component: str | None) -> Deployed:
    """What is deployed now, according to SageMaker's descriptions."""
    if component is not None:
        specification = sagemaker.describe_inference_component(InferenceComponentName=component)[
            "Specification"
        ]
        if "ModelName" in specification:
            return _of_model(sagemaker, specification["ModelName"])
        container = specification["Container"]
        return Deployed(container["ArtifactUrl"], container.get("Environment", {}))
    config = sagemaker.describe_endpoint(EndpointName=endpoint)["EndpointConfigName"]
    [variant] = sagemaker.describe_endpoint_config(EndpointConfigName=config)["ProductionVariants"]
    return _of_model(sagemaker, variant["ModelName"])


def _of_model(sagemaker: Any, name: str) -> Deployed:
    container = sagemaker.describe_model(ModelName=name)["PrimaryContainer"]
    return Deployed(container["ModelDataUrl"], container.get("Environment", {}))


def _handler(answer: Callable[[bytes, Mapping[str, str]], Reply]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            headers = {key.lower(): value for key, value in self.headers.items()}
            body = self.rfile.read(int(headers.pop("content-length", "0")))
            try:
                reply = answer(body, headers)
            except Exception:
                # Otherwise the caller would wait for an answer; pytest shows what is printed.
                traceback.print_exc()
                reply = Reply(500, b"the container did not start", 0)
            length = reply.header_length
            self.send_response(reply.status if reply.status else 500)
            self.send_header("Content-Type", JSON if length is None else f"{BINARY}{length}")
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *_: object) -> None:
            """Prints nothing: pytest shows what fails."""

    return Handler
