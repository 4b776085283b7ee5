"""Imports msgspec without ``typing_extensions``, whose import takes as long as all the rest of msgspec.

msgspec looks there for what ``typing`` has since Python 3.11, and takes it from ``typing`` if the other is
missing. Only the console script does this: a program that imports the library may use the other's types.
"""

import sys

_ELSEWHERE = "typing_extensions"

if _ELSEWHERE not in sys.modules:
    # This tells Python that there is no such module.
    sys.modules[_ELSEWHERE] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules[_ELSEWHERE]
