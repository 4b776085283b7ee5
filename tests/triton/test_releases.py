"""Tables of what came with which release: every row is about something real, and applies from its release on."""

from typing import Any

import pytest

from inferstack.facts.triton import triton_release
from inferstack.triton.config import model_config_class
from inferstack.triton.model import TritonModel
from inferstack.triton.rules.base import Context, Release
from inferstack.triton.rules.pytorch import PARAMETERS, parameters_are_known, values_have_the_right_type
from inferstack.triton.rules.releases import FIRST_RELEASE, FIRST_RELEASE_OF_VALUES, fields_are_known

OLDEST, NEWEST = (21, 5), (99, 12)


def model(config: Any) -> TritonModel:
    return TritonModel("m", config, {}, ("1",), lambda path: path)


def before(release: Release) -> Release:
    year, month = release
    return (year, month - 1) if month > 1 else (year - 1, 12)


def with_field(message: Any, name: str, seen: tuple[str, ...] = ()) -> bool:
    """Sets the field `Message.field` somewhere below a message; False if there is none."""
    own = message.DESCRIPTOR.name
    for field in message.DESCRIPTOR.fields:
        if f"{own}.{field.name}" == name:
            _set(message, field)
            return True
    for field in message.DESCRIPTOR.fields if own not in seen else ():
        if field.message_type is not None and _leads_to(field.message_type, name.partition(".")[0]):
            return with_field(_set(message, field), name, (*seen, own))
    return False


def _set(message: Any, field: Any) -> Any:
    value = getattr(message, field.name)
    if field.message_type is None:
        setattr(message, field.name, "x" if isinstance(value, str) else 1)
    elif field.message_type.GetOptions().map_entry:
        return value["key"]
    elif hasattr(value, "add"):
        return value.add()
    else:
        value.SetInParent()
    return value


def _leads_to(descriptor: Any, message: str, seen: tuple[str, ...] = ()) -> bool:
    if descriptor.name == message:
        return True
    below = [field.message_type for field in descriptor.fields if field.message_type is not None]
    return any(_leads_to(it, message, (*seen, descriptor.name)) for it in below if it.name not in seen)


@pytest.mark.parametrize(("name", "since"), FIRST_RELEASE.items())
def test_a_field_is_known_from_its_release_on(name: str, since: Release) -> None:
    config = model_config_class()()
    assert with_field(config, name), "there is no such field"
    [finding] = fields_are_known(model(config), Context(release=before(since)))
    assert isinstance(finding.place, tuple)
    assert finding.place[-1] == name.partition(".")[2]
    assert list(fields_are_known(model(config), Context(release=since))) == []


@pytest.mark.parametrize(("value", "since"), FIRST_RELEASE_OF_VALUES.items())
def test_a_value_is_known_from_its_release_on(value: str, since: Release) -> None:
    config = model_config_class()()
    if value.startswith("TYPE_"):
        config.input.add(data_type=value)
    else:
        config.batch_input.add(kind=value)
    [finding] = fields_are_known(model(config), Context(release=before(since)))
    assert f"`{value}` needs Triton {since[0]}.{since[1]:02}" in finding.message
    assert list(fields_are_known(model(config), Context(release=since))) == []


def pytorch(**parameters: str) -> TritonModel:
    config = model_config_class()(platform="pytorch_libtorch")
    for name, value in parameters.items():
        config.parameters[name].string_value = value
    return model(config)


@pytest.mark.parametrize(
    ("name", "wrong"), [(name, "yes" if it.boolean else "two") for name, it in PARAMETERS.items()]
)
def test_every_parameter_of_pytorch_has_its_type(name: str, wrong: str) -> None:
    right = "true" if PARAMETERS[name].boolean else "2"
    assert list(values_have_the_right_type(pytorch(**{name: right}), Context())) == []
    [finding] = values_have_the_right_type(pytorch(**{name: wrong}), Context())
    assert f'{name} is "{wrong}"' in finding.message


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_of_pytorch_is_known_in_its_releases_only(name: str) -> None:
    def findings(release: Release) -> int:
        return len(list(parameters_are_known(pytorch(**{name: "1"}), Context(release=release))))

    since, until = PARAMETERS[name].since, PARAMETERS[name].until
    assert (findings(OLDEST), findings(NEWEST)) == (since is not None, until is not None)
    assert since is None or (findings(before(since)), findings(since)) == (1, 0)
    assert until is None or findings(until) == 0


def test_the_parameters_that_users_set_are_among_them() -> None:
    assert {
        *("INFERENCE_MODE", "DISABLE_OPTIMIZED_EXECUTION", "ENABLE_NVFUSER", "ENABLE_WEIGHT_SHARING"),
        *("ENABLE_CACHE_CLEANING", "ENABLE_JIT_EXECUTOR", "ENABLE_JIT_PROFILING", "ENABLE_TENSOR_FUSER"),
    } <= set(PARAMETERS)


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:26.05-py3", (26, 5)),
        ("763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:24.09-py3-cpu", (24, 9)),
        ("111122223333.dkr.ecr.us-east-1.amazonaws.com/my-tritonserver:26.05-py3", (26, 5)),
        ("111122223333.dkr.ecr.us-east-1.amazonaws.com/nvidia/tritonserver:25.09-py3@sha256:ab", (25, 9)),
        ("111122223333.dkr.ecr.us-east-1.amazonaws.com/my-tritonserver:26.051", None),
        ("111122223333.dkr.ecr.us-east-1.amazonaws.com/mine:26.05", None),
        (None, None),
    ],
)
def test_the_release_follows_from_the_tag_of_an_image(image: str | None, release: object) -> None:
    assert triton_release(image) == release
