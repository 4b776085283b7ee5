"""Rules: functions with a code and a source. The docstring says what the rule requires, then why.

A rule yields a :class:`Problem` for each place that breaks it, and never raises. The class that annotates its
first parameter says what it is about: a kind of spec, for instance.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from inferstack.problems import Problem, Severity
from inferstack.problems.codes import OWN_FORMAT, Code

Check = TypeVar("Check", bound=Callable[..., Iterator[Problem]])


class Rule(Code, frozen=True):
    """A rule with its code. A ``partial`` one may run where something that it could look at is unreadable.

    ``effect`` is what it means in a review: advice, unless a reviewer would stop for it.
    """

    applies_to: type[Any]
    check: Callable[..., Iterator[Problem]]
    partial: bool
    effect: str = "advice"


class RuleTable(dict[str, Rule]):
    """Rules by their codes. Its methods are decorators that register a function."""

    def error(
        self, code: str, source: str = OWN_FORMAT, *, partial: bool = False
    ) -> Callable[[Check], Check]:
        """Registers a rule that AWS or Triton enforces, or without which something can never do what it says:
        breaking it stops synthesis.
        """
        return self._entered(code, Severity.ERROR, source, partial)

    def warning(
        self, code: str, source: str = OWN_FORMAT, *, partial: bool = False, effect: str = "advice"
    ) -> Callable[[Check], Check]:
        """Registers advice, or an unconfirmed fact; a spec can ignore it."""
        return self._entered(code, Severity.WARNING, source, partial, effect)

    def _entered(
        self, code: str, severity: Severity, source: str, partial: bool, effect: str = "advice"
    ) -> Callable[[Check], Check]:
        def enter(check: Check) -> Check:
            sentence = " ".join((check.__doc__ or "").partition("\n\n")[0].split())
            about = next(iter(check.__annotations__.values()))
            self.enter(Rule(code, severity, sentence, source, about, check, partial, effect))
            return check

        return enter

    def enter(self, rule: Rule) -> None:
        """Registers a rule.

        Raises:
            ValueError: when its code is another rule's.
        """
        if rule.code in self:
            raise ValueError(f"{rule.code} is taken: {self[rule.code].sentence}")
        self[rule.code] = rule
