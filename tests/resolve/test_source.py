"""Templates say for each resource which key of which spec it comes from."""

from pathlib import Path

import pytest

from inferstack.check.load import load_spec
from inferstack.resolve import resolve_template

EXAMPLE = Path(__file__).parents[2] / "model_specs" / "bert-large.yaml"


def test_the_place_is_the_same_wherever_the_project_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "other"):
        folder = tmp_path / name / "model_specs"
        folder.mkdir(parents=True)
        (folder / EXAMPLE.name).write_bytes(EXAMPLE.read_bytes())
        monkeypatch.chdir(tmp_path / name)
        for path in (Path("model_specs", EXAMPLE.name), folder / EXAMPLE.name):
            assert load_spec(path).source_of(("variants", 0)) == "model_specs/bert-large.yaml: variants.0"


def test_a_spec_beside_the_app_is_named_the_same_in_every_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The app has a folder of its own, and finds the specs relative to its own file."""
    for checkout in ("laptop", "ci/build"):
        project = laid_out(tmp_path / checkout)
        monkeypatch.chdir(project / "infra")
        for path in (Path("../models", EXAMPLE.name), project / "models" / EXAMPLE.name):
            loaded = load_spec(path)
            assert loaded.document.file == path.as_posix()
            assert loaded.source_of(()).startswith("../models/bert-large.yaml: ")


def test_a_working_directory_that_is_named_by_a_link_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = laid_out(tmp_path / "real")
    (tmp_path / "link").symlink_to(project, target_is_directory=True)
    monkeypatch.chdir(project / "infra")
    path = tmp_path / "link" / "models" / EXAMPLE.name
    assert load_spec(path).source_of(()).startswith("../models/bert-large.yaml: ")


def test_a_spec_far_from_the_working_directory_is_named_without_its_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = laid_out(tmp_path)
    monkeypatch.chdir("/usr")
    assert load_spec(project / "models" / EXAMPLE.name).source_of(()).startswith(".../bert-large.yaml: ")


def laid_out(project: Path) -> Path:
    for folder in ("infra", "models"):
        (project / folder).mkdir(parents=True)
    (project / "models" / EXAMPLE.name).write_bytes(EXAMPLE.read_bytes())
    return project


def test_a_comment_above_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    templates = []
    for above in ("", "# A comment.\n"):
        file.write_text(above + EXAMPLE.read_text("utf-8"), "utf-8")
        loaded = load_spec(file)
        templates.append(resolve_template(loaded.spec, region="us-east-1", source_of=loaded.source_of))
    assert templates[0] == templates[1]
