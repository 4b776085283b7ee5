"""Color on a terminal only, specs from standard input, and scripts that complete commands in a shell."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.program import PROGRAM, Run, Write

from inferstack.cli import main
from inferstack.cli.report import FORMATS
from inferstack.cli.terminal import painted

MODULE = "import runpy; runpy.run_module('inferstack', run_name='__main__')"
SHELLS = ("bash", "zsh", "fish", "powershell", "tcsh")
CODES = re.compile("\x1b\\[[0-9]+m")


class Terminal:
    @staticmethod
    def isatty() -> bool:
        return True


class Pipe:
    @staticmethod
    def isatty() -> bool:
        return False


@pytest.mark.parametrize(
    ("stream", "environment", "colored"),
    [
        (Terminal, {}, True),
        (Pipe, {}, False),
        (None, {}, False),
        (Terminal, {"NO_COLOR": "1"}, False),
        (Terminal, {"NO_COLOR": ""}, True),
        (Terminal, {"TERM": "dumb"}, False),
        (Pipe, {"FORCE_COLOR": "1"}, True),
        (Pipe, {"FORCE_COLOR": ""}, False),
        (Terminal, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_only_a_terminal_gets_color_unless_the_environment_decides(
    stream: object, environment: dict[str, str], colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert painted("x", "red", stream) == ("\x1b[31mx\x1b[0m" if colored else "x")  # type: ignore[arg-type]


COMMANDS = (
    ["validate"],
    ["validate", "--strict"],
    ["render"],
    ["list"],
    ["explain", "IS306"],
    ["explain", "serverless"],
)


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_color_changes_no_text(arguments: list[str], write: Write, called: Run) -> None:
    write("model_specs/a.yaml", count=1, more="autoscaling: {min_capacity: 2, max_capacity: 3}\n")
    plain, colored = called(*arguments), called(*arguments, FORCE_COLOR="1")
    assert not CODES.search(plain.stdout + plain.stderr)
    assert CODES.search(colored.stdout + colored.stderr)
    assert CODES.sub("", colored.stdout) == plain.stdout
    assert CODES.sub("", colored.stderr) == plain.stderr


@pytest.mark.parametrize("form", sorted({*FORMATS} - {"text"}))
def test_formats_for_programs_have_none(form: str, write: Write, called: Run) -> None:
    write("model_specs/a.yaml", count=0)
    done = called("validate", "--format", form, FORCE_COLOR="1")
    assert "IS" in done.stdout
    assert "\x1b" not in done.stdout


def test_an_error_is_red_and_its_place_bold(write: Write, called: Run) -> None:
    write("model_specs/a.yaml", count=0)
    done = called("validate", FORCE_COLOR="1")
    assert re.match(r"\x1b\[1mmodel_specs/a.yaml:6:\d+\x1b\[0m: \x1b\[31mIS\d{3}\x1b\[0m: ", done.stdout)
    assert done.stderr == "\x1b[31m1 error in 1 of 1 spec\x1b[0m\n"


def test_the_package_runs_as_a_module(run: Run, called: Run) -> None:
    assert run("--version", program=MODULE).stdout == called("--version").stdout
    assert run("explain", "IS012", program=MODULE).stdout.startswith("IS012 (error)\n")


# ---------------------------------------------------------------- standard input


@pytest.mark.parametrize("command", ["validate", "list", "render"])
def test_a_spec_may_be_piped_in(command: str, write: Write, run: Run, called: Run) -> None:
    write("a.yaml")
    named, piped = called(command, "a.yaml"), run(command, "-", shell='"$@" <a.yaml')
    assert piped.returncode == 0
    assert piped.stdout == named.stdout.replace("a.yaml: ", "<stdin>: ")


def test_every_stage_of_what_is_piped_in_is_checked(write: Write, run: Run) -> None:
    write("a.yaml", more="stages: {test: {}, prod: {variant: {initial_instance_count: 0}}}\n")
    done = run("validate", "-", shell='"$@" <a.yaml')
    assert done.stdout.startswith("<stdin>:7:")
    assert done.stderr == "1 error in 1 of 1 spec\n"
    assert run("validate", "-", "--stage", "test", shell='"$@" <a.yaml').returncode == 0


def test_a_command_may_ask_for_it_twice(write: Write, run: Run) -> None:
    write("a.yaml")
    done = run("validate", "-", "--stage", "prod", shell='"$@" <a.yaml')
    assert done.stderr.startswith("warning: the stage `prod` has no effect because no spec has `stages`")


@pytest.mark.parametrize(
    ("shell", "said"),
    [
        ('"$@" <&-', "<stdin>:1:1: IS004: standard input is closed; pipe a spec into it\n"),
        ("printf '\\377' | \"$@\"", "<stdin>:1:1: IS006: byte 0 (0xff) is not UTF-8"),
        ('head -c 1100000 /dev/zero | "$@"', "<stdin>:1:1: IS005: the file is larger than 1,048,576 bytes"),
    ],
)
def test_what_is_wrong_with_it_is_told_as_of_a_file(shell: str, said: str, run: Run) -> None:
    done = run("validate", "-", shell=shell)
    assert (done.returncode, done.stdout[: len(said)]) == (1, said)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "a spec from standard input has no name for the folder of its archives; add --out DIR"),
        (("--upload",), "--upload needs a spec file, since it writes a lock next to it"),
    ],
)
def test_packing_needs_a_place(
    options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["package", "-", *options])
    assert capsys.readouterr().err.endswith(f"error: {said}\n")


# ---------------------------------------------------------------- completion


@pytest.mark.parametrize("shell", SHELLS)
def test_there_is_a_script_for_each_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("validate", "list", "explain", "against", "sarif"):
        assert word in script


ASKED = """
source completion.bash
COMP_WORDS=(inferstack {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_shtab_inferstack 2>/dev/null
echo "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("val", "validate"),
        ("validate --ag", "--against"),
        ("list --format ''", "text json"),
        ("completion ''", " ".join(SHELLS)),
        ("validate model_specs/a", "model_specs/a.yaml"),
    ],
)
def test_bash_completes(words: str, wanted: str, folder: Path, write: Write, called: Run) -> None:
    write("model_specs/a.yaml")
    (folder / "completion.bash").write_text(called("completion", "bash").stdout, "utf-8")
    command = ["bash", "-c", ASKED.format(words=words)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stdout == f"{wanted}\n", done.stderr


def test_without_the_extra_it_says_how_to_get_it() -> None:
    script = f"import sys; sys.modules['shtab'] = None\n{PROGRAM}"
    done = subprocess.run(
        [sys.executable, "-c", script, "completion", "bash"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "inferstack: this needs shtab; run: pip install 'inferstack[completion]'\n"
