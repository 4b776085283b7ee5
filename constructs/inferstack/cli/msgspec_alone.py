"""Imports msgspec without ``typing_extensions``, which takes it as long as all the rest of msgspec.

msgspec asks there for what ``typing`` has since Python 3.11, and takes it from there where the other is not
installed. Only the console script does this: whoever imports the library may have types of the other.
"""

import sys

_ELSEWHERE = "typing_extensions"

if _ELSEWHERE not in sys.modules:
    # How Python is told that there is no such module.
    sys.modules[_ELSEWHERE] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules[_ELSEWHERE]
