"""``inferstack explain`` and ``inferstack schema``."""

import re

import pytest

from inferstack.check.every_code import every_code
from inferstack.cli import main
from inferstack.problems import Severity
from inferstack.problems.update_codes import LEFT_OVER
from inferstack.triton.archive.entries import JUNK_INSIDE

OF_NO_SPEC = {LEFT_OVER, JUNK_INSIDE}


def test_every_code_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for code, entry in every_code().items():
        assert main(["explain", code]) == 0
        out = capsys.readouterr().out
        first, *sentence = out.partition("\nSource: ")[0].splitlines()
        assert (first, " ".join(sentence)) == (f"{code} ({entry.severity})", entry.sentence)
        assert f"\nSource: {entry.source}\n" in out
        of_a_spec = code not in OF_NO_SPEC
        assert ("ignore: [" in out) is (entry.severity is Severity.WARNING and of_a_spec)


def test_what_is_explained_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for code in every_code():
        main(["explain", code])
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in lines if len(line) > 80 and not line.startswith("Source: https://")] == []


def test_in_a_terminal_the_list_is_as_wide_as_that(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
    assert all(re.match("IS[0-9]{3} |" + " " * 14, line) for line in lines)
    assert [line.split()[0] for line in lines if line.startswith("IS")] == list(every_code())


@pytest.mark.parametrize(("columns", "widest"), [("1", 40), ("nonsense", 80)])
def test_a_terminal_without_a_width_is_no_trouble(
    columns: str, widest: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["explain", "IS041"]) == 0
    sentence = capsys.readouterr().out.splitlines()[1]
    assert widest - 15 < len(sentence) <= widest


def test_an_example_has_in_its_margin_what_is_wrong_and_what_is_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "IS306"]) == 0
    assert capsys.readouterr().out.endswith("""

For example, scaling may leave one instance:

       kind: multi-model
       autoscaling:
wrong    min_capacity: 1
right    min_capacity: 2
""")


def test_a_code_without_an_example_is_explained_without(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "IS001"]) == 0
    assert "example" not in capsys.readouterr().out


def test_a_code_may_be_written_in_small_letters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "is012"]) == 0
    assert capsys.readouterr().out.startswith("IS012 (error)\n")


def test_without_a_code_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(every_code())
    assert lines[0] == "IS001 error   There is no such file."


ALL = "; `inferstack explain` lists all codes\n"


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("IS0122", "did you mean IS012?"),
        ("012", "did you mean IS012?"),
        ("IS12", "did you mean IS012?"),
        ("IS-O12", "did you mean IS012?"),
        ("ISO12", "did you mean IS012?"),
        ("IS0l2", "did you mean IS012?"),
        ("IS092", "did you mean IS902?"),
        ("IS091", "did you mean IS019 or IS901?"),
        ("IS999", ALL),
        ("IS0123", ALL),
        ("IS888", ALL),
        ("??", ALL),
        ("validate", ALL),
        ("IS", ALL),
        ("", ALL),
    ],
)
def test_an_unknown_code_is_one_line_with_a_hint(
    code: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", code]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"inferstack: there is no code {code}; ")
    assert hint in err
    assert err.count("\n") == 1
