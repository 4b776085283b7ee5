"""What a review compares with: templates, folders of specs, revisions of git, and the base's own version."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.resolving import BASES, merged
from support.reviews import write_spec

from inferstack.cli import main
from inferstack.cli.review.html import as_html
from inferstack.cli.review.markdown import markdown
from inferstack.cli.review.text import text
from inferstack.problems import SpecError
from inferstack.review import Review, review
from inferstack.review.base import _checked_out

GREETING = Path(__file__).parents[2] / "docs" / "examples" / "greeting"
STAGED = {
    "endpoint_name": "one-${stage}",
    "stages": {"test": {}, "prod": {"variant": {"initial_instance_count": 4}}},
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    Path("specs").mkdir()


def put(folder: str, name: str = "one", **changes: Any) -> Path:
    path = Path(folder, f"{name}.yaml")
    path.parent.mkdir(exist_ok=True, parents=True)
    write_spec(path, merged(yaml.safe_load(BASES["single"]), {"endpoint_name": name, **changes}))
    return path


def fates(found: Review) -> dict[str, str]:
    return {it.key: it.fate for it in found.endpoints}


def git(*arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


def commit() -> None:
    git("add", "-A")
    git("commit", "--quiet", "--allow-empty", "-m", "x")


@pytest.fixture
def repository() -> None:
    git("init", "--quiet", "-b", "main")
    put("specs")
    put("specs", "two")
    commit()


THREE = {"initial_instance_count": 3}

# ---------------------------------------------------------------- git


@pytest.mark.usefixtures("repository")
def test_a_branch_is_a_base() -> None:
    put("specs", variant=THREE)
    put("specs", "three")
    Path("specs/two.yaml").unlink()
    found = review("specs", "main")
    assert found.base == "main"
    assert fates(found) == {"one": "updated", "three": "new", "two": "removed"}
    assert [it.code for it in found.findings if it.code] == ["IS854", "IS870"]
    assert found.notes == ()


@pytest.mark.usefixtures("repository")
def test_every_name_of_a_commit_is_a_base(monkeypatch: pytest.MonkeyPatch) -> None:
    git("tag", "v1")
    commit()
    for base in ("v1", "HEAD^", "main~1"):
        assert set(fates(review("specs", base)).values()) == {"unchanged"}
    monkeypatch.chdir("specs")
    assert set(fates(review(".", "v1")).values()) == {"unchanged"}
    assert fates(review("one.yaml", "v1")) == {"one": "unchanged"}
    assert fates(review(Path("one.yaml").absolute(), "v1")) == {"one": "unchanged"}


@pytest.mark.usefixtures("repository")
def test_a_single_spec_says_nothing_about_others() -> None:
    Path("specs/two.yaml").unlink()
    assert fates(review("specs/one.yaml", "main")) == {"one": "unchanged"}


@pytest.mark.usefixtures("repository")
def test_a_renamed_file_is_the_same_endpoint() -> None:
    Path("specs/one.yaml").rename("specs/uno.yaml")
    assert fates(review("specs", "main")) == {"two": "unchanged", "one": "unchanged"}


@pytest.mark.usefixtures("repository")
def test_a_renamed_endpoint_is_replaced() -> None:
    put("specs", endpoint_name="uno")
    found = review("specs", "main")
    assert fates(found) == {"uno": "replaced", "two": "unchanged"}
    assert [it.effect for it in found.findings if it.code] == ["replaced"]


def test_files_of_models_are_those_of_the_commit() -> None:
    git("init", "--quiet", "-b", "main")
    shutil.copytree(GREETING, "greeting")
    commit()
    shutil.rmtree("greeting")
    with _checked_out("HEAD", Path.cwd()) as folder:
        assert (folder / "greeting/model/model.py").is_file()
        assert not (folder / ".git").exists()


@pytest.mark.usefixtures("repository")
def test_a_link_that_leads_out_of_the_repository_is_left_out() -> None:
    Path("out").symlink_to("/etc")
    Path("specs/up.yaml").symlink_to("../../../up.yaml")
    Path("specs/uno.yaml").symlink_to("two.yaml")
    commit()
    with _checked_out("HEAD", Path.cwd()) as folder:
        assert not (folder / "out").is_symlink()
        assert not (folder / "specs/up.yaml").is_symlink()
        assert (folder / "specs/uno.yaml").is_file()


@pytest.mark.usefixtures("repository")
def test_nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = sorted(it.as_posix() for it in Path(".git").rglob("*"))
    review("specs", "main")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert sorted(it.as_posix() for it in Path(".git").rglob("*")) == before


@pytest.mark.parametrize("base", ["nowhere", "--help", "main:specs", "HEAD~9", "\x1b[31m"])
@pytest.mark.usefixtures("repository")
def test_what_is_no_revision_is_refused(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "specs", f"--base={base}"]) == 1
    said = capsys.readouterr().err
    assert "IS895: this is neither a path nor a git revision that is known here; name a template, " in said
    assert "\x1b" not in said


def test_without_a_repository_a_revision_is_refused() -> None:
    put("specs")
    with pytest.raises(SpecError, match="IS895"):
        review("specs", "main")


def test_without_git_a_revision_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    put("specs")
    with pytest.raises(SpecError, match="git cannot be run"):
        review("specs", "main")


@pytest.mark.usefixtures("repository")
def test_specs_outside_of_the_repository_have_no_base(tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    put(str(elsewhere), "three")
    assert fates(review(elsewhere, "main")) == {"three": "new"}


# ---------------------------------------------------------------- folders and templates


def test_a_folder_of_specs_stands_for_the_one_under_review() -> None:
    put("specs", variant=THREE)
    put("before/model_specs")
    found = review("specs", "before/model_specs")
    assert fates(found) == {"one": "updated"}
    assert found.endpoints[0].compared_with == "before/model_specs:specs/one.yaml"


def test_only_a_template_of_what_is_gone_can_be_removed() -> None:
    put("before")
    put("specs")
    assert main(["render", "specs", "--out", "templates"]) == 0
    Path("specs/one.yaml").unlink()
    put("specs", "two")
    fixes = [it.fix for base in ("before", "templates") for it in review("specs", base).findings if it.code]
    delete = "delete its stack: `aws cloudformation delete-stack --stack-name one --region us-east-1`"
    assert fixes == [delete, f"{delete}; if that is done, remove this template"]


def test_stages_are_compared_with_their_own() -> None:
    put("specs", **STAGED, variant=THREE)
    put("before", **STAGED)
    found = review("specs", "before")
    assert fates(found) == {"one-test": "updated", "one-prod": "unchanged"}
    assert fates(review("specs", "before", stage="prod")) == {"one-prod": "unchanged"}
    assert [it.stage for it in found.totals] == ["test", "prod", None]


def test_stages_with_one_name_are_compared_with_their_own() -> None:
    stages = {"prod": {"env": {"account": "111122223333"}, "variant": THREE}}
    put("specs", stages=stages, env={"account": "444455556666"})
    put("before", stages=stages, env={"account": "444455556666"}, variant={"initial_instance_count": 1})
    found = review("specs", "before")
    assert fates(found) == {"one-444455556666": "updated", "one-111122223333": "unchanged"}


def test_a_folder_of_templates_is_a_base() -> None:
    put("specs")
    assert main(["render", "specs", "--out", "templates"]) == 0
    put("specs", variant=THREE)
    assert fates(review("specs", "templates")) == {"one": "updated"}
    assert fates(review("specs", "templates/one.template.json")) == {"one": "updated"}


def test_a_template_of_several_stages_belongs_to_none_for_certain() -> None:
    stages = {name: {"env": {"account": "111122223333"}} for name in ("test", "prod")}
    uses = {"description": "${stage}"}
    put("specs", stages=stages, **uses)
    assert main(["render", "specs", "--stage", "test", "--out", "templates"]) == 0
    found = review("specs", "templates")
    assert set(fates(found).values()) == {"not compared"}
    assert [it.code for it in found.findings if it.effect == "invalid"][-1] == "IS852"
    assert set(fates(review("specs", "templates", stage="test")).values()) == {"unchanged"}


def test_a_template_of_another_kind_of_stack_is_not_compared_with() -> None:
    put("specs")
    endpoint = {"Type": "AWS::SageMaker::Endpoint", "Properties": {"EndpointName": "one"}}
    Path("other.json").write_text(json.dumps({"Resources": {"Mine": endpoint}}))
    found = review("specs", "other.json")
    assert fates(found) == {"one": "not compared"}
    assert [it.code for it in found.findings if it.effect == "invalid"] == ["IS853"]
    Path("other.json").write_text("{")
    with pytest.raises(SpecError, match="IS850"):
        review("specs", "other.json")


def test_specs_of_the_base_with_errors_are_not_compared_with() -> None:
    put("specs")
    put("specs", "two")
    put("before", variant={"instance_typ": "ml.m5.large"})
    found = review("specs", "before")
    # What had errors may have been deployed before; only of the other one is it known that it is new.
    assert fates(found) == {"one": "not compared", "two": "new"}
    said = text(found)
    assert said.startswith("2 endpoints against `before`: 1 new, 1 not compared\n")
    assert "\none       not compared  2 ml.g5.12xlarge\n" in said
    assert "| `one` | not compared | 2 ml.g5.12xlarge |" in markdown(found)
    assert as_html(found).count('<span class="tag not-compared">not compared</span>') == 3
    assert found.notes == ("before: specs/one.yaml has errors, such as IS101: not compared",)


# ---------------------------------------------------------------- the base's own version


def program(text: str) -> str:
    """A program that renders as this version does, and then changes what it has written."""
    path = Path("old-inferstack")
    path.write_text(
        f"#!{sys.executable}\n"
        "import json, sys\nfrom pathlib import Path\nfrom inferstack.cli import main\n"
        "status = main(sys.argv[1:])\n"
        "for file in Path(sys.argv[sys.argv.index('--out') + 1]).iterdir():\n"
        "    template = json.loads(file.read_text())\n"
        "    resources = template['Resources']\n"
        f"    {text}\n"
        "    file.write_text(json.dumps(template))\n"
        "sys.exit(status)\n"
    )
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))


@pytest.mark.usefixtures("repository", "_importable")
def test_what_a_new_version_changes_is_told_apart_from_the_spec() -> None:
    # The old version named another image; the spec now has more instances.
    old = program("resources['Model']['Properties']['PrimaryContainer']['Image'] = 'old'")
    put("specs", variant=THREE)
    found = review("specs", "main", base_program=old)
    assert fates(found) == {"one": "updated", "two": "updated"}
    causes = {it.key: {one.logical_id: one.by for one in it.changes} for it in found.endpoints}
    assert causes["two"] == {"Model": "library", "EndpointConfig": "library", "Endpoint": "library"}
    assert causes["one"] == {"Model": "library", "EndpointConfig": "both", "Endpoint": "both"}
    told = {it.endpoints[0]: it.message for it in found.findings if it.effect == "library-changed"}
    assert told == {
        "two": "another version of inferstack replaces `Model` and `EndpointConfig`; updates `Endpoint`, "
        "whatever the spec says",
        "one": "another version of inferstack replaces `Model`, whatever the spec says",
    }


@pytest.mark.usefixtures("repository", "_importable")
def test_the_same_version_changes_nothing() -> None:
    found = review("specs", "main", base_program=program("pass"))
    assert set(fates(found).values()) == {"unchanged"}
    assert found.notes == ()


@pytest.mark.usefixtures("repository", "_importable")
def test_a_program_that_fails_is_told_of_and_this_version_renders() -> None:
    found = review("specs", "main", base_program=program("raise SystemExit('old and tired')"))
    assert set(fates(found).values()) == {"unchanged"}
    assert found.notes == ("main: its own version could not render it: old and tired",)


@pytest.mark.usefixtures("repository")
def test_a_program_that_makes_nothing_is_told_of() -> None:
    found = review("specs", "main", base_program="true")
    assert set(fates(found).values()) == {"unchanged"}
    assert found.notes == ("main: its own version made no template of specs/one.yaml and specs/two.yaml",)


@pytest.mark.usefixtures("repository")
def test_a_program_that_is_not_there_is_refused() -> None:
    with pytest.raises(SpecError, match="the program cannot be run: No such file"):
        review("specs", "main", base_program="./nowhere")


@pytest.mark.usefixtures("repository")
def test_other_requirements_are_told_of_where_nothing_renders_them() -> None:
    Path("requirements.txt").write_text("inferstack==2\n")
    [note] = review("specs", "main").notes
    assert note.startswith("main has another requirements.txt: what its version of inferstack makes ")
    commit()
    assert review("specs", "main").notes == ()
