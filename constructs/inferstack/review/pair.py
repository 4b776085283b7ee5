"""An endpoint before and after, with all that both were read from; and findings about what just changes."""

from collections.abc import Callable, Mapping

import msgspec
from msgspec.structs import replace

from inferstack.endpoint.of_template import Picture
from inferstack.endpoint.place import Place
from inferstack.endpoint.stack import Stack
from inferstack.problems import Problem, Severity
from inferstack.review.data import Finding
from inferstack.updates.effects import Effect
from inferstack.updates.renames import name_now
from inferstack.updates.update import Update


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint before and after, with all that both were read from."""

    key: str
    ignored: Mapping[str, str]
    """The codes that the spec ignores, and why."""
    located: Callable[[Problem, str, Severity], Problem]
    """What a rule has found, with its code and severity, at its place in a file."""
    update: Update
    old: Stack
    new: Stack
    before: Picture
    after: Picture

    def name_now(self, name: str) -> str:
        """What a variant or component of the past is called from now on."""
        return name_now(self.old.resources, self.new.resources, name)


def information(pair: Pair, effect: Effect, message: str, place: Place) -> Finding:
    """Something that a reviewer should know and would not stop for."""
    return Finding(
        effect=effect,
        severity="info",
        endpoints=(pair.key,),
        message=message,
        place=place,
    )


def difference(pair: Pair, effect: Effect, message: str, told: tuple[str, str], place: Place) -> Finding:
    """The same about something that changes from one to another."""
    before, after = told
    return replace(information(pair, effect, message, place), before=before, after=after)
