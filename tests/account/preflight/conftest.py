"""The account that these tests ask."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support import answers
from support.answers import Answers
from support.ready_account import COMPONENTS, SPEC, world

from inferstack.cli import main

aws = answers.aws


@pytest.fixture
def ready(aws: Answers) -> Answers:
    """An account in which everything is there, and two specs."""
    aws.given = world()
    Path("churn.yaml").write_text(SPEC)
    Path("chat.yaml").write_text(COMPONENTS)
    return aws


@pytest.fixture
def preflight(ready: Answers, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, Any]]:
    """Runs the command, with the status and what it prints."""

    def run(*words: str) -> tuple[int, Any]:
        ready.asked.clear()
        capsys.readouterr()
        status = main(["preflight", *words])
        return status, capsys.readouterr()

    return run


Preflight = Callable[..., tuple[int, Any]]
Words = Sequence[str]
