"""Type checkers know what the constructs are."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.pages import code_blocks

import inferstack.constructs

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "constructs.md"
APPS = ROOT / "docs" / "examples" / "apps"
USE = HERE / "typed_use.py"


def mypy(*files: Path) -> str:
    """What mypy complains about. It shares the cache of `make check`, since CDK takes it a minute."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *map(str, files)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def pyright(folder: Path, *files: Path) -> list[str]:
    """What pyright complains about, except CDK's own classes, which it does not accept as CDK's interfaces."""
    config = {
        "include": [str(file) for file in files],
        "extraPaths": [str(ROOT / "constructs"), str(ROOT / "stacks")],
        "pythonVersion": "3.11",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(config), "utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    command += ["--project", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [it["message"] for it in found if not _is_cdks_own(it["message"])]


# Of CDK's classes and interfaces in the examples, only this one is for an argument of ours.
OURS = (*inferstack.constructs.__all__, 'parameter "role"')


def _is_cdks_own(message: str) -> bool:
    ours = any(name in message for name in OURS)
    return "is incompatible with protocol" in message and not ours


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Copies, so that no folder with a configuration contains them; the examples of docs/constructs.md; the apps."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / USE.name).write_text(USE.read_text("utf-8"), "utf-8")
    (folder / "page.py").write_text("\n".join(code_blocks(PAGE, "python")), "utf-8")
    for app in APPS.glob("*/app.py"):
        (folder / f"app_{app.parent.name.replace('-', '_')}.py").write_text(app.read_text("utf-8"), "utf-8")
    return sorted(folder.iterdir())


def test_mypy_takes_what_users_write(programs: list[Path]) -> None:
    assert mypy(*programs) == ""


def test_pyright_takes_what_users_write(programs: list[Path]) -> None:
    assert pyright(programs[0].parent, *programs) == []


def test_a_spec_by_position_is_refused_by_type_checkers(tmp_path: Path) -> None:
    """The advice at run time must not hide from them what the constructors take."""
    wrong = tmp_path / "by_position.py"
    wrong.write_text(
        "from aws_cdk import Stack\n"
        "from inferstack.constructs import InferenceEndpoint\n"
        "from inferstack.spec import load_spec\n"
        'InferenceEndpoint(Stack(), "Churn", load_spec("churn.yaml"))\n'
        'InferenceEndpoint(Stack(), "Churn")\n'
        'InferenceEndpoint(Stack(), "Churn", spec="churn.yaml")\n'
    )
    found = pyright(tmp_path, wrong)
    assert len(found) >= 3
    assert any("positional" in message for message in found)
    assert any('"spec"' in message for message in found)
