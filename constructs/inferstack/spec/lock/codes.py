"""Codes of what can be wrong with a lock, or between it and its spec: IS050 to IS059, but for the lock
that is named where a spec belongs, which whoever reads a spec finds.
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
    error(NEWER, "The lock was written by a newer inferstack, in a form that this one does not know."),
    error(WRONG_URL, "A URL in the lock is not that of the archives under it."),
    error(STALE, "What the lock says was uploaded is not what the spec declares."),
    error(NO_DESTINATION, "Archives of a `triton` block belong to one URL, which a container names."),
    error(SHARED, "Two specs beside one another, `*.yaml` and `*.yml`, would have one lock."),
)
"""Everything that this package reports."""
