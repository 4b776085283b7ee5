"""The files of a project."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from inferstack.format.schema import published_schema_text
from inferstack.project.answers import CHAT, NO_CI, Answers
from inferstack.project.requirements import requirements
from inferstack.source.spec_file import PROJECT_FILE

FILES = Path(__file__).parent / "files"
"""The files as they are written, but for marks and their names."""
SCHEMA = "inferstack.schema.json"
REQUIREMENTS = "requirements.txt"
SPECS = "model_specs"
_MARK = re.compile(r"@\{(\w+)\}")


def is_start(path: str) -> bool:
    """Whether a file is only there to start from. An update of a spec, or of what all specs share, would
    change what is deployed, and that of the versions what it is made with: they are the user's as soon as
    they are written.
    """
    return path.startswith(f"{SPECS}/") or path in (REQUIREMENTS, PROJECT_FILE)


def files_of(answers: Answers) -> dict[str, str]:
    """The contents of all files, by their paths in the project, in alphabetical order."""
    values = _values(answers)
    folders = [FILES / "always", FILES / "kinds" / answers.kind]
    if answers.ci != NO_CI:
        folders += [FILES / "ci" / "all", FILES / "ci" / answers.ci]
    contents = {name: _filled(text, values) for folder in folders for name, text in _templates(folder)}
    contents[values["spec"]] = contents.pop(_example(answers.kind))
    # A pipeline asks AWS how its deployment stands.
    extra = None if answers.ci == NO_CI else "aws"
    contents |= {SCHEMA: published_schema_text(), REQUIREMENTS: requirements(extra)}
    return dict(sorted(contents.items()))


def _templates(folder: Path) -> Iterator[tuple[str, str]]:
    """Path and text of each template."""
    for file in folder.rglob("*"):
        if file.is_file():
            name = file.relative_to(folder).as_posix().removesuffix(".in")
            yield re.sub(r"(^|/)dot_", r"\1.", name), file.read_text("utf-8")


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _MARK.sub(lambda mark: values[mark[1]], text)


def _example(kind: str) -> str:
    """Path of the spec that projects of a kind start with, by the name that it has here."""
    (spec,) = (name for name, _ in _templates(FILES / "kinds" / kind) if name.endswith(".yaml"))
    return spec


def _values(answers: Answers) -> dict[str, str]:
    """What stands for each mark."""
    name = answers.name or Path(_example(answers.kind)).stem
    values = {
        "region": answers.region,
        "spec": f"{SPECS}/{name}.yaml",
        "name": name,
        "account": answers.account,
        "bucket": answers.bucket,
        "repository": answers.repository,
        "repository_name": re.sub(r"@[0-9]+", "", answers.repository),
    }
    without = answers.ci == NO_CI
    return values | {
        "first_deployment": _filled(_part("administrator.md" if without else "least-privilege.md"), values),
        "checks_of_kind": _filled(_part("chat.md"), values) if answers.kind == CHAT else "",
        "pipeline": "" if without else _filled(_part(f"pipeline-{answers.ci}.md"), values),
    }


def _part(name: str) -> str:
    return (FILES / "parts" / name).read_text("utf-8")
