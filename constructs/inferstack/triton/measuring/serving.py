"""A server that keeps running with one repository, and takes other configurations of its models meanwhile."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import msgspec

from inferstack.catalog.triton_container import DEFAULT_MODEL, GENERATING, INFERENCE_TYPE
from inferstack.triton.config import print_text
from inferstack.triton.measuring.sending import Request
from inferstack.triton.measuring.statistics import Counted, counted
from inferstack.triton.model import CONFIG_FILE, Repository, TritonModel
from inferstack.triton.protocol import BINARY
from inferstack.triton.rehearsal.asking import Way, binary_request
from inferstack.triton.rehearsal.confinement import Confinement, Reply
from inferstack.triton.rehearsal.container import (
    ContainerStops,
    Host,
    NeverReady,
    launch_multi_model,
    launch_single,
)
from inferstack.triton.rehearsal.layout import LaidOut, folder_in
from inferstack.triton.rehearsal.outcome import RehearsalRefused, why_it_ended
from inferstack.triton.rehearsal.rehearsing import (
    Rehearsal,
    laid_out,
    load_archive,
    place_of,
    unload_archive,
    way_to,
)
from inferstack.triton.rehearsal.server import find_server

_OK = 200


class CannotLoad(Exception):  # noqa: N818 - an outcome of a measurement, no error of the program
    """Triton does not load a configuration; says why."""


class Serving(msgspec.Struct):
    """A running server, the repository in it, and how clients reach the model that answers."""

    host: Host
    repository: Repository
    archive: LaidOut
    answering: str
    way: Way

    def request(self, rows: int) -> Request:
        """A request that is made from the declared inputs, for a batch of ``rows``."""
        return self.as_sent(*request_to(self.config(self.answering), rows))

    def as_sent(self, body: bytes, content_type: str) -> Request:
        """A request with a body that the user made."""
        return Request(self.way.path, body, {**self.way.headers, "Content-Type": content_type})

    def config(self, name: str) -> Any:
        """A model's configuration as the local server gets it, without a response cache: users send the same
        request again and again, and the model would not be asked.
        """
        made = type(self.archive.configs[name].config)()
        made.CopyFrom(self.archive.configs[name].config)
        made.ClearField("response_cache")
        return made

    @property
    def cached(self) -> tuple[str, ...]:
        """Models with a response cache."""
        configs = self.archive.configs.items()
        return tuple(name for name, it in configs if it.config.response_cache.enable)

    def model(self, name: str) -> TritonModel:
        """One of the repository's models."""
        return next(it for it in self.repository.models if it.name == name)

    def statistics(self) -> Mapping[str, Counted]:
        """Triton's counters of each model."""
        # The path for all models at once fails where repositories are namespaces.
        replies = [
            self.host.triton.ask("GET", f"/v2/models/{quote(it.name, safe='')}/stats")
            for it in self.repository.models
        ]
        return {
            name: one
            for reply in replies
            if reply.status == _OK
            for name, one in counted(json.loads(reply.body)).items()
        }

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Gives models other configurations, and loads them again.

        Raises:
            CannotLoad: when Triton refuses one.
        """
        self._unload()
        place = place_of(self.host, self.repository)
        for name, config in configs.items():
            (folder_in(place, self.model(name)) / CONFIG_FILE).write_text(print_text(config), "ascii")
        logged = len(self.host.log())
        loaded = self._load()
        if loaded.status != _OK:
            why = why_it_ended(self.host.log()[logged:]) or loaded.text
            raise CannotLoad(" ".join(why.splitlines()[-1:]) or loaded.text)

    def _unload(self) -> None:
        if self.repository.multi_model:
            unload_archive(self.host, self.repository.archive)
            return
        body = json.dumps({"parameters": {"unload_dependents": True}}).encode()
        self.host.triton.ask("POST", f"/v2/repository/models/{self.answering}/unload", body)

    def _load(self) -> Reply:
        if self.repository.multi_model:
            return load_archive(self.host, self.repository.archive)
        return self.host.triton.ask("POST", f"/v2/repository/models/{self.answering}/load")


def request_to(config: Any, rows: int) -> tuple[bytes, str]:
    """The body of a request that is made from declared inputs, and its content type.

    Raises:
        RehearsalRefused: when the model does not take so many rows.
    """
    if rows > max(1, config.max_batch_size):
        raise RehearsalRefused(f"{rows} rows are more than `max_batch_size`, {config.max_batch_size}")
    body, header = binary_request(config, rows, in_sequence=False)
    return body, f"{BINARY}{header}"


@contextmanager
def serving(rehearsal: Rehearsal) -> Iterator[Serving]:
    """Serves the only repository of a rehearsal until the block ends.

    Raises:
        RehearsalRefused: where there is no server, or it does not serve the repository.
        SpecError: when the archive could not be packed.
    """
    server = find_server(rehearsal.python)
    [repository] = rehearsal.repositories
    with Confinement(server.needs) as confinement:
        host = Host(confinement, server, rehearsal.seconds)
        try:
            [archive] = laid_out(host, rehearsal)
            yield _started(host, repository, archive, rehearsal.environment)
        finally:
            if rehearsal.log is not None:
                with rehearsal.log.open("a", encoding="utf-8") as log:
                    log.write(host.log())


def _started(host: Host, repository: Repository, archive: LaidOut, environment: Mapping[str, str]) -> Serving:
    kind = environment.get(INFERENCE_TYPE)
    if kind in GENERATING:
        raise RehearsalRefused(f"the local Triton has no inference type `{kind}`; measure with --endpoint")
    try:
        answering = _start(host, repository, archive, environment)
    except (ContainerStops, NeverReady) as ended:
        words = "; ".join((ended.failure.what, *ended.failure.words[-1:]))
        raise RehearsalRefused(f"{repository.archive} is not served: {words}; `rehearse` says more") from None
    if archive.in_sequence(answering):
        raise RehearsalRefused(
            f"`{answering}` keeps state between requests, so users cannot send them independently"
        )
    served = Serving(host, repository, archive, answering, way_to(repository, kind))
    if served.cached:
        served.configure({name: served.config(name) for name in served.cached})
    return served


def _start(host: Host, repository: Repository, archive: LaidOut, environment: Mapping[str, str]) -> str:
    """Starts the server, and returns the name of the model that answers."""
    if not repository.multi_model:
        launch = launch_single(environment, archive.folders)
        host.start(launch, archive.stand_ins)
        return launch.environment[DEFAULT_MODEL]
    if repository.default_model is None:
        raise RehearsalRefused(f"it is not clear which model of {repository.archive} answers")
    empty = host.confinement.folder / "no-models"
    empty.mkdir()
    host.start(launch_multi_model(environment, str(empty)), archive.stand_ins)
    loaded = load_archive(host, repository.archive)
    if loaded.status != _OK:
        raise RehearsalRefused(f"{repository.archive} does not load: {loaded.text}; `rehearse` says more")
    return repository.default_model
