"""Instances as boxes, and the copies on them as blocks: what the picture of a fleet shows, in pixels.

The templates draw it. A box is narrow enough for a telephone and drawn in its own size, so that text in it is
as large as text beside it; boxes flow like words. What a box shows it also says, for those who do not see it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from string import ascii_uppercase
from typing import get_args

import msgspec

from inferstack.endpoint.components import Component, Layout, Needs, Placement
from inferstack.endpoint.counts import Level
from inferstack.endpoint.fleets import Fleet
from inferstack.endpoint.of_template import Picture
from inferstack.problems.words import counted, listed

WIDTH = 220
"""Of the bars in a box."""
TONES = 7
"""As many colors as people of any color vision tell apart; every block has a letter, too."""
_MEMORY = "host_memory_mib"
_LEVELS = {"min": "at least", "start": "at the start", "max": "at most"}
_NARROWEST = 15
"""A letter fits into a block that is as wide as this."""

# ---------------------------------------------------------------- copies in instances


class CopyBlock(msgspec.Struct, frozen=True):
    """What one copy reserves, or several of a component that are too small to be told apart."""

    x: float
    width: float
    tone: int
    letter: str


class Bar(msgspec.Struct, frozen=True):
    """One resource of an instance."""

    label: str
    free: str
    blocks: tuple[CopyBlock, ...]
    cells: tuple[float, ...] = ()
    """Where one accelerator ends and the next begins."""


class Box(msgspec.Struct, frozen=True, kw_only=True):
    """Instances with the same copies on them."""

    count: int
    is_there: bool
    """False for instances that copies need beyond those that there may be."""
    bars: tuple[Bar, ...]
    says: str


class Key(msgspec.Struct, frozen=True):
    """What a letter stands for."""

    letter: str
    tone: int
    component: Component
    adapters: tuple[str, ...]


class Filled(msgspec.Struct, frozen=True):
    """A fleet at one level, or at several that are alike."""

    name: str
    placement: Placement
    boxes: tuple[Box, ...]


class TooLarge(msgspec.Struct, frozen=True):
    """A copy that needs more than an instance has: bars, drawn on the same scale."""

    name: str
    bars: tuple[tuple[str, float, float, str], ...]
    """Label, width of what an instance has, width of what the copy needs, and both in words."""


class Capacity(msgspec.Struct, frozen=True):
    """Where the components of a fleet are."""

    keys: tuple[Key, ...]
    levels: tuple[Filled, ...]
    too_large: tuple[TooLarge, ...]


def capacity(endpoint: Picture, fleet: Fleet) -> Capacity | None:
    """The picture of a fleet's copies; None if it has none, or if it is not known where they are."""
    if not fleet.placements and not fleet.never_fits:
        return None
    keys = tuple(_keys(endpoint, fleet))
    by_name = {it.component.name: it for it in keys}
    whole = _whole(fleet, by_name)
    levels = _alike([it for it in fleet.placements if it.layouts])
    filled = [Filled(name, it, tuple(_boxes(it, by_name, whole))) for name, it in levels] if whole else []
    too_large = [_too_large(by_name[it], whole) for it in fleet.never_fits if it in by_name] if whole else []
    return Capacity(keys, tuple(filled), tuple(too_large))


def not_drawn(endpoint: Picture) -> list[Component]:
    """The components that no picture shows, since it is not known where they are."""
    drawn = [fleet for fleet in endpoint.fleets if fleet.placements or fleet.never_fits]
    keys = [key for fleet in drawn for key in _keys(endpoint, fleet)]
    shown = {name for key in keys for name in (key.component.name, *key.adapters)}
    return [it for it in endpoint.components if it.name not in shown]


def _keys(endpoint: Picture, fleet: Fleet) -> Iterator[Key]:
    here = [it for it in endpoint.components if it.variant == fleet.name and it.needs is not None]
    for index, it in enumerate(here):
        letter = ascii_uppercase[index] if len(here) <= len(ascii_uppercase) else str(index + 1)
        adapters = tuple(other.name for other in endpoint.components if other.base == it.name)
        yield Key(letter, index % TONES, it, adapters)


def _whole(fleet: Fleet, keys: Mapping[str, Key]) -> Needs | None:
    """What an instance has: what is free on one, and what is taken there."""
    for layout in (one for it in fleet.placements for one in it.layouts):
        taken = [(keys[name].component.needs, count) for name, count in layout.copies.items()]
        return _needs(
            getattr(layout.free, field) + sum(getattr(each, field) * count for each, count in taken)
            for field in Needs.__struct_fields__
        )
    return None


def _needs(amounts: Iterator[float]) -> Needs:
    return Needs(*amounts)


def _alike(placements: Sequence[Placement]) -> Iterator[tuple[str, Placement]]:
    """The levels, those at which everything is the same together."""
    for _, those in groupby(placements, key=lambda it: (it.instances, it.layouts)):
        found = list(those)
        yield named([it.level for it in found]), found[0]


def named(levels: Sequence[Level]) -> str:
    """What levels are called at which something is the same."""
    every = len(levels) == len(get_args(Level))
    return "always" if every else listed([_LEVELS[it] for it in levels], last="and", quote="")


def _boxes(placement: Placement, keys: Mapping[str, Key], whole: Needs) -> Iterator[Box]:
    left = placement.instances
    for layout in placement.layouts:
        there = min(left, layout.count)
        left -= there
        for count, is_there in ((there, True), (layout.count - there, False)):
            if count:
                bars = tuple(_bars(layout, keys, whole))
                yield Box(
                    count=count, is_there=is_there, bars=bars, says=_says(count, is_there, layout, bars)
                )


def _says(count: int, is_there: bool, layout: Layout, bars: Sequence[Bar]) -> str:
    copies = [f"{many} of {name}" for name, many in layout.copies.items()]
    what = listed(copies, last="and", quote="") if copies else "nothing"
    free = ", ".join(f"{it.label}: {it.free}" for it in bars)
    instances = f"{counted(count, 'instance')}{'' if is_there else ' that are not there'}"
    return f"{instances}{', each' if count > 1 else ''} with {what}; {free}"


def _bars(layout: Layout, keys: Mapping[str, Key], whole: Needs) -> Iterator[Bar]:
    for label, field in _shown(keys, whole):
        all_of_it, free = getattr(whole, field), getattr(layout.free, field)
        blocks = tuple(_blocks(layout, keys, field, all_of_it))
        cells = tuple(_cells(all_of_it)) if field == "accelerators" else ()
        yield Bar(label, f"{_number(field, free)} of {_amount(field, all_of_it)} free", blocks, cells)


def _shown(keys: Mapping[str, Key], whole: Needs) -> Iterator[tuple[str, str]]:
    """The resources that copies reserve."""
    labels = {"accelerators": "accelerators", _MEMORY: "host memory", "vcpus": "vCPUs"}
    needs = [it.component.needs for it in keys.values()]
    for field, label in labels.items():
        if getattr(whole, field) and any(getattr(it, field) for it in needs):
            yield label, field


def _amount(field: str, amount: float) -> str:
    return f"{_number(field, amount)} GiB" if field == _MEMORY else _number(field, amount)


def _number(field: str, amount: float) -> str:
    return f"{amount / 1024 if field == _MEMORY else amount:,.4g}"


def _cells(count: float) -> Iterator[float]:
    if 1 < count <= 32:
        yield from (WIDTH * at / count for at in range(1, int(count)))


def _blocks(layout: Layout, keys: Mapping[str, Key], field: str, whole: float) -> Iterator[CopyBlock]:
    x = 0.0
    for name, count in layout.copies.items():
        key = keys[name]
        width = WIDTH * getattr(key.component.needs, field) / whole
        together = count if width < _NARROWEST else 1
        for _ in range(count // together):
            if width:
                letter = key.letter if together == 1 else f"{key.letter} x{together}"
                fits = width * together >= _NARROWEST * (1 + len(letter)) / 2
                yield CopyBlock(round(x, 1), round(width * together, 1), key.tone, letter if fits else "")
            x += width * together


def _too_large(key: Key, whole: Needs) -> TooLarge:
    return TooLarge(key.component.name, tuple(_too_large_bars(key, whole)))


def _too_large_bars(key: Key, whole: Needs) -> Iterator[tuple[str, float, float, str]]:
    for label, field in _shown({"": key}, whole):
        has, wants = getattr(whole, field), getattr(key.component.needs, field)
        scale = WIDTH / max(has, wants)
        said = f"needs {_amount(field, wants)}, an instance has {_amount(field, has)}"
        yield label, round(has * scale, 1), round(wants * scale, 1), said


def needs_text(needs: Needs) -> str:
    """What a copy reserves, in words."""
    units = {"accelerators": " accelerator", "vcpus": " vCPU", _MEMORY: " host memory"}
    amounts = [(field, getattr(needs, field), unit) for field, unit in units.items()]
    said = [
        f"{_amount(field, amount)}{unit}{'s' if field != _MEMORY and amount != 1 else ''}"
        for field, amount, unit in amounts
        if amount
    ]
    return listed(said, last="and", quote="") or "nothing reserved"
