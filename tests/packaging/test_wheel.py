import os
import site
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    keep = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=cwd, env={**keep, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_has_two_packages_and_nothing_beside_them(names):
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"inferstack", "inferstack_stacks"}


def test_the_wheel_has_every_file_of_the_packages(names):
    for source_root in ("constructs", "stacks"):
        for file in (ROOT / source_root).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                assert file.relative_to(ROOT / source_root).as_posix() in names


def test_the_wheel_is_typed_and_licensed(names):
    assert {"inferstack/py.typed", "inferstack_stacks/py.typed"} <= names
    assert {
        "inferstack/format/inferstack.schema.json",
        "inferstack/format/structure.schema.json",
        "inferstack/catalog/data/cloudformation.json",
    } <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment that has the wheel and our dependencies, but not our sources."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, symlinks=os.name != "nt")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    # These come after the environment's own packages, and an editable install among them is not followed.
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()))
    return python


def test_the_installed_wheel_leaves_pypis_constructs_alone(installed, tmp_path):
    script = """
import constructs, inferstack, inferstack_stacks
print(constructs.Construct.__name__)
print(*(it.__file__ for it in (constructs, inferstack, inferstack_stacks)), sep="\\n")
"""
    name, *found = run(installed, "-c", script, cwd=tmp_path).split()
    assert name == "Construct"
    assert not any(Path(file).is_relative_to(ROOT / "constructs") for file in found)
    assert all(Path(file).is_relative_to(installed.parents[1]) for file in found[1:])


def test_the_installed_wheel_synthesises(installed, tmp_path):
    (tmp_path / "model_specs").symlink_to(ROOT / "model_specs")
    shown = run(installed, "-m", "inferstack_stacks", cwd=tmp_path, CDK_VALIDATION="false")
    _, *rows, templates = shown.splitlines()
    assert len(rows) == len(list((ROOT / "model_specs").glob("*.y*ml")))
    assert "cdk.out/" in templates
    assert (tmp_path / "cdk.out/manifest.json").is_file()


def test_the_installed_wheel_writes_a_project_that_passes_its_own_test(installed, tmp_path):
    script = "import sys; from inferstack.cli import main; sys.exit(main(sys.argv[1:]))"
    run(installed, "-c", script, "init", "models", "--yes", "--ci", "github", cwd=tmp_path)
    models = tmp_path / "models"
    run(installed, "-c", script, "validate", "--strict", cwd=models)
    run(installed, "-m", "unittest", "discover", "tests", cwd=models)
    pins = (models / "requirements.txt").read_text("utf-8").splitlines()
    assert any(line.startswith("inferstack[aws]==") for line in pins)
    assert any(line.startswith("aws-cdk-lib==") for line in pins)
