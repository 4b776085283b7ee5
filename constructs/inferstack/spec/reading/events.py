"""PyYAML's parser: a stream of events, from libyaml if PyYAML was built with it."""

from collections.abc import Iterator
from typing import Protocol

import yaml
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from inferstack.spec.problem import SpecError
from inferstack.spec.reading.quick import CParser
from inferstack.spec.reading.syntax_help import syntax_problem
from inferstack.spec.reading.tree import START, Position


class EventParser(Protocol):
    """The part of a PyYAML parser that is needed here."""

    def get_event(self) -> yaml.Event | None:
        """The next event, or ``None`` after the last."""


class PureParser(Reader, Scanner, Parser):
    """PyYAML's pure-Python parser, some ten times slower, for machines without libyaml."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)

    def get_event(self) -> yaml.Event | None:
        """The next event. Like libyaml, it refuses half a surrogate pair, which could never be printed."""
        event: yaml.Event | None = super().get_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.ScalarEvent):
            event.value.encode()
        return event


def events(file: str, text: str) -> Iterator[yaml.Event]:
    """The events of a YAML text.

    Raises:
        SpecError: at the first place that is not valid YAML.
    """
    last: yaml.Event | None = None
    try:
        parser = new_parser(text)
        while (event := parser.get_event()) is not None:
            last = event
            yield event
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        at = START if last is None else position(last)
        raise SpecError([syntax_problem(file, text, error, at)]) from None


def new_parser(text: str) -> EventParser:
    """The fastest parser that is installed."""
    return PureParser(text) if CParser is None else CParser(text)


def position(event: yaml.Event) -> Position:
    """Where an event begins."""
    mark = event.start_mark
    return START if mark is None else Position(mark.line + 1, mark.column + 1)
