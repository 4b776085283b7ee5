"""What becomes of the expression of a composite alarm: whether it goes off in fewer cases, or never."""

import pytest

from inferstack.texts.alarm_rules import RuleChange, change_of_rule


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("ALARM(a) OR ALARM(b)", "ALARM(a) AND ALARM(b)", RuleChange(is_looser=True, is_never_true=False)),
        ("ALARM(a) AND ALARM(b)", "ALARM(a) OR ALARM(b)", RuleChange(is_looser=False, is_never_true=False)),
        ("ALARM(a)", "FALSE", RuleChange(is_looser=True, is_never_true=True)),
        ("ALARM(a)", "ALARM(a) AND OK(a)", RuleChange(is_looser=True, is_never_true=True)),
        ("ALARM(a)", "NOT (OK(a) OR INSUFFICIENT_DATA(a))", RuleChange(is_looser=False, is_never_true=False)),
        ("ALARM(a)", "ALARM(a) AND NOT ALARM(b)", RuleChange(is_looser=True, is_never_true=False)),
        # NOT binds before AND, and AND before OR.
        ("ALARM(a) OR ALARM(b) AND ALARM(c)", "ALARM(a)", RuleChange(is_looser=True, is_never_true=False)),
        ("(ALARM(a) OR ALARM(b)) AND ALARM(c)", "ALARM(c)", RuleChange(is_looser=False, is_never_true=False)),
        ("NOT ALARM(a) AND ALARM(b)", "ALARM(b)", RuleChange(is_looser=False, is_never_true=False)),
        ("ALARM(a)", "ALARM(", None),
        (" OR ".join(f"ALARM({it})" for it in "abcdefgh"), "ALARM(a)", None),
    ],
)
def test_what_becomes_of_an_expression(before: str, after: str, change: RuleChange | None) -> None:
    assert change_of_rule(before, after) == change
