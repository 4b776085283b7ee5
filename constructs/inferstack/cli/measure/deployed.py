"""A deployed endpoint under load."""

import argparse

from inferstack.account.connection import AccountError, connect
from inferstack.account.endpoint_load import EndpointLoad
from inferstack.account.invoking import Invocation
from inferstack.catalog.triton_container import DEFAULT_MODEL, set_variable
from inferstack.check.load import LoadedSpec
from inferstack.cli.measure.output import loads, show_points, status, write_measurements
from inferstack.cli.measure.served import what_is_served
from inferstack.cli.terminal import Refusal, passing, tell
from inferstack.facts.walk import region_of
from inferstack.sizing.bench import Point
from inferstack.sizing.closed_loop import Pace
from inferstack.sizing.prices import HOW_TO_GET_PRICES, prices_for
from inferstack.triton.measuring.serving import request_to

MOST_REQUESTS = 100_000
"""How many requests are sent at most, unless `--requests` says it."""


def on_endpoint(loaded: LoadedSpec, pace: Pace, options: argparse.Namespace) -> int:
    """Bounded in requests, time and money."""
    try:
        load = _endpoint_load(loaded, pace, options)
        points: list[Point] = []
        try:
            with passing() as show:
                load.try_once()
                most = MOST_REQUESTS if options.requests is None else options.requests
                for users in options.concurrency:
                    requests = most - load.sent
                    longest = min(pace.longest, load.seconds_left(options.budget))
                    if requests < 1 or longest <= 0:
                        used = "--requests" if requests < 1 else "--budget"
                        tell(f"stopped before {users} users: {used} is used up")
                        break
                    show(f"{users} users")
                    points.append(load.point(users, requests=requests, longest=longest))
        finally:
            show_points(points, loads(points), options.format)
            if points:
                tell(_taken(load))
        if options.out is not None:
            [variant] = load.variants
            write_measurements(options.out, points, str(variant.instance_type), variant.instances)
    except AccountError as error:
        raise Refusal(str(error)) from None
    return status(points)


def _endpoint_load(loaded: LoadedSpec, pace: Pace, options: argparse.Namespace) -> EndpointLoad:
    """The load, which may be started: its bounds and its file make sense for this endpoint."""
    invocation = _invocation(loaded, options)
    connection = connect(region_of(loaded.spec))
    region = connection.require_region()
    prices = prices_for(region, options.prices)
    load = EndpointLoad(connection, region, invocation, pace, prices, seconds=options.timeout)
    if options.budget is not None and load.per_hour is None:
        raise Refusal(f"--budget: the price of its instances is not known; {HOW_TO_GET_PRICES}")
    types = [variant.instance_type for variant in load.variants]
    if options.out is not None and (len(types) != 1 or types[0] is None):
        raise Refusal("--out: `size` counts instances of one type, which this endpoint does not have")
    return load


def _invocation(loaded: LoadedSpec, options: argparse.Namespace) -> Invocation:
    component, target = options.component, options.target_model
    if options.body is not None:
        return Invocation(
            options.endpoint, options.body.read_bytes(), options.content_type, component, target
        )
    _, rehearsal = what_is_served(loaded, options)
    [repository] = rehearsal.repositories
    model = repository.served(set_variable(rehearsal.environment, DEFAULT_MODEL))
    if model is None:
        raise Refusal(f"it is not clear which model of {repository.archive} answers: add `default_model`")
    body, form = request_to(model.config, options.rows)
    archive = repository.archive if repository.multi_model else None
    return Invocation(options.endpoint, body, form, component, archive)


def _taken(load: EndpointLoad) -> str:
    counts = ", ".join(f"{it.instances} x {it.instance_type or 'serverless'}" for it in load.variants)
    cost = "" if load.per_hour is None else f"; {load.spent:.4f} {load.currency} of their time"
    return f"{load.sent} requests to {counts}{cost}"
