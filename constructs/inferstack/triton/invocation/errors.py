"""What is wrong with a body."""

from collections.abc import Iterable


class BodyError(ValueError):
    """A request that the model would refuse, or an answer that cannot be read; ``problems`` says why."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))
