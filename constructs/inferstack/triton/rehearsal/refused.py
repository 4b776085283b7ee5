"""Why there can be no rehearsal."""


class RehearsalRefused(Exception):  # noqa: N818 - no error of the program: the user reads its text
    """Says in one line what is missing on this machine or in the files, and how to get it."""


NO_ROOM = "the environment variable TMPDIR chooses another folder"
"""How to get another place for what a rehearsal writes."""
