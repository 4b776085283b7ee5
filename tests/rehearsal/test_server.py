"""The installed server: found, or reported with what is missing; and its output understood."""

import sys
from pathlib import Path

import pytest
from support.rehearsal import SERVER_PYTHON

from inferstack.triton.rehearsal.outcome import EXPLANATIONS, RehearsalRefused, failure, why_it_ended
from inferstack.triton.rehearsal.server import find_server
from inferstack.triton.rules import RULES


def _environment(folder: Path, *, numpy: str | None, package: bool) -> Path:
    """An interpreter that finds these packages and no others."""
    packages = folder / "packages"
    packages.mkdir()
    if package:
        (packages / "pytriton").mkdir()
        (packages / "pytriton" / "__init__.py").touch()
    if numpy is not None:
        info = packages / f"numpy-{numpy}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: numpy\nVersion: {numpy}\n")
    start = folder / "python"
    # The probe is the last argument. An isolated interpreter ignores PYTHONPATH, so the path is set first.
    code = f"import sys, runpy; sys.path[:] = [{str(packages)!r}, *(p for p in sys.path if 'site-packages' not in p)]"
    code += "; runpy.run_path(sys.argv[1], run_name='__main__')"
    start.write_text(f'#!/bin/sh\nfor last; do :; done\nexec {sys.executable} -I -c "{code}" "$last"\n')
    start.chmod(0o755)
    return start


def test_the_server_is_found_in_the_environment_of_the_interpreter() -> None:
    server = find_server(SERVER_PYTHON)
    assert server.program.is_file()
    assert server.stub.is_file()


@pytest.mark.parametrize(
    ("numpy", "package", "said"),
    [
        (
            None,
            False,
            "has no nvidia-pytriton, which brings the server: install inferstack there with the extra `rehearse` (Linux x86_64, Python 3.11 or 3.12)",
        ),
        (None, True, "has no numpy"),
        ("2.4.6", True, "has numpy 2.4.6, but the server was built for numpy 1"),
        ("1.26.4", True, "lacks the server"),
    ],
)
def test_what_is_missing_is_said_with_the_way_to_get_it(
    tmp_path: Path, numpy: str | None, package: bool, said: str
) -> None:
    with pytest.raises(RehearsalRefused) as refused:
        find_server(_environment(tmp_path, numpy=numpy, package=package))
    assert said in str(refused.value)


def test_what_is_no_interpreter_is_refused(tmp_path: Path) -> None:
    for program, why in (
        ("nowhere", "No such file or directory"),
        ("false", "returned non-zero exit status 1"),
    ):
        (tmp_path / "false").write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / "false").chmod(0o755)
        with pytest.raises(
            RehearsalRefused, match=f"is not a Python interpreter that runs here: .*{why}"
        ) as refused:
            find_server(tmp_path / program)
        assert "PosixPath" not in str(refused.value)


def test_the_codes_that_explanations_name_exist() -> None:
    named = {known.code for known in EXPLANATIONS if known.code is not None}
    assert named <= {*RULES, "IS900"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("error: creating server: load failed: at least one version must be available", "IS907"),
        ("unexpected directory name 'net2' for model 'net', directory name must equal model name", "IS904"),
        ("Python model file not found in neither '/opt/ml/model/net/1/model.py' nor '…'", "IS910"),
        ("sending FP16 data via JSON is not supported. Please use the binary data format", "IS941"),
        ("ensemble 'p' depends on 'n' whose required version 0 is not loaded", "IS958"),
        ("inference.ModelConfig: Error parsing text-format inference.ModelConfig: 9:15", "IS900"),
    ],
)
def test_tritons_words_about_a_configuration_lead_to_the_code_of_the_check(words: str, code: str) -> None:
    assert f"`inferstack explain {code}`" in (failure("ended", words).meaning or "")


def test_words_that_nobody_knows_are_shown_without_a_meaning() -> None:
    assert failure("ended", "something new").meaning is None


LOG = """\
I1120 14:56:00.097447 2 server.cc:1] "fine"
E1120 14:56:00.097448 2 server.cc:241] "CudaDriverHelper has not been initialized."
E1120 14:56:00.097449 2 pb_stub.cc:736] "ERROR: boom\\n\\nAt:\\n  model.py(3): initialize\\n"
+------+---------+
| net  | UNAVAILABLE: boom |
I1120 14:56:00.097450 2 server.cc:305] "Waiting"
error: creating server: boom
"""


def test_of_a_log_the_errors_are_shown_and_the_last_word() -> None:
    assert failure("ended", why_it_ended(LOG)).words == (
        "ERROR: boom",
        "At:",
        "  model.py(3): initialize",
        "error: creating server: boom",
    )
