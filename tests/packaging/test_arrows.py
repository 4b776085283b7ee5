"""Which package may import which: the list below is the way of the data, and no import goes against it."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY, STACKS = ROOT / "constructs/inferstack", ROOT / "stacks/inferstack_stacks"

WAY = (
    *("catalog", "texts", "problems", "source", "format", "facts", "endpoint", "updates", "triton"),
    *("engines", "sizing", "check", "diagnosis", "resolve"),
    "project",
    *("constructs", "review", "account", "cli"),
)
"""Each package imports only those before it."""
LISTED = (
    *("account", "account/preflight", "account/status", "diagnosis", "engines", "project", "review"),
    *("triton", "updates"),
)
"""Packages whose `__init__.py` has a list of their modules."""
NOTHING = frozenset[str]()
DOORS = {
    "spec": {"check", "problems"},
    "sagemaker": {"problems", "source", "format", "endpoint", "check", "resolve"},
    "node_runtime": NOTHING,
    "__main__": {"cli"},
}
"""Single modules, and what each may import."""
APART = {
    "constructs": "review account cli",
    "review": "constructs account cli",
    "account": "constructs review",
}
"""Packages at the end of the way that know nothing of one another."""
OUTSIDE = frozenset({"aws_cdk", "jsii", "constructs", "boto3", "botocore"})


@cache
def imported(file: Path) -> tuple[str, ...]:
    """Full names of everything that a file imports, anywhere in it."""
    return tuple(_imported(file))


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(module=str() as module, level=0):
                yield from (f"{module}.{alias.name}" for alias in node.names)
            case ast.ImportFrom():
                yield "a relative import"


def files(package: str) -> list[Path]:
    folder = LIBRARY / package
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def of_library(file: Path) -> set[str]:
    """The packages of the library that a file imports from."""
    return {name.split(".")[1] for name in imported(file) if name.startswith("inferstack.")}


def test_every_package_is_on_the_way():
    packages = {it.stem for it in LIBRARY.iterdir() if it.suffix == ".py" or (it / "__init__.py").is_file()}
    assert packages - {"__init__"} == {*WAY, *DOORS}


@pytest.mark.parametrize("package", LISTED)
def test_a_list_of_modules_has_all_of_them(package):
    listed = re.findall(r"\w+", ast.get_docstring(ast.parse((LIBRARY / package / "__init__.py").read_text())))
    modules = {
        it.stem
        for it in (LIBRARY / package).glob("[!_]*")
        if it.suffix == ".py" or (it / "__init__.py").exists()
    }
    assert modules <= {*listed}


@pytest.mark.parametrize("package", [*WAY, *DOORS])
def test_no_import_goes_against_the_way(package):
    may = {*WAY[: WAY.index(package)], *DOORS} if package in WAY else DOORS[package]
    assert files(package)
    for file in files(package):
        assert of_library(file) <= {package, *may}, file
        assert of_library(file).isdisjoint(APART.get(package, "").split()), file
        assert "a relative import" not in imported(file), file


def modules() -> dict[str, Path]:
    """Every file of the library, by its name as a module."""
    names = {
        file: ".".join(file.relative_to(LIBRARY.parent).with_suffix("").parts)
        for file in LIBRARY.rglob("*.py")
    }
    return {name.removesuffix(".__init__"): file for file, name in names.items()}


def test_no_two_files_import_each_other_even_by_a_detour():
    known = modules()
    imports = {
        name: {it if it in known else it.rpartition(".")[0] for it in imported(file)} & known.keys() - {name}
        for name, file in known.items()
    }
    # Raises CycleError, which names the files.
    assert {*TopologicalSorter(imports).static_order()} >= known.keys()


@pytest.mark.parametrize("package", [*WAY[: WAY.index("constructs")], "review", "cli"])
def test_specs_are_handled_without_cdk_and_aws(package):
    for file in files(package):
        assert {name.split(".")[0] for name in imported(file)}.isdisjoint(OUTSIDE), file


def test_the_library_knows_nothing_of_the_stacks():
    for file in LIBRARY.rglob("*.py"):
        assert not any(name.startswith("inferstack_stacks") for name in imported(file)), file


def test_the_app_knows_the_stacks_only():
    assert imported(ROOT / "app.py") == ("inferstack_stacks.build_app",)
    assert len(list(STACKS.glob("*.py"))) > 1


@pytest.mark.parametrize("source_root", ["constructs", "stacks"])
def test_a_source_root_is_no_package(source_root):
    # It would shadow PyPI's `constructs`, which aws-cdk-lib imports.
    assert not (ROOT / source_root / "__init__.py").exists()
