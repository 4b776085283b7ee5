"""One server for all rows that a process tests."""

from collections.abc import Iterator

import pytest
from oracle.serving import Oracle, oracle
from support.rehearsal import HAS_SERVER

if not HAS_SERVER:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def server() -> Iterator[Oracle]:
    with oracle() as started:
        yield started
