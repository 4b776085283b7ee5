"""Reads a spec file both with libyaml and without."""

from pathlib import Path

import pytest
import yaml
from support.documents import Problems, Read

from inferstack.problems import Problem, SpecError
from inferstack.source import events
from inferstack.source.document import Document, read_document


@pytest.fixture(params=["libyaml", "python"])
def read(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    if request.param == "python":
        monkeypatch.setattr(events, "LOADER", yaml.SafeLoader)

    def read(content: str | bytes) -> Document:
        path = tmp_path / "spec.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_document(path)

    return read


@pytest.fixture
def problems(read: Read) -> Problems:
    def problems(content: str | bytes) -> tuple[Problem, ...]:
        with pytest.raises(SpecError) as caught:
            read(content)
        return caught.value.problems

    return problems
