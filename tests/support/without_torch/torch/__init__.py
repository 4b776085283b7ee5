"""Stands in for torch where that is not installed: what it exports are files that hold no network."""

from pathlib import Path
from unittest.mock import MagicMock

nn, rand = MagicMock(), MagicMock()
jit = MagicMock()
jit.trace.return_value.save.side_effect = lambda path: Path(path).write_bytes(b"TorchScript")
