"""Which of a spec's repositories is measured."""

import argparse
import sys
from pathlib import Path

from msgspec.structs import replace

from inferstack.check.load import LoadedSpec
from inferstack.cli.choice import blocks_of, chosen_by, only_block
from inferstack.cli.rehearse import rehearsals_at
from inferstack.cli.terminal import Refusal
from inferstack.facts.triton import PlacedTriton
from inferstack.problems.words import choose, listed
from inferstack.triton.rehearsal import Rehearsal


def what_is_served(loaded: LoadedSpec, options: argparse.Namespace) -> tuple[PlacedTriton, Rehearsal]:
    """One repository of the spec, and what serves it."""
    choice = chosen_by(options)
    blocks = blocks_of(loaded.spec, choice)
    if not blocks:
        raise Refusal(f"{options.spec}: nothing to measure: the spec has no `triton` block")
    placed = only_block(loaded.spec, blocks, "the load", choice)
    python = Path(sys.executable) if options.python is None else options.python
    first, *_ = rehearsals_at(placed, loaded, options.spec, python, options.timeout)
    by_archive = {repository.archive: repository for repository in first.repositories}
    wanted = options.target_model
    if wanted is None and len(by_archive) > 1:
        raise Refusal(
            f"the load could be for any of several archives; add --target-model: {listed([*by_archive])}"
        )
    if wanted is not None and wanted not in by_archive:
        raise Refusal(f"--target-model: no `{wanted}`; {choose(wanted, [*by_archive])}")
    repository = next(iter(by_archive.values())) if wanted is None else by_archive[wanted]
    allowed = (*first.allowed, *options.allow)
    return placed, replace(first, repositories=[repository], allowed=allowed, log=options.log)
