"""Type checkers know what the constructs are."""

import json
import subprocess
import sys
from collections import defaultdict
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


def pyright(folder: Path, *files: Path) -> dict[str, list[str]]:
    """What pyright complains about in each file, except CDK's own classes, which it does not accept as CDK's
    interfaces.
    """
    config = {
        "include": [str(file) for file in files],
        "extraPaths": [str(ROOT / "constructs"), str(ROOT / "stacks")],
        "pythonVersion": "3.11",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(config), "utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    command += ["--project", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    assert answer["summary"]["filesAnalyzed"] == len(files)
    found = defaultdict(list)
    for it in answer["generalDiagnostics"]:
        if not _is_cdks_own(it["message"]):
            found[Path(it["file"]).name].append(it["message"])
    return found


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


BY_POSITION = (
    "from aws_cdk import Stack\n"
    "from inferstack.constructs import InferenceEndpoint\n"
    "from inferstack.spec import load_spec\n"
    'InferenceEndpoint(Stack(), "Churn", load_spec("churn.yaml"))\n'
    'InferenceEndpoint(Stack(), "Churn")\n'
    'InferenceEndpoint(Stack(), "Churn", spec="churn.yaml")\n'
)


# What CDK's class has for templates that users write.
OF_TEMPLATES = (
    "get_condition",
    "get_hook",
    "get_mapping",
    "get_nested_stack",
    "get_rule",
    "load_nested_stack",
)
INHERITED = (
    "from inferstack.constructs import InferenceEndpoint\n"
    "def ask(made: InferenceEndpoint) -> None:\n"
    '    made.get_resource("Model"), made.get_parameter("Release"), made.get_output("EndpointName")\n'
    f"    {', '.join(f'made.{name}' for name in OF_TEMPLATES)}\n"
)


@pytest.fixture(scope="module")
def diagnosed(programs: list[Path]) -> dict[str, list[str]]:
    """Of the programs, and of one that is wrong: to read CDK's types takes longer than all of them."""
    folder = programs[0].parent
    wrong = folder / "by_position.py"
    wrong.write_text(BY_POSITION, "utf-8")
    inherited = folder / "inherited.py"
    inherited.write_text(INHERITED, "utf-8")
    return pyright(folder, *programs, wrong, inherited)


def test_pyright_takes_what_users_write(diagnosed: dict[str, list[str]]) -> None:
    assert diagnosed.keys() <= {"by_position.py", "inherited.py"}


def test_a_spec_by_position_is_refused_by_type_checkers(diagnosed: dict[str, list[str]]) -> None:
    """The advice at run time must not hide from them what the constructors take."""
    found = diagnosed["by_position.py"]
    assert len(found) >= 3
    assert any("positional" in message for message in found)
    assert any('"spec"' in message for message in found)


def test_an_editor_offers_nothing_that_is_about_a_template(diagnosed: dict[str, list[str]]) -> None:
    found = [message for message in diagnosed["inherited.py"] if "Cannot access attribute" in message]
    assert [name for name in OF_TEMPLATES if any(f'"{name}"' in message for message in found)] == [
        *OF_TEMPLATES
    ]
    assert len(found) == len(OF_TEMPLATES)
