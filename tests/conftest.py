"""What all tests share: CDK on the right Node, without its slow validation and without the caller's environment."""

import os
import signal
from pathlib import Path

import pytest

from inferstack.node_runtime import select_node

# CDK reads this when an app is made; the tests that are about validation turn it on again.
os.environ["CDK_VALIDATION"] = "false"
for name in ("CDK_OUTDIR", "CDK_CONTEXT_JSON", "CDK_DEFAULT_ACCOUNT", "CDK_DEFAULT_REGION"):
    os.environ.pop(name, None)

# This must run before any test module imports aws_cdk, which starts Node at once.
select_node()

# Programs that a shell runs in the background ignore Ctrl-C, and so would each program that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

_ASKED_FOR = [
    Path(__file__).parent / name
    for name in (
        *("browser", "deploy", "editor", "site"),
        *("measure/test_on_triton.py", "rehearsal/test_torchscript.py", "sizing/test_real_aiperf.py"),
    )
]

# What many tests of a module share is made once, if one worker runs them all; and what takes long must not be last.
# The first worker has the first tests, and what another one takes over are its last ones. While it waits for Triton, as it
# does for the oracle, the others have enough to compute.
_FIRST = [
    Path(__file__).parent / name
    for name in (
        *("oracle", "rehearsal/test_onnx.py", "constructs/test_tokens.py", "check/test_many_problems.py"),
        *("test_generated.py", "packaging", "cli/test_review_html.py", "test_readme.py", "test_guides.py"),
    )
]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    first = {path: any(map(path.is_relative_to, _FIRST)) for path in {it.path for it in items}}
    items.sort(key=lambda it: not first[it.path])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What needs a browser, programs of npm, torch or AIPerf, or compares speeds, must be asked for: by
    `make test-browser`, `test-deploy`, `test-editor`, `test-site`, `test-torch`, `test-aiperf` or `test-measure`,
    or by its path.
    """
    named = [Path(arg.split("::")[0]).resolve() for arg in config.args]
    wanted = any(collection_path in (path, *path.parents) for path in named)
    return True if collection_path in _ASKED_FOR and not wanted else None
