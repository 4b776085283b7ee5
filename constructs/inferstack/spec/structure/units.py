"""A number with a unit where the key says the unit: the number to write instead.

AWS's keys have their unit in the name (`memory_size_in_mb`) or always the same one (`period`), so that the
number alone is the value.
"""

import re
from fractions import Fraction

_SECOND = 1_000_000
_TIMES = {
    **dict.fromkeys(("us", "µs", "microsecond", "microseconds"), 1),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1_000),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), _SECOND),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60 * _SECOND),
    **dict.fromkeys(("h", "hour", "hours"), 3600 * _SECOND),
}
# SageMaker's megabytes are 2 ** 20 bytes, whatever they are called.
_SIZES = {
    **dict.fromkeys(("mb", "mib", "m"), 1),
    **dict.fromkeys(("gb", "gib", "g"), 1024),
    **dict.fromkeys(("tb", "tib", "t"), 1024**2),
}
_ALWAYS_SECONDS = ("period", "cooldown")
_COUNTS_OF_PERIODS = ("evaluation_periods", "datapoints_to_alarm")
_FORM = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([a-zA-Zµ]+)")


def without_unit(key: str, text: str) -> str:
    """What to write for a key instead of a number with a unit."""
    last = key.rpartition("_")[2]
    unit = "seconds" if last in _ALWAYS_SECONDS else last
    table = next((it for it in (_TIMES, _SIZES) if unit in it), None)
    if key in _COUNTS_OF_PERIODS:
        return "write a number of periods, not a time"
    if table is None:
        return "write a number without a unit"
    found = _FORM.fullmatch(text.strip())
    word = unit.upper() if table is _SIZES else unit
    if found is None or found[2].lower() not in table:
        return f"write a number of {word}, without a unit"
    number = Fraction(found[1]) * table[found[2].lower()] / table[unit]
    return f"write {number} (in {word})" if number.denominator == 1 else f"write a whole number of {word}"
