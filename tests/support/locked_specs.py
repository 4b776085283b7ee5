"""Specs as they are after an upload, changes that are made to them later, and what is reported then."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.checking import check_file
from support.locking import lay_out_spec, write_lock

from inferstack.check.load import load_spec
from inferstack.problems import Problem, SpecError
from inferstack.resolve import resolve_template

DIGEST = "[0-9a-f]{16}"
"""The part of a URL that distinguishes one upload from another."""
Change = Callable[[Path], object]


def locked_spec(folder: Path, text: str) -> Path:
    """A spec whose archives were uploaded, with its weights and its lock."""
    file = lay_out_spec(folder, text)
    write_lock(file)
    return file


def edit(old: str, new: str) -> Change:
    """Changes the spec."""

    def change(file: Path) -> None:
        text = file.read_text()
        assert text.count(old) >= 1
        file.write_text(text.replace(old, new, 1))

    return change


def put(path: str, content: str) -> Change:
    """Changes a file beside the spec."""
    return lambda file: (file.parent / path).write_text(content)


def found(file: Path, code: str = "IS05") -> list[Problem]:
    """What is reported for a spec: only about its lock, unless another beginning of codes is given."""
    return [problem for problem in check_file(file) if problem.code.startswith(code)]


def outdated(file: Path) -> list[Problem]:
    """What is reported for a spec that is not what was uploaded, each with a command to run; then runs that."""
    problems = found(file)
    fix = f"run `inferstack package {file.as_posix()} --upload`, and commit {file.stem}.lock.json"
    assert {(problem.code, problem.fix) for problem in problems} == {("IS054", fix)}
    with pytest.raises(SpecError, match="IS054"):
        load_spec(file)
    write_lock(file)
    assert found(file) == []
    return problems


def template_of(file: Path, stage: str | None = None) -> str:
    """What is deployed."""
    spec = load_spec(file, stage=stage).spec
    return json.dumps(resolve_template(spec, region="us-east-1", source_of=str), indent=1)


def urls(file: Path, stage: str | None = None) -> set[str]:
    """Where the deployed stack takes model files from."""
    entries = r'"(?:ModelDataUrl|S3Uri|ArtifactUrl)": (?:{\s*"Fn::Sub": )?"([^"]*)"'
    return set(re.findall(entries, template_of(file, stage)))
