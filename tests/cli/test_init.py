"""`inferstack init` as a user meets it: what it asks, what it leaves alone, and what it does if it cannot write."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from support.program import ENDED, PROGRAM, SOURCE_ROOT, Run, without_rights

from inferstack.cli import main
from inferstack.project.answers import Answers
from inferstack.project.files import files_of
from inferstack.project.state import RECORD, digest

HERE = ("--kind", "single-model", "--region", "us-east-1", "--ci", "none")


def made(folder: Path) -> dict[str, str]:
    """All files below a folder."""
    return {
        it.relative_to(folder).as_posix(): it.read_text("utf-8") for it in folder.rglob("*") if it.is_file()
    }


def project(folder: Path, *more: str) -> None:
    assert main(["init", str(folder), *HERE, *more]) == 0


# ---------------------------------------------------------------- a new project


@pytest.mark.parametrize("name", ["models", "my models", "a/b/c", "ümläut", "."])
def test_it_is_written_where_one_says(name: str, folder: Path, called: Run) -> None:
    done = called("init", name, *HERE)
    assert (done.returncode, done.stderr.count("\n")) == (0, 2)
    wanted = files_of(Answers("single-model", "us-east-1", "none"))
    written = made(folder / name)
    assert written.keys() - wanted.keys() == {RECORD}
    assert {**wanted, RECORD: written[RECORD]} == written
    assert [Path(line) for line in done.stdout.splitlines()] == [Path(name) / path for path in wanted]


def test_what_it_says_to_do_next_works(folder: Path, called: Run) -> None:
    said = called("init", "my models", *HERE).stderr.splitlines()
    assert said[-1] == "next: cd 'my models' && inferstack validate && npm ci && npx cdk synth --quiet"
    assert "\nnext: cd b && " in called("init", "b", *HERE[:2], "--yes").stderr
    done = called("validate", "my models/model_specs")
    assert (done.returncode, done.stderr) == (0, "1 spec: no problems\n")


def test_a_folder_is_no_option(folder: Path, called: Run) -> None:
    said = called("init", *HERE, "--", "-rf").stderr.splitlines()[-1]
    assert said.startswith("next: cd ./-rf && ")
    command = said.removeprefix("next: ").partition(" && ")[0]
    subprocess.run(["bash", "-c", command], check=True)
    outdate(Path("-rf"), "app.py", "print()\n")
    assert "`inferstack init ./-rf --update`" in called("init", "./-rf").stderr


def test_what_nobody_answered_is_said(folder: Path, called: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    start = "yours to replace: "
    said = called("init", "a", *HERE).stderr.splitlines()
    assert said[:-1] == [f"{start}acme-models (--bucket), in 1 file"]
    mine = ("--account", "222233334444", "--bucket", "b-b")
    said = called("init", "b", *HERE[:-1], "github", *mine).stderr.splitlines()
    assert said[0] == f"{start}acme@1234567/models@123456789 (--repository), in 1 file"
    of_ci = "yours to replace: in requirements.txt, for CI, where inferstack comes from"
    assert (of_ci in said) == ("file://" in Path("b/requirements.txt").read_text("utf-8"))


def test_what_only_the_user_knows_is_said_by_options_and_kept(folder: Path, called: Run) -> None:
    mine = ("--name", "fraud", "--account", "222233334444", "--bucket", "b-b", "--repository", "us/it")
    assert called("init", *HERE, *mine).returncode == 0
    assert "endpoint_name: fraud-${stage}\n" in Path("model_specs/fraud.yaml").read_text("utf-8")
    assert "s3://b-b/fraud/model.tar.gz" in Path("model_specs/fraud.yaml").read_text("utf-8")
    assert called("init", "--ci", "github", "--update").returncode == 0
    assert "repo:us/it:environment:prod" in Path("ci/iam/trust-github.json").read_text("utf-8")
    assert "arn:aws:iam::222233334444:role" in Path("ci/iam/pipeline-policy.json").read_text("utf-8")
    assert [it.name for it in Path("model_specs").iterdir()] == ["fraud.yaml"]
    done = called("init", "--account", "333344445555")
    assert "ci/iam/pipeline-policy.json: outdated, and not changed by you\n" in done.stdout
    assert "`inferstack init --account 333344445555 --update`" in done.stderr


def test_a_link_in_the_place_of_a_folder_is_refused(folder: Path, called: Run) -> None:
    Path("elsewhere").mkdir()
    Path("models").mkdir()
    Path("models/tests").symlink_to("../elsewhere")
    done = called("init", "models", *HERE)
    assert done.returncode == 1
    assert done.stderr == (
        "inferstack: models/tests: cannot be written: this is a link, and what is written there would land elsewhere; "
        "put a folder in its place; nothing was written\n"
    )
    assert [*Path("elsewhere").iterdir()] == []


def test_what_others_have_there_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "README.md").write_text("# Ours\n", "utf-8")
    (folder / "LICENSE").write_text("ours\n", "utf-8")
    (folder / "app.py").symlink_to("nowhere.py")
    (folder / "cdk.json").mkdir()
    project(folder)
    said = capsys.readouterr()
    for name in ("README.md", "app.py", "cdk.json"):
        assert f"{name}: yours: left as it is\n" in said.err
        assert f"{folder / name}\n" not in said.out
    assert (folder / "README.md").read_text("utf-8") == "# Ours\n"
    assert (folder / "app.py").is_symlink()
    project(folder, "--update")
    assert (folder / "README.md").read_text("utf-8") == "# Ours\n"


def test_a_region_without_the_image_is_told(folder: Path, called: Run) -> None:
    done = called("init", "--yes", "--region", "mx-central-1")
    assert done.returncode == 1
    assert "model_specs/churn.yaml:7:3: IS701: xgboost 1.7-1 is not published in mx-central-1" in done.stderr
    assert Path("model_specs/churn.yaml").is_file()


def test_the_usual_region_is_that_of_the_aws_cli(folder: Path, called: Run) -> None:
    called("init", "--yes", AWS_REGION="", AWS_DEFAULT_REGION="eu-west-3")
    assert json.loads((folder / RECORD).read_text("utf-8"))["answers"]["region"] == "eu-west-3"


# ---------------------------------------------------------------- all files or none


def test_a_file_in_the_way_leaves_nothing_behind(folder: Path, called: Run) -> None:
    Path("models").mkdir()
    Path("models/tests").write_text("ours\n", "utf-8")
    done = called("init", "models", *HERE)
    assert done.returncode == 1
    assert done.stderr == "inferstack: models/tests: cannot be written: File exists; nothing was written\n"
    assert made(folder) == {"models/tests": "ours\n"}
    assert sorted(Path("models").iterdir()) == [Path("models/tests")]


def test_a_file_is_no_folder(folder: Path, called: Run) -> None:
    Path("a").touch()
    done = called("init", "a", *HERE)
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        done.stderr
        == "inferstack: a: this is not a folder; name a folder, or leave it out for the current one\n"
    )


def refused(folder: Path, mode: int) -> subprocess.CompletedProcess[str]:
    """What `init` says of a folder with these permissions."""
    folder.mkdir(mode=mode)
    return without_rights(folder, "W_OK", "init", str(folder), *HERE)


def test_a_folder_that_may_not_be_written_stays_empty(folder: Path) -> None:
    done = refused(Path("a"), 0o555)
    assert done.returncode == 1
    assert (
        done.stderr == "inferstack: a/.gitignore: cannot be written: Permission denied; nothing was written\n"
    )
    assert list(Path("a").iterdir()) == []


def test_a_folder_that_may_not_be_read_is_told(folder: Path) -> None:
    done = refused(Path("a"), 0)
    Path("a").chmod(0o755)
    assert (done.returncode, done.stderr.endswith("Permission denied; check the permissions\n")) == (1, True)


def test_a_full_disk_leaves_nothing_behind(folder: Path, run: Run) -> None:
    fails = """
import errno, pathlib
whole = pathlib.Path.write_text
def write_text(path, *args, **options):
    if "test_stacks" in path.name:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))
    return whole(path, *args, **options)
pathlib.Path.write_text = write_text
"""
    done = run("init", "a/b", *HERE, program=fails + PROGRAM)
    said = "inferstack: a/b/tests/test_stacks.py: cannot be written: No space left on device; nothing was written\n"
    assert (done.returncode, done.stderr) == (1, said)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("ending", [2, 15])
def test_an_interruption_leaves_nothing_behind(ending: int, folder: Path, run: Run) -> None:
    done = run("init", "a", *HERE, program=ENDED.format(ending=ending))
    assert done.returncode == 130
    assert list(folder.iterdir()) == []


def test_an_update_that_fails_puts_everything_back(folder: Path, run: Run) -> None:
    project(folder)
    outdate(folder, "app.py", "print()\n")
    outdate(folder, "cdk.json", "{}\n")
    before = made(folder)
    fails = """
import errno, pathlib
whole = pathlib.Path.replace
def replace(path, target):
    if target.name == "cdk.json":
        raise OSError(errno.EIO, "Input/output error", str(target))
    return whole(path, target)
pathlib.Path.replace = replace
"""
    done = run("init", "--update", program=fails + PROGRAM)
    assert (done.returncode, done.stderr.count("nothing was written")) == (1, 1)
    assert made(folder) == before


# ---------------------------------------------------------------- a project that exists


def outdate(folder: Path, path: str, text: str) -> None:
    """A file as an earlier version has written it."""
    (folder / path).write_text(text, "utf-8")
    record = json.loads((folder / RECORD).read_text("utf-8"))
    record["files"][path] = digest(text.encode())
    (folder / RECORD).write_text(json.dumps(record), "utf-8")


def test_a_second_run_writes_nothing(folder: Path, called: Run) -> None:
    project(folder)
    before = made(folder)
    done = called("init")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "up to date: there is nothing to write\n"
    assert made(folder) == before


def test_a_second_run_says_what_differs_and_how_to_update(folder: Path, called: Run) -> None:
    project(folder)
    outdate(folder, "app.py", "print()\n")
    outdate(folder, "cdk.json", "{}\n")
    (folder / "cdk.json").write_text('{"app": "mine"}\n', "utf-8")
    (folder / "README.md").write_text("# Ours\n", "utf-8")
    (folder / ".vscode/settings.json").unlink()
    before = made(folder)
    done = called("init")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        ".vscode/settings.json: removed by you: left out",
        "README.md: yours: left as it is",
        "app.py: outdated, and not changed by you",
        "cdk.json: yours, and init would write something new",
    ]
    assert done.stderr == "1 file to write: `inferstack init --update`; `--diff` shows them\n"
    assert made(folder) == before


def test_an_update_writes_only_what_the_user_has_not_changed(folder: Path, called: Run) -> None:
    project(folder)
    wanted = made(folder)
    outdate(folder, "app.py", "print()\n")
    (folder / "app.py").chmod(0o755)
    outdate(folder, "cdk.json", "{}\n")
    (folder / "cdk.json").write_text('{"app": "mine"}\n', "utf-8")
    (folder / "tests/test_stacks.py").unlink()
    done = called("init", "--update")
    assert (done.returncode, done.stdout) == (0, "app.py\n")
    assert (folder / "app.py").read_text("utf-8") == wanted["app.py"]
    assert (folder / "app.py").stat().st_mode & 0o777 == 0o755
    assert (folder / "cdk.json").read_text("utf-8") == '{"app": "mine"}\n'
    assert not (folder / "tests/test_stacks.py").exists()
    # It has been told of; from now on the file is simply the user's.
    assert "cdk.json: yours: left as it is\n" in called("init").stdout


def test_specs_and_versions_are_never_updated(folder: Path, called: Run) -> None:
    """An update of inferstack must not change what is deployed."""
    project(folder)
    for path in ("model_specs/churn.yaml", "requirements.txt"):
        outdate(folder, path, "old\n")
    assert called("init", "--update").stdout == ""
    assert (folder / "model_specs/churn.yaml").read_text("utf-8") == "old\n"
    (folder / "model_specs/churn.yaml").rename(folder / "model_specs/ours.yaml")
    done = called("init")
    assert (done.returncode, done.stdout) == (0, "")


def test_line_ends_of_windows_are_no_change(folder: Path, called: Run) -> None:
    project(folder)
    for path in ("README.md", "app.py"):
        content = (folder / path).read_bytes()
        (folder / path).write_bytes(content.replace(b"\n", b"\r\n"))
    assert called("init").stdout == ""


def test_another_ci_system_is_added_later(folder: Path, called: Run) -> None:
    project(folder)
    done = called("init", "--ci", "github")
    assert done.returncode == 1
    assert ".github/workflows/inferstack-review.yml: would be written\n" in done.stdout
    assert "`inferstack init --ci github --update`" in done.stderr
    assert called("init", "--ci", "github", "--update").returncode == 0
    assert called("init").stderr == "up to date: there is nothing to write\n"
    assert "ci/review.sh: no longer part of the project" in called("init", "--ci", "none").stdout


def test_the_difference_is_shown(folder: Path, called: Run) -> None:
    project(folder)
    (folder / "cdk.json").write_text('{\n  "app": "python3 app.py"\n}\n', "utf-8")
    done = called("init", "--diff")
    assert done.returncode == 0
    assert done.stdout.splitlines()[:3] == ["--- cdk.json", "+++ cdk.json", "@@ -1,3 +1,6 @@"]
    assert '+    "stage": "test"' in done.stdout


def test_another_schema_is_not_shown_line_by_line(folder: Path, called: Run) -> None:
    project(folder)
    outdate(folder, "inferstack.schema.json", "{}\n")
    assert (
        called("init", "--diff").stdout
        == "inferstack.schema.json differs: it is the schema of another version\n"
    )
    assert called("init", "--diff", "--update").returncode == 2


def test_a_terminal_is_shown_no_control_characters(folder: Path, called: Run) -> None:
    project(folder)
    (folder / "cdk.json").write_text("\x1b[31m\n", "utf-8")
    assert "\x1b" not in called("init", "--diff").stdout


@pytest.mark.parametrize(
    "record",
    [
        "",
        "[]",
        '{"answers": {"kind": "x"}}',
        '{"answers": {"kind": "../..", "region": "us-east-1", "ci": "none"}, "files": {}}',
        '{"answers": {"kind": "pipeline", "region": "us-east-1", "ci": "../.."}, "files": {}}',
        '{"answers": {"kind": "pipeline", "region": "x}, a: {b: c", "ci": "none"}, "files": {}}',
        '{"answers": {"kind": "pipeline", "region": "us-east-1", "ci": "none", "name": "../x"}, "files": {}}',
        '{"answers": {"kind": "pipeline", "region": "us-east-1", "ci": "none", "account": "1\\n2"}, "files": {}}',
        "<<<<<<< HEAD\n",
    ],
)
def test_a_record_that_cannot_be_read_stops_it(record: str, folder: Path, called: Run) -> None:
    project(folder)
    (folder / RECORD).write_text(record, "utf-8")
    done = called("init")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"inferstack: {RECORD}: this is not a record of init: ")


# ---------------------------------------------------------------- questions


def asked(*arguments: str, answers: str) -> tuple[int, str]:
    """Runs it on a terminal of 80 columns, on which somebody types."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "init", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "PYTHONPATH": str(SOURCE_ROOT), "AWS_REGION": "eu-west-1"},
        start_new_session=True,
    ) as process:
        os.close(theirs)
        os.write(ours, answers.encode())
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:
            # Linux says so once the other side is closed.
            pass
        os.close(ours)
        return process.wait(timeout=60), shown.decode()


def test_it_asks_three_questions(folder: Path) -> None:
    status, shown = asked(answers="3\n\ngitlab\n")
    assert status == 0, shown
    answers = json.loads((folder / RECORD).read_text("utf-8"))["answers"]
    assert answers == {"kind": "ensemble", "region": "eu-west-1", "ci": "gitlab"}
    assert shown.count("]: ") == 3
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_it_asks_for_the_rest_only(folder: Path) -> None:
    status, shown = asked("--kind", "pipeline", "--ci", "none", answers="\n")
    assert (status, shown.count("]: ")) == (0, 1)


def test_it_asks_again_if_there_is_no_such_answer(folder: Path) -> None:
    status, shown = asked(answers="9\nmultimodel\n2\neu-centrl-1\neu-central-1\nx\n4\n")
    assert status == 0, shown
    assert "there is no 9; " in shown
    assert "did you mean `multi-model`?" in shown
    assert "there is no region eu-centrl-1; did you mean `eu-central-1`?" in shown


def test_no_answer_writes_nothing(folder: Path) -> None:
    status, shown = asked(answers="\x04")
    assert (status, "no answer; nothing was written" in shown) == (1, True)
    assert list(folder.iterdir()) == []


def test_without_a_terminal_it_asks_nothing(folder: Path, run: Run) -> None:
    done = run("init", "--region", "us-east-1", shell='"$@" </dev/null')
    assert done.returncode == 2
    assert done.stderr.endswith(
        "there is no terminal to ask on: give --kind --ci, or --yes for the defaults\n"
    )
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--region", "eu-centrl-1"), "there is no region eu-centrl-1; did you mean `eu-central-1`?"),
        (("--kind", "mme"), "invalid choice: 'mme'"),
        (("--ci", "jenkins"), "invalid choice: 'jenkins'"),
        (
            ("--name", "../x"),
            "--name ../x: this is no name; write at most 58 letters, digits and inner hyphens",
        ),
        (("--name", ""), "--name '': this is no name; write "),
        (("--name", "a" * 59), "this is no name; write at most 58 letters"),
        (("--account", "1234"), "--account 1234: this is no account; write 12 digits, as in 111122223333"),
        (("--bucket", "s3://b"), "--bucket s3://b: this is no bucket; write 3 to 63 lower-case letters"),
        (("--repository", "acme"), "--repository acme: this is no repository; write OWNER/NAME"),
    ],
)
def test_a_wrong_option_is_wrong_usage(words: tuple[str, str], said: str, folder: Path, called: Run) -> None:
    done = called("init", "--yes", *words)
    assert (done.returncode, said in done.stderr) == (2, True)
    assert list(folder.iterdir()) == []
