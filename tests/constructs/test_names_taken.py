"""Two endpoints with the same name are refused if it is known that they go to the same place."""

from collections.abc import Callable
from functools import partial

import aws_cdk as cdk
import pytest
from constructs import Construct
from support.cdk import spec, stack
from support.resolving import wordy_components

from inferstack.check.load import parse_spec
from inferstack.constructs import (
    EndpointAlarms,
    EndpointAutoscaling,
    EndpointDashboard,
    InferenceComponents,
    InferenceEndpoint,
)
from inferstack.problems import Problem, SpecError
from inferstack_stacks import EndpointStack

HERE, THERE = (cdk.Environment(account="111122223333", region=it) for it in ("us-east-1", "eu-west-1"))
ONLY_REGION = cdk.Environment(region="us-east-1")


def refused(make: Callable[[], object]) -> tuple[Problem, ...]:
    with pytest.raises(SpecError) as found:
        make()
    return found.value.problems


@pytest.mark.parametrize("region", ["us-east-1", None])
def test_a_stack_has_one_endpoint_of_a_name_in_whatever_case(region: str | None) -> None:
    shared = stack(region, name="Shared")
    InferenceEndpoint(shared, "First", spec=spec("single", "endpoint_name: churn"))
    (problem,) = refused(
        lambda: InferenceEndpoint(shared, "Second", spec=spec("single", "endpoint_name: Churn"))
    )
    assert (problem.code, problem.path) == ("IS041", ("endpoint_name",))
    assert problem.message == (
        'the endpoint name "Churn" is taken by `First` in the stack `Shared`, for the same account and region'
    )
    assert "another name" in problem.fix
    assert shared.node.try_find_child("Second") is None


def test_a_stack_is_the_same_wherever_below_it_an_endpoint_stands() -> None:
    def nooks() -> list[Construct]:
        # No Python object keeps the stack alive.
        shared = stack(None)
        return [Construct(shared, "One"), Construct(shared, "Other")]

    one, other = nooks()
    InferenceEndpoint(one, "Net", spec=spec("single"))
    assert [it.code for it in refused(lambda: InferenceEndpoint(other, "Net", spec=spec("single")))] == [
        "IS041"
    ]


def test_components_of_one_name_on_two_endpoints_are_refused() -> None:
    shared = stack()
    InferenceEndpoint(shared, "First", spec=spec("components"))
    other = spec("components", "endpoint_name: other")
    assert [it.code for it in refused(lambda: InferenceEndpoint(shared, "Second", spec=other))] == ["IS042"]


def in_stacks(one: cdk.Environment | None, other: cdk.Environment | None, second_app: bool = False) -> None:
    app = cdk.App(analytics_reporting=False)
    InferenceEndpoint(cdk.Stack(app, "One", env=one), "Net", spec=spec("multi"))
    app = cdk.App(analytics_reporting=False) if second_app else app
    InferenceEndpoint(cdk.Stack(app, "Other", env=other), "Net", spec=spec("multi"))


def test_two_stacks_for_one_account_and_region_have_one_endpoint_of_a_name() -> None:
    (problem,) = refused(lambda: in_stacks(HERE, HERE))
    assert "is taken by `Net` in the stack `One`" in problem.message


@pytest.mark.parametrize(
    ("one", "other"), [(HERE, THERE), (HERE, None), (None, None), (ONLY_REGION, ONLY_REGION)]
)
def test_what_may_go_to_other_places_may_have_one_name(
    one: cdk.Environment | None, other: cdk.Environment | None
) -> None:
    in_stacks(one, other)


def test_apps_know_nothing_of_one_another() -> None:
    in_stacks(HERE, HERE, second_app=True)


def test_stacks_of_their_own_are_compared_with_all_others() -> None:
    app = cdk.App(analytics_reporting=False)
    EndpointStack(app, "Alone", spec=spec("multi"), env=HERE)
    EndpointStack(app, "There", spec=spec("multi"), env=THERE)
    stage = cdk.Stage(app, "Stage", env=HERE)
    for make in (
        lambda: EndpointStack(app, "Again", spec=spec("multi"), env=HERE),
        lambda: EndpointStack(stage, "Again", spec=spec("multi")),
        lambda: InferenceEndpoint(cdk.Stack(app, "Shared", env=HERE), "Net", spec=spec("multi")),
    ):
        (problem,) = refused(make)
        assert "is taken by `Endpoint` in the stack `many`" in problem.message


def test_a_name_that_only_the_deployment_knows_is_the_same_in_one_stack_only() -> None:
    app = cdk.App(analytics_reporting=False)
    one, other = (cdk.Stack(app, name, env=HERE) for name in ("One", "Other"))
    named = {"endpoint_name": cdk.Aws.STACK_NAME}
    InferenceEndpoint(one, "Net", spec=spec("single", named))
    InferenceEndpoint(other, "Net", spec=spec("single", named))
    assert [
        it.code for it in refused(lambda: InferenceEndpoint(one, "Second", spec=spec("single", named)))
    ] == ["IS041"]


def test_a_dashboard_is_the_same_in_every_region() -> None:
    app = cdk.App(analytics_reporting=False)
    for endpoint_name, env, other in (("a", HERE, "b"), ("c", THERE, "d")):
        shared = cdk.Stack(app, f"In{env.region}", env=env)
        InferenceEndpoint(shared, "Net", spec=spec("multi", {"endpoint_name": endpoint_name}))
        InferenceEndpoint(shared, "Other", spec=spec("multi", {"endpoint_name": other}))
    # The dashboard of `a` has this name.
    board = {"endpoint_name": "e", "dashboard": {"dashboard_name": "a-us-east-1"}}
    (problem,) = refused(
        lambda: InferenceEndpoint(cdk.Stack(app, "Third", env=THERE), "Net", spec=spec("multi", board))
    )
    assert (problem.code, problem.path) == ("IS043", ("dashboard", "dashboard_name"))
    assert problem.message.endswith("for the same account")


def test_parts_take_the_names_of_what_they_make() -> None:
    shared = stack()
    InferenceComponents(shared, "Part", spec=spec("components", {"endpoint_name": "one"}))
    EndpointDashboard(shared, "Board", spec=spec("single"))
    EndpointAlarms(shared, "Alarms", spec=spec("single"))
    for make, code in (
        (lambda: InferenceEndpoint(shared, "Again", spec=spec("components")), "IS042"),
        (lambda: InferenceComponents(shared, "Again", spec=spec("components")), "IS042"),
        (lambda: InferenceEndpoint(shared, "Again", spec=spec("single")), "IS043"),
        (lambda: EndpointDashboard(shared, "Again", spec=spec("single")), "IS043"),
    ):
        assert {it.code for it in refused(make)} == {code}


def test_an_endpoint_that_was_refused_takes_no_name() -> None:
    shared = stack()
    large = parse_spec(wordy_components(75))
    refused(lambda: InferenceEndpoint(shared, "Large", spec=large))
    InferenceEndpoint(shared, "Net", spec=spec("components"))


def test_a_nested_stack_is_named_by_its_path() -> None:
    nested = cdk.NestedStack(stack(name="Outer"), "Inner")
    InferenceEndpoint(nested, "Net", spec=spec("single"))
    (problem,) = refused(lambda: InferenceEndpoint(nested, "Again", spec=spec("single")))
    assert "is taken by `Net` in the stack `Outer/Inner`" in problem.message


@pytest.mark.parametrize("region", ["us-east-1", None])
def test_what_is_nested_in_one_stack_goes_to_one_place(region: str | None) -> None:
    outer = stack(region, name="Outer")
    one, other = (cdk.NestedStack(outer, name) for name in ("One", "Other"))
    innermost = cdk.NestedStack(other, "Innermost")
    InferenceEndpoint(one, "Net", spec=spec("single"))
    for scope in (outer, other, innermost):
        (problem,) = refused(partial(InferenceEndpoint, scope, "Net", spec=spec("single")))
        assert "is taken by `Net` in the stack `Outer/One`" in problem.message


@pytest.mark.parametrize("name", [cdk.Aws.STACK_NAME, "net-${AWS::AccountId}"], ids=["token", "placeholder"])
def test_nested_stacks_may_take_a_name_that_only_the_deployment_knows(name: str) -> None:
    outer = stack(None, name="Outer")
    for nested in ("One", "Other"):
        InferenceEndpoint(cdk.NestedStack(outer, nested), "Net", spec=spec("single", {"endpoint_name": name}))


SCALED = """
autoscaling: {min_capacity: 1, max_capacity: 4, policies: [{metric: CPUUtilization, target_value: 50}]}
"""
COPIES = """
inference_components:
  chat:
    autoscaling: {min_capacity: 1, max_capacity: 4, policies: [{metric: SageMakerInferenceComponentInvocationsPerCopy, target_value: 5}]}
"""


def test_what_scales_has_one_scalable_target() -> None:
    app = cdk.App(analytics_reporting=False)
    one, other = (cdk.Stack(app, name, env=HERE) for name in ("One", "Other"))
    InferenceEndpoint(one, "Net", spec=spec("single", SCALED))
    (problem,) = refused(lambda: EndpointAutoscaling(other, "Again", spec=spec("single", SCALED)))
    assert (problem.code, problem.path) == ("IS045", ("autoscaling",))
    assert problem.message == (
        'the scalable target "endpoint/one/variant/AllTraffic" is taken by `Net` in the stack `One`, '
        "for the same account and region"
    )
    assert problem.fix == "remove `autoscaling` from the spec of one of them"


def test_scaling_of_components_comes_with_the_components() -> None:
    shared = stack()
    InferenceComponents(shared, "Part", spec=spec("components", COPIES))
    (problem,) = refused(lambda: EndpointAutoscaling(shared, "Again", spec=spec("components", COPIES)))
    assert (problem.code, problem.path) == ("IS045", ("inference_components", "chat", "autoscaling"))


def test_of_two_endpoints_of_a_name_the_scaling_is_not_told_apart() -> None:
    shared = stack()
    InferenceEndpoint(shared, "Net", spec=spec("single", SCALED))
    assert [
        it.code for it in refused(lambda: InferenceEndpoint(shared, "Again", spec=spec("single", SCALED)))
    ] == ["IS041"]


def test_what_is_removed_from_the_tree_gives_its_names_back() -> None:
    shared = stack()
    InferenceEndpoint(shared, "Net", spec=spec("single", SCALED))
    assert shared.node.try_remove_child("Net")
    InferenceEndpoint(shared, "Net", spec=spec("single", SCALED))
    assert [it.code for it in refused(lambda: InferenceEndpoint(shared, "Again", spec=spec("single")))] == [
        "IS041"
    ]


def test_two_stacks_of_a_place_cannot_export_under_one_name() -> None:
    app = cdk.App()
    exports = "exports: {endpoint_name: net}"
    EndpointStack(app, "One", spec=spec("single", f"{{endpoint_name: one, {exports}}}"), env=HERE)
    other = spec("single", f"{{endpoint_name: other, {exports}}}")
    (problem,) = refused(lambda: EndpointStack(app, "Other", spec=other, env=HERE))
    assert (problem.code, problem.path) == ("IS094", ("exports", "endpoint_name"))
    there = "{endpoint_name: other, model: {image: 111122223333.dkr.ecr.eu-west-1.amazonaws.com/net:1}, "
    EndpointStack(app, "There", spec=spec("single", f"{there}{exports}}}"), env=THERE)
