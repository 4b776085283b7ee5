"""The files that a spec names, next to it: which of them may be read."""

from pathlib import Path

from inferstack.problems import SpecError, SpecPath
from inferstack.source.document import Document


def file_beside(name: str, document: Document, at: SpecPath, code: str) -> Path:
    """The path of a file or folder that a spec names at a place.

    Raises:
        SpecError: with this code, when it is outside of the project.
    """
    path = Path(document.file).parent / name
    if not _is_near(path, document):
        message, fix = "the file is outside of the project", "put it into the project, next to the spec"
        raise SpecError([document.problem(at, code, message, fix)])
    return path


def _is_near(path: Path, document: Document) -> bool:
    """Whether a file is below the working directory or the spec's folder.

    Nothing of any other is shown: a pull request may name whatever lies on the machine that checks it.
    """
    try:
        here, real = Path.cwd(), path.resolve()
        is_project = here != Path(here.anchor)
        beside = Path(document.file).parent.resolve()
        return (is_project and real.is_relative_to(here)) or real.is_relative_to(beside)
    except (OSError, RuntimeError, ValueError):
        return False
