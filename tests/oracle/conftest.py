"""One server for all rows that a process tests."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from oracle.serving import Oracle, oracle
from support.rehearsal import HAS_SERVER

if not HAS_SERVER:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def servers() -> Iterator[Callable[[], Oracle]]:
    """Gives the running server. Some rows may end it, as they end processes of models: then a new one starts."""
    with ExitStack() as stack:
        started: list[Oracle] = []

        def running() -> Oracle:
            if not started or started[-1].ended:
                started.append(stack.enter_context(oracle()))
            return started[-1]

        yield running
