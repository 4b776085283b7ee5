"""Specs whose models are in an existing repository, and those repositories."""

from pathlib import Path

from inferstack.check.load import load_spec
from inferstack.triton.model import Repository
from inferstack.triton.repositories import repositories_of

HEAD = """\
kind: {kind}
endpoint_name: e
model: {{image: {{framework: triton, version: "25.09"}}, model_data_url: "s3://models/m{tail}"}}
variant: {{instance_type: ml.c6i.xlarge, initial_instance_count: 2}}
triton: {triton}
"""


def spec_file(tmp_path: Path, triton: str, kind: str = "single-model") -> Path:
    """A spec with a ``triton`` block, written on one line."""
    file = tmp_path / "spec.yaml"
    tail = "/" if kind == "multi-model" else "/model.tar.gz"
    file.write_text(HEAD.format(kind=kind, tail=tail, triton=triton), "utf-8")
    return file


def loaded(file: Path) -> tuple[Repository, ...]:
    """The repositories of a spec."""
    return repositories_of(load_spec(file).spec, file.parent)
