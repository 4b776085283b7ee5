"""The whole rehearsal of a spec's archives.

An endpoint with one archive: start, `/ping`, `/invocations`, and every other model that was loaded. A
multi-model endpoint: each archive is loaded, invoked, listed and unloaded, one after the other.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from inferstack.catalog.triton_container import DEFAULT_MODEL, INFERENCE_TYPE
from inferstack.triton.archive.packing import Watch, unwatched
from inferstack.triton.archive.plan import Locate
from inferstack.triton.model import Repository
from inferstack.triton.rehearsal.asking import Way, ask_answering, ask_member, loaded_models, refusal
from inferstack.triton.rehearsal.confinement import Confinement, Reply
from inferstack.triton.rehearsal.container import (
    ContainerStops,
    Host,
    NeverReady,
    launch_multi_model,
    launch_single,
)
from inferstack.triton.rehearsal.layout import LaidOut, lay_out, pack_and_lay_out
from inferstack.triton.rehearsal.outcome import ArchiveOutcome, ModelOutcome, failure, why_it_ended
from inferstack.triton.rehearsal.server import find_server


class Rehearsal(msgspec.Struct, frozen=True):
    """What is rehearsed and how.

    ``environment`` is the container's. ``allowed`` are the folders that files may come from and ``locate``
    finds places in the spec's file, both as for packing. ``python`` is the interpreter whose environment has
    the server and what the models import. ``seconds``: the longest wait for a start and for each answer.
    ``log``: a file that the server's log is appended to, if any. ``archives`` are files that hold the
    repositories, one for each; without them the repositories are packed. ``watch`` shows how far packing and
    unpacking have come.
    """

    repositories: Sequence[Repository]
    environment: Mapping[str, str]
    allowed: Sequence[Path]
    locate: Locate
    python: Path
    seconds: float
    log: Path | None = None
    archives: Sequence[Path] = ()
    watch: Watch = unwatched


def rehearse(rehearsal: Rehearsal) -> Iterator[ArchiveOutcome]:
    """Serves the archives as the hosting container would, and yields the outcome of each.

    However it ends, nothing of it is left on the machine.

    Raises:
        RehearsalRefused: when there is no server, or the machine does not allow confining it.
        SpecError: when an archive could not be packed, such as for a file that is missing.
    """
    server = find_server(rehearsal.python)
    with Confinement(server.needs) as confinement:
        host = Host(confinement, server, rehearsal.seconds)
        try:
            yield from _outcomes(host, rehearsal)
        finally:
            if rehearsal.log is not None:
                with rehearsal.log.open("a", encoding="utf-8") as log:
                    log.write(host.log())


def _outcomes(host: Host, rehearsal: Rehearsal) -> Iterator[ArchiveOutcome]:
    archives = list(zip(rehearsal.repositories, laid_out(host, rehearsal), strict=True))
    match archives:
        case [(Repository(multi_model=False) as only, files)]:
            yield rehearse_single(host, only, files, rehearsal.environment)
        case _:
            yield from rehearse_multi_model(host, archives, rehearsal.environment)


def laid_out(host: Host, rehearsal: Rehearsal) -> Iterator[LaidOut]:
    """The archives, each unpacked where the container finds it: see :func:`place_of`."""
    targets = {place_of(host, one): one for one in rehearsal.repositories}
    packages = host.server.packages
    if rehearsal.archives:
        for archive, (target, repository) in zip(rehearsal.archives, targets.items(), strict=True):
            yield lay_out(archive, repository, target, packages, rehearsal.watch)
        return
    scratch = host.confinement.folder / "packed"
    scratch.mkdir()
    allowed, locate = rehearsal.allowed, rehearsal.locate
    yield from pack_and_lay_out(targets, scratch, allowed, locate, packages, rehearsal.watch)


def place_of(host: Host, repository: Repository) -> Path:
    """The folder that an archive is unpacked into."""
    return host.models / (folder_of(repository.archive) if repository.multi_model else "model")


# ---------------------------------------------------------------- An endpoint with one archive


def rehearse_single(
    host: Host, repository: Repository, laid_out: LaidOut, environment: Mapping[str, str]
) -> ArchiveOutcome:
    """Serves the archive of a repository and asks its models."""
    try:
        launch = launch_single(environment, laid_out.folders)
        seconds = host.start(launch, laid_out.stand_ins)
    except (ContainerStops, NeverReady) as ended:
        return ArchiveOutcome(repository.archive, ended.seconds, ended.failure)
    models = tuple(_of_single(host, repository, laid_out, launch.environment))
    return ArchiveOutcome(repository.archive, seconds, models=models)


def _of_single(
    host: Host, repository: Repository, laid_out: LaidOut, environment: Mapping[str, str]
) -> Iterator[ModelOutcome]:
    default = environment[DEFAULT_MODEL]
    loaded = loaded_models(host)
    for model in repository.models:
        if model.name == default:
            way = way_to(repository, environment.get(INFERENCE_TYPE))
            yield ask_answering(host, laid_out, model.name, way)
        else:
            yield ask_member(host, laid_out, model.name, loaded=model.name in loaded)


# ---------------------------------------------------------------- A multi-model endpoint
#
# The container's side of it: https://docs.aws.amazon.com/sagemaker/latest/dg/mms-container-apis.html


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


def load_archive(host: Host, archive: str) -> Reply:
    """Asks a multi-model container to load an archive."""
    where = f"/opt/ml/{folder_of(archive)}"
    body = json.dumps({"model_name": _hash(archive), "url": where}).encode()
    headers = {_TARGET: archive, "Content-Type": "application/json"}
    return host.sagemaker.ask("POST", "/models", body, headers)


def unload_archive(host: Host, archive: str) -> Reply:
    """Asks a multi-model container to drop an archive."""
    return host.sagemaker.ask("DELETE", f"/models/{_hash(archive)}", headers={_TARGET: archive})


def way_to(repository: Repository, inference_type: str | None = None) -> Way:
    """How clients reach the model that answers for an archive."""
    if not repository.multi_model:
        return Way("/invocations", "/invocations", {}, inference_type)
    archive = repository.archive
    return Way("/models/…/invoke", f"/models/{_hash(archive)}/invoke", {_TARGET: archive})


class _Visit(msgspec.Struct, frozen=True):
    """One archive in the server, from loading to unloading."""

    host: Host
    repository: Repository
    laid_out: LaidOut

    def outcome(self) -> ArchiveOutcome:
        archive = self.repository.archive
        logged = len(self.host.log())
        loaded = load_archive(self.host, archive)
        seconds = loaded.milliseconds / 1000
        if loaded.status != _OK:
            words = f"{loaded.text}\n{why_it_ended(self.host.log()[logged:])}"
            what = f"the archive does not load: {refusal(loaded).what}"
            return ArchiveOutcome(archive, seconds, failure(what, words))
        models = tuple(self._models())
        steps = [f"loaded ({loaded.status})", "invoked"]
        for name, path, method, wanted in self._others():
            reply = self.host.sagemaker.ask(method, path, headers={_TARGET: archive})
            if reply.status != wanted:
                unexpected = failure(f"{name}: status {reply.status} instead of {wanted}", reply.text)
                return ArchiveOutcome(archive, seconds, unexpected, models, tuple(steps))
            steps.append(f"{name} ({reply.status})")
        return ArchiveOutcome(archive, seconds, None, models, tuple(steps))

    def _others(self) -> Iterator[tuple[str, str, str, int]]:
        """Other requests about an archive: a label, path, method, and the expected status."""
        yield "listed", "/models", "GET", _OK
        yield "looked up", self._path, "GET", _OK
        yield "unloaded", self._path, "DELETE", _OK
        yield "gone", self._path, "GET", _GONE

    def _models(self) -> Iterator[ModelOutcome]:
        loaded = loaded_models(self.host)
        for model in self.repository.models:
            name = model.name
            if name == self.repository.default_model:
                yield ask_answering(self.host, self.laid_out, name, way_to(self.repository))
            else:
                yield ask_member(self.host, self.laid_out, name, loaded=name in loaded)

    @property
    def _path(self) -> str:
        return f"/models/{_hash(self.repository.archive)}"


def _hash(archive: str) -> str:
    return hashlib.sha256(archive.encode()).hexdigest()[:32]
