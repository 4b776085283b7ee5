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

from inferstack.check.lock import differences, file
from inferstack.cli import main
from inferstack.cli.review.html import as_html
from inferstack.cli.review.markdown import markdown
from inferstack.cli.review.text import text
from inferstack.problems import SpecError
from inferstack.review import Review, review, revision
from inferstack.review.revision import LARGEST_READ, commit_of, files_of
from inferstack.source import other_files
from inferstack.source.spec_file import LARGEST_FILE
from inferstack.triton.folders import LARGEST_CONFIG

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


def git(*arguments: str, given: bytes = b"") -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.org", "-c", "commit.gpgsign=false")
    ran = subprocess.run(["git", *who, *arguments], check=True, capture_output=True, input=given)
    return ran.stdout.decode().strip()


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
@pytest.mark.parametrize("base", ["main", "before", "templates"])
def test_what_came_from_a_folder_that_is_gone_as_a_whole_stays(
    base: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree("specs", "before")
    assert main(["render", "specs", "--out", "templates"]) == 0
    shutil.rmtree("specs")
    found = review("specs", base)
    assert fates(found) == {"one": "removed", "two": "removed"}
    assert [(it.effect, it.severity, it.code) for it in found.findings] == [
        ("invalid", "error", "IS001"),
        ("removed", "warning", "IS854"),
    ]
    capsys.readouterr()
    assert main(["review", "specs", "--base", base, "--fail-on", "removed"]) == 1
    said = capsys.readouterr()
    assert "delete-stack --stack-name $stack " in said.out
    assert "not allowed here: removed: one and two: " in said.err


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("base", ["main", "before", "templates", "templates/two.template.json"])
def test_what_came_from_a_named_file_that_is_gone_stays(base: str) -> None:
    shutil.copytree("specs", "before")
    assert main(["render", "specs", "--out", "templates"]) == 0
    Path("specs/two.yaml").unlink()
    found = review("specs/two.yaml", base)
    assert fates(found) == {"two": "removed"}
    assert [it.code for it in found.findings if it.code] == ["IS001", "IS854"]
    if not base.endswith(".json"):
        assert fates(review(["specs/one.yaml", "specs/two.yaml"], base)) == {
            "one": "unchanged",
            "two": "removed",
        }


@pytest.mark.usefixtures("repository")
def test_a_path_that_never_was_takes_nothing_away() -> None:
    for path in ("spec", "specs/three.yaml"):
        found = review(path, "main")
        assert (fates(found), [it.code for it in found.findings]) == ({}, ["IS001"])


@pytest.mark.usefixtures("repository")
def test_a_link_that_leads_nowhere_is_not_gone() -> None:
    shutil.rmtree("specs")
    Path("specs").symlink_to("elsewhere")
    assert fates(review("specs", "main")) == {}


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
    with files_of(commit_of("HEAD")) as folder:
        assert (folder / "greeting/model/model.py").is_file()
        assert not (folder / ".git").exists()


@pytest.mark.usefixtures("repository")
def test_a_link_that_leads_out_of_the_repository_is_left_out() -> None:
    for link, target in (
        ("out", "/etc"),
        ("specs/up.yaml", "../../../up.yaml"),
        ("specs/by-another.yaml", "../inside/../../up.yaml"),
        ("inside", "specs"),
        ("round", "round"),
        ("specs/uno.yaml", "two.yaml"),
    ):
        Path(link).symlink_to(target)
    commit()
    with files_of(commit_of("HEAD")) as folder:
        links = {it.relative_to(folder).as_posix() for it in folder.rglob("*") if it.is_symlink()}
        assert links == {"inside", "specs/uno.yaml"}
        assert (folder / "inside/uno.yaml").is_file()


@pytest.mark.usefixtures("repository")
def test_a_folder_of_specs_that_becomes_a_link_is_compared_with_what_it_was(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    Path("specs").rename("moved")
    Path("specs").symlink_to("moved")
    put("moved", variant=THREE)
    Path("moved/two.yaml").unlink()
    wanted = {"one": "updated", "two": "removed"}
    for path in ("specs", "moved/../specs", Path("specs").absolute()):
        assert fates(review(path, "main")) == wanted
    beside = tmp_path_factory.mktemp("beside") / "link"
    beside.symlink_to(Path.cwd())
    assert fates(review(beside / "specs", "main"))["one"] == "updated"
    # There were none at the other path.
    assert fates(review("moved", "main")) == {"one": "new"}


@pytest.mark.parametrize(
    "attribute",
    ["export-ignore", "export-subst", "text eol=crlf", "filter=loud", "working-tree-encoding=UTF-16LE"],
)
def test_no_attribute_changes_what_is_compared_with(attribute: str) -> None:
    git("init", "--quiet", "-b", "main")
    git("config", "filter.loud.smudge", "tr a-z A-Z")
    text = b"# $Format:%H$ $Id$\nname\n"
    Path("name.txt").write_bytes(text)
    put("specs")
    put("specs", "two")
    commit()
    # Whoever has the attributes later: those of the commit, and those of the work tree.
    Path(".gitattributes").write_text(f"* {attribute}\n")
    (blob,) = (git("hash-object", "-w", "--no-filters", it) for it in (".gitattributes",))
    git("update-index", "--add", "--cacheinfo", f"100644,{blob},.gitattributes")
    git("commit", "--quiet", "-m", "attributes")
    with files_of(commit_of("HEAD")) as folder:
        assert (folder / "name.txt").read_bytes() == text
    Path("specs/two.yaml").unlink()
    put("specs", variant=THREE)
    assert fates(review("specs", "main")) == {"one": "updated", "two": "removed"}


@pytest.mark.usefixtures("repository")
def test_a_large_file_has_its_size_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in {"exact.bin": 3000, "large.bin": 3001, "large.json": 3001}.items():
        Path(name).write_bytes(b"x" * size)
    commit()
    monkeypatch.setattr(revision, "LARGEST_READ", 3000)
    with files_of(commit_of("HEAD")) as folder:
        content = {it.name: it.read_bytes() for it in folder.iterdir() if it.is_file()}
    assert content == {"exact.bin": b"x" * 3000, "large.bin": b"\0" * 3001, "large.json": b"\0" * 3001}


def test_whatever_a_check_reads_of_a_file_is_not_large() -> None:
    read = (LARGEST_FILE, LARGEST_CONFIG, differences.LARGEST_READ, file.LARGEST, other_files.MOST_BYTES)
    assert max(read) <= LARGEST_READ


@pytest.mark.usefixtures("repository")
def test_a_tree_made_by_hand_is_written_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    blob = git("hash-object", "-w", "--stdin", given=b"evil")
    link = git("hash-object", "-w", "--stdin", given=b"..")
    empty = git("hash-object", "-w", "--stdin")

    def tree(*entries: tuple[str, str, str]) -> str:
        content = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(it) for mode, name, it in entries)
        return git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=content)

    evil = tree(("100644", "evil", blob))
    top = tree(
        ("40000", "..", evil),
        ("40000", ".", evil),
        ("40000", ".GIT", evil),
        ("100644", "../evil", blob),
        ("100644", f"{tmp_path}/evil", blob),
        ("100644", "a" * 300, blob),
        ("120000", "b", link),
        ("40000", "b", evil),
        ("120000", "c", link),
        ("40000", "c", tree(("120000", "evil", link))),
        ("100644", "d", blob),
        ("40000", "d", tree(("40000", "d", evil))),
        ("120000", "e", git("hash-object", "-w", "--stdin", given=b"b")),
        ("40000", "e", tree(("100644", "other", blob))),
        ("120000", "nothing", empty),
        ("160000", "submodule", git("rev-parse", "HEAD")),
        ("100644", "good", blob),
    )
    made = git("commit-tree", top, "-m", "x")
    with files_of(commit_of(made)) as folder:
        there = {it.as_posix().removeprefix(folder.as_posix())[1:] for it in folder.parent.rglob("*")}
    assert there == {"", "b", "b/evil", "c", "c/evil", "d", "e", "e/other", "good"}
    assert not (tmp_path / "evil").exists()
    assert review("specs", made).base == made


@pytest.mark.usefixtures("repository")
def test_what_the_repository_lacks_is_refused() -> None:
    blob = git("rev-parse", "HEAD:specs/two.yaml")
    Path(".git/objects", blob[:2], blob[2:]).unlink()
    with pytest.raises(SpecError, match=f"git cannot read this revision: {blob} missing"):
        review("specs", "main")
    tree = git("rev-parse", "HEAD:specs")
    Path(".git/objects", tree[:2], tree[2:]).unlink()
    with pytest.raises(SpecError, match=f"git cannot read this revision: error: Could not read {tree}"):
        review("specs", "main")


@pytest.mark.usefixtures("repository")
def test_in_a_revision_without_files_there_was_nothing() -> None:
    Path("requirements.txt").write_text("inferstack==2\n")
    for rest in ("", "other"):
        blob = git("hash-object", "-w", "--stdin")
        files = f"100644 blob {blob}\t{rest}\n" if rest else ""
        made = git("commit-tree", git("mktree", given=files.encode()), "-m", "x")
        found = review("specs", made)
        assert fates(found) == {"one": "new", "two": "new"}
        assert found.notes == (() if rest else (f"{made} has no files, so every endpoint is new",))


@pytest.mark.usefixtures("repository")
def test_nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = sorted(it.as_posix() for it in Path(".git").rglob("*"))
    review("specs", "main")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert sorted(it.as_posix() for it in Path(".git").rglob("*")) == before


# ---------------------------------------------------------------- a path or a revision


@pytest.mark.usefixtures("repository")
def test_what_may_be_a_path_or_a_revision_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    put("specs", variant=THREE)
    commit()
    # Compared with themselves, the specs would be unchanged.
    for name in ("HEAD^", git("rev-parse", "HEAD^"), "main~1"):
        shutil.copytree("specs", name)
        assert main(["review", "specs", "--base", name]) == 1
        said = capsys.readouterr().err
        assert "IS895: this is both a path and a revision of git; " in said
        assert f"write `./{name}` for the path, or `git:{name}` for the revision" in said
        assert fates(review("specs", f"./{name}"))["one"] == "unchanged"
        assert fates(review("specs", Path(name)))["one"] == "unchanged"
        found = review("specs", f"git:{name}")
        assert fates(found)["one"] == "updated"
        assert (found.base, found.base_commit) == (name, git("rev-parse", "main~1"))
        assert found.endpoints[0].compared_with == f"{name}:specs/one.yaml"


@pytest.mark.usefixtures("repository")
def test_only_a_revision_has_a_commit() -> None:
    assert review("specs", "main").base_commit == git("rev-parse", "main")
    put("before")
    assert review("specs", "before").base_commit is None
    shutil.copytree("specs", "git:main")
    put("specs", variant=THREE)
    assert fates(review("specs", "git:main"))["one"] == "updated"
    assert fates(review("specs", Path("git:main")))["one"] == "updated"
    put("git:main", variant=THREE)
    assert fates(review("specs", "git:main"))["one"] == "updated"
    assert fates(review("specs", "./git:main"))["one"] == "unchanged"


@pytest.mark.usefixtures("repository")
def test_a_file_of_the_index_is_no_commit() -> None:
    git("update-index", "--add", "--cacheinfo", f"160000,{git('rev-parse', 'HEAD')},x^{{commit}}")
    Path("y^{commit}").write_text("y")
    git("add", "y^{commit}")
    for base in (":x", ":y", "git::y"):
        with pytest.raises(SpecError, match="git knows no such revision here"):
            review("specs", base)


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ("nowhere", "; name a "),
        ("--all", "; name a "),
        (
            "main:specs",
            ": error: TREE^{commit}: expected commit type, but the object dereferences to tree type; name a ",
        ),
        ("HEAD~9", "; name a "),
        ("main:\x1b[31m", "; did you mean `main`?"),
        ("mian", "; did you mean `main`?"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_what_is_no_revision_is_refused(base: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = words.replace("TREE", git("rev-parse", "main:specs"))
    for given, start in ((base, "there is no such path, and "), (f"git:{base}", "")):
        assert main(["review", "specs", f"--base={given}"]) == 1
        said = capsys.readouterr().err
        assert f": IS895: {start}git knows no such revision here{words}" in said
        assert "\x1b" not in said


@pytest.mark.usefixtures("repository")
def test_after_git_there_must_be_a_revision(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "specs", "--base", "git:"]) == 1
    said = capsys.readouterr().err
    assert said == "git::1:1: IS895: no revision follows; name a commit, branch or tag, as in `git:main`\n"


@pytest.mark.usefixtures("repository")
def test_why_git_refuses_a_repository_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    # As git has it for a repository of another user; that is real git, in another language, too.
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("LANGUAGE", "de")
    words = "git reads no repository here: fatal: detected dubious ownership in repository at '/.*'; run `git"
    for base in ("main", "git:main"):
        with pytest.raises(SpecError, match=words):
            review("specs", base)
    put("before")
    assert fates(review("specs", "before"))["one"] == "unchanged"


def test_without_a_repository_a_revision_is_refused() -> None:
    put("specs")
    for base in ("main", "git:main"):
        with pytest.raises(SpecError, match=r"IS895: .*fatal: not a git repository"):
            review("specs", base)


@pytest.mark.usefixtures("repository")
def test_a_text_that_no_program_can_be_given_is_refused() -> None:
    with pytest.raises(SpecError, match="IS895: there is no such path, and git cannot be run: embedded null"):
        review("specs", "\0")


def test_without_git_a_revision_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    put("specs")
    with pytest.raises(SpecError, match="there is no such path, and git cannot be run: No such file"):
        review("specs", "main")
    put("before")
    assert fates(review("specs", "before")) == {"one": "unchanged"}


def test_what_is_neither_a_file_nor_a_folder_is_refused() -> None:
    put("specs")
    os.mkfifo("pipe")
    with pytest.raises(SpecError, match="IS895: this is neither a file nor a folder"):
        review("specs", "pipe")


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
    assert found.endpoints[0].compared_with == "before/model_specs/one.yaml"


def test_only_a_template_of_what_is_gone_can_be_removed() -> None:
    put("before")
    put("specs")
    assert main(["render", "specs", "--out", "templates"]) == 0
    Path("specs/one.yaml").unlink()
    put("specs", "two")
    fixes = [it.fix for base in ("before", "templates") for it in review("specs", base).findings if it.code]
    delete = "delete its stack: `aws cloudformation delete-stack --stack-name one --region us-east-1`"
    assert fixes == [delete, f"{delete}; if that is done, remove this template"]


def test_a_removed_spec_is_called_what_it_is_called_in_the_base() -> None:
    put("before")
    put("specs", "two")
    [it] = [it for it in review("specs", "./before").findings if it.code == "IS854"]
    assert it.place.file == "before/one.yaml"
    assert "(before/one.yaml did)" in it.message


def test_removed_specs_are_one_finding_with_a_command_for_each_region() -> None:
    for name in ("a", "b", "c"):
        put("before", name)
    image = "111122223333.dkr.ecr.eu-west-1.amazonaws.com/net:1"
    put("before", "d", env={"region": "eu-west-1"}, model={"image": image})
    put("specs", "two")
    [it] = [it for it in review("specs", "before").findings if it.effect == "removed"]
    assert it.endpoints == ("a", "b", "c", "d")
    assert it.message == (
        "no spec makes the endpoints `a`, `b`, `c` and `d` any more: those that were deployed stay and cost money"
    )
    delete = "aws cloudformation delete-stack --stack-name"
    assert it.fix == (
        f"delete their stacks: `for stack in a b c; do {delete} $stack --region us-east-1; done` and "
        f"`{delete} d --region eu-west-1`"
    )
    assert [one.file for one in (it.place, *it.also)] == [f"before/{name}.yaml" for name in "abcd"]


def test_all_removed_specs_are_named_however_many() -> None:
    for number in range(30):
        put("before", f"one-{number}")
    put("specs", "two")
    [it] = [it for it in review("specs", "before").findings if it.effect == "removed"]
    for number in range(30):
        assert f"`one-{number}`" in it.message
        assert f" one-{number}" in it.fix


def test_a_name_of_a_template_is_no_command_of_a_shell() -> None:
    """A template may come from anywhere."""
    put("specs")
    assert main(["render", "specs", "--out", "templates"]) == 0
    file = Path("templates/one.template.json")
    file.write_text(
        file.read_text("utf-8").replace('"EndpointName": "one"', '"EndpointName": "one; reboot"'), "utf-8"
    )
    Path("specs/one.yaml").unlink()
    put("specs", "two")
    [it] = [it for it in review("specs", "templates").findings if it.effect == "removed"]
    assert "--stack-name 'one; reboot' " in it.fix


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
    found = review("specs", "./before")
    # What had errors may have been deployed before; only of the other one is it known that it is new.
    assert fates(found) == {"one": "not compared", "two": "new"}
    said = text(found)
    assert said.startswith("2 endpoints against `before`: 1 new, 1 not compared; 1 warning\n")
    assert "\none       not compared  2 ml.g5.12xlarge\n" in said
    assert "| `one` | not compared | 2 ml.g5.12xlarge |" in markdown(found)
    assert as_html(found).count('<span class="tag not-compared">not compared</span>') == 3
    assert found.notes == ()
    assert not found.failed
    [wrong] = [it for it in found.findings if it.effect == "invalid"]
    assert (wrong.severity, wrong.endpoints, wrong.place.file) == ("warning", ("one",), "before/one.yaml")
    assert wrong.place.line == 1 + Path("before/one.yaml").read_text("utf-8").split("instance_typ:")[0].count(
        "\n"
    )
    assert wrong.message.startswith("before/one.yaml has errors, such as IS101 (")
    assert wrong.message.endswith("): it is not compared, and all rights and costs are judged as new")


@pytest.mark.usefixtures("repository")
def test_what_a_spec_with_errors_made_is_not_known_if_it_is_gone() -> None:
    Path("specs/one.yaml").write_text("kind: [")
    commit()
    Path("specs/one.yaml").unlink()
    [wrong] = review("specs", "main").findings
    assert (wrong.effect, wrong.severity, wrong.endpoints) == ("invalid", "warning", ())
    assert wrong.place.file == "main:specs/one.yaml"
    assert wrong.message.startswith("main:specs/one.yaml has errors, such as IS")
    assert wrong.message.endswith("): what it made is not known")
    assert "/tmp" not in wrong.message


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
