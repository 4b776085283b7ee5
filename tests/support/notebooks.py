# ruff: noqa: PLC0415 - the SDK is not installed for tests
"""What public notebooks deploy, in the forms of the SageMaker Python SDK, and how the SDK's objects are recorded.

The forms are those of AWS's examples: https://github.com/aws/amazon-sagemaker-examples
With version 2 or 3 of the SDK installed, `python tests/support/notebooks.py` records them anew.
"""

import inspect
from collections.abc import Callable
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from inferstack.sagemaker import spec_of

ROLE = "arn:aws:iam::123456789012:role/notebook"
REGION = "us-east-1"
NAME = "churn"
DATA = "s3://acme-models/churn/model.tar.gz"
IMAGE = f"123456789012.dkr.ecr.{REGION}.amazonaws.com/churn:1"
TRITON = f"785573368785.dkr.ecr.{REGION}.amazonaws.com/sagemaker-tritonserver:24.09-py3"
GPU = {"instance_type": "ml.g5.2xlarge", "initial_instance_count": 1}
CPU = {"instance_type": "ml.m5.xlarge", "initial_instance_count": 2}

Deployed = tuple[Any, dict[str, Any]]
"""An object, and the arguments of its `deploy`."""


def _credentials() -> Any:
    import boto3

    return boto3.Session("testing", "testing", region_name=REGION)


# ---------------------------------------------------------------- version 2


def _session() -> Any:
    from sagemaker.session import Session

    return Session(boto_session=_credentials(), default_bucket="acme-models")


def _pytorch() -> Deployed:
    from sagemaker.pytorch import PyTorchModel

    model = PyTorchModel(
        model_data=DATA,
        role=ROLE,
        entry_point="inference.py",
        source_dir="code",
        framework_version="2.1",
        py_version="py310",
        sagemaker_session=_session(),
    )
    return model, CPU


def _hub() -> Deployed:
    from sagemaker.huggingface import HuggingFaceModel

    model = HuggingFaceModel(
        env={
            "HF_MODEL_ID": "distilbert-base-uncased-finetuned-sst-2-english",
            "HF_TASK": "text-classification",
        },
        role=ROLE,
        transformers_version="4.37",
        pytorch_version="2.1",
        py_version="py310",
        sagemaker_session=_session(),
    )
    return model, {**CPU, "tags": [{"Key": "team", "Value": "ranking"}]}


def _tgi() -> Deployed:
    from sagemaker.huggingface import HuggingFaceModel, get_huggingface_llm_image_uri

    model = HuggingFaceModel(
        image_uri=get_huggingface_llm_image_uri(
            "huggingface", version="2.0.2", region=REGION, session=_session()
        ),
        env={"HF_MODEL_ID": "tiiuae/falcon-7b-instruct", "SM_NUM_GPUS": "1"},
        role=ROLE,
        sagemaker_session=_session(),
    )
    return model, {**GPU, "container_startup_health_check_timeout": 600}


def _djl() -> Deployed:
    from sagemaker.djl_inference import DJLModel

    model = DJLModel(
        model_id="tiiuae/falcon-7b",
        djl_version="0.28.0",
        djl_framework="djl-lmi",
        engine="Python",
        task="text-generation",
        role=ROLE,
        sagemaker_session=_session(),
    )
    return model, GPU


def _lmi() -> Deployed:
    from sagemaker.model import Model

    data = {
        "S3DataSource": {
            "S3Uri": "s3://acme-models/llama/",
            "S3DataType": "S3Prefix",
            "CompressionType": "None",
        }
    }
    image = f"763104351884.dkr.ecr.{REGION}.amazonaws.com/djl-inference:0.29.0-lmi11.0.0-cu124"
    env = {"OPTION_ROLLING_BATCH": "vllm", "OPTION_MAX_MODEL_LEN": "4096"}
    model = Model(image_uri=image, model_data=data, env=env, role=ROLE, sagemaker_session=_session())
    return model, {**GPU, "model_data_download_timeout": 1200, "endpoint_name": "llama"}


def _jumpstart() -> Deployed:
    """Made without its constructor, which reads the model's entry from AWS's bucket."""
    from sagemaker.jumpstart.model import JumpStartModel
    from sagemaker.model import Model

    model = JumpStartModel.__new__(JumpStartModel)
    image = f"763104351884.dkr.ecr.{REGION}.amazonaws.com/djl-inference:0.29.0-lmi11.0.0-cu124"
    data = {
        "S3DataSource": {
            "S3Uri": f"s3://jumpstart-private-cache-prod-{REGION}/meta-textgeneration/llama-3-8b/",
            "S3DataType": "S3Prefix",
            "CompressionType": "None",
        }
    }
    Model.__init__(model, image, data, ROLE, env={"MAX_INPUT_LENGTH": "4095"}, sagemaker_session=_session())
    model.model_id, model.instance_type = "meta-textgeneration-llama-3-8b", "ml.g5.2xlarge"
    return model, {"accept_eula": True, "initial_instance_count": 1}


def _multi_model() -> Deployed:
    from sagemaker.multidatamodel import MultiDataModel

    model = MultiDataModel(
        name="triton-mme",
        model_data_prefix="s3://acme-models/mme/",
        image_uri=TRITON,
        role=ROLE,
        sagemaker_session=_session(),
    )
    return model, {**GPU, "endpoint_name": "triton-mme"}


def _multi_model_of_model() -> Deployed:
    from sagemaker.multidatamodel import MultiDataModel
    from sagemaker.sklearn import SKLearnModel

    one = SKLearnModel(DATA, ROLE, "serve.py", framework_version="1.2-1", sagemaker_session=_session())
    prefix = "s3://acme-models/mme/"
    return MultiDataModel("trees", prefix, model=one, sagemaker_session=_session()), CPU


def _serverless() -> Deployed:
    from sagemaker.serverless import ServerlessInferenceConfig
    from sagemaker.sklearn import SKLearnModel

    model = SKLearnModel(DATA, ROLE, "serve.py", framework_version="1.2-1", sagemaker_session=_session())
    config = ServerlessInferenceConfig(memory_size_in_mb=4096, max_concurrency=10)
    return model, {"serverless_inference_config": config}


def _asynchronous() -> Deployed:
    from sagemaker.async_inference import AsyncInferenceConfig
    from sagemaker.model_monitor import DataCaptureConfig
    from sagemaker.xgboost import XGBoostModel

    model = XGBoostModel(DATA, ROLE, "serve.py", framework_version="1.7-1", sagemaker_session=_session())
    config = AsyncInferenceConfig(
        output_path="s3://acme-answers/out/",
        failure_path="s3://acme-answers/failed/",
        max_concurrent_invocations_per_instance=4,
        notification_config={"SuccessTopic": f"arn:aws:sns:{REGION}:123456789012:done"},
    )
    capture = DataCaptureConfig(
        enable_capture=True,
        sampling_percentage=20,
        destination_s3_uri="s3://acme-answers/capture",
        sagemaker_session=_session(),
    )
    return model, {**CPU, "async_inference_config": config, "data_capture_config": capture}


def _pipeline() -> Deployed:
    from sagemaker.model import Model
    from sagemaker.pipeline import PipelineModel

    steps = [Model(IMAGE, data, sagemaker_session=_session()) for data in (None, DATA)]
    vpc = {"Subnets": ["subnet-0a1b2c3d"], "SecurityGroupIds": ["sg-0a1b2c3d"]}
    return PipelineModel(steps, ROLE, name="steps", vpc_config=vpc, sagemaker_session=_session()), CPU


def _component() -> Deployed:
    from sagemaker.compute_resource_requirements.resource_requirements import ResourceRequirements
    from sagemaker.enums import EndpointType
    from sagemaker.model import Model

    model = Model(IMAGE, DATA, "notebook", name="llm", sagemaker_session=_session())
    resources = ResourceRequirements(requests={"num_accelerators": 1, "memory": 8192, "copies": 1})
    kind = EndpointType.INFERENCE_COMPONENT_BASED
    return model, {
        **GPU,
        "endpoint_type": kind,
        "resources": resources,
        "routing_config": {"RoutingStrategy": "RANDOM"},
        "managed_instance_scaling": {"MaxInstanceCount": 2},
    }


def _deployed_code() -> Deployed:
    """As `deploy` leaves it."""
    from sagemaker.fw_utils import UploadedCode

    model, arguments = _pytorch()
    model.repacked_model_data = "s3://acme-models/pytorch-1/model.tar.gz"
    model.uploaded_code = UploadedCode(s3_prefix=model.repacked_model_data, script_name="inference.py")
    return model, arguments


def _local_files() -> Deployed:
    from sagemaker.model import Model
    from sagemaker.workflow.parameters import ParameterString

    env = {"STEP": ParameterString("Step", default_value="1")}
    model = Model(IMAGE, "file://model.tar.gz", ROLE, env=env, sagemaker_session=_session())
    return model, {**CPU, "accelerator_type": "ml.eia2.medium"}


def _builder_2() -> Deployed:
    from sagemaker.serve import ModelBuilder
    from sagemaker.serve.mode.function_pointers import Mode

    builder = ModelBuilder(
        model="gpt2",
        role_arn=ROLE,
        mode=Mode.LOCAL_CONTAINER,
        sagemaker_session=_session(),
        instance_type="ml.g5.xlarge",
    )
    return builder, {"initial_instance_count": 1}


# ---------------------------------------------------------------- version 3


def _core_session() -> Any:
    from sagemaker.core.helper.session_helper import Session

    return Session(boto_session=_credentials(), default_bucket="acme-models")


def _builder_3() -> Deployed:
    from sagemaker.core.inference_config import ServerlessInferenceConfig
    from sagemaker.serve import ModelBuilder

    builder = ModelBuilder(
        image_uri=IMAGE,
        s3_model_data_url=DATA,
        role_arn=ROLE,
        env_vars={"LOG": "1"},
        sagemaker_session=_core_session(),
    )
    return builder, {"inference_config": ServerlessInferenceConfig(memory_size_in_mb=2048, max_concurrency=5)}


def _unbuilt() -> Deployed:
    from sagemaker.core.training.configs import Compute, SourceCode
    from sagemaker.serve import ModelBuilder
    from sagemaker.serve.mode.function_pointers import Mode

    builder = ModelBuilder(
        model="gpt2",
        role_arn=ROLE,
        mode=Mode.IN_PROCESS,
        compute=Compute(instance_type="ml.g5.2xlarge", instance_count=1),
        source_code=SourceCode(source_dir="code", entry_script="inference.py"),
        sagemaker_session=_core_session(),
    )
    return builder, {}


def _built() -> Deployed:
    from sagemaker.core.resources import Model
    from sagemaker.core.shapes import ContainerDefinition, VpcConfig

    container = ContainerDefinition(
        image=IMAGE, model_data_url=DATA, environment={"SAGEMAKER_PROGRAM": "inference.py"}
    )
    model = Model(
        model_name="churn-1",
        execution_role_arn=ROLE,
        containers=[container],
        vpc_config=VpcConfig(security_group_ids=["sg-0a1b2c3d"], subnets=["subnet-0a1b2c3d"]),
        enable_network_isolation=True,
    )
    return model, CPU


SNIPPETS: dict[int, dict[str, Callable[[], Deployed]]] = {
    2: {
        "PyTorchModel with its code": _pytorch,
        "PyTorchModel that is deployed": _deployed_code,
        "HuggingFaceModel of the Hub": _hub,
        "HuggingFaceModel with TGI": _tgi,
        "DJLModel": _djl,
        "Model with LMI": _lmi,
        "JumpStartModel": _jumpstart,
        "MultiDataModel with Triton": _multi_model,
        "MultiDataModel of a model": _multi_model_of_model,
        "serverless": _serverless,
        "asynchronous": _asynchronous,
        "PipelineModel": _pipeline,
        "inference component": _component,
        "files of the notebook": _local_files,
        "ModelBuilder of version 2": _builder_2,
    },
    3: {
        "ModelBuilder of version 3": _builder_3,
        "ModelBuilder that is not built": _unbuilt,
        "Model of version 3": _built,
    },
}


# ---------------------------------------------------------------- recordings


def recorded(version: int) -> dict[str, dict[str, Any]]:
    """The recordings of a version, by snippet: the object, the arguments, and the spec made of them."""
    found: dict[str, dict[str, Any]] = yaml.safe_load(_file(version).read_text("utf-8"))
    return found


def record(snippet: Deployed) -> dict[str, Any]:
    """What is read of a real object and its arguments, and the spec made of them."""
    model, arguments = _watched(snippet[0]), {name: _watched(it) for name, it in snippet[1].items()}
    spec = spec_of(model, **{"endpoint_name": NAME, **arguments})
    return {
        "model": _tree(model),
        "arguments": {name: _tree(it) for name, it in arguments.items()},
        "spec": spec.to_yaml(),
    }


def stand_in(tree: Any) -> Any:
    """An object like the one that was recorded."""
    match tree:
        case {"is": str() as name}:
            methods = {
                it: lambda *_, _said=said, **__: stand_in(_said) for it, said in tree.get("says", {}).items()
            }
            made = type(name, (), methods)()
            for key, value in tree.get("has", {}).items():
                setattr(made, key, stand_in(value))
            return made
        case dict():
            return {key: stand_in(it) for key, it in tree.items()}
        case list():
            return [stand_in(it) for it in tree]
        case _:
            return tree


class _Watched:
    """An object of the SDK, which notes what is read of it."""

    def __init__(self, real: Any) -> None:
        self.__dict__["_real"], self.__dict__["_has"], self.__dict__["_says"] = real, {}, {}

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        if inspect.ismethod(value):
            return partial(self._called, name)
        return self._has.setdefault(name, _watched(value))

    def _called(self, name: str, **arguments: Any) -> Any:
        plain = {key: getattr(it, "_real", it) for key, it in arguments.items()}
        return self._says.setdefault(name, _watched(getattr(self._real, name)(**plain)))


def _watched(value: Any) -> Any:
    match value:
        case None | str() | bool() | int() | float():
            return value
        case dict():
            return {key: _watched(it) for key, it in value.items()}
        case list():
            return [_watched(it) for it in value]
    return type(type(value).__name__, (_Watched,), {})(value)


def _tree(value: Any) -> Any:
    match value:
        case dict():
            return {key: _tree(it) for key, it in value.items() if type(it).__name__ != "Unassigned"}
        case list():
            return [_tree(it) for it in value]
        case _Watched():
            parts = {"has": value._has, "says": value._says}
            return {"is": type(value).__name__, **{key: _tree(it) for key, it in parts.items() if it}}
        case _:
            return value


def _file(version: int) -> Path:
    return Path(__file__).parents[1] / f"notebooks/recorded-{version}.yaml"


def main() -> None:
    """Records all snippets of the version that is installed."""
    version = int(metadata.version("sagemaker").partition(".")[0])
    made = {name: record(snippet()) for name, snippet in SNIPPETS[version].items()}
    _file(version).write_text(yaml.safe_dump(made, sort_keys=False, width=110), "utf-8")


if __name__ == "__main__":
    main()
