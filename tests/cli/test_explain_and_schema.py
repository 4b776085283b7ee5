"""``inferstack explain`` and ``inferstack schema``."""

import json

import pytest

from inferstack.cli import main
from inferstack.spec.catalogue import catalogue
from inferstack.spec.problem import Severity
from inferstack.spec.schema import shipped_schema


def test_every_code_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for code, entry in catalogue().items():
        assert main(["explain", code]) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"{code} ({entry.severity})\n{entry.sentence}\nSource: {entry.source}\n")
        assert ("ignore: [" in out) is (entry.severity is Severity.WARNING)


def test_an_example_has_in_its_margin_what_is_wrong_and_what_is_right(capsys: pytest.CaptureFixture[str]) -> None:
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
    assert [line.split()[0] for line in lines] == list(catalogue())
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


def test_the_schema_is_printed_as_it_is_shipped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == shipped_schema()
