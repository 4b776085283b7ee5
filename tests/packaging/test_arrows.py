"""Which package may import which. Imports go one way, so that a spec can be checked without Node, CDK or AWS."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY, STACKS = ROOT / "constructs/inferstack", ROOT / "stacks/inferstack_stacks"

PURE = frozenset({"catalog", "spec", "triton", "defaults", "resolve", "once"})
"""Rooms that need neither CDK nor AWS."""

MAY_IMPORT = {
    "catalog": frozenset[str](),
    "spec": frozenset({"catalog", "defaults", "triton", "once"}),
    "triton": frozenset({"catalog", "spec", "once"}),
    "defaults": frozenset({"catalog", "spec"}),
    "resolve": PURE,
    "once": frozenset[str](),
    "node_runtime": frozenset[str](),
    "garbage_collection": frozenset[str](),
    "review": frozenset({"catalog", "spec", "resolve"}),
    "constructs": PURE | {"node_runtime"},
    "account": PURE,
    "cli": PURE | {"review", "account", "garbage_collection"},
}
OUTSIDE = frozenset({"aws_cdk", "jsii", "constructs", "boto3", "botocore"})


def imported(file: Path) -> Iterator[str]:
    """Full names of everything that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(module=str() as module, level=0):
                yield from (f"{module}.{alias.name}" for alias in node.names)
            case ast.ImportFrom():
                yield "a relative import"


def files(room: str) -> list[Path]:
    folder = LIBRARY / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def rooms_of(names: Iterator[str]) -> set[str]:
    return {name.split(".")[1] for name in names if name.startswith("inferstack.")}


def test_every_room_of_the_library_is_in_the_table():
    rooms = {it.stem for it in LIBRARY.iterdir() if it.suffix == ".py" or (it / "__init__.py").is_file()}
    assert rooms - {"__init__"} == MAY_IMPORT.keys()


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_what_it_may(room):
    assert files(room)
    for file in files(room):
        assert rooms_of(imported(file)) <= MAY_IMPORT[room] | {room}, file
        assert "a relative import" not in imported(file), file


SAYING = frozenset({"texts", "problem"})
WITHIN_SPEC = {
    "texts": frozenset[str](),
    "problem": frozenset({"texts"}),
    "reading": SAYING,
    "document": SAYING | {"reading"},
    "blocks": frozenset({"texts"}),
    "parts": SAYING | {"blocks"},
    "structure": SAYING | {"blocks", "document", "parts"},
    "lock": SAYING | {"blocks", "document", "parts"},
    "rules": SAYING | {"blocks", "document", "parts", "lock"},
    "report": SAYING | {"document", "lock"},
}
"""The rooms of `spec`, in the same way."""
WITHIN_RULES = {
    "metrics": frozenset[str](),
    "model": frozenset[str](),
    "triton": frozenset[str](),
    "components": frozenset[str](),
    "endpoint": frozenset({"model"}),
    "autoscaling": frozenset({"metrics"}),
    "alarms": frozenset({"metrics"}),
}
"""The rooms of `rules`. Rules about a spec as a whole, and what all rules share, are beside them."""
SHARED_BY_RULES = frozenset({"base", "names"})


def test_every_room_of_spec_is_in_the_table():
    rooms = {it.parent.name for it in (LIBRARY / "spec").glob("*/__init__.py")}
    assert rooms == WITHIN_SPEC.keys()


def test_every_room_of_rules_is_in_the_table():
    rooms = {it.parent.name for it in (LIBRARY / "spec/rules").glob("*/__init__.py")}
    assert rooms == WITHIN_RULES.keys()


@pytest.mark.parametrize("room", WITHIN_RULES)
def test_a_room_of_rules_imports_only_what_it_may(room):
    may = WITHIN_RULES[room] | SHARED_BY_RULES | {room}
    for file in files(f"spec/rules/{room}"):
        of_rules = (name for name in imported(file) if name.startswith("inferstack.spec.rules."))
        assert {name.split(".")[3] for name in of_rules} <= may, file


@pytest.mark.parametrize("room", WITHIN_SPEC)
def test_a_room_of_spec_imports_only_what_it_may(room):
    for file in files(f"spec/{room}"):
        of_spec = (name for name in imported(file) if name.startswith("inferstack.spec."))
        assert {name.split(".")[2] for name in of_spec} & WITHIN_SPEC.keys() <= WITHIN_SPEC[room] | {room}, file


WITHIN_TRITON = {
    "config": frozenset[str](),
    "repository": frozenset({"config"}),
    "rules": frozenset({"repository"}),
    "archive": frozenset({"config", "repository"}),
    "invocation": frozenset({"archive"}),
    "rehearsal": frozenset({"config", "archive", "rules"}),
}
"""And those of `triton`; `model`, and whatever else they share, is beside them."""


def test_every_room_of_triton_is_in_the_table():
    rooms = {it.parent.name for it in (LIBRARY / "triton").glob("*/__init__.py")}
    assert rooms == WITHIN_TRITON.keys()


@pytest.mark.parametrize("room", WITHIN_TRITON)
def test_a_room_of_triton_imports_only_what_it_may(room):
    for file in files(f"triton/{room}"):
        of_triton = (name for name in imported(file) if name.startswith("inferstack.triton."))
        rooms = {name.split(".")[2] for name in of_triton} & WITHIN_TRITON.keys()
        assert rooms <= WITHIN_TRITON[room] | {room}, file


VOCABULARY = ("blocks", "texts", "problem", "parts.triton_blocks")
"""What every room may use of `spec`: the format's classes, where Triton's models are, and how to report problems."""


@pytest.mark.parametrize("room", ["triton", "defaults"])
def test_between_the_vocabulary_of_specs_and_their_rules_stand(room):
    of_spec = {n for file in files(room) for n in imported(file) if n.startswith("inferstack.spec.")}
    assert of_spec
    known = tuple(f"inferstack.spec.{word}." for word in VOCABULARY)
    assert all(name.startswith(known) for name in of_spec), of_spec


@pytest.mark.parametrize("word", VOCABULARY)
def test_the_vocabulary_of_specs_rests_on_nothing_above_it(word):
    for file in files(f"spec/{word.replace('.', '/')}"):
        assert rooms_of(imported(file)) <= {"catalog", "spec", "once"}, file


@pytest.mark.parametrize("room", sorted(PURE | {"review", "cli"}))
def test_a_pure_room_imports_neither_cdk_nor_aws(room):
    for file in files(room):
        assert {name.split(".")[0] for name in imported(file)}.isdisjoint(OUTSIDE), file


def test_the_library_knows_nothing_of_the_stacks():
    for file in LIBRARY.rglob("*.py"):
        assert not any(name.startswith("inferstack_stacks") for name in imported(file)), file


def test_the_app_knows_the_stacks_only():
    assert list(imported(ROOT / "app.py")) == ["inferstack_stacks.build_app"]
    assert len(list(STACKS.glob("*.py"))) > 1


@pytest.mark.parametrize("source_root", ["constructs", "stacks"])
def test_a_source_root_is_no_package(source_root):
    # It would shadow PyPI's `constructs`, which aws-cdk-lib imports.
    assert not (ROOT / source_root / "__init__.py").exists()
