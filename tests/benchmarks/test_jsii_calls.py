"""How often Python asks Node: each question is a round trip, so their number determines the speed."""

import aws_cdk as cdk
import pytest
from support.cdk import crossings

from benchmarks.family import KINDS, family
from benchmarks.specs import spec_text
from inferstack.check.load import LoadedSpec, load_spec
from inferstack_stacks import EndpointStack, build_app

MOST_CALLS_A_STACK = 3
FIRST = "first"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedSpec]:
    """A spec of each kind, and one more."""
    folder = tmp_path_factory.mktemp("specs")
    names = (*KINDS, FIRST)
    for name, endpoint in zip(names, family(len(names)), strict=True):
        (folder / f"{name}.yaml").write_text(spec_text(endpoint), encoding="utf-8")
    return {name: load_spec(folder / f"{name}.yaml") for name in names}


@pytest.mark.parametrize("kind", KINDS)
def test_a_stack_of_any_kind_takes_three_calls_to_node(kind: str, loaded: dict[str, LoadedSpec]) -> None:
    app = cdk.App(analytics_reporting=False)
    # Makes all requests that a process makes only once.
    EndpointStack(app, "First", spec=loaded[FIRST])
    with crossings() as asked:
        EndpointStack(app, "Second", spec=loaded[kind])
    assert len(asked) <= MOST_CALLS_A_STACK, asked


def test_the_app_takes_three_more_calls_for_each_more_spec(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = {}
    for count in (4, 8):
        folder = tmp_path_factory.mktemp(f"app{count}")
        for endpoint in family(count):
            (folder / f"{endpoint.name}.yaml").write_text(spec_text(endpoint), encoding="utf-8")
        monkeypatch.chdir(folder)
        with crossings() as asked:
            build_app(folder)
        calls[count] = len(asked)
    assert calls[8] - calls[4] <= 4 * MOST_CALLS_A_STACK


def test_the_synthesis_is_one_call(
    loaded: dict[str, LoadedSpec], tmp_path_factory: pytest.TempPathFactory
) -> None:
    app = cdk.App(outdir=str(tmp_path_factory.mktemp("out")), analytics_reporting=False)
    for kind, one in loaded.items():
        EndpointStack(app, kind, spec=one)
    with crossings() as asked:
        app.synth()
    assert len(asked) == 1, asked
