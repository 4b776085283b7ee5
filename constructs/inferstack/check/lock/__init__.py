"""The lock: a file beside a spec that says what was uploaded for it, and which versions of the model registry
it is pinned to. It is committed with the spec.

    model_specs/ranker.yaml + model_specs/ranker.lock.json -> the spec with the URLs of what was uploaded

``inferstack package SPEC --upload`` and ``inferstack pin SPEC`` write it; loading a spec reads it. So new
weights show up as a line in a diff and lead to a new model, and with it to an update of the endpoint;
reverting the commit brings the old weights back. Nothing here talks to AWS: every upload stays where it is,
under a name of its own.

    file.py          what a lock holds; reads it, and adds uploads to it
    update.py        changes the file, one process at a time
    destinations.py  where a spec's archives are uploaded to, and which files only the lock knows of
    differences.py   compares the spec and the files on this machine with what was uploaded
    applying.py      puts the URLs of what was uploaded into the spec
    pins.py          puts the ARNs of pinned model packages into the spec
"""

from inferstack.problems.codes import CodeTable

LOCK_CODES = CodeTable()
"""What can be wrong with a lock, or between a lock and its spec: IS050 to IS069.

For a lock that is given in place of a spec there is a code of the files, since what reads specs finds it.
"""
_error = LOCK_CODES.error

UNREADABLE = _error("IS050", "The lock next to a spec cannot be read.")
MALFORMED = _error("IS051", "The lock is not what `inferstack package --upload` and `inferstack pin` write.")
NEWER = _error(
    "IS052", "The lock was written by a newer inferstack, in a format that this one does not know."
)
WRONG_URL = _error("IS053", "A URL in the lock does not match the archives listed under it.")
STALE = _error("IS054", "The archives in the lock are not the ones that the spec declares.")
NO_DESTINATION = _error("IS055", "The archives of a `triton` block need a single URL, set on a container.")
SHARED = _error("IS057", "Two specs whose names differ only in `.yaml` and `.yml` would share one lock.")
NOT_PINNED = _error("IS063", "A version that is left to the model registry must be pinned in the lock.")
