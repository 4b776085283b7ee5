"""Everything that is done to a repository."""

from oracle.mutations import ALONE, JOINED
from oracle.rows_ensembles import ENSEMBLES
from oracle.rows_files import FILES
from oracle.rows_models import MODELS
from oracle.rows_states import STATES
from oracle.rows_tensors import TENSORS
from oracle.rows_warmup import WARMUP

ROWS = [
    (row, base, default)
    for rows, base, default in (
        (FILES, ALONE, "@net"),
        (MODELS, ALONE, "@net"),
        (TENSORS, ALONE, "@net"),
        (WARMUP, ALONE, "@net"),
        (STATES, ALONE, "@net"),
        (ENSEMBLES, JOINED, "@pipe"),
    )
    for row in rows
]
"""All rows, each with the repository that it changes and the model that gets a request."""
