"""The expression of a composite alarm, as CloudWatch writes it: which states of which alarms set it off.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import NamedTuple

_OPERATORS, _VALUES = ("AND", "OR"), ("TRUE", "FALSE")
_FUNCTIONS = ("ALARM", "OK", "INSUFFICIENT_DATA")
# A name in quotes can have any character; one without has no parentheses.
_ARGUMENT = r'\(\s*(?:"(?P<quoted>[^"]+)"|(?P<name>[^\s()"][^()"]*?))\s*\)'
_TOKEN = re.compile(
    rf"\s*(?:(?P<function>{'|'.join(_FUNCTIONS)})\s*{_ARGUMENT}"
    rf"|(?P<word>(?:{'|'.join((*_OPERATORS, *_VALUES, 'NOT'))})\b|[()]))",
    re.IGNORECASE,
)
_EXPECTED = "`ALARM(…)`, `OK(…)`, `INSUFFICIENT_DATA(…)`, `TRUE`, `FALSE`, `NOT` or `(`"
_SHOWN = 40


class AlarmRuleError(ValueError):
    """Tells what is wrong with an expression."""


class State(NamedTuple):
    """A function of the expression: whether an alarm is in a state."""

    function: str
    alarm: str


def parsed_alarm_rule(text: str) -> list[str | State]:
    """The parts of an expression, with its words in capitals.

    Raises:
        AlarmRuleError: when it is not such an expression.
    """
    parts = list(_tokens(text))
    depth = 0
    for before, part in pairwise([None, *parts, None]):
        after_operand = isinstance(before, State) or before in (*_VALUES, ")")
        goes_on = part is None or part in (*_OPERATORS, ")")
        if after_operand != goes_on:
            raise AlarmRuleError(_unexpected(part, after_operand=after_operand))
        depth += (part == "(") - (part == ")")
        if depth < 0:
            raise AlarmRuleError("a `)` closes nothing")
    if depth:
        raise AlarmRuleError("a `(` is not closed")
    return parts


def _tokens(text: str) -> Iterator[str | State]:
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            raise AlarmRuleError(f"`{text[at:].strip()[:_SHOWN]}` is not understood")
        at = found.end()
        if found["function"] is None:
            yield found["word"].upper()
        else:
            yield State(found["function"].upper(), found["quoted"] or found["name"])


def _unexpected(part: str | State | None, *, after_operand: bool) -> str:
    wanted = "`AND`, `OR` or `)`" if after_operand else _EXPECTED
    if part is None:
        return f"it ends where {wanted} is expected"
    shown = part if isinstance(part, str) else f"{part.function}({part.alarm[:_SHOWN]})"
    return f"`{shown}` stands where {wanted} is expected"


# ---------------------------------------------------------------- what an expression is true of

_MOST_ALARMS = 7
"""With more alarms, trying all their states takes too long."""
_STATES = ("ALARM", "OK", "INSUFFICIENT_DATA")


class RuleChange(NamedTuple):
    """What becomes of an expression."""

    is_looser: bool
    """Whether it was true in a case in which it no longer is."""
    is_never_true: bool


def change_of_rule(before: str, after: str) -> RuleChange | None:
    """What becomes of an expression; None if one is not an expression, or names too many alarms."""
    try:
        old, new = parsed_alarm_rule(before), parsed_alarm_rule(after)
    except AlarmRuleError:
        return None
    alarms = list(dict.fromkeys(it.alarm for it in (*old, *new) if isinstance(it, State)))
    if len(alarms) > _MOST_ALARMS:
        return None
    cases = [dict(zip(alarms, states, strict=True)) for states in product(_STATES, repeat=len(alarms))]
    was, now = ([_is_true(parts, case) for case in cases] for parts in (old, new))
    looser = any(one and not other for one, other in zip(was, now, strict=True))
    return RuleChange(looser, is_never_true=not any(now))


def _is_true(parts: Sequence[str | State], states: Mapping[str, str]) -> bool:
    """Whether an expression is true while alarms are in these states. NOT binds before AND, AND before OR."""
    rest = [*parts]

    def operand() -> bool:
        part = rest.pop(0)
        if part == "NOT":
            return not operand()
        if part == "(":
            found = either()
            rest.pop(0)
            return found
        return part == "TRUE" if isinstance(part, str) else states[part.alarm] == part.function

    def joined(word: str, part: Callable[[], bool]) -> list[bool]:
        values = [part()]
        while rest and rest[0] == word:
            rest.pop(0)
            values.append(part())
        return values

    def both() -> bool:
        return all(joined("AND", operand))

    def either() -> bool:
        return any(joined("OR", both))

    return either()
