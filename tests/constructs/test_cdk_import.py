"""CDK is imported in a thread while specs are read, and at no other time."""

import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import pytest

from inferstack_stacks import cdk_import
from inferstack_stacks.cdk_import import cdk_import_beside

SPEC = """
kind: single-model
endpoint_name: one
model: {image: {framework: sklearn, version: 1.2-1}, model_data_url: s3://acme/one.tar.gz}
variant: {instance_type: ml.m5.large, initial_instance_count: 2}
"""
# Node answers slowly, as on a busy machine; requests are counted that are made while another is waiting.
PROGRAM = """
import time
from threading import Lock
from jsii._kernel.providers.process import _NodeProcess

one_speaks, meetings = Lock(), []

def alone(method):
    def call(*arguments):
        free = one_speaks.acquire(blocking=False)
        if not free:
            meetings.append(method.__name__)
        time.sleep(0.02)
        try:
            return method(*arguments)
        finally:
            if free:
                one_speaks.release()
    return call

_NodeProcess.start, _NodeProcess.send = alone(_NodeProcess.start), alone(_NodeProcess.send)
from inferstack_stacks import build_app
"""


@pytest.mark.parametrize("line", ["import constructs", "from aws_cdk.aws_sns import Topic", ""])
def test_two_never_speak_with_node_at_once(line: str, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(SPEC)
    program = f"{PROGRAM}{line}\nprint(build_app('.').node.children[0].node.path, len(meetings))"
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.stdout, run.returncode) == ("one 0\n", 0), run.stderr


def test_the_import_goes_on_beside_the_block_and_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, ended = Event(), Event(), Event()

    def imported(name: str) -> None:
        if name == "jsii":
            return
        begun.set()
        assert go_on.wait(5)
        time.sleep(0.2)
        ended.set()

    monkeypatch.setattr(cdk_import, "import_module", imported)
    with cdk_import_beside():
        assert begun.wait(5)
        go_on.set()
        assert not ended.is_set()
    assert ended.is_set()


def test_jsii_comes_first_and_all_is_there_however_the_block_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    imported: list[str] = []

    def slow(name: str) -> None:
        time.sleep(0.2)
        imported.append(name)

    monkeypatch.setattr(cdk_import, "import_module", slow)
    with pytest.raises(KeyError), cdk_import_beside():
        raise KeyError
    assert imported == ["jsii", "aws_cdk"]


def test_what_is_imported_on_demand_is_listed_and_not_imported_for_it() -> None:
    program = "import sys, inferstack_stacks\nprint(*dir(inferstack_stacks), 'aws_cdk' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    *names, imported = run.stdout.split()
    assert {"EndpointStack", "build_app", "__doc__"} <= set(names)
    assert imported == "False"
