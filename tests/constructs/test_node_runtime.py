import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from inferstack import node_runtime
from inferstack.node_runtime import NodeMissingError, select_node


@pytest.fixture
def package(monkeypatch, tmp_path):
    """The `node` extra, installed or not."""

    def installed(file: str | None) -> None:
        origin = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
        if file is not None:
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).touch()
        monkeypatch.setattr(node_runtime, "find_spec", lambda name: None if file is None else origin)

    return installed


@pytest.mark.parametrize("file", ["bin/node", "node.exe"])
def test_the_node_of_the_extra_goes_first(package, tmp_path, file):
    package(file)
    environment: dict[str, str] = {}
    select_node(environment)
    assert environment == {"JSII_NODE": str(tmp_path / file)}


@pytest.mark.parametrize("choice", ["{}/own", "own"])
def test_an_existing_choice_stays(choice, package, tmp_path):
    package("bin/node")
    (tmp_path / "own").write_text("#!/bin/sh\necho v22.1.0\n")
    (tmp_path / "own").chmod(0o755)
    environment = {"JSII_NODE": choice.format(tmp_path), "PATH": str(tmp_path)}
    select_node(environment)
    assert environment == {"JSII_NODE": choice.format(tmp_path), "PATH": str(tmp_path)}


@pytest.mark.parametrize("choice", ["", "own", "{}/own", "{}"])
def test_a_choice_that_is_no_program_is_named(choice, package, tmp_path):
    package("bin/node")
    (tmp_path / "own").touch(mode=0o644)
    with pytest.raises(NodeMissingError, match=r'JSII_NODE is ".*", which is not a program'):
        select_node({"JSII_NODE": choice.format(tmp_path), "PATH": str(tmp_path)})


def test_the_machines_own_node_is_left_to_cdk_to_find(package, tmp_path):
    package(None)
    (tmp_path / "node").touch(mode=0o755)
    environment = {"PATH": str(tmp_path)}
    select_node(environment)
    assert environment == {"PATH": str(tmp_path)}


def test_without_any_node_the_user_reads_one_line_that_helps(package, tmp_path):
    package(None)
    with pytest.raises(NodeMissingError) as raised:
        select_node({"PATH": str(tmp_path)})
    assert re.fullmatch(r"CDK needs Node\.js 22.*pip install 'inferstack\[node\]'.*", str(raised.value))
    assert isinstance(raised.value, ImportError)


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 0\n", "#!/bin/sh\necho v22; exit 1\n", "no program"])
def test_a_choice_that_is_another_program_than_node_is_named(script, package, tmp_path):
    package("bin/node")
    own = tmp_path / "own"
    own.write_text(script)
    own.chmod(0o755)
    with pytest.raises(
        NodeMissingError, match=r'JSII_NODE is ".*own", which is not Node\.js; name one, or unset it'
    ):
        select_node({"JSII_NODE": str(own)})


def python(program: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "JSII_NODE": "/nope"}
    return subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )


def test_who_imports_constructs_without_node_can_catch_it():
    done = python("try:\n    import inferstack.constructs\nexcept ImportError as error:\n    print(error)")
    assert (done.stdout, done.returncode) == (
        'JSII_NODE is "/nope", which is not a program; name one, or unset it\n',
        0,
    )


def test_an_app_without_node_ends_in_one_line():
    done = python("from inferstack_stacks import build_app; build_app()")
    assert (done.stderr, done.returncode) == (
        'JSII_NODE is "/nope", which is not a program; name one, or unset it\n',
        1,
    )


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_node_for_an_app_that_imports_cdk_first_can_be_asked_for(tmp_path):
    # isort puts `aws_cdk` first, and by then no module of ours has run.
    bare = {key: it for key, it in os.environ.items() if key != "JSII_NODE"} | {"PATH": str(tmp_path)}
    app = "import aws_cdk, inferstack.constructs; print(aws_cdk.App().node.path)"
    chosen = run(dict(os.environ), "-m", "inferstack.node_runtime").stdout.strip()
    assert run(bare | {"JSII_NODE": chosen}, "-c", app).returncode == 0
    missing = run(dict(os.environ) | {"JSII_NODE": "/nope"}, "-m", "inferstack.node_runtime")
    assert (missing.stderr, missing.returncode) == (
        'JSII_NODE is "/nope", which is not a program; name one, or unset it\n',
        1,
    )
