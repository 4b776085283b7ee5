"""Where the copies of a model run."""

from collections.abc import Iterator

from inferstack.spec.problem.words import listed
from inferstack.triton.model import TritonModel, enum_name
from inferstack.triton.rules.base import SOURCE, Context, Finding, at, model_error

_CONFIG = f"{SOURCE}/model_config_utils.cc"
_TENSORRT = "tensorrt_plan"


@model_error("IS930", "Only instance groups on GPUs can name GPUs.", _CONFIG, about="instance_group")
def only_gpu_groups_name_gpus(model: TritonModel, context: Context) -> Iterator[Finding]:
    """`KIND_CPU` uses none, and with `KIND_MODEL` the model chooses itself."""
    for index, group in enumerate(model.config.instance_group):
        kind = enum_name(group, "kind")
        if kind in ("KIND_CPU", "KIND_MODEL") and group.gpus:
            place = at(model, "instance_group", index, "gpus")
            yield Finding(place, f"`gpus` cannot be used with `{kind}`", "remove `gpus`, or write `KIND_GPU`")


@model_error(
    "IS931", "Instance groups on GPUs need an instance type with those GPUs.", _CONFIG, about="instance_group"
)
def gpus_exist(model: TritonModel, context: Context) -> Iterator[Finding]:
    """Triton does not load a model for a GPU that is missing, not even one that could do without."""
    if not context.gpus:
        return
    fewest = min(context.gpus)
    for index, group in enumerate(model.config.instance_group):
        kind = enum_name(group, "kind")
        missing = [number for number in group.gpus if not 0 <= number < fewest]
        if kind == "KIND_GPU" and fewest == 0:
            place = at(model, "instance_group", index, "kind")
            fix = "choose an instance type with a GPU, or write `KIND_AUTO`, which uses one if it is there"
            yield Finding(place, f"{model.name} needs a GPU, but its container has none", fix)
        elif kind in ("KIND_GPU", "KIND_AUTO") and missing:
            place = at(model, "instance_group", index, "gpus")
            has = f"{fewest} GPU{'s' * (fewest > 1)}, numbered from 0" if fewest else "no GPU"
            message = (
                f"the container has {has}, but {model.name} names GPU {listed(missing, last='and', quote='')}"
            )
            instead = "to use all there are" if fewest else "or choose an instance type with GPUs"
            yield Finding(place, message, f"remove `gpus`, {instead}")


@model_error(
    "IS932", "Profiles are only for TensorRT models, and must be numbers.", _CONFIG, about="instance_group"
)
def profiles_are_numbers(model: TritonModel, context: Context) -> Iterator[Finding]:
    """Optimization profiles are counted from 0; the field holds the numbers as texts."""
    tensorrt = model.config.platform == _TENSORRT or model.config.backend == "tensorrt"
    for index, group in enumerate(model.config.instance_group):
        for number, profile in enumerate(group.profile):
            place = at(model, "instance_group", index, "profile", number)
            if not tensorrt:
                yield Finding(
                    place, f"{model.name} is not a TensorRT model and cannot have profiles", "remove it"
                )
            elif not profile.isdecimal():
                yield Finding(place, f'"{profile}" is not a valid profile', 'write its number in quotes: "0"')
