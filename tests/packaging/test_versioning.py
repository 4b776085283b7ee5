"""What docs/versioning.md promises: what can be looked up here is, and the rest is compared with the last release."""

import ast
import json
import re
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from support.pages import code_blocks

from inferstack.catalog.cloudformation import create_only
from inferstack.cli import main
from tools.kept_promises import COMMANDS, MODULES, broken, codes, exported, options
from tools.template_changes import Change, unmentioned

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "versioning.md"
FORMAT = "inferstack.format"


def test_a_version_keeps_what_it_promises_itself() -> None:
    assert list(broken(ROOT, ROOT)) == []


CODES = '| <a id="is101"></a>IS101 | error | a |\n| <a id="is102"></a>IS102 | warning | see IS101 |\n'


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (f'{CODES}| <a id="is103"></a>IS103 | error | new |\n', []),
        (CODES.replace("warning", "error"), [("IS102", "was warning and is error now")]),
        (CODES.splitlines()[1], [("IS101", "is gone; list it in RETIRED")]),
        (f"{CODES.splitlines()[1]}\n\n## Retired\n\nIS101", [("IS101", "is retired")]),
    ],
    ids=["more", "stricter", "dropped", "retired"],
)
def test_a_code_that_is_dropped_or_stricter_is_found(after: str, expected: list[tuple[str, str]]) -> None:
    assert list(codes(CODES, after)) == expected


def test_an_option_that_is_gone_is_found() -> None:
    text = (ROOT / COMMANDS).read_text("utf-8")
    assert list(options(text, text)) == []
    assert list(options(text, text.replace("| `--out DIR`", "| `--into DIR`", 1))) == [
        ("--out", "is no option of inferstack render any more")
    ]
    without = re.sub(r"## inferstack pin\n.*?(?=\n## )", "", text, flags=re.DOTALL)
    assert ("inferstack pin", "is no command any more") in list(options(text, without))


def test_a_name_that_is_gone_is_found(tmp_path: Path) -> None:
    file = tmp_path / MODULES["inferstack.spec"]
    file.parent.mkdir(parents=True)
    file.write_text('__all__ = ["load_spec", "load_specs"]\n', "utf-8")
    assert list(broken(tmp_path, ROOT)) == [("load_specs", "is not in inferstack.spec any more")]


def test_what_is_not_kept_must_be_named_in_the_changelog() -> None:
    change = Change("--out", "is no option of inferstack render any more")
    assert list(unmentioned({}, [change], "### Changed\n\n- Much.\n")) == ["`--out`"]
    assert list(unmentioned({}, [change], "### Removed\n\n- `render --out`\n")) == []


@pytest.mark.parametrize("module", MODULES)
def test_the_promised_names_are_where_they_are_looked_for(module: str) -> None:
    assert f"`{module}`" in PAGE.read_text("utf-8")
    assert exported((ROOT / MODULES[module]).read_text("utf-8")) == {*import_module(module).__all__} != set()


def test_the_pages_import_only_what_is_promised() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = [page for page in pages if "\n```python\n" in page.read_text("utf-8")]
    found = {it for page in shown for block in code_blocks(page, "python") for it in imported(block)}
    assert len(found) > 10
    classes = {*dir(import_module(FORMAT))}
    promised = {(module, name) for module in MODULES for name in import_module(module).__all__}
    assert {it for it in found - promised if it[0] != FORMAT or it[1] not in classes} == set()


def imported(program: str) -> set[tuple[str, str]]:
    nodes = [it for it in ast.walk(ast.parse(program)) if isinstance(it, ast.ImportFrom)]
    return {
        (str(it.module), name.name) for it in nodes for name in it.names if "inferstack" in str(it.module)
    }


SPECS = [*(ROOT / "model_specs").glob("*.yaml"), *(ROOT / "tests" / "shapes").glob("*.yaml")]


@pytest.mark.parametrize("spec", SPECS, ids=lambda it: it.stem)
def test_names_are_the_specs_or_cloudformations(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = spec.read_text("utf-8")
    stages = [*(yaml.safe_load(text).get("stages") or {})] if "${stage}" in text else []
    chosen = ["--stage", stages[0]] if stages else []
    assert main(["render", str(spec), "--region", "us-east-1", *chosen]) == 0
    for resource in json.loads(capsys.readouterr().out)["Resources"].values():
        type_, properties = resource["Type"], resource.get("Properties", {})
        ours = type_.endswith(("::Dashboard", "::ScalingPolicy", "::LogGroup"))
        for key in create_only(type_) & properties.keys() if not ours else ():
            if key.endswith("Name") and isinstance(name := properties[key], str):
                assert name.replace(stages[0], "${stage}") in text if stages else name in text, (type_, key)
