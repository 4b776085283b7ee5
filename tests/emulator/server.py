"""The emulated AWS: moto's server with our own services in it, on a port of the loopback interface."""

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from emulator.account import forget_accounts
from emulator.address import listen_at
from emulator.autoscaling import AutoScaling
from emulator.cloudformation.service import CloudFormation
from emulator.cloudtrail import CloudTrail
from emulator.cloudwatch import CloudWatch
from emulator.runtime import Runtime
from emulator.sagemaker.service import SageMaker
from moto import backends
from moto.applicationautoscaling import urls as autoscaling_urls
from moto.cloudformation import urls as cloudformation_urls
from moto.cloudtrail import urls as cloudtrail_urls
from moto.cloudwatch import urls as cloudwatch_urls
from moto.core.base_backend import BackendDict
from moto.iam import models as iam_models
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.sagemaker import urls as sagemaker_urls
from moto.sagemakerruntime import urls as runtime_urls
from werkzeug.serving import make_server

_OURS = {
    autoscaling_urls: AutoScaling,
    cloudformation_urls: CloudFormation,
    cloudtrail_urls: CloudTrail,
    cloudwatch_urls: CloudWatch,
    runtime_urls: Runtime,
    sagemaker_urls: SageMaker,
}

_AWS_POLICIES = (
    # For the roles of CDK's bootstrap stack ...
    "AdministratorAccess",
    "AWSCloudFormationReadOnlyAccess",
    "ReadOnlyAccess",
    # ... for those of CDK's functions ...
    "AWSLambdaBasicExecutionRole",
    # ... and for those of specs.
    "AmazonS3ReadOnlyAccess",
    "AmazonSageMakerFullAccess",
)


@contextmanager
def running(port: int = 0) -> Iterator[str]:
    """Runs the emulator in this process and gives its address; by default on any free port."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    _offer_managed_policies()
    for urls, responses in _OURS.items():
        urls.url_paths |= dict.fromkeys(urls.url_paths, responses.dispatch)
    # moto lists its own folder for each request.
    services = tuple(backends.list_of_moto_modules())
    backends.list_of_moto_modules = lambda: services
    app = DomainDispatcherApplication(create_backend_app)
    server = make_server("127.0.0.1", port, app, threaded=True, request_handler=MotoRequestHandler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    listen_at(url)
    try:
        yield url
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _offer_managed_policies() -> None:
    """Lets roles have some of AWS's own policies; with all of them, each reset would take a second."""
    os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"
    every = json.loads(iam_models.aws_managed_policies_data)
    iam_models.aws_managed_policies_data = json.dumps({name: every[name] for name in _AWS_POLICIES})


def reset() -> None:
    """Empties all accounts."""
    forget_accounts()
    BackendDict.reset()
