"""Rehearsals: a real Triton on this machine serves what would be deployed, before it is deployed.

    repository -> layout (packed, unpacked) -> container (start script, server) -> asking -> outcome

No Docker, no GPU, no AWS: the server is the one inside the `nvidia-pytriton` package. It is confined to
namespaces of its own (`confinement`, `keeper`), so that it sees nothing of the user's, nothing outside can
reach it, and nothing is left behind. `stand_in` replaces backends that it lacks, and the report says so; with
the right package it computes what they would (`runners`).
"""

from inferstack.triton.rehearsal.outcome import (
    Answer,
    ArchiveOutcome,
    Failure,
    ModelOutcome,
    RehearsalRefused,
    report,
    summary,
)
from inferstack.triton.rehearsal.rehearsing import Rehearsal, rehearse

__all__ = [
    "Answer",
    "ArchiveOutcome",
    "Failure",
    "ModelOutcome",
    "Rehearsal",
    "RehearsalRefused",
    "rehearse",
    "report",
    "summary",
]
