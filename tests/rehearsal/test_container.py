"""The start script of SageMaker's container, reimplemented: from environment and folders to options."""

import pytest

from inferstack.triton.rehearsal.container import ContainerStops, launch_multi_model, launch_single

NAME = "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"


def test_the_only_folder_is_loaded_and_is_the_default() -> None:
    launch = launch_single({}, ["net"])
    assert "--load-model=net" in launch.options
    assert launch.environment[NAME] == "net"
    assert "--model-repository=/opt/ml/model" in launch.options


def test_a_default_among_several_folders_is_loaded() -> None:
    assert "--load-model=pipe" in launch_single({NAME: "pipe"}, ["net", "pipe"]).options


@pytest.mark.parametrize(
    ("environment", "folders", "reason"),
    [
        ({}, ["net", "pipe"], "the archive has 2 folders"),
        ({}, [], "the archive has no folder"),
        ({}, ["my net"], "the archive has 1 folders (my net)"),
        ({NAME: "other"}, ["net"], "`other`, but the archive has no such folder"),
        ({"SAGEMAKER_TRITON_INFERENCE_TYPE": "chat"}, ["net"], "`chat`; allowed: infer, generate"),
    ],
)
def test_what_the_start_script_refuses_stops_the_container(
    environment: dict[str, str], folders: list[str], reason: str
) -> None:
    with pytest.raises(ContainerStops) as stops:
        launch_single(environment, folders)
    assert reason in stops.value.failure.what


def test_a_multi_model_container_starts_without_models_and_ignores_a_default() -> None:
    launch = launch_multi_model({NAME: "net"}, "/empty")
    assert launch.environment["SAGEMAKER_MULTI_MODEL"] == "true"
    assert "--model-repository=/empty" in launch.options
    assert not [option for option in launch.options if option.startswith("--load-model")]


@pytest.mark.parametrize(
    ("variable", "value", "options", "otherwise"),
    [
        ("THREAD_COUNT", "4", ["--sagemaker-thread-count=4"], []),
        ("BUFFER_MANAGER_THREAD_COUNT", "2", ["--buffer-manager-thread-count=2"], []),
        ("LOG_VERBOSE", "false", ["--log-verbose=false"], ["--log-verbose=true"]),
        ("LOG_INFO", "false", ["--log-info=false"], []),
        # Values are not quoted either, so options can follow them.
        ("LOG_INFO", "false --load-model=n", ["--log-info=false", "--load-model=n"], []),
        # Triton takes the value as it is: a variable that is meant to disable something enables it.
        ("DISABLE_MODEL_NAMESPACING", "false", ["--model-namespacing=false"], ["--model-namespacing=true"]),
        (
            "SHM_DEFAULT_BYTE_SIZE",
            "33554432",
            ["--backend-config=python,shm-default-byte-size=33554432"],
            ["--backend-config=python,shm-default-byte-size=16777216"],
        ),
        (
            "SHM_GROWTH_BYTE_SIZE",
            "2097152",
            ["--backend-config=python,shm-growth-byte-size=2097152"],
            ["--backend-config=python,shm-growth-byte-size=1048576"],
        ),
        ("ALLOW_METRICS", "true", ["--allow-metrics=true"], ["--allow-metrics=false"]),
        # The script does not quote it, so no shell removes quotes, and quoted words come apart.
        ("ADDITIONAL_ARGS", "--rate-limit=off  --pool 'a b'", ["--rate-limit=off", "--pool", "'a", "b'"], []),
        ("ADDITIONAL_ARGS", "it's", ["it's"], []),
    ],
)
def test_a_variable_of_the_container_is_an_option_of_the_server(
    variable: str, value: str, options: list[str], otherwise: list[str]
) -> None:
    name = f"SAGEMAKER_TRITON_{variable}"
    bare = set(launch_single({}, ["net"]).options)
    assert set(otherwise) <= bare
    # An empty variable counts as not set.
    assert set(launch_single({name: ""}, ["net"]).options) == bare
    assert set(launch_single({name: value}, ["net"]).options) == bare - set(otherwise) | set(options)


@pytest.mark.parametrize(
    ("environment", "mode"),
    [
        ({}, None),
        ({"SAGEMAKER_TRITON_OVERRIDE_PING_MODE": "ready"}, None),
        ({"SAGEMAKER_TRITON_PING_MODE": "anything"}, "live"),
        (
            {"SAGEMAKER_TRITON_PING_MODE": "live", "SAGEMAKER_TRITON_OVERRIDE_PING_MODE": "ready"},
            "ready",
        ),
    ],
)
def test_the_ping_mode_reaches_the_server_only_where_the_variable_was_there(
    environment: dict[str, str], mode: str | None
) -> None:
    assert launch_multi_model(environment, "/empty").environment.get("SAGEMAKER_TRITON_PING_MODE") == mode
