"""The specs that come with the repository are there to be copied: nothing is said against any of them."""

from pathlib import Path

import pytest
from support.pages import code_blocks

from inferstack.check.files import check_files, spec_files
from inferstack.check.load import load_spec
from inferstack.format.kinds import KINDS
from tools import example_graph
from tools.spec_reference import SHORTEST

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SPAM = DOCS / "examples" / "spam"
# Wrong on purpose: they show what messages look like.
CARELESS = {
    DOCS / "examples" / name for name in ("careless.yaml", "careless-chat.yaml", "diagnosing/chat.yaml")
}
# What the page on sizing begins with: nobody knows yet how many instances they need.
UNSIZED = {
    DOCS / "examples" / "sizing" / f"{name}.yaml": codes
    for name, codes in {"agents": [], "bert": ["IS563"], "chat": ["IS561"] * 2, "gpt-oss": ["IS561"]}.items()
}
# The page on constructs shows how a warning is acknowledged.
WARNED = {"constructs": ["IS820"]}
APPS = sorted({f"{it.parent.relative_to(ROOT)}" for it in (DOCS / "examples" / "apps").rglob("*.yaml")})
FOLDERS = (
    *APPS,
    "model_specs",
    "tests/shapes",
    "docs/examples/assistants",
    "docs/examples/chat",
    "docs/examples/greeting",
    "docs/examples/kinds",
    "docs/examples/large-chat",
    "docs/examples/ranker",
    "docs/examples/jobs",
    "docs/examples/review/after",
    "docs/examples/review/before",
    "docs/examples/search",
    "docs/examples/spam",
    "docs/examples/typescript",
)
SPECS_ON_PAGES = [
    (page, spec)
    for page in (ROOT / "README.md", *sorted(DOCS.glob("*.md")))
    for spec in (code_blocks(page, "yaml") if "```yaml" in page.read_text("utf-8") else ())
    if spec.startswith(("kind:", "#")) and "\nkind:" in f"\n{spec}"
]


@pytest.mark.parametrize("folder", FOLDERS)
def test_neither_error_nor_warning_about_a_folder_of_examples(folder: str) -> None:
    assert [str(problem) for problem in check_files(spec_files(ROOT / folder))] == []


def test_the_examples_can_stand_in_one_account() -> None:
    # One of the two for reviews is what the other one was.
    apart = ("tests/shapes", "docs/examples/review/before")
    own = [file for folder in FOLDERS if folder not in apart for file in spec_files(ROOT / folder)]
    assert [str(problem) for problem in check_files(own)] == []


def test_the_folders_have_every_example() -> None:
    checked = {file for folder in FOLDERS for file in spec_files(ROOT / folder)}
    assert {*(DOCS / "examples").rglob("*.y*ml")} - checked == {*CARELESS, *UNSIZED}


def test_the_examples_of_the_page_on_sizing_have_too_few_instances_and_no_other_fault() -> None:
    assert {file: [problem.code for problem in check_files([file])] for file in UNSIZED} == UNSIZED


@pytest.mark.parametrize(("page", "spec"), SPECS_ON_PAGES, ids=[page.stem for page, _ in SPECS_ON_PAGES])
def test_no_page_shows_a_spec_that_is_wrong(page: Path, spec: str, tmp_path: Path) -> None:
    file = tmp_path / f"{page.stem}.yaml"
    file.write_text(spec, "utf-8")
    assert [problem.code for problem in check_files([file])] == WARNED.get(page.stem, [])


def test_an_example_turns_a_warning_off_and_says_why(tmp_path: Path) -> None:
    file = ROOT / "model_specs" / "bert-large.yaml"
    [ignored] = load_spec(file).spec.ignore
    text, reason = file.read_text("utf-8").split("\nignore:")
    assert f"code: {ignored.code}" in reason
    (tmp_path / file.name).write_text(text, "utf-8")
    assert [problem.code for problem in check_files([tmp_path / file.name])] == [ignored.code]


@pytest.mark.parametrize("tag", [str(kind.__struct_config__.tag) for kind in KINDS])
def test_every_kind_has_a_spec_of_a_few_lines(tag: str) -> None:
    lines = (SHORTEST / f"{tag}.yaml").read_text("utf-8").splitlines()
    assert lines[0] == f"kind: {tag}"
    assert len(lines) < 15


def test_the_graph_of_the_ensemble_is_small() -> None:
    assert (SPAM / "scorer.onnx").stat().st_size < 2048


def test_the_graph_weighs_each_word_of_the_vocabulary() -> None:
    source = (SPAM / "words.py").read_text("utf-8")
    _, _, vocabulary = next(line for line in source.splitlines() if line.startswith("VOCABULARY")).partition(
        "("
    )
    assert len(vocabulary.rstrip(")").split(",")) == len(example_graph.WEIGHTS)
