"""Codes for what can be wrong with a lock, or between a lock and its spec: IS050 to IS059.

A lock that is given in place of a spec is not among them, since that is found by the code that reads specs.
"""

from inferstack.spec.problem.codes import by_code, error

UNREADABLE = "IS050"
MALFORMED = "IS051"
NEWER = "IS052"
WRONG_URL = "IS053"
STALE = "IS054"
NO_DESTINATION = "IS055"
SHARED = "IS057"

LOCK_CODES = by_code(
    error(UNREADABLE, "The lock beside a spec cannot be read."),
    error(MALFORMED, "The lock is not what `inferstack package --upload` writes."),
    error(NEWER, "The lock was written by a newer inferstack, in a format that this one does not know."),
    error(WRONG_URL, "A URL in the lock does not match the archives listed under it."),
    error(STALE, "The archives in the lock are not the ones that the spec declares."),
    error(NO_DESTINATION, "The archives of a `triton` block need a single URL, set on a container."),
    error(SHARED, "Two specs whose names differ only in `.yaml` and `.yml` would share one lock."),
)
"""Everything that this package reports."""
