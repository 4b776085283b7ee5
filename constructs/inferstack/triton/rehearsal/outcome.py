"""What a rehearsal found, as data."""

from dataclasses import dataclass

from inferstack.triton.rehearsal.tensors import Tensor


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, Triton's own words about it, and what they mean as far as that is known."""

    what: str
    words: tuple[str, ...] = ()
    meaning: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request. ``form`` is `JSON` or `binary`; ``deviations`` are from what is declared."""

    form: str
    batch: int
    milliseconds: float
    outputs: tuple[Tensor, ...] = ()
    failure: Failure | None = None
    deviations: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Whether it is what the model declares."""
        return self.failure is None and not self.deviations


@dataclass(frozen=True, slots=True)
class ModelOutcome:
    """One model: how it was reached and what it answered.

    ``stand_in`` is the backend that the local server lacks; ``run_by`` the package, with its version, that
    computed instead of it; without one, the answers were zeros. ``notes`` are what the rehearsal cannot show
    about the model, or why it was not asked.
    """

    name: str
    way: str
    stand_in: str | None = None
    answers: tuple[Answer, ...] = ()
    notes: tuple[str, ...] = ()
    run_by: str | None = None

    @property
    def good(self) -> bool:
        """Whether every answer is what the model declares."""
        return all(answer.good for answer in self.answers)


@dataclass(frozen=True, slots=True)
class ArchiveOutcome:
    """One archive: how long it took until it answered, in seconds, or why it never did."""

    archive: str
    seconds: float
    failure: Failure | None = None
    models: tuple[ModelOutcome, ...] = ()
    steps: tuple[str, ...] = ()
    """What else went right; a step that went wrong is at the beginning of ``failure``."""

    @property
    def good(self) -> bool:
        """Whether the container serves it."""
        return self.failure is None and all(model.good for model in self.models)
