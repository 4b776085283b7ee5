"""Where the measured programs run: the same Python and Node, and none of the caller's CDK settings."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.process import Program
from benchmarks.specs import write_specs

ROOT = Path(__file__).parents[1]
CONSTRUCTS, STACKS = ROOT / "constructs", ROOT / "stacks"
# The programs here run on the sources alone, whether these are installed or not.
sys.path[:0] = [str(CONSTRUCTS), str(STACKS)]

from inferstack.node_runtime import VARIABLE, select_node  # noqa: E402

INFERSTACK = "import sys; from inferstack.cli import program; sys.exit(program())"
"""The program `inferstack`, as an installed package has it."""

_OWN = ("CDK_", "PYTHON", "JSII_", "NODE_OPTIONS")


def use_that_node() -> None:
    """Makes this process run CDK on the same Node. Call it before importing aws_cdk, which starts Node."""
    select_node()


def environment() -> dict[str, str]:
    """The caller's environment without what would change the measurement."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
    if VARIABLE in os.environ:
        kept[VARIABLE] = os.environ[VARIABLE]
    # The app chooses its Node itself; the hand-written one must use the same.
    select_node(kept)
    return kept


def app_program(folder: Path, *, validation: bool = False) -> Program:
    """`python app.py` on the specs in ``folder/model_specs``; templates go to ``folder/cdk.out``."""
    return Program(
        [sys.executable, str(ROOT / "app.py")], folder, _cdk(validation) | found_in(CONSTRUCTS, STACKS)
    )


def hand_program(folder: Path, count: int, *, validation: bool = False) -> Program:
    """The hand-written app with as many endpoints; templates go to ``folder/hand.out``."""
    command = [sys.executable, "-m", "benchmarks.by_hand.app", str(count), str(folder / "hand.out")]
    return Program(command, folder, _cdk(validation) | found_in(ROOT))


def inferstack_program(folder: Path, *arguments: str, statuses: frozenset[int] = frozenset({0})) -> Program:
    """`inferstack ARGUMENTS` in a folder."""
    command = [sys.executable, "-c", INFERSTACK, *arguments]
    return Program(command, folder, found_in(CONSTRUCTS), statuses)


def found_in(*folders: Path) -> dict[str, str]:
    """Where a program finds what is not installed. These are no more folders than it needs, since Python
    looks for its own modules in each of them first.
    """
    return {"PYTHONPATH": os.pathsep.join(map(str, folders))}


@contextmanager
def specs_folder(count: int) -> Iterator[Path]:
    """A temporary folder with ``count`` specs in its `model_specs`."""
    with tempfile.TemporaryDirectory() as name:
        write_specs(Path(name, "model_specs"), count)
        yield Path(name)


def _cdk(validation: bool) -> dict[str, str]:
    return {"CDK_VALIDATION": "true" if validation else "false"}
