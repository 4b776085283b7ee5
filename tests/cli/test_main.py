"""However the program ends, a user sees at most one line about it, and never a traceback."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.program import PROGRAM, SOURCE_ROOT, Run, Write

from inferstack.cli import arguments, main


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--version"])
    assert exit_.value.code == 0
    assert re.fullmatch(r"inferstack \d[\w.+]*\n", capsys.readouterr().out)


def test_a_command_that_is_none_is_answered_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["valdate", "--strict"])
    assert exit_.value.code == 2
    said = "unknown command 'valdate'; did you mean `validate`? allowed: validate and "
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "instead"),
    [
        ("plan", "did you mean `review`?"),
        ("synth", "did you mean `render`?"),
        ("check", "did you mean `validate`?"),
        ("up", "`npx cdk deploy STACK`"),
        ("destroy", "`npx cdk destroy STACK`"),
    ],
)
def test_commands_of_other_tools_lead_to_what_does_it(
    word: str, instead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([word])
    assert exit_.value.code == 2
    assert f"unknown command '{word}'; {instead}" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["help", "version"])
def test_an_option_without_its_hyphens_is_known(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([word])
    assert exit_.value.code == 2
    assert f"unknown command '{word}'; did you mean `--{word}`?" in capsys.readouterr().err


def test_who_names_no_command_is_told_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main([])
    assert exit_.value.code == 2
    assert "choose a command: init, validate, " in capsys.readouterr().err


LONG_AND_SHORT = pytest.mark.parametrize(
    "arguments",
    [["schema"], ["explain", "IS012"], ["--help"]],
    ids=["more than a buffer", "less than a buffer", "help"],
)


@LONG_AND_SHORT
def test_a_reader_that_has_gone_is_no_error(arguments: list[str], folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", PROGRAM, *arguments]
    env = {"PYTHONPATH": str(SOURCE_ROOT)}
    with os.fdopen(writer, "wb") as stdout:
        done = subprocess.run(command, env=env, stdout=stdout, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")


@LONG_AND_SHORT
def test_a_full_disk_is_one_line(arguments: list[str], run: Run) -> None:
    done = run(*arguments, shell='"$@" > /dev/full')
    assert done.returncode == 1
    assert done.stderr == "inferstack: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_do_no_harm(closed: str, write: Write, run: Run) -> None:
    write("model_specs/a.yaml")
    done = run("validate", shell=f'"$@" {closed}')
    assert (done.returncode, done.stdout) == (0, "")
    assert "Traceback" not in done.stderr


def test_what_the_terminal_cannot_show_is_escaped(write: Write, run: Run) -> None:
    write("model_specs/a.yaml", more="größe: 1\n")
    done = run("validate", PYTHONUTF8="0", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 1
    assert r"gr\xf6\xdfe" in done.stdout


WAITING = """
import sys, time
import inferstack.cli.validate
from inferstack.cli import main

def check_files(*_, **__):
    print("here", flush=True)
    time.sleep(60)

inferstack.cli.validate.check_files = check_files
sys.exit(main(["validate"]))
"""


def test_an_interruption_is_one_line(write: Write) -> None:
    write("model_specs/a.yaml")
    with subprocess.Popen(
        [sys.executable, "-c", WAITING],
        env={"PYTHONPATH": str(SOURCE_ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert (first, process.returncode, err) == ("here\n", 130, "inferstack: interrupted\n")


def test_a_bug_of_ours_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(arguments, "parse", broken)
    assert main([]) == 70
    out, err = capsys.readouterr()
    assert (out, err) == ("", "inferstack: internal error, please report it: RuntimeError: two\\nlines\n")
