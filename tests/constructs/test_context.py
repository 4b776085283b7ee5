"""The context is read before there is an app, and must be the same as the app's."""

import json
import subprocess
import sys

import pytest

import inferstack_stacks
from inferstack_stacks import build_app
from inferstack_stacks.app import cdk_context, default_place, specs_and_stage

GIVEN = {"specs": "given", "stage": "given", "mine": 1}
SAID = {"specs": "said", "stage": "said", "list": [1, {"a": True}]}
OVERFLOWN = {"specs": "overflown", "more": False}
ASK_BOTH = f"""
import json
from inferstack_stacks.app import cdk_context
from aws_cdk import App

for given in (None, {GIVEN}):
    app, found = App(context=given), cdk_context(given)
    names = {sorted(GIVEN | SAID | OVERFLOWN)}
    print(json.dumps([[app.node.try_get_context(it) for it in names], [found.get(it) for it in names]]))
"""


@pytest.mark.parametrize(
    ("said", "overflown"), [(None, None), (SAID, None), (None, OVERFLOWN), (SAID, OVERFLOWN)]
)
def test_it_is_what_an_app_answers(said, overflown, monkeypatch, tmp_path):
    if said is not None:
        monkeypatch.setenv("CDK_CONTEXT_JSON", json.dumps(said))
    if overflown is not None:
        file = tmp_path / "context.json"
        file.write_text(json.dumps(overflown))
        monkeypatch.setenv("CONTEXT_OVERFLOW_LOCATION_ENV", str(file))
    # Node keeps the environment that it was started with, and this process has already started one.
    asked = subprocess.run([sys.executable, "-c", ASK_BOTH], check=True, capture_output=True, text=True)
    for line in asked.stdout.splitlines():
        of_app, found = json.loads(line)
        assert found == of_app
    assert asked.stdout.count("\n") == 2


@pytest.mark.parametrize("value", [["a"], {"a": "b"}])
@pytest.mark.parametrize("key", ["specs", "stage"])
def test_data_where_a_text_is_wanted_are_said_to_be_none(key, value):
    with pytest.raises(
        SystemExit, match=f"the context has `{key}`: .*; write one text, as after `-c {key}=`"
    ):
        specs_and_stage({key: value})


@pytest.mark.parametrize(
    ("account", "region", "found"),
    [
        ("111122223333", "eu-west-1", ("111122223333", "eu-west-1")),
        ("", " ", (None, None)),
        (None, None, (None, None)),
    ],
)
def test_a_place_that_is_set_to_nothing_is_not_named(account, region, found, monkeypatch):
    for name, value in (("CDK_DEFAULT_ACCOUNT", account), ("CDK_DEFAULT_REGION", region)):
        if value is not None:
            monkeypatch.setenv(name, value)
    assert default_place() == found


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("CDK_DEFAULT_ACCOUNT", "main", "not an account: 12 digits"),
        ("CDK_DEFAULT_REGION", "nowhere", "not an AWS region"),
    ],
)
def test_a_place_that_cannot_be_is_blamed_on_no_spec(name, value, said, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match=f'^{name} is "{value}", which is {said}; correct or unset it$'):
        build_app("nowhere at all")


@pytest.mark.parametrize("text", ["{", "[]", "3"])
def test_what_is_no_context_is_said_to_be_none(text, monkeypatch):
    monkeypatch.setenv("CDK_CONTEXT_JSON", text)
    with pytest.raises(SystemExit, match="CDK_CONTEXT_JSON: not a JSON object"):
        cdk_context(None)


def test_an_overflow_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CONTEXT_OVERFLOW_LOCATION_ENV", str(tmp_path / "gone"))
    with pytest.raises(SystemExit, match="gone: No such file"):
        cdk_context(None)


def test_what_is_imported_on_demand_is_listed_and_not_imported_for_it():
    program = "import sys, inferstack_stacks\nprint(*dir(inferstack_stacks), 'aws_cdk' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    *names, imported = run.stdout.split()
    assert {"EndpointStack", "build_app", "__doc__"} <= set(names)
    assert imported == "False"


def test_there_is_nothing_but_what_is_listed():
    assert inferstack_stacks.EndpointStack.__name__ == "EndpointStack"
    with pytest.raises(AttributeError, match="no attribute 'EndpointStak'"):
        _ = inferstack_stacks.EndpointStak
