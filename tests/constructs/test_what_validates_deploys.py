"""Whatever passes the checks has a template, which AWS's validators and CDK accept."""

import random
from typing import Any

import aws_cdk as cdk
from hypothesis import HealthCheck, given, settings, strategies as st
from support.damaged_specs import SPECS, damaged, exchange
from support.strict_walk import api_problems
from support.validators import validate_findings

from inferstack.check.load import LoadedSpec, parse_spec
from inferstack.format.kinds import NAMELESS
from inferstack.problems import SpecError
from inferstack.resolve import resolve_template
from inferstack_stacks import EndpointStack

# A spec may name keys, topics and roles of any account by ARN: that is what ARNs are for.
_ACCOUNTS_IN_ARNS = "W9013"

specs = st.sampled_from(SPECS)
randoms = st.randoms(use_true_random=False)


def changed(spec: dict[str, Any], choose: random.Random, times: int) -> LoadedSpec | None:
    """The spec with some values exchanged, or None if it is no longer right, or has no name of its own."""
    try:
        loaded = parse_spec(damaged(spec, choose, times, exchange))
    except SpecError:
        return None
    return None if loaded.spec.endpoint_name == NAMELESS else loaded


@settings(max_examples=250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(specs, randoms, st.integers(0, 3))
def test_what_validates_has_a_template_that_aws_accepts(
    spec: dict[str, Any], choose: random.Random, times: int
) -> None:
    loaded = changed(spec, choose, times)
    if loaded is not None:
        region = None if loaded.spec.env is None else loaded.spec.env.region
        template = resolve_template(loaded.spec, region=region, source_of=loaded.source_of)
        findings = validate_findings(template)
        assert not [finding for finding in findings if not finding.startswith(_ACCOUNTS_IN_ARNS)]
        assert not api_problems(template)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(specs, randoms, st.integers(0, 3))
def test_what_validates_synthesises(spec: dict[str, Any], choose: random.Random, times: int) -> None:
    loaded = changed(spec, choose, times)
    if loaded is not None:
        app = cdk.App(analytics_reporting=False)
        EndpointStack(app, "Stack", spec=loaded)
        synthesised = app.synth().get_stack_by_name(loaded.spec.endpoint_name).template
        region = None if loaded.spec.env is None else loaded.spec.env.region
        resolved = resolve_template(loaded.spec, region=region, source_of=loaded.source_of)
        assert synthesised["Resources"].keys() == resolved["Resources"].keys()
