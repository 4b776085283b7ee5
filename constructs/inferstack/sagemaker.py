"""The spec of what a notebook deploys with the SageMaker Python SDK, of version 2 or 3.

    an object of the SDK, and the arguments of its `deploy` -> AWS's answers, as if they had been sent
    -> a draft of a spec, as `inferstack import` makes it

The SDK is not imported, and AWS is not asked: objects are known by their attributes. What only `deploy`
decides, or uploads, is listed.
https://sagemaker.readthedocs.io/en/v2/api/inference/model.html
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

import msgspec

from inferstack.check.load import parse_spec
from inferstack.endpoint.of_answers import EndpointAnswers, resources_of
from inferstack.format.variant import DEFAULT_VARIANT
from inferstack.problems import Problem, SpecError, dotted, printable
from inferstack.problems.words import did_you_mean
from inferstack.resolve.draft import Importing
from inferstack.source.written import document_text

Data = dict[str, Any]
_DEPLOYED = ("image_uri", "containers", "primary_container", "models", "model_data_prefix")
"""What the SDK deploys has one of these attributes."""
_HOSTED, _UNSET = "SAGEMAKER_ENDPOINT", "Unassigned"
"""The mode of a builder that deploys, and the class of what version 3 has not set."""
_NO_ROLE = "arn:aws:iam::000000000000:role/none"
"""Stands for a role while the draft is made."""
_RENAMED = {
    "volume_size": "volume_size_in_gb",
    "model_data_download_timeout": "model_data_download_timeout_in_seconds",
    "container_startup_health_check_timeout": "container_startup_health_check_timeout_in_seconds",
    "kms_key": "kms_key_id",
}
"""Arguments of `deploy` that AWS calls by another name."""
_IN_VARIANT = (
    *("instance_type", "initial_instance_count", "routing_config", "inference_ami_version", "volume_size"),
    *("model_data_download_timeout", "container_startup_health_check_timeout", "managed_instance_scaling"),
)
_IN_CONFIG = ("kms_key", "data_capture_config", "async_inference_config", "explainer_config")
_OTHERS = (
    *("inference_config", "serverless_inference_config", "endpoint_type", "inference_component_name", "tags"),
    *("resources", "accept_eula", "model_reference_arn", "serializer", "deserializer", "wait"),
    *("update_endpoint", "endpoint_logging", "container_timeout_in_seconds"),
)
"""Arguments that are read by name, or are not about the endpoint."""
_INFERENCE_CONFIGS = {
    "memory_size_in_mb": "serverless_inference_config",
    "output_path": "async_inference_config",
    "copy_count": "resources",
}
"""What version 2 calls an `inference_config` of version 3, by an attribute that it has."""
_UNSAID = {
    "accelerator_type": "AWS has no such accelerators any more",
    "algorithm_arn": "the SDK makes a model package of it first; write `model_package_name`",
    "inference_recommendation_id": "write the instance type and variables that it recommends",
    "model_kms_key": "it is for the archive that the SDK packs",
    "modelbuilder_list": "make a spec of each builder",
}
"""Attributes and arguments without a key in a spec, and what to do instead."""


class NotebookSpec(msgspec.Struct, frozen=True):
    """A spec, as plain data. Its text is YAML, and begins with what the spec does not say."""

    data: Mapping[str, Any]
    left_out: tuple[str, ...]
    problems: tuple[Problem, ...]
    """Its errors: what the notebook does not say, or what cannot be deployed."""

    def to_yaml(self) -> str:
        """The content of a spec file."""
        wrong = (f"error at {dotted(it.path)}: {it.message}; {it.fix}" for it in self.problems)
        remarks = [*(f"left out: {it}" for it in self.left_out), *wrong]
        return document_text(self.data, ["Made from a notebook.", *map(printable, remarks)])

    __str__ = to_yaml


def spec_of(
    model: Any, *, endpoint_name: str | None = None, region: str | None = None, **deploy: Any
) -> NotebookSpec:
    """The spec of what ``model.deploy(endpoint_name=…, **deploy)`` deploys, which need not be called.

    ``model`` is a `Model` of whatever framework, a `MultiDataModel`, `PipelineModel`, `ModelPackage` or
    `ModelBuilder`; ``deploy`` are the arguments of its `deploy`, of version 2 or 3 of the SDK.

    Raises:
        TypeError: for another object, or an argument that no `deploy` has.
        ValueError: if nothing says the endpoint's name.
    """
    known = {*_IN_VARIANT, *_IN_CONFIG, *_OTHERS, *_UNSAID}
    for name in deploy.keys() - known:
        raise TypeError(f"`deploy` has no argument `{name}`; {did_you_mean(name, sorted(known))}")
    if not any(hasattr(_first(model, "built_model") or model, it) for it in _DEPLOYED):
        fix = "pass a Model, MultiDataModel or ModelBuilder"
        if hasattr(model, "endpoint_name"):
            fix = "an endpoint that exists is written by: inferstack import NAME --spec FILE"
        raise TypeError(f"{type(model).__name__} is not what the SDK deploys; {fix}")
    named = endpoint_name or _first(model, "endpoint_name", "model_name", "name")
    if not isinstance(named, str):
        raise ValueError("nothing says the endpoint's name; pass endpoint_name")
    return _Notebook(model, named, region, deploy).spec()


class _Notebook:
    """What one object and the arguments of its `deploy` say."""

    def __init__(self, model: Any, name: str, region: str | None, deploy: Data) -> None:
        self._model, self._name, self._deploy = model, name, {**deploy}
        self._left_out: list[str] = []
        self._tell_apart(deploy.get("inference_config"))
        self._whole = whole = _first(model, "built_model") or model
        # A MultiDataModel gets all but its files from the model that it wraps.
        self._one = (hasattr(whole, "model_data_prefix") and _first(whole, "model")) or whole
        session = _first(model, "sagemaker_session")
        self._region = region or _first(model, "region") or _first(session, "boto_region_name")
        self._serverless = self._deploy.get("serverless_inference_config")
        # What builders and JumpStart's models have chosen.
        chosen = {"instance_type": "instance_type", "initial_instance_count": "instance_count"}
        for argument, attribute in {} if self._serverless else chosen.items():
            self._deploy.setdefault(argument, _first(model, attribute))

    def _tell_apart(self, config: Any) -> None:
        """Gives what version 3 passes as one argument the name that it has in version 2."""
        named = next((it for attribute, it in _INFERENCE_CONFIGS.items() if hasattr(config, attribute)), None)
        if named is not None:
            self._deploy[named] = config
        elif config is not None:
            self._left_out.append(f"`inference_config` {type(config).__name__}: it is not about an endpoint")
        if getattr(self._deploy.get("endpoint_type"), "name", "") == "INFERENCE_COMPONENT_BASED":
            self._deploy.setdefault("resources", _first(self._model, "resources", "resource_requirements"))

    def spec(self) -> NotebookSpec:
        """The spec, with what it leaves out."""
        for name, instead in _UNSAID.items():
            if _first(self._one, name) is not None or self._deploy.get(name) is not None:
                self._left_out.append(f"`{name}`: {instead}")
        mode = getattr(_first(self._model, "mode"), "name", _HOSTED)
        if mode != _HOSTED:
            self._left_out.append(f"`mode` {mode}: a spec is of an endpoint of SageMaker's")
        role = self._role()
        account = "" if role is None else role.split(":")[4]
        draft = Importing(resources_of(self._answers(role or _NO_ROLE)), account, self._region or "").draft()
        data = {key: it for key, it in draft.data.items() if key not in ("alarms", "dashboard")}
        data["env"] = {key: it for key, it in data["env"].items() if it}
        data = {key: it for key, it in data.items() if it != _NO_ROLE and (key != "env" or it)}
        try:
            parse_spec(data)
            problems: tuple[Problem, ...] = ()
        except SpecError as error:
            problems = error.problems
        return NotebookSpec(data, tuple(dict.fromkeys((*self._left_out, *draft.left_out))), problems)

    def _role(self) -> str | None:
        found = _first(self._one, "role", "role_arn", "execution_role_arn")
        role: str | None = self._plain(found, "`role`")
        if role is not None and not role.startswith("arn:"):
            self._left_out.append(f"the role {role}: write `execution_role`, its ARN, or the stack makes one")
            role = None
        return role

    # ------------------------------------------------------------ as AWS would answer

    def _answers(self, role: str) -> EndpointAnswers:
        isolation = _first(self._one, "_enable_network_isolation", "enable_network_isolation")
        model = {
            **self._containers(),
            "ExecutionRoleArn": role,
            "VpcConfig": self._plain(_first(self._one, "vpc_config"), "`vpc_config`"),
            "EnableNetworkIsolation": self._plain(isolation, "`enable_network_isolation`"),
        }
        config, resources = self._arguments(_IN_CONFIG), self._deploy.get("resources")
        variant = {"VariantName": DEFAULT_VARIANT, **self._arguments(_IN_VARIANT)}
        if self._serverless is not None:
            variant["ServerlessConfig"] = self._plain(self._serverless, "`serverless_inference_config`")
        if resources is None:
            variant["ModelName"], components = self._name, []
        else:
            # The time limits are the component's, and the role is all components'.
            limits = {it: variant.pop(it) for it in [*variant] if it.endswith("timeout_in_seconds")}
            config["ExecutionRoleArn"], components = role, [self._component(resources, limits)]
        if variant["managed_instance_scaling"]:
            least = {"Status": "ENABLED", "MinInstanceCount": variant["initial_instance_count"]}
            variant["managed_instance_scaling"] = least | variant["managed_instance_scaling"]
        tags = _tags(self._deploy.get("tags"))
        own = tags | _tags(_first(self._model, "_tags"))
        return EndpointAnswers(
            endpoint=_named("Endpoint", self._name, {}),
            config=_named("EndpointConfig", self._name, {"ProductionVariants": [variant], **config}),
            models=[_named("Model", self._name, model)],
            components=components,
            tags={**dict.fromkeys(("Endpoint", "EndpointConfig", "InferenceComponent"), tags), "Model": own},
        )

    def _component(self, resources: Any, limits: Data) -> Data:
        asked = self._plain(resources.get_compute_resource_requirements(), "`resources`")
        specification = {"ModelName": self._name, "StartupParameters": limits}
        answer = {
            **{"EndpointName": self._name, "VariantName": DEFAULT_VARIANT},
            "Specification": {**specification, "ComputeResourceRequirements": asked},
            "RuntimeConfig": {"DesiredCopyCount": resources.copy_count},
        }
        return _named("InferenceComponent", self._deploy.get("inference_component_name", self._name), answer)

    def _arguments(self, names: Iterable[str]) -> Data:
        return {_RENAMED.get(it, it): self._plain(self._deploy.get(it), f"`{it}`") for it in names}

    # ------------------------------------------------------------ containers

    def _containers(self) -> Data:
        steps, primary = _first(self._whole, "models", "containers"), _first(self._whole, "primary_container")
        made = [*map(self._container, steps or [self._one if primary is None else primary])]
        if hasattr(self._whole, "model_data_prefix"):
            prefix = self._plain(self._whole.model_data_prefix, "`model_data_prefix`")
            made[0] |= {"Mode": "MultiModel", "ModelDataUrl": prefix, "ModelDataSource": None}
        # The SDK sends one container as a list, too.
        return {"PrimaryContainer": made[0]} if len(made) == 1 else {"Containers": made}

    def _container(self, it: Any) -> Data:
        title = type(it).__name__
        if hasattr(it, "model_dump"):
            return dict(self._plain(it, title))
        package, workers = _first(it, "model_package_arn"), _first(it, "model_server_workers")
        environment = self._plain(_first(it, "env_vars", "env"), f"the variables of {title}") or {}
        more = {} if workers is None else {"SAGEMAKER_MODEL_SERVER_WORKERS": str(workers)}
        if title.startswith("JumpStart"):
            self._left_out.append(f"what {title} adds when it deploys: time limits, volume, instances")
        return {
            "Image": self._image(it, title) if package is None else None,
            "ModelPackageName": self._plain(package, "`model_package_arn`"),
            "Environment": {**environment, **dict(self._code(it, title)), **more},
            "ImageConfig": self._plain(_first(it, "image_config"), f"`image_config` of {title}"),
            "AdditionalModelDataSources": self._plain(_first(it, "additional_model_data_sources"), title),
            **self._files(it, title),
        }

    def _image(self, it: Any, title: str) -> str | None:
        """The image; that of a framework is looked up by the SDK, in its own files."""
        image: str | None = self._plain(_first(it, "image_uri"), f"`image_uri` of {title}")
        instead = "write `image`" if _first(it, "mode") is None else "call `build()`, which chooses it"
        if image is None and hasattr(it, "serving_image_uri"):
            instead = "pass region, which its address contains"
            where = {"region_name": self._region, "instance_type": self._deploy.get("instance_type")}
            try:
                if self._region is not None:
                    image = it.serving_image_uri(**where, serverless_inference_config=self._serverless)
            except (AttributeError, TypeError, ValueError) as error:
                instead = f"the SDK says: {error}"
        if image is None:
            self._left_out.append(f"the image of {title}: {instead}")
        return image

    def _files(self, it: Any, title: str) -> Data:
        """The model's files, in the form in which the SDK sends them."""
        data = _first(it, "repacked_model_data", "s3_model_data_url", "model_data")
        found = self._plain(data, f"the files of {title}")
        if isinstance(found, str) and not found.startswith("s3://"):
            self._left_out.append(f"the files of {title}, `{found}`: upload them, and write `model_data_url`")
            return {}
        accepts = self._deploy.get("accept_eula", _first(it, "accept_eula"))
        hub = self._deploy.get("model_reference_arn", _first(it, "model_reference_arn"))
        if isinstance(found, str) and accepts is not None and found.endswith("tar.gz"):
            found = {"S3DataSource": {"S3Uri": found, "S3DataType": "S3Object", "CompressionType": "Gzip"}}
        if not isinstance(found, dict):
            return {"ModelDataUrl": found}
        more = {
            "ModelAccessConfig": None if accepts is None else {"AcceptEula": accepts},
            "HubAccessConfig": None if hub is None else {"HubContentArn": hub},
        }
        return {"ModelDataSource": {"S3DataSource": found.get("S3DataSource", {}) | more}}

    def _code(self, it: Any, title: str) -> Iterator[tuple[str, str]]:
        """The variables with which the container finds its code, which may not be uploaded yet."""
        script, uploaded = _first(it, "entry_point"), _first(it, "uploaded_code")
        if script is None:
            return
        if uploaded is None:
            code = _first(it, "source_dir") or script
            self._left_out.append(
                f"the code of {title}, `{code}`: put it into `code/` of the model's archive"
            )
        is_packed = uploaded is None or _first(it, "repacked_model_data") is not None
        yield "SAGEMAKER_PROGRAM", PurePath(str(script)).name
        yield "SAGEMAKER_SUBMIT_DIRECTORY", "/opt/ml/model/code" if is_packed else uploaded.s3_prefix
        level = _first(it, "container_log_level")
        if level is not None:
            yield "SAGEMAKER_CONTAINER_LOG_LEVEL", str(level)
        if self._region is not None:
            yield "SAGEMAKER_REGION", self._region

    def _plain(self, value: Any, title: str) -> Any:
        """A value of the SDK's as plain data; what a pipeline fills in later is listed."""
        match value:
            case None | str() | bool() | int() | float():
                return value
            case Mapping():
                found = {key: self._plain(it, title) for key, it in value.items()}
                return {key: it for key, it in found.items() if it not in (None, {})}
            case list() | tuple():
                return [self._plain(it, title) for it in value]
        if hasattr(value, "_to_request_dict"):
            return self._plain(value._to_request_dict(), title)
        if hasattr(value, "model_dump"):
            return self._plain(value.model_dump(warnings=False), title)
        kind = type(value).__name__
        if kind != _UNSET:
            self._left_out.append(f"{title}: only a pipeline or the SDK knows the value of {kind}")
        return None


def _first(it: Any, *names: str) -> Any:
    """The first of some attributes that is set."""
    found = (getattr(it, name, None) for name in names)
    return next((one for one in found if one is not None and type(one).__name__ != _UNSET), None)


def _named(kind: str, name: str, answer: Data) -> Data:
    return {f"{kind}Name": name, f"{kind}Arn": kind, **answer}


def _tags(tags: Any) -> dict[str, str]:
    return dict(tags) if isinstance(tags, Mapping) else {it["Key"]: it["Value"] for it in tags or ()}
