"""An endpoint with one archive: start, `/ping`, `/invocations`, and every other model that was loaded."""

from collections.abc import Iterator, Mapping

from inferstack.catalog.triton_container import DEFAULT_MODEL, INFERENCE_TYPE
from inferstack.triton.model import Repository
from inferstack.triton.rehearsal.asking import Way
from inferstack.triton.rehearsal.container import ContainerStops, launch_single
from inferstack.triton.rehearsal.host import Host, NeverReady
from inferstack.triton.rehearsal.layout import LaidOut
from inferstack.triton.rehearsal.members import ask_answering, ask_member, loaded_models
from inferstack.triton.rehearsal.outcome import ArchiveOutcome, ModelOutcome


def rehearse_single(
    host: Host, repository: Repository, laid_out: LaidOut, environment: Mapping[str, str]
) -> ArchiveOutcome:
    """Serves the archive of a repository and asks its models."""
    try:
        launch = launch_single(environment, laid_out.folders)
        seconds = host.start(launch, laid_out.stand_ins)
    except (ContainerStops, NeverReady) as ended:
        return ArchiveOutcome(repository.archive, ended.seconds, ended.failure)
    models = tuple(_outcomes(host, repository, laid_out, launch.environment))
    return ArchiveOutcome(repository.archive, seconds, models=models)


def _outcomes(
    host: Host, repository: Repository, laid_out: LaidOut, environment: Mapping[str, str]
) -> Iterator[ModelOutcome]:
    default = environment[DEFAULT_MODEL]
    loaded = loaded_models(host)
    for model in repository.models:
        if model.name == default:
            kind = environment.get(INFERENCE_TYPE)
            yield ask_answering(host, laid_out, model.name, Way("/invocations", "/invocations", {}, kind))
        else:
            yield ask_member(host, laid_out, model.name, loaded=model.name in loaded)
