"""How many of something there are: instances or copies, as few and as many as scaling allows."""

import msgspec


class InstanceCounts(msgspec.Struct, frozen=True):
    """How many instances run: the fewest and the most that scaling allows, and the number at the start."""

    min: int
    """As few as scaling allows."""
    start: int
    """As many as at the start."""
    max: int
    """As many as scaling allows."""

    def __str__(self) -> str:
        same = self.min == self.start == self.max
        return str(self.start) if same else f"{self.min}-{self.start}-{self.max}"
