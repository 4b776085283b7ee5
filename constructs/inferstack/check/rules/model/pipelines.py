"""Several containers on each instance."""

from collections import Counter
from collections.abc import Iterator

from inferstack.check.rules.base import CONTAINER_PAGE, error
from inferstack.facts.kinds import kind_of
from inferstack.facts.walk import models
from inferstack.format.kinds import ModelSpec, PipelineSpec
from inferstack.format.model import Model
from inferstack.problems import Problem, SpecPath
from inferstack.problems.codes import OWN_FORMAT
from inferstack.problems.words import listed

_SERIAL = "https://docs.aws.amazon.com/sagemaker/latest/dg/inference-pipelines.html"
_DIRECT = "https://docs.aws.amazon.com/sagemaker/latest/dg/multi-container-endpoints.html"
_MODEL = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateModel.html"
_FEWEST = 2


def _mode(model: Model) -> str:
    config = model.inference_execution_config
    return "Serial" if config is None else config.mode


@error("IS320", OWN_FORMAT)
def containers_only_in_pipelines(spec: ModelSpec) -> Iterator[Problem]:
    """Only a pipeline can have `containers`.

    All other kinds have one container per model or component, and write its properties there directly.
    """
    if kind_of(spec).containers == "several":
        return
    for path, _, model in models(spec):
        for key in ("containers", "inference_execution_config"):
            if getattr(model, key) is not None:
                where = ".".join(map(str, path))
                instead = f"write the container's properties directly under `{where}`"
                way = instead if key == "containers" else "remove it"
                message = f"`{key}` cannot be used with `kind: {spec.kind}`"
                yield Problem((*path, key), message, f"{way}, or choose `kind: pipeline`")


@error("IS321", _SERIAL)
def pipeline_has_containers(spec: PipelineSpec) -> Iterator[Problem]:
    """A pipeline needs two or more containers.

    One container alone is no pipeline.
    """
    for path, _, model in models(spec):
        count = len(model.containers or ())
        if count < _FEWEST:
            message = f"the pipeline has {count} container{'' if count == 1 else 's'}"
            yield Problem((*path, "containers"), message, "add `containers`, or choose another kind")


@error("IS323", _DIRECT)
def one_multi_model_container(spec: PipelineSpec) -> Iterator[Problem]:
    """A serial pipeline can have at most one multi-model container, a direct one none.

    `TargetModel` can only mean a model of one container.
    """
    for path, _, model in models(spec):
        most = 1 if _mode(model) == "Serial" else 0
        found = [i for i, it in enumerate(model.containers or ()) if it.mode == "MultiModel"]
        for index in found[most:]:
            where = (*path, "containers", index, "mode")
            containers = f"{len(found)} multi-model container{'s' * (len(found) > 1)}"
            message = f"the {_mode(model).lower()} pipeline has {containers}"
            yield Problem(
                where, message, f"{'only 1' if most else 'none'} is allowed: write `mode: SingleModel`"
            )


@error("IS324", _DIRECT)
def direct_containers_have_names(spec: PipelineSpec) -> Iterator[Problem]:
    """Containers that requests call by name need names of their own.

    `TargetContainerHostname` of a request is one of these names.
    """
    for path, _, model in models(spec):
        if _mode(model) == "Direct":
            yield from _nameless(path, model)


def _nameless(path: SpecPath, model: Model) -> Iterator[Problem]:
    names = Counter(it.container_hostname for it in model.containers or ())
    for index, container in enumerate(model.containers or ()):
        where, name = (*path, "containers", index), container.container_hostname
        if name is None:
            yield Problem(
                where, "the container has no name by which requests can call it", "add `container_hostname`"
            )
        elif names[name] > 1:
            message = f"{names[name]} containers are called `{name}`"
            yield Problem((*where, "container_hostname"), message, "give each a name of its own")


@error("IS329", CONTAINER_PAGE)
def all_have_names_or_none(spec: PipelineSpec) -> Iterator[Problem]:
    """In a serial pipeline, all containers must have a `container_hostname`, or none.

    SageMaker makes up names only if it is given none at all; a direct pipeline needs them in any case.
    """
    for path, _, model in models(spec):
        found = model.containers or ()
        names = [it.container_hostname for it in found if it.container_hostname is not None]
        for index in range(len(found)) if names and _mode(model) == "Serial" else ():
            if found[index].container_hostname is None:
                have = "has" if len(names) == 1 else "have"
                message = (
                    f"the container has no `container_hostname`, but {listed(names, last='and')} {have} one"
                )
                fix = "add `container_hostname` here too, or remove it from all containers"
                yield Problem((*path, "containers", index), message, fix)
