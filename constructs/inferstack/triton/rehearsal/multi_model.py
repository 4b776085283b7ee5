"""A multi-model endpoint: each archive is loaded, invoked, listed and unloaded, one after the other.

The container's side of it: https://docs.aws.amazon.com/sagemaker/latest/dg/mms-container-apis.html
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from inferstack.triton.model import Repository
from inferstack.triton.rehearsal.asking import Way, refusal
from inferstack.triton.rehearsal.container import ContainerStops, launch_multi_model
from inferstack.triton.rehearsal.explanations import failure, why_it_ended
from inferstack.triton.rehearsal.host import Host, NeverReady
from inferstack.triton.rehearsal.http import Reply
from inferstack.triton.rehearsal.layout import LaidOut
from inferstack.triton.rehearsal.members import ask_answering, ask_member, loaded_models
from inferstack.triton.rehearsal.outcome import ArchiveOutcome, ModelOutcome

_TARGET = "X-Amzn-SageMaker-Target-Model"
_OK = 200
_GONE = 404


def folder_of(archive: str) -> str:
    """The folder below `/opt/ml` for an archive. SageMaker names it by a hash that it does not publish."""
    return f"models/{_hash(archive)}/model"


def rehearse_multi_model(
    host: Host, archives: Sequence[tuple[Repository, LaidOut]], environment: Mapping[str, str]
) -> Iterator[ArchiveOutcome]:
    """Starts the container without models, then takes one archive after the other."""
    empty = host.confinement.folder / "no-models"
    empty.mkdir()
    try:
        launch = launch_multi_model(environment, str(empty))
        host.start(launch, sorted({name for _, laid_out in archives for name in laid_out.stand_ins}))
    except (ContainerStops, NeverReady) as ended:
        for repository, _ in archives:
            yield ArchiveOutcome(repository.archive, ended.seconds, ended.failure)
        return
    for repository, laid_out in archives:
        yield _Visit(host, repository, laid_out).outcome()


@dataclass(frozen=True, slots=True)
class _Visit:
    """One archive in the server, from loading to unloading."""

    host: Host
    repository: Repository
    laid_out: LaidOut

    def outcome(self) -> ArchiveOutcome:
        archive = self.repository.archive
        logged = len(self.host.log())
        loaded = self._load()
        seconds = loaded.milliseconds / 1000
        if loaded.status != _OK:
            words = f"{loaded.text}\n{why_it_ended(self.host.log()[logged:])}"
            what = f"the archive does not load: {refusal(loaded).what}"
            return ArchiveOutcome(archive, seconds, failure(what, words))
        models = tuple(self._models())
        steps = [f"loaded ({loaded.status})", "invoked"]
        for name, path, method, wanted in self._others():
            reply = self.host.sagemaker.ask(method, path, headers=self._headers())
            if reply.status != wanted:
                told = failure(f"{name}: status {reply.status} instead of {wanted}", reply.text)
                return ArchiveOutcome(archive, seconds, told, models, tuple(steps))
            steps.append(f"{name} ({reply.status})")
        return ArchiveOutcome(archive, seconds, None, models, tuple(steps))

    def _others(self) -> Iterator[tuple[str, str, str, int]]:
        """What is done to an archive besides: words, path, method, and the status that it should have."""
        yield "listed", "/models", "GET", _OK
        yield "looked up", self._path, "GET", _OK
        yield "unloaded", self._path, "DELETE", _OK
        yield "gone", self._path, "GET", _GONE

    def _load(self) -> Reply:
        where = f"/opt/ml/{folder_of(self.repository.archive)}"
        body = json.dumps({"model_name": _hash(self.repository.archive), "url": where}).encode()
        headers = {**self._headers(), "Content-Type": "application/json"}
        return self.host.sagemaker.ask("POST", "/models", body, headers)

    def _models(self) -> Iterator[ModelOutcome]:
        loaded = loaded_models(self.host)
        for model in self.repository.models:
            name = model.name
            if name == self.repository.default_model:
                way = Way("/models/…/invoke", f"{self._path}/invoke", self._headers())
                yield ask_answering(self.host, self.laid_out, name, way)
            else:
                yield ask_member(self.host, self.laid_out, name, loaded=name in loaded)

    @property
    def _path(self) -> str:
        return f"/models/{_hash(self.repository.archive)}"

    def _headers(self) -> dict[str, str]:
        return {_TARGET: self.repository.archive}


def _hash(archive: str) -> str:
    return hashlib.sha256(archive.encode()).hexdigest()[:32]
