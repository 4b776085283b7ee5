"""The values of the container's variables that the check knows, compared with the real server."""

from collections.abc import Mapping
from pathlib import Path
from shutil import copyfile, copytree

import pytest
from support.rehearsal import SERVER_PYTHON

from inferstack.catalog.triton_container import ADDITIONAL_ARGS, OPTIONS, VALUES
from inferstack.triton.rehearsal import stand_in
from inferstack.triton.rehearsal.confinement import Confinement
from inferstack.triton.rehearsal.container import Host, NeverReady, launch_single
from inferstack.triton.rehearsal.outcome import SERVER_RELEASE
from inferstack.triton.rehearsal.server import find_server

_SECONDS = 60.0
_LIMIT = "MODEL_LOAD_GPU_LIMIT"
REFUSED = [
    ("DISABLE_MODEL_NAMESPACING", "yes"),
    ("ALLOW_GRPC", "2"),
    ("GRPC_PORT", "x"),
    ("ALLOW_METRICS", "yess"),
    ("METRICS_PORT", "99999999999"),
    ("BUFFER_MANAGER_THREAD_COUNT", "x"),
    ("THREAD_COUNT", "many"),
    ("THREAD_COUNT", "-1"),
    ("LOG_VERBOSE", "on"),
    ("LOG_INFO", "2"),
    ("LOG_WARNING", "yes"),
    ("LOG_ERROR", " true"),
    ("LOG_INFO", "false load-model=net"),
    ("SHM_DEFAULT_BYTE_SIZE", "1048575"),
    ("SHM_DEFAULT_BYTE_SIZE", "16MB"),
    ("SHM_GROWTH_BYTE_SIZE", "0"),
    ("TENSORFLOW_VERSION", "1"),
    ("TENSORFLOW_VERSION", "3"),
    (_LIMIT, "1.5"),
    (_LIMIT, "80%"),
]
TAKEN = [
    {
        "DISABLE_MODEL_NAMESPACING": "FALSE",
        "ALLOW_GRPC": "on",
        "GRPC_PORT": "9001",
        "ALLOW_METRICS": "1",
        "METRICS_PORT": "65535",
        "BUFFER_MANAGER_THREAD_COUNT": "0",
        "THREAD_COUNT": "1",
        "LOG_VERBOSE": "2",
        "LOG_INFO": "off",
        "LOG_WARNING": "0",
        "LOG_ERROR": "true",
        "SHM_DEFAULT_BYTE_SIZE": "1048576",
        "SHM_GROWTH_BYTE_SIZE": "1",
        "TENSORFLOW_VERSION": "2",
        _LIMIT: "1",
    },
    {"LOG_VERBOSE": "False", "THREAD_COUNT": "+2", _LIMIT: ".5"},
    {"LOG_INFO": "false --load-model=net --log-format ISO8601", "LOG_VERBOSE": "1 --strict-readiness=false"},
]
# The backend that reads a value, if the server itself does not.
_BACKENDS = {
    "SHM_DEFAULT_BYTE_SIZE": "python",
    "SHM_GROWTH_BYTE_SIZE": "python",
    "TENSORFLOW_VERSION": "tensorflow",
}


def start(values: Mapping[str, str], folder: Path, backend: str = "python") -> None:
    """Starts a server with these values and a model of a backend."""
    environment = {f"SAGEMAKER_TRITON_{name}": value for name, value in values.items()}
    limit = environment.pop(f"SAGEMAKER_TRITON_{_LIMIT}", None)
    if limit is not None:
        # As the start script would for the first GPU.
        environment[ADDITIONAL_ARGS] = f"--model-load-gpu-limit 0:{limit}"
    (folder / "net" / "1").mkdir(parents=True)
    copyfile(stand_in.__file__, folder / "net" / "1" / "model.py")
    (folder / "net" / "config.pbtxt").write_text(
        f'backend: "{backend}" input {{ name: "X" data_type: TYPE_FP32 dims: 1 }} '
        'output { name: "Y" data_type: TYPE_FP32 dims: 1 }'
    )
    server = find_server(SERVER_PYTHON)
    with Confinement(server.needs) as confinement:
        host = Host(confinement, server, _SECONDS)
        copytree(folder, host.models / "model")
        host.start(launch_single(environment, ["net"]), ["tensorflow"])


def fits(name: str, value: str) -> bool:
    return VALUES[f"SAGEMAKER_TRITON_{name}"].fits(value, SERVER_RELEASE)


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_triton_does_not_start_with_a_value_that_is_refused(name: str, value: str, tmp_path: Path) -> None:
    assert not fits(name, value)
    with pytest.raises(NeverReady):
        start({name: value}, tmp_path, _BACKENDS.get(name, "python"))


@pytest.mark.parametrize("values", TAKEN)
def test_triton_starts_with_values_that_pass(values: dict[str, str], tmp_path: Path) -> None:
    assert [name for name, value in values.items() if not fits(name, value)] == []
    start(values, tmp_path)


def test_every_variable_is_held_against_the_server() -> None:
    for names in ({name for name, _ in REFUSED}, set(TAKEN[0])):
        assert (
            {f"SAGEMAKER_TRITON_{name}" for name in names} == set(VALUES) >= {it.variable for it in OPTIONS}
        )
