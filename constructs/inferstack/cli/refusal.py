"""How a command ends if it cannot do what it was asked for."""


class Refusal(Exception):  # noqa: N818 - no error of the program: the user reads its text
    """Says in one line why nothing was done; the exit status is 1."""
