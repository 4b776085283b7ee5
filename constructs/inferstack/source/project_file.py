"""The project's file: what all specs of a project share, in a file of its own beside or above them."""

from functools import lru_cache
from pathlib import Path

from inferstack.problems import FilePlace, Problem, SpecError
from inferstack.problems.file_codes import FOREIGN, NAMED_OTHERWISE
from inferstack.source.compose import Content, compose
from inferstack.source.document import Document
from inferstack.source.spec_file import PIPED, PROJECT_FILE, leads_out, read_text, relative_to_cwd
from inferstack.source.tree import in_project

_OTHER_NAME = "inferstack.yml"
_CONTENT = Content("project's file", "start with `defaults:` or `rules:`")


def project_of(spec: Path | str, top: Path | None = None) -> Document | None:
    """The project's file that applies to a spec: the nearest one in its folder or above, if there is any.

    The search ends at ``top``, at the working directory and at the top of a repository. Where none of them is
    above the spec, only its folder and the one above are searched: who can write further up, such as into
    `/tmp`, need not be who wrote the spec.

    Raises:
        SpecError: when it cannot be read, or is not a mapping.
    """
    folder = Path.cwd() if str(spec) == PIPED else Path(spec).absolute().parent
    found = next((it for it in _searched(folder, top) if _is_there(it)), None)
    return None if found is None else read_project(found)


def _searched(folder: Path, top: Path | None) -> list[Path]:
    above = [folder, *folder.parents]
    ends = (it for it, one in enumerate(above) if one in (top, Path.cwd()) or (one / ".git").exists())
    return above[: next(ends, 1) + 1]


def _is_there(folder: Path) -> bool:
    if (folder / PROJECT_FILE).is_file():
        return True
    if (folder / _OTHER_NAME).is_file():
        file = relative_to_cwd(str(folder / _OTHER_NAME))
        message, fix = "this name is not read, so the file has no effect", f"rename it to `{PROJECT_FILE}`"
        raise SpecError([Problem(FilePlace(file), message, fix, NAMED_OTHERWISE)])
    return False


def read_project(folder: Path) -> Document:
    """Reads the project's file of a folder.

    Raises:
        SpecError: when it cannot be read, or is not a mapping.
    """
    path = folder / PROJECT_FILE
    file = relative_to_cwd(str(path))
    if leads_out(path):
        # A pull request may bring a link to whatever lies on the machine that checks it.
        message = "this link leads out of the project, so it is not read"
        raise SpecError([Problem(FilePlace(file), message, "put the file itself here", FOREIGN)])
    return _document(file, read_text(Path(file), file))


@lru_cache(maxsize=8)
def _document(file: str, text: str) -> Document:
    """Each spec asks for the same one."""
    return Document(file, in_project(compose(file, text, _CONTENT)))
