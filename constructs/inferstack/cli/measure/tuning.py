"""The search of ``--try``: the best configuration of one model, measured again, and written."""

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from inferstack.cli.editing import edit_spec, shown
from inferstack.cli.measure.output import milliseconds
from inferstack.cli.terminal import Refusal, table, tell
from inferstack.problems import dotted
from inferstack.problems.words import choose
from inferstack.sizing.bench import Bench, Point, processors
from inferstack.sizing.closed_loop import rounded
from inferstack.sizing.confirming import Confirmation, compared
from inferstack.sizing.pictures import Picture
from inferstack.sizing.rate_picture import rates_of_kinds
from inferstack.sizing.search import (
    BATCHING,
    BestOfKind,
    Goal,
    Trial,
    best_of,
    rows,
    search,
    space_of,
)
from inferstack.source.edit import Edit
from inferstack.source.whole_files import complete_or_absent
from inferstack.source.written import in_flow
from inferstack.triton.config import ConfigError
from inferstack.triton.measuring.config_edit import edited_text
from inferstack.triton.measuring.configurations import Configuration, changes, configured, declared
from inferstack.triton.measuring.serving import Serving
from inferstack.triton.model import CONFIG_FILE, FieldPath


class Tuning:
    """A search for the best configuration of one model of a server. What it measures goes into ``points``."""

    def __init__(
        self, bench: Bench, served: Serving, goal: Goal, points: list[Point], options: argparse.Namespace
    ) -> None:
        self._bench, self._served, self._goal, self._options = bench, served, goal, options
        self._points = points
        self.repeated: list[Point] = []
        """The runs of the confirmation, from which the search takes nothing."""
        self._verdict: Confirmation | None = None
        self._against = Configuration()
        self._model = served.model(self._chosen())
        ensembles = (it.config.max_batch_size for it in served.repository.models if it.is_ensemble)
        self._space = space_of(
            self._model,
            options.tried,
            processors=processors(),
            users=options.concurrency,
            smallest_batch=max((options.rows, *ensembles)),
        )
        if BATCHING in options.tried and self._model.config.max_batch_size < 1:
            tell(f"`{self._model.name}` takes no batches: `max_batch_size` is 0, so batching is not tried")

    def search(self, show: Callable[[str], None]) -> None:
        """Measures until nothing that is left is likely to be better."""

        def measure(wanted: Configuration, users: int) -> Trial:
            show(f"measurement {len(self._points) + 1}: {wanted.name}, {users} users")
            self._points.append(self._bench.configured(self._model.name, wanted, users))
            return self._points[-1].trial(self._goal.percentile)

        search(self._space, measure, self._goal.limit)

    def confirm(self, show: Callable[[str], None]) -> None:
        """Measures the best and what the model has now, in turns, until it is clear which is faster."""
        best, limit = best_of(self._trials, self._goal.limit), self._goal.limit
        other = None if best is None else self._compared_with(best)
        if best is None or other is None:
            return

        def rate(trial: Trial) -> float:
            made = trial.configuration
            show(f"measured again: {made.name}, {trial.users} users")
            self.repeated.append(self._bench.configured(self._model.name, made, trial.users))
            again = self.repeated[-1].trial(self._goal.percentile)
            return again.per_second if again.within(limit) else 0.0

        self._against = other.configuration
        self._verdict = compared(lambda: rate(best), lambda: rate(other))

    def _compared_with(self, best: Trial) -> Trial | None:
        """What the model has now, or the simplest configuration if that is the best, with as many users as
        make it answer most.
        """
        simplest = Configuration(0, 0, 1, self._space.threads[0])
        for made in (declared(self._model.config, self._model.backend), simplest):
            if made != best.configuration:
                measured = [it for it in self._trials if it.configuration == made]
                users = best_of(measured, self._goal.limit)
                return Trial(made, best.users, 0.0, math.inf) if users is None else users
        return None

    def lines(self) -> Iterator[str]:
        """The comparison, and the best."""
        trials = self._trials
        if not trials:
            return
        yield from comparison(rows(trials, self._goal.limit), self._goal)
        yield ""
        best, goal = best_of(trials, self._goal.limit), self._goal
        if best is None:
            yield f"{len(trials)} measurements, none within {goal.limit:g} ms at P{goal.percentile:g}"
            return
        bound = "" if math.isinf(goal.limit) else f" within {goal.limit:g} ms at P{goal.percentile:g}"
        yield f"best of {len(trials)} measurements{bound}: {best.configuration.name}"
        if self._verdict is not None:
            yield f"measured again in turns with {self._against.name}: {self._verdict.in_words}"
        elif self._compared_with(best) is not None:
            yield "each was measured once only, so the difference may be chance"
        if self._verdict is None or self._verdict.is_clear:
            yield from self._block(best.configuration)

    def verdict_on(self, point: Point) -> Mapping[str, Any] | None:
        """What the confirmation says, as data, if the point is the one that looked best."""
        best, verdict = best_of(self._trials, self._goal.limit), self._verdict
        if verdict is None or point.trial(self._goal.percentile) != best:
            return None
        # JSON has no infinity: null is a pair in which only this one met the limit.
        low, high, *ratios = (
            None if math.isinf(it) else round(it, 4) for it in (verdict.low, verdict.high, *verdict.ratios)
        )
        said = {"clearly_faster": verdict.is_clear, "low": low, "high": high, "ratios": ratios}
        return {"against": self._against.name, **said}

    def picture(self) -> Picture:
        """All that was measured, by kind of configuration.

        Raises:
            NoPictureError: when nothing was answered.
        """
        goal = self._goal
        return rates_of_kinds(self._trials, self._model.name, percentile=goal.percentile, limit=goal.limit)

    def write(self) -> None:
        """Puts the best into the spec, or into the model's own file, and shows the diff.

        Raises:
            SpecError: when the spec cannot be edited.
        """
        best = best_of(self._trials, self._goal.limit)
        if best is None:
            raise Refusal("nothing is written: no configuration is within the objective's limit")
        if self._verdict is not None and not self._verdict.is_clear:
            raise Refusal(f"nothing is written: {best.configuration.name} is not clearly faster")
        if self._model.folder is None:
            wanted = {self._path(field): value for field, value in self._changes(best.configuration).items()}
            edit_spec(self._options.spec, wanted, stage=self._options.stage)
        else:
            self._write_config(best.configuration)

    @property
    def _trials(self) -> list[Trial]:
        return [it.trial(self._goal.percentile) for it in self._points]

    def _chosen(self) -> str:
        """The model to try configurations on: the only one, the named one, or the one that takes longest."""
        names = [it.name for it in self._served.repository.models if not it.is_ensemble]
        named = self._options.tune
        if named is not None and named not in names:
            raise Refusal(f"--tune: no model `{named}`; {choose(named, names)}")
        if named is not None or len(names) == 1:
            return str(named or names[0])
        counted = self._bench.point("", min(self._options.concurrency)).counted
        slowest = max(names, key=lambda name: counted[name].compute_ns if name in counted else 0)
        tell(f"trying configurations of `{slowest}`, which takes longest; --tune NAME chooses another")
        return slowest

    def _changes(self, best: Configuration) -> Mapping[FieldPath, Any]:
        return changes(self._model.config, self._model.backend, best)

    def _path(self, field: FieldPath) -> tuple[str | int, ...]:
        """Where the spec has a field of the model."""
        place = self._model.where(field)
        return place if isinstance(place, tuple) else ()

    def _block(self, best: Configuration) -> Iterator[str]:
        values = self._changes(best)
        if not values:
            yield f"`{self._model.name}` has this configuration already"
            return
        own = self._model.folder is not None
        yield f"in {self._model.name}/{CONFIG_FILE}:" if own else f"in the spec, at {dotted(self._path(()))}:"
        for field, value in values.items():
            yield f"  {dotted(field)}: {in_flow(value)}" if value is not None else f"  no {dotted(field)}"

    def _write_config(self, best: Configuration) -> None:
        model = self._model
        file, text = (model.folder or self._options.spec) / CONFIG_FILE, model.text or ""
        try:
            made = edited_text(text, model.config, configured(model.config, model.backend, best))
        except ConfigError as error:
            raise Refusal(f"{file}: {error.message}") from None
        print("".join(shown(Edit(str(file), text, made), sys.stdout)), end="", flush=True)
        with complete_or_absent(file) as target:
            target.write(made.encode())
        tell(f"{file}: written")


def comparison(of_kinds: Iterable[BestOfKind], goal: Goal) -> Iterator[str]:
    """A line for each kind of configuration."""
    kinds = list(of_kinds)
    base = next((kind.best.per_second for kind in kinds if kind.name == "base"), 0.0)
    latency = f"P{goal.percentile:g}"
    header = ("", "USERS", "PER MINUTE", "RATIO", latency, "BATCH", "DELAY", "INSTANCES", "THREADS")
    yield from table([header, *(_row(kind, base) for kind in kinds)])
    if not all(kind.within for kind in kinds):
        yield f"! over the limit of {goal.limit:g} ms, or failed requests"


def _row(kind: BestOfKind, base: float) -> tuple[str, ...]:
    best, made = kind.best, kind.best.configuration
    return (
        *(kind.name, str(best.users), f"{rounded(best.per_second * 60):f}"),
        f"{best.per_second / base:.2f}" if base else "-",
        milliseconds(best.latency) + ("" if kind.within else "!"),
        *(str(made.batch or "-"), f"{made.delay / 1000:g}" if made.batch else "-", str(made.instances)),
        str(made.threads or "-"),
    )
