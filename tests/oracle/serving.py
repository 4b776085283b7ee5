"""Mutated repositories on disk, judged by our checks and by a real server."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
from oracle.mutations import Edit, Mutation
from support.rehearsal import SERVER_PYTHON

from inferstack.problems import FilePlace
from inferstack.triton.config import parse_text
from inferstack.triton.folders import read_repository
from inferstack.triton.model import CONFIG_FILE
from inferstack.triton.rehearsal import stand_in
from inferstack.triton.rehearsal.asking import binary_request
from inferstack.triton.rehearsal.confinement import TRITON_LENGTH, Confinement, Reply
from inferstack.triton.rehearsal.container import Host, launch_multi_model
from inferstack.triton.rehearsal.outcome import SERVER_RELEASE
from inferstack.triton.rehearsal.server import find_server
from inferstack.triton.rules import Context, repository_problems

_ENVIRONMENT = {
    # One repository for all, in which each model has its own name.
    "SAGEMAKER_TRITON_DISABLE_MODEL_NAMESPACING": "false",
    "SAGEMAKER_TRITON_LOG_VERBOSE": "false",
    "SAGEMAKER_TRITON_PING_MODE": "live",
}
_SECONDS = 60.0
_CRASHED = "Signal (11) received"
_WITH_MEMBERS = b'{"parameters": {"unload_dependents": true}}'


def mutated(mutation: Mutation, base: dict[str, str], mark: str) -> dict[str, str]:
    """The files of a mutated repository by path; ``mark`` is put before the names of its models."""
    files = dict(base)
    for key, edits in mutation.edits.items():
        path = key if key.startswith("@") else f"@{key}/{CONFIG_FILE}"
        for edit in edits if isinstance(edits, list) else [edits]:
            _apply(files, path, edit, whole=key.startswith("@"))
    return {path.replace("@", mark): text.replace("@", mark) for path, text in files.items()}


def _apply(files: dict[str, str], path: str, edit: Edit, *, whole: bool) -> None:
    match edit:
        case None:
            del files[path]
        case (old, new):
            assert old in files[path], f"{old!r} is not in {path}"
            files[path] = files[path].replace(old, new)
        case str() if whole:
            files[path] = edit
        case _:
            files[path] += f"{edit}\n"


def write(files: dict[str, str], folder: Path) -> None:
    """Writes a repository; `…` is code that answers with zeros, and a path that ends in a slash is a folder."""
    for path, text in files.items():
        target = folder / path
        if path.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if text == "…":
            shutil.copyfile(stand_in.__file__, target)
        else:
            target.write_bytes(text.encode())


def our_errors(folder: Path, default: str) -> set[str]:
    """The codes of what keeps a repository from being served, according to our checks."""
    repository = msgspec.structs.replace(read_repository(folder), default_model=default)
    context = Context(release=SERVER_RELEASE, gpus=(0,))
    problems = repository_problems(repository, lambda _: FilePlace("spec"), context)
    return {problem.code for problem in problems if problem.severity == "error"}


@dataclass(frozen=True)
class Oracle:
    """A running server, and the folder of its models."""

    host: Host
    folder: Path
    answer_seconds: float

    @property
    def ended(self) -> bool:
        """Whether the server has ended, or will never answer again: after a crash, it may not even exit."""
        return self.host.confinement.exit_status() is not None or _CRASHED in self.host.log()

    def verdict(self, name: str) -> tuple[str, str]:
        """What happens to a model, and the server's words about it."""
        logged = len(self.host.log())
        client = msgspec.structs.replace(self.host.triton, seconds=self.answer_seconds)
        loaded = client.ask("POST", f"/v2/repository/models/{name}/load")
        if loaded.status != 200:
            return "hangs" if loaded.status == 0 else "refuses", f"{loaded.text}\n{self.host.log()[logged:]}"
        refusals = [reply.text for reply in self._answers(name) if reply.status != 200]
        client.ask("POST", f"/v2/repository/models/{name}/unload", _WITH_MEMBERS)
        return "loads" if refusals else "serves", "\n".join(refusals)

    def _answers(self, name: str) -> Iterator[Reply]:
        """Answers to a request of one, and to one of two if the model has batches; binary, which all types allow."""
        config = parse_text((self.folder / name / CONFIG_FILE).read_text(encoding="utf-8"))
        stateful = config.HasField("sequence_batching")
        for batch in (1, 2) if config.max_batch_size > 1 and not stateful else (1,):
            body, length = binary_request(config, batch, in_sequence=stateful)
            path = f"/v2/models/{name}/infer"
            yield self.host.triton.ask("POST", path, body, {TRITON_LENGTH: str(length)})


@contextmanager
def oracle(answer_seconds: float = _SECONDS) -> Iterator[Oracle]:
    """A server without models, which may take this long to answer."""
    server = find_server(SERVER_PYTHON)
    with Confinement(server.needs) as confinement:
        host = Host(confinement, server, _SECONDS)
        folder = host.models / "oracle"
        folder.mkdir()
        host.start(launch_multi_model(_ENVIRONMENT, "/opt/ml/oracle"), ["onnxruntime", "tensorrt"])
        yield Oracle(host, folder, answer_seconds)
