"""Rehearsals: a real Triton on this machine serves what would be deployed, before it is deployed.

    repository -> layout (packed, unpacked) -> container (start script, server) -> asking -> outcome

No Docker, no GPU, no AWS: the server is the one inside the `nvidia-pytriton` package. It is confined to a
network, process and mount namespace of its own (`confinement`, `keeper`), so that nothing outside can reach
it and nothing is left behind. `stand_in` replaces backends that it lacks, and the report says so.
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
