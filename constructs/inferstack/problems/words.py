"""Phrases for messages: what was found, what is allowed, what was probably meant."""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from inferstack.problems import Fix
from inferstack.texts.placeholders import is_opaque

_SHOWN = 12
_FEW = 6
_LONGEST = 60
_TELLING = 4
_LIKE = 0.6
_LARGEST_FLOATS = (3.4028234663852886e38, 2.0**360)
_OF_TYPES = frozenset({-(2**31), 2**31 - 1, *_LARGEST_FLOATS, *(-it for it in _LARGEST_FLOATS)})

_TYPE_NAMES = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "nothing",
}


def describe(value: object) -> str:
    """A value as a reader of YAML would name it, shortened if it is long."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping" if value else "an empty mapping"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case str():
            return f'"{value}"' if len(value) <= _LONGEST else f'"{value[:_LONGEST]}…"'
        case float() if not math.isfinite(value):
            return ".nan" if math.isnan(value) else f"{'-' * (value < 0)}.inf"
        case _ if is_opaque(value):
            return "a number known only at deployment"
        case _:
            return str(value)


def type_name(wanted: str | list[str]) -> str:
    """A JSON Schema type in words, or a choice of several."""
    names = [wanted] if isinstance(wanted, str) else wanted
    return listed([_TYPE_NAMES[name] for name in names], quote="")


def listed(options: Sequence[object], *, last: str = "or", quote: str = "`") -> str:
    """``a, b or c``; for a long list, its beginning and how many more there are."""
    words = [f"{quote}{option}{quote}" for option in options[: _SHOWN + 1]]
    if len(words) > _SHOWN:
        return f"{', '.join(words[:_SHOWN])} and {len(options) - _SHOWN} more"
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def counted(count: int, noun: str) -> str:
    """A number with its noun, as in ``1 spec`` and ``2 specs``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def chosen(bound: float | None) -> float | None:
    """A bound, or None if it is only the limit of AWS's numeric type, which says nothing about the key."""
    return None if bound in _OF_TYPES else bound


def span(low: float | None, high: float | None) -> str:
    """The range between two bounds, one of which may be missing, in words."""
    match low, high:
        case None, _:
            return f"at most {high}"
        case _, None:
            return f"{low} or more"
        case _:
            return f"{low} to {high}"


def nearest(found: object, options: Sequence[str]) -> str | None:
    """The option that was probably meant. CamelCase and hyphens count as snake_case."""
    return next(iter(_by_nearness(found, options)), None)


MOST_SUGGESTIONS = 300
"""Words of one file for which similar ones are looked for."""
_MANY = 500
_left: ContextVar[list[int] | None] = ContextVar("suggestions_left", default=None)


@contextmanager
def few_suggestions() -> Iterator[None]:
    """Limits the suggestions for one file to its first mistakes; inside another limit, that one applies.

    To look for one among hundreds of options takes 10 ms, and a file may have as many mistakes as lines.
    """
    if _left.get() is not None:
        yield
        return
    limit = _left.set([MOST_SUGGESTIONS])
    try:
        yield
    finally:
        _left.reset(limit)


def _may_suggest(options: int = 1) -> bool:
    """Whether there is still a suggestion left; it is used up, and several are for very many options."""
    left = _left.get()
    if left is None:
        return True
    left[0] -= 1 + options // _MANY
    return left[0] >= 0


def ask(meant: Sequence[str]) -> str:
    """Asks whether one of these was meant; empty if there are none."""
    return f"did you mean {listed(meant)}?" if meant else ""


def did_you_mean(found: object, options: Sequence[str], otherwise: str = "") -> str:
    """Asks whether the nearest option was meant, with all that are as near; ``otherwise`` if none is near."""
    near = _by_nearness(found, options)
    return _applicable(found, near, _question(near) or otherwise)


def did_you_mean_then(found: object, options: Sequence[str], rest: str) -> str:
    """Asks whether the nearest option was meant, if any is near, and always says ``rest`` after that."""
    near = _by_nearness(found, options)
    return _applicable(found, near, f"{_question(near)} {rest}".lstrip())


def begun_by(found: str, options: Iterable[str]) -> list[str]:
    """The options whose beginning ``found`` is."""
    return [option for option in options if option.startswith(found)]


def choose(found: object, options: Sequence[object]) -> str:
    """What was probably meant and what is allowed; if that is a lot, only what is similar to ``found``."""
    words = [str(option) for option in options]
    near = _by_nearness(found, words)
    said = f"{_question(near)} allowed: {_likest(near, words, _SHOWN, quote='')}".lstrip()
    return _applicable(found, near, said)


# Between digits it decides which version is meant.
_SEPARATOR = re.compile("[^a-z0-9](?![0-9])|(?<![0-9])[^a-z0-9]")


def _applicable(found: object, near: Collection[str], said: str) -> str:
    """What is said, with its edit if exactly one option differs in nothing but capitals and separators.

    Only similar options are looked at: looking at all would take as long as looking for them, and be outside
    of the limit.
    """
    if not isinstance(found, str) or found in near:
        return said
    text = _SEPARATOR.sub("", found.lower())
    same = {it for it in near if _SEPARATOR.sub("", it.lower()) == text}
    return Fix(said, found, *same) if len(same) == 1 else said


def likest(found: object, options: Sequence[str]) -> str:
    """The options: all if they are few or none is similar; else the similar ones, and how many more."""
    return _likest(_by_nearness(found, options), options, _FEW, quote="`")


def _likest(near: Mapping[str, float], options: Sequence[str], most: int, *, quote: str) -> str:
    shown = list(near)[:_FEW]
    if len(options) <= most or not shown:
        return listed(options, quote=quote)
    named = ", ".join(f"{quote}{option}{quote}" for option in shown)
    return f"{named} and {len(options) - len(shown)} more" if len(options) > len(shown) else named


def _question(near: Mapping[str, float]) -> str:
    """Asks whether the nearest option was meant, with all that are as near."""
    best = next(iter(near.values()), 0)
    return ask([option for option, nearness in near.items() if nearness == best])


def _by_nearness(found: object, options: Sequence[str]) -> Mapping[str, float]:
    """The options that are similar to ``found``, the nearest first, and how near each of them is."""
    return _compared(str(found)[:_LONGEST], tuple(options)) if _may_suggest(len(options)) else {}


# A word that is wrong in one place is often wrong in others, too.
@lru_cache(maxsize=MOST_SUGGESTIONS)
def _compared(said: str, options: tuple[str, ...]) -> Mapping[str, float]:
    from difflib import SequenceMatcher  # noqa: PLC0415 - a spec without mistakes does not need it

    likeness = SequenceMatcher(b=_fold(said))
    near: dict[str, float] = {}
    for option in options:
        likeness.set_seq1(_fold(option))
        whole = _is_part(said, option)
        # `quick_ratio` is an upper bound, which saves most of the work for a long list of options.
        if whole or (likeness.quick_ratio() >= _LIKE and likeness.ratio() >= _LIKE):
            near[option] = likeness.ratio() + _grade(said, option, whole)
    return dict(sorted(near.items(), key=lambda item: -item[1]))


def _grade(said: str, option: str, whole: bool) -> int:
    """How much nearer an option is than its similarity alone says.

    2 if only its beginning or its last words are missing (`m5.xlarge`, `1.4-2`), which is nearer than any
    other. 1 for one slip, which is nearer than two, though the similarity may be the same: `us-esat-1` is as
    similar to `us-west-1` as to `us-east-1`. Swapped letters are 2 as well, since all of them are there:
    `us-aest-1` was meant as `us-east-1` rather than `us-west-1`.
    """
    found, meant = _fold(said), _fold(option)
    if whole or sorted(found) == sorted(meant) or _leaves_off(said, option):
        return 2
    return _is_slip(found, meant)


def _leaves_off(said: str, option: str) -> bool:
    """Whether exactly one of several parts lacks letters at its end: `ml.g4.xlarge` for `ml.g4dn.xlarge`."""
    pairs = list(zip(said.split("."), option.split("."), strict=False))
    differing = [(one, other) for one, other in pairs if one != other]
    if said.count(".") != option.count(".") or len(pairs) < 2 or len(differing) != 1:
        return False
    [(one, other)] = differing
    return one != "" and other.startswith(one) and other.removeprefix(one).isalpha()


def _is_part(said: str, option: str) -> bool:
    text, whole = _fold(said), _fold(option)
    # `5XXError`, as other services' metrics are called, is a part of `Invocation5XXErrors`. Of a whole option
    # in the singular that is not said here: `metric` may be as near to `metric_name` as to `metrics`.
    ends = (text,) if whole == f"{text}s" else (text, f"{text}s")
    if len(text) >= _TELLING and whole.endswith(ends):
        return True
    rest = option[len(said) :] if option.startswith(said) else ""
    # The first word of a key, such as `min` of `min_capacity`, counts even if it is very short.
    return rest[:1] == "_" or (len(said) >= _TELLING and rest != "" and _fold(rest[0]) == "")


def slip_of(found: str, options: Sequence[str]) -> str | None:
    """The option that differs by one letter (added, missing or replaced) or has its letters in another order.

    Capitals and hyphens do not count. This is far stricter than ``nearest``: what was found may be right.
    """
    return next(slips_among(found, by_length(options)), None) if _may_suggest() else None


def by_length(options: Iterable[str]) -> Mapping[int, list[str]]:
    """Options grouped by length, so that a possible slip needs to be compared with only a few of them."""
    found: dict[int, list[str]] = defaultdict(list)
    for option in options:
        found[len(_fold(option))].append(option)
    return dict(found)


def slips_among(found: str, options: Mapping[int, list[str]]) -> Iterator[str]:
    """All options that ``slip_of`` could have found."""
    text = _fold(found)
    for length in (len(text), len(text) - 1, len(text) + 1):
        yield from (option for option in options.get(length, ()) if _is_slip(text, _fold(option)))


def _is_slip(found: str, meant: str) -> bool:
    if found.startswith(meant):
        # A version number at the end is not a slip.
        return len(found) <= len(meant) + 1 and not found[-1:].isdigit()
    start = next((i for i, (a, b) in enumerate(zip(found, meant, strict=False)) if a != b), len(found))
    rests = (found[start:], meant[start + 1 :]), (found[start + 1 :], meant[start:])
    same_end = any(ours == theirs for ours, theirs in (*rests, (found[start + 1 :], meant[start + 1 :])))
    return same_end or sorted(found) == sorted(meant)


def _fold(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())
